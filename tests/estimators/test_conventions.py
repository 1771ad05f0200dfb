"""What scikit-learn expects of every estimator that the package has."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kreinlearn
from kreinlearn import (
    DCASVC,
    DistanceSimilarity,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    LandmarkFeatures,
    LandmarkLogisticRegression,
    SpectrumRepair,
)
from kreinlearn.estimators._base import warn_unscaled
from kreinlearn.features import RegionCovariance
from kreinlearn.kernels.transforms import FORMS
from kreinlearn.spectrum.repair import REPAIRS

DOCS = Path(__file__).parents[2] / "docs"
rng = np.random.default_rng(0)
X = rng.uniform(size=(40, 3))
y = (X.sum(axis=1) > 1.5).astype(int)
K = X @ X.T


NOT_OFFERED = ("SimilarityNeighbors",)
"""A control of comparisons, which no page of the reference lists."""


def all_estimators():
    """Return public estimators, as scikit-learn's function of this name finds its."""
    found = set()
    for each in pkgutil.walk_packages(kreinlearn.__path__, "kreinlearn."):
        if any(part.startswith("_") for part in each.name.split(".")):
            continue
        for name, thing in vars(import_module(each.name)).items():
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
                is_ours = thing.__module__ == each.name and not name.startswith("_")
                if is_ours and name not in NOT_OFFERED:
                    found.add(thing)
    return sorted(found, key=lambda one: one.__name__)


ESTIMATORS = all_estimators()
WITH_KERNEL = [one for one in ESTIMATORS if hasattr(one(), "kernel_params")]


def test_every_public_estimator_is_found():
    names = {one.__name__ for one in ESTIMATORS}
    functions = {"__version__", "compare", "inspect_similarity", "load", "save"}
    assert names == set(kreinlearn.__all__) - functions | {"RegionCovariance"}
    assert len(WITH_KERNEL) == 6


# -- check_estimator -------------------------------------------------------------------


class CheckedRegression(KreinLogisticRegression):
    """An estimator whose tag makes scikit-learn's checks pass distances."""

    metric = "precomputed"


class CheckedMachine(KreinSVC):
    metric = "precomputed"


class CheckedSimilarity(DistanceSimilarity):
    metric = "precomputed"


QUICK = [
    KreinLogisticRegression(),
    KreinSVC(),
    DCASVC(),
    LandmarkLogisticRegression(lams=[0.1]),
    LandmarkFeatures(),
    *(SpectrumRepair(mode) for mode in REPAIRS),
    *(CheckedSimilarity(form) for form in FORMS),
]
SLOW = [
    KreinLogisticRegressionCV(),
    LandmarkLogisticRegression(),
    KreinLogisticRegression("precomputed"),
    KreinLogisticRegression("rbf", norm="hilbert", multi_class="ovr"),
    KreinLogisticRegressionCV(lams=[0.1], cv=2, kernel="precomputed"),
    KreinSVC(kernel="precomputed"),
    DCASVC(kernel="precomputed"),
    LandmarkLogisticRegression("rbf", norm="euclidean", multi_class="ovr", lam=0.1),
    LandmarkLogisticRegression("rbf", cv=2, lams=[1e-2, 1e-3]),
    CheckedRegression("distance"),
    CheckedMachine(kernel="distance"),
]
REPEATED = {
    DCASVC: "LIBSVM's steps differ within the default tol; holds for a tight one",
    KreinSVC: "LIBSVM's steps differ within the default tol; holds for a tight one",
    KreinLogisticRegressionCV: "values of lam depend on the number of rows",
    LandmarkLogisticRegression: "it sets cv, and lam depends on the number of rows",
}
"""Why a weight of two is not the same as a row repeated, to 1e-7."""
DISTANCES = {
    "check_positive_only_tag_during_fit": "names the pair: test_distance.py",
    "check_estimators_nan_inf": "names the pair, once columns are those of training",
}


def list_expected_failures(estimator):
    """Return the checks that an estimator does not pass, with reasons."""
    found = {}
    if type(estimator) in REPEATED and getattr(estimator, "lams", None) is None:
        why = REPEATED[type(estimator)]
        for kind in ("dense", "sparse"):
            found[f"check_sample_weight_equivalence_on_{kind}_data"] = why
    is_distance = getattr(estimator, "metric", None) == "precomputed"
    if is_distance:
        found |= DISTANCES
    if is_distance and hasattr(estimator, "predict"):
        found["check_classifiers_one_label_sample_weights"] = "passes no distances"
        found["check_class_weight_classifiers"] = "passes no distances"
    is_given = getattr(estimator, "kernel", None) in ("precomputed", "distance")
    if is_given and hasattr(estimator, "predict_proba"):
        found["check_decision_proba_consistency"] = "passes vectors, not similarities"
    return found


UNSCALED_DATA = pytest.mark.filterwarnings(
    "ignore::kreinlearn.exceptions.IndefiniteKernelWarning",
    "ignore:The least populated class:UserWarning",
    "ignore:n_landmarks:UserWarning",
    "ignore:The Gram matrix",
)


