"""The page for users of SVC: failures in scikit-learn, and the results here."""

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
from sklearn.utils.fixes import parse_version

from kreinlearn import KreinLogisticRegressionCV

IS_DEPRECATED = parse_version(sklearn.__version__) >= parse_version("1.9")


@pytest.fixture
def gram():
    X = np.random.default_rng(0).standard_normal((60, 2))
    X[::2] += 2
    return X @ X.T, np.arange(60) % 2


def test_calibration_of_a_precomputed_matrix_raises(gram):
    machine = SVC(kernel="precomputed")
    with pytest.raises(ValueError, match="square"):
        CalibratedClassifierCV(machine).fit(*gram).predict_proba(gram[0])
    calibrated = CalibratedClassifierCV(machine, ensemble=False)
    with pytest.raises(ValueError, match="square"):
        cross_val_score(calibrated, *gram, error_score="raise")


@pytest.mark.skipif(not IS_DEPRECATED, reason="deprecated in scikit-learn 1.9")
def test_probabilities_of_svc_are_deprecated(gram):
    with pytest.warns(FutureWarning, match=r"removed in version 1\.11"):
        SVC(kernel="precomputed", probability=True).fit(*gram)


def test_the_default_model_works(gram):
    scores = cross_val_score(KreinLogisticRegressionCV(kernel="precomputed"), *gram)
    assert scores.mean() > 0.8
