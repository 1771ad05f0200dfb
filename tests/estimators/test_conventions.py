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
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kreinlearn
from kreinlearn import (
    DistanceSimilarity,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    LandmarkFeatures,
    SpectrumRepair,
)
from kreinlearn.estimators._base import warn_unscaled
from kreinlearn.features import RegionCovariance

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


LAMS = "values of lam that are tried depend on the number of rows"
STEPS = "LIBSVM's steps differ within the default tol; holds for a tight one"
REPEATED = {
    "DCASVC": STEPS,
    "KreinSVC": STEPS,
    "KreinLogisticRegressionCV": LAMS,
    "LandmarkLogisticRegression": f"it sets cv, and {LAMS}",
}
"""Why a weight of two is not the same as a row repeated, to 1e-7."""


def waived(estimator):
    why = REPEATED.get(type(estimator).__name__)
    kinds = () if why is None else ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in kinds}


OTHER_INPUT = (DistanceSimilarity, RegionCovariance)
"""Checks have no images; for distances they need a hint, test_distance_similarity."""


@pytest.mark.slow
@parametrize_with_checks(
    [one() for one in ESTIMATORS if one not in OTHER_INPUT],
    expected_failed_checks=waived,
)
@pytest.mark.filterwarnings(
    "ignore::kreinlearn.exceptions.IndefiniteKernelWarning",
    "ignore:The least populated class:UserWarning",
    "ignore:n_landmarks=:UserWarning",
)
def test_scikit_learn_contract_as_they_come(estimator, check):
    check(estimator)


def test_docs_name_every_expected_failure():
    page = (DOCS / "scikit-learn.md").read_text()
    table = page[page.index("check_estimator") :].partition("\n## ")[0]
    modules = [
        import_module(f"tests.estimators.test_{name}")
        for name in ("distance", "distance_similarity", "landmarks", "svm")
    ]
    expected = {check for one in ESTIMATORS for check in waived(one())}
    expected |= {*modules[0].EXPECTED, *modules[0].PROBABLE, *modules[1].EXPECTED}
    expected |= {*modules[2].WITHOUT_LAMS, *modules[3].EXPECTED}
    listed = {*re.findall(r"check_\w+", table)} - {"check_estimator"}
    assert sorted(listed) == sorted(expected)


# -- links -----------------------------------------------------------------------------


@pytest.mark.parametrize("Estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_notebooks_link_to_the_page_of_the_class(Estimator):
    room = "kreinlearn" + ".features" * (Estimator is RegionCovariance)
    page = f"api/generated/{room}.{Estimator.__name__}.html"
    address = f"https://kreinlearn.readthedocs.io/en/stable/{page}"
    assert f'href="{address}"' in Estimator()._repr_html_()
    # Sphinx makes that page: one per name of this list.
    reference = (DOCS / "api.md").read_text()
    listed = re.search(rf"\.\. module:: {room}\n(.*?)```", reference, re.DOTALL)
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


def test_kernel_parameters_in_the_grid_of_a_pipeline():
    model = make_pipeline(MinMaxScaler(), KreinSVC(kernel="tl1"))
    grid = {"kreinsvc__kernel_params__ratio": [0.3, 0.7], "kreinsvc__C": [1.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    ratio = search.best_params_["kreinsvc__kernel_params__ratio"]
    assert search.best_estimator_[-1].kernel_params == {"ratio": ratio}


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
