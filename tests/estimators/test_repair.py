import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kreinlearn import SpectrumRepair
from kreinlearn.spectrum.repair import REPAIRS
from tests.conftest import gram_of_signature


@pytest.mark.parametrize("mode", REPAIRS)
@pytest.mark.parametrize("signature", [(20, 10), (15, 5, 4), (0, 8), (8, 0)])
def test_exact_gives_training_rows_what_training_gave_them(mode, signature):
    K = gram_of_signature(*signature)
    repair = SpectrumRepair(mode)
    first = repair.fit_transform(K)
    again = repair.transform(K)
    np.testing.assert_allclose(again, first, atol=1e-9 * np.abs(first).max())
    values = np.linalg.eigvalsh(first)
    assert values[0] >= -1e-12 * values[-1]
    np.testing.assert_allclose(
        np.sort(repair.repaired_eigenvalues_), values, atol=1e-11 * values[-1]
    )


@pytest.mark.parametrize("mode", ["clip", "flip", "shift"])
@pytest.mark.parametrize("signature", [(20, 0), (15, 0, 5)])
@pytest.mark.parametrize("out_of_sample", ["exact", "none"])
def test_positive_semidefinite_matrices_are_unchanged(mode, signature, out_of_sample):
    K = gram_of_signature(*signature)
    slack = 1e-12 * np.abs(K).max()
    repair = SpectrumRepair(mode, out_of_sample=out_of_sample)
    np.testing.assert_allclose(repair.fit_transform(K), K, atol=slack)
    np.testing.assert_allclose(repair.transform(K[:3]), K[:3], atol=slack)


def test_none_changes_the_training_matrix_only():
    K = gram_of_signature(15, 5, 4)
    repair = SpectrumRepair("shift", out_of_sample="none")
    lowest = np.linalg.eigvalsh(K)[0]
    np.testing.assert_allclose(
        repair.fit_transform(K), K - lowest * np.eye(24), atol=1e-11
    )
    np.testing.assert_array_equal(repair.transform(K), K)
    np.testing.assert_array_equal(repair.transform(K[:2]), K[:2])
    assert repair.extension_ is None


def test_cross_validation_by_hand(indefinite):
    K, y = indefinite
    train, test = np.arange(0, 40, 2), np.arange(1, 40, 2)
    model = make_pipeline(SpectrumRepair("clip"), SVC(kernel="precomputed"))
    score = cross_val_score(model, K, y, cv=[(train, test)])
    mu, V = np.linalg.eigh(K[np.ix_(train, train)])
    clipped = (V * np.maximum(mu, 0)) @ V.T
    svc = SVC(kernel="precomputed").fit(clipped, y[train])
    # Clipping projects on the eigenvectors with positive eigenvalue.
    rows = K[np.ix_(test, train)] @ V[:, mu > 0] @ V[:, mu > 0].T
    assert score == pytest.approx([svc.score(rows, y[test])])


def test_messages():
    K = gram_of_signature(3, 2)
    with pytest.raises(ValueError, match="'mode' must be one of 'flip'.*got 'mend'"):
        SpectrumRepair("mend").fit(K)
    with pytest.raises(
        ValueError, match="'out_of_sample' must be one of 'exact', 'none', got 'all'"
    ):
        SpectrumRepair(out_of_sample="all").fit(K)
    with pytest.raises(ValueError, match=r"must be square.*of shape \(3, 5\)"):
        SpectrumRepair().fit(K[:3])
    skewed = K.copy()
    skewed[0, 1] += 1
    with pytest.raises(ValueError, match=r"must be symmetric.*differ by up to 1"):
        SpectrumRepair().fit(skewed)
    with pytest.raises(ValueError, match="NaN"):
        SpectrumRepair().fit(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="X has 4 features.*expecting 5"):
        SpectrumRepair().fit(K).transform(K[:, :4])