@parametrize_with_checks(QUICK, expected_failed_checks=list_expected_failures)
@UNSCALED_DATA
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(SLOW, expected_failed_checks=list_expected_failures)
@UNSCALED_DATA
def test_scikit_learn_contract_with_other_settings(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    checked = {base for one in (*QUICK, *SLOW) for base in type(one).__mro__}
    assert set(ESTIMATORS) - checked == {RegionCovariance}  # checks have no images


def test_docs_name_every_expected_failure():
    page = (DOCS / "scikit-learn.md").read_text()
    table = page[page.index("check_estimator") :].partition("\n## ")[0]
    expected = {
        check for one in (*QUICK, *SLOW) for check in list_expected_failures(one)
    }
    listed = {*re.findall(r"check_\w+", table)} - {"check_estimator"}
    assert sorted(listed) == sorted(expected)


# -- links -----------------------------------------------------------------------------


@pytest.mark.parametrize("Estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_notebooks_link_to_the_page_of_the_class(Estimator):
    module = "kreinlearn" + ".features" * (Estimator is RegionCovariance)
    page = f"api/generated/{module}.{Estimator.__name__}.html"
    address = f"https://kreinlearn.readthedocs.io/en/stable/{page}"
    assert f'href="{address}"' in Estimator()._repr_html_()
    # Sphinx makes that page: one per name of this list.
    reference = (DOCS / "api.md").read_text()
    listed = re.search(rf"\.\. module:: {module}\n(.*?)```", reference, re.DOTALL)
    assert listed is not None
    assert ":toctree: api/generated" in listed[1]
    assert f"   {Estimator.__name__}\n" in listed[1]


def test_public_methods_have_types():
    for Estimator in ESTIMATORS:
        for name, method in inspect.getmembers(Estimator, inspect.isfunction):
            if name.startswith("_") or not method.__module__.startswith("kreinlearn"):
                continue
            given = inspect.signature(method)
            where = f"{Estimator.__name__}.{name}"
            assert given.return_annotation is not inspect.Signature.empty, where
            for one in list(given.parameters.values())[1:]:
                assert one.annotation is not inspect.Parameter.empty, (where, one)


# -- parameters of the kernel ----------------------------------------------------------


@pytest.mark.parametrize("Estimator", WITH_KERNEL, ids=lambda one: one.__name__)
def test_kernel_parameters_by_name(Estimator):
    own = {"sigma": 2.0}
    model = Estimator(kernel="gaussian_difference", kernel_params=own)
    assert model.get_params()["kernel_params__sigma"] == 2.0
    assert "kernel_params__sigma" not in model.get_params(deep=False)
    assert model.set_params(kernel_params__weight=0.3) is model
    assert model.kernel_params == {"sigma": 2.0, "weight": 0.3}
    assert own == {"sigma": 2.0}  # the caller's
    assert clone(model).kernel_params == model.kernel_params
    model.set_params(kernel_params={"weight": 0.1}, kernel_params__sigma=1.0)
    assert model.kernel_params == {"weight": 0.1, "sigma": 1.0}
    assert Estimator().set_params(kernel_params__tau=1.0).kernel_params == {"tau": 1.0}
    assert not any("__" in name for name in Estimator().get_params())
    assert "sigma" in model._repr_html_()


def test_parameters_that_do_not_exist():
    model = KreinLogisticRegression("rbf").set_params(kernel_params__sgima=1.0)
    with pytest.raises(TypeError, match="Kernel 'rbf' takes 'sigma', got 'sgima'"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter 'kernel_param' for"):
        model.set_params(kernel_param__sigma=1.0)
    search = KreinLogisticRegressionCV().set_params(kernel_params__sigma=1.0)
    with pytest.raises(ValueError, match="Several kernels go with neither"):
        search.fit(X, y)


# -- output of transformers ------------------------------------------------------------

TRANSFORMERS = {
    "repair": (SpectrumRepair("clip"), K, [f"x{i}" for i in range(40)]),
    "distances": (
        DistanceSimilarity(),
        np.abs(X[:, :1] - X[:, 0]),
        [f"x{i}" for i in range(40)],
    ),
    "landmarks": (
        LandmarkFeatures("rbf", n_landmarks=4),
        X,
        [f"landmarkfeatures{i}" for i in range(4)],
    ),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_give_frames(name, library):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    transformer, given, names = TRANSFORMERS[name]
    array = clone(transformer).fit(given).transform(given)
    model = clone(transformer).set_output(transform=library)
    frame = model.fit(given).transform(given)
    assert isinstance(frame, frames.DataFrame)
    assert list(frame.columns) == list(model.get_feature_names_out()) == names
    np.testing.assert_array_equal(frame.to_numpy(), array)
    with config_context(transform_output=library):
        again = clone(transformer).fit_transform(given)
    assert isinstance(again, frames.DataFrame)


def test_matrices_of_images_fit_no_frame():
    images = rng.uniform(size=(2, 8, 8))
    with config_context(transform_output="pandas"):
        assert RegionCovariance().fit_transform(images).shape == (2, 9, 9)
    with pytest.raises(ValueError, match="`set_output` is not available"):
        make_pipeline(RegionCovariance()).set_output(transform="pandas")


def test_unscaled_features_raise_a_warning_with_the_remedy():
    data = load_wine(as_frame=True)
    rows = slice(None, None, 3)
    X, y = data.data[rows], data.target[rows]
    model = KreinLogisticRegressionCV(kernel="rbf")
    with pytest.warns(UserWarning, match=r"1 of 13 features \(proline\) have 99%.*Mi"):
        model.fit(X, y)
    make_pipeline(MinMaxScaler(), model).fit(X, y)  # no warning
    KreinLogisticRegressionCV(kernel="distance").fit(cdist(X, X), y)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e200])
def test_scales_of_features_are_compared_without_overflow(scale):
    X = np.random.default_rng(0).normal(size=(20, 8))
    warn_unscaled(X * scale, None)
    X[:, 0] *= 1e3
    with pytest.warns(UserWarning, match=r"1 of 8 features \(0\)"):
        warn_unscaled(X, None)
    warn_unscaled(X[:, :3], None)  # too few columns to compare


def test_distances_without_their_kernel_raise_a_warning():
    D, y = cdist(X, X), (X.sum(axis=1) > 1.5).astype(int)
    with pytest.warns(UserWarning, match="Use kernel='distance'"):
        KreinLogisticRegressionCV(kernel="rbf").fit(D, y)
