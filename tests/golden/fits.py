"""The golden fits as a table: estimator, parameters, samples, arguments of ``fit``.

Only public names of the package are used, since the rest may move.
"""

import tempfile
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

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
from kreinlearn.datasets import make_gram, make_monks
from kreinlearn.features import RegionCovariance
from kreinlearn.kernels import KERNELS, gram, rbf, tl1
from kreinlearn.pipelines import fit_from, prepare
from kreinlearn.solvers import CCCP, SGD, DualNewton, GradientDescent
from kreinlearn.spectrum import describe
from tests.golden.samples import Data, get_samples

NORMS = ("krein", "hilbert", "euclidean")
FORMS = ("exponential", "gaussian", "negative", "centered", "truncated")
KERNEL_SAMPLES = {
    "rows": "epanechnikov gaussian_difference laplacian linear log polynomial power "
    "rbf tanh tl1",
    "spd": "spd_affine_invariant spd_euclid spd_log_euclid spd_stein",
    "series": "adtw dtw erp lcss msm twe wdtw",
    "sequences": "jaro_winkler levenshtein needleman_wunsch smith_waterman",
    "graphs": "node_assignment weisfeiler_lehman_assignment",
    "clouds": "sliced_wasserstein wasserstein",
    "histograms": "histogram_wasserstein",
}
"""Names of samples, and the kernels that take them."""
SAMPLES_OF_KERNEL = {
    kernel: samples
    for samples, kernels in KERNEL_SAMPLES.items()
    for kernel in kernels.split()
}
WARNINGS = ("ConvergenceWarning", "DivergenceWarning", "IndefiniteKernelWarning")
"""Categories that are part of a result."""


class Fit(NamedTuple):
    """One case: ``make()`` gives an estimator that is fitted to samples of a name."""

    make: Any
    samples: str
    given: dict[str, Any]
    is_search: bool


def compare_rows(X, Y):
    """Return a similarity of the user's own: the cosine of the l1 distance."""
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    return np.cos(2 * np.abs(X[:, None] - Y[None]).sum(axis=2))


@cache
def list_fits() -> dict[str, Fit]:
    """Return all cases by name."""
    cases: dict[str, Fit] = {}

    def add(name, estimator, samples, fit=None, **params):
        is_search = estimator is KreinLogisticRegressionCV or "search" in name
        assert name not in cases, name
        cases[name] = Fit(partial(estimator, **params), samples, fit or {}, is_search)

    add_kernels(add)
    add_logistic(add)
    add_solvers(add)
    add_searches(add)
    add_machines(add)
    add_transformers(add)
    add_landmarks(add)
    return cases


def add_kernels(add):
    """Add every kernel: with norms, in single precision, and blocked."""
    model = KreinLogisticRegression
    for kernel, samples in SAMPLES_OF_KERNEL.items():
        for norm in NORMS if samples == "rows" else NORMS[1:]:
            add(f"kernel/{kernel}-{norm}", model, samples, kernel=kernel, norm=norm)
        if samples == "rows":
            single = {"kernel": kernel, "norm": "hilbert"}
            add(f"kernel/{kernel}-float32", model, "rows3_32", **single)
            blocked = {"kernel": kernel, "operator": "blocked", "norm": "krein"}
            add(f"kernel/{kernel}-blocked", model, "rows", **blocked)
        if samples == "spd":
            add(f"kernel/{kernel}-float32", model, "spd32", kernel=kernel)
            add(f"kernel/{kernel}-three", model, "spd3", kernel=kernel)
    for name, params in {
        "tl1": {"tau": 1.1},
        "rbf": {"sigma": 0.6},
        "polynomial": {"degree": 3},
        "spd_stein": {"sigma": 0.7},
        "dtw": {"window": 0.3, "form": "gaussian", "width": 0.7},
        "twe": {"form": "negative"},
        "wasserstein": {"p": 2.0, "form": "truncated"},
        "smith_waterman": {"gap_open": 8},
        "weisfeiler_lehman_assignment": {"rounds": 2},
    }.items():
        add(
            f"kernel/{name}-params",
            model,
            SAMPLES_OF_KERNEL[name],
            kernel=name,
            kernel_params=params,
            norm="hilbert",
        )
    add("kernel/dtw-channels", model, "channels", kernel="dtw", norm="hilbert")
    add("kernel/rbf-wide-rows", model, "wide rows", kernel="rbf")
    for norm in NORMS:
        add(f"kernel/callable-{norm}", model, "rows", kernel=compare_rows, norm=norm)
    add("kernel/function", model, "rows", kernel=tl1, kernel_params={"ratio": 0.5})
    add("kernel/function-blocked", model, "rows3", kernel=rbf, operator="blocked")


def add_logistic(add):
    """Add matrices, distances, weights and classes of the single estimator."""
    model, given = KreinLogisticRegression, {"kernel": "precomputed"}
    for norm in NORMS:
        for samples in ("matrix", "matrix3", "matrix32", "named matrix"):
            add(f"logistic/{samples}-{norm}", model, samples, **given, norm=norm)
        for multi_class in ("ovr", "multinomial"):
            params = {"norm": norm, "multi_class": multi_class}
            add(f"logistic/three-{multi_class}-{norm}", model, "rows3", **params)
        weights = {"sample_weight": np.arange(60) % 4 / 2}
        add(f"logistic/sample-weight-{norm}", model, "rows", weights, norm=norm)
        params = {"norm": norm, "class_weight": "balanced"}
        add(f"logistic/balanced-{norm}", model, "rows3", **params)
        for lam in (1e-4, 1.0):
            add(
                f"logistic/lam-{lam:g}-{norm}",
                model,
                "matrix",
                **given,
                norm=norm,
                lam=lam,
            )
    for how in ("mean", "max", "min"):
        for samples, kernel in (("matrix", "precomputed"), ("distances", "distance")):
            params = {"kernel": kernel, "symmetrize": how, "norm": "hilbert"}
            add(f"logistic/{how}-{samples}", model, f"skew {samples}", **params)
    add("logistic/asymmetric", model, "skew matrix", **given, norm="euclidean")
    add("logistic/rectangle", model, "rectangle", **given, norm="euclidean")
    for form in FORMS:
        for norm in ("krein", "hilbert"):
            params = {
                "kernel": "distance",
                "norm": norm,
                "kernel_params": {"form": form},
            }
            add(f"logistic/distance-{form}-{norm}", model, "distances", **params)
    params = {"kernel": "distance", "kernel_params": {"width": 0.4}}
    add("logistic/distance-float32", model, "distances32", **params)
    add("logistic/class-weight", model, "rows", class_weight={0: 1.0, 1: 3.0})
    add("logistic/no-intercept", model, "rows3", fit_intercept=False)
    add("logistic/float32-of-float64", model, "rows", dtype="float32")
    add("logistic/frame", model, "frame", norm="hilbert")
    for norm in ("krein", "euclidean"):
        params = {"operator": "blocked", "norm": norm}
        add(f"logistic/blocked-three-{norm}", model, "rows3", **params)
    params = {"operator": "blocked", "dtype": "float32"}
    add("logistic/blocked-float32", model, "more rows", **params)


def add_solvers(add):
    """Add the solver objects and the published procedures."""
    model = KreinLogisticRegression
    for name in ("cccp-gd", "ccicp-gd", "ccicp-sgd", "ccicp-sgd-i"):
        for ending in ("", "-as-printed"):
            params = {"solver": name + ending, "random_state": 0}
            add(f"published/{name}{ending}", model, "rows", **params)
        params = {"solver": name, "random_state": 0, "norm": "hilbert"}
        add(f"published/{name}-three", model, "rows3", **params)
    slow_start = np.linspace(-1, 1, 60)
    for name, solver in {
        "ones": CCCP(init="ones"),
        "minus-ones": CCCP(init="minus-ones"),
        "uniform": CCCP(init="uniform", eps=1e-2),
        "array": CCCP(init=slow_start, outer_iter=5),
        "tight": CCCP(split="tight", outer_iter=4),
        "shift": CCCP(split="shift"),
        "sum": CCCP(loss_scale="sum", stop_on="mean", max_inner=30),
        "lipschitz": CCCP(inner=GradientDescent(step="lipschitz"), eps=1e-3),
        "outer": CCCP(inner=GradientDescent(shrink="outer", eta=0.1), max_inner=50),
        "increase": CCCP(inner=GradientDescent(shrink="increase"), max_inner=50),
        "batches": CCCP(inner=SGD(batch_size=8, eta=0.1), eps=1e-3, max_inner=50),
        "newton": DualNewton(),
        "newton-short": DualNewton(max_iter=2),
        "newton-inexact": DualNewton(cg_iter=3),
    }.items():
        add(f"solver/{name}", model, "rows", solver=solver, random_state=3)
    add("solver/max-iter", model, "rows3", max_iter=1)
    add("solver/loose", model, "matrix3", kernel="precomputed", tol=1e-2)


def add_searches(add):
    """Add searches over kernels, norms and lam."""
    model = KreinLogisticRegressionCV
    few = {"lams": [0.1, 1e-2, 1e-3], "cv": 3}
    tl1_only = {"kernel": "tl1", **few}
    for samples in ("rows", "rows3"):
        for search in ("auto", "full"):
            add(f"search/{samples}-{search}", model, samples, search=search, cv=3)
    add("search/race", model, "more rows", random_state=1)
    add("search/race-three", model, "more rows3", cv=3)
    add("search/race-no-average", model, "more rows", average=False, kernel="tl1")
    add("search/default", model, "rows", n_jobs=2)
    add("search/n-jobs", model, "rows3", n_jobs=2, **tl1_only)
    add("search/no-average", model, "rows", average=False, **few)
    for norm in NORMS:
        add(f"search/{norm}", model, "rows", norms=(norm,), **tl1_only)
        params = {"kernel": "precomputed", "norms": (norm,), "cv": 3}
        add(f"search/matrix-{norm}", model, "matrix", **params)
    add("search/all-norms", model, "rows3", norms=NORMS, **tl1_only)
    grid = {"sigma": [0.3, 1.0]}
    add("search/grid", model, "rows", kernel="rbf", kernel_grid=grid, **few)
    add(
        "search/empty-grid", model, "rows", kernel=("tl1", "rbf"), kernel_grid={}, **few
    )
    add("search/fixed", model, "rows", kernel_params={"ratio": 0.4}, **tl1_only)
    for scoring in ("accuracy", "roc_auc"):
        add(f"search/{scoring}", model, "rows", scoring=scoring, **tl1_only)
    add("search/ovr", model, "rows3", multi_class="ovr", **tl1_only)
    add("search/balanced", model, "rows3", class_weight="balanced", **tl1_only)
    weights = {"sample_weight": np.arange(60) % 3 / 2 + 0.25}
    add("search/weights", model, "rows", weights, **tl1_only)
    groups = {"groups": np.arange(60) // 4}
    params = {"kernel": "tl1", "cv": GroupKFold(3), "lams": [0.1, 0.01]}
    add("search/groups", model, "rows", groups, **params)
    splitter = StratifiedKFold(4, shuffle=True, random_state=5)
    add("search/splitter", model, "rows", kernel="rbf", cv=splitter)
    add("search/float32", model, "rows32", **few)
    params = {"operator": "blocked", "norms": ("euclidean",)}
    add("search/blocked", model, "rows", **params, **tl1_only)
    add("search/no-refit", model, "rows", refit=False, **tl1_only)
    add("search/no-intercept", model, "rows", fit_intercept=False, **tl1_only)
    add("search/frame", model, "frame", **tl1_only)
    add("search/distance", model, "distances", kernel="distance", cv=3)
    add("search/distance-three", model, "distances3", kernel="distance", **few)
    params = {"kernel": "distance", "symmetrize": "mean"}
    add("search/skew-distance", model, "skew distances", **params, **few)
    add("search/asymmetric", model, "skew matrix", kernel="precomputed", **few)
    add("search/named-matrix", model, "named matrix", kernel="precomputed", **few)
    params = {"kernel": "precomputed", "norms": ("euclidean",)}
    add("search/rectangle", model, "rectangle", **params, **few)
    for kernel in ("dtw", "smith_waterman", "spd_stein", "wasserstein", "levenshtein"):
        add(f"search/{kernel}", model, SAMPLES_OF_KERNEL[kernel], kernel=kernel, cv=3)
    kernel = "weisfeiler_lehman_assignment"
    add("search/graphs", model, "graphs", kernel=kernel, **few)
    add("search/callable", model, "rows", kernel=compare_rows, **few)


def add_machines(add):
    """Add the two support vector machines."""
    for name, model in (("ksvm", KreinSVC), ("dca", DCASVC)):
        for C in (0.1, 10.0):
            add(f"{name}/C-{C:g}", model, "rows", C=C)
        add(f"{name}/three", model, "rows3", kernel="rbf")
        add(f"{name}/float32", model, "rows32")
        add(f"{name}/matrix", model, "matrix", kernel="precomputed")
        params = {"kernel": "distance", "kernel_params": {"form": "negative"}}
        add(f"{name}/distance", model, "distances", **params)
        add(f"{name}/dtw", model, "series", kernel="dtw")
        weights = {"sample_weight": np.arange(60) % 3}
        add(f"{name}/weights", model, "rows", weights, class_weight="balanced")
        add(f"{name}/max-iter", model, "rows", max_iter=2)
    add("dca/tanh", DCASVC, "rows", kernel="tanh")


def add_transformers(add):
    """Add transformers and pipelines."""
    for mode in ("flip", "clip", "shift", "square"):
        for extent in ("exact", "none"):
            params = {"mode": mode, "out_of_sample": extent}
            add(f"repair/{mode}-{extent}", SpectrumRepair, "matrix", **params)
    add("repair/float32", SpectrumRepair, "matrix32", mode="clip")
    add("repair/named", SpectrumRepair, "named matrix")
    for form in FORMS:
        add(f"similarity/{form}", DistanceSimilarity, "distances", form=form, width=0.8)
    add("similarity/float32", DistanceSimilarity, "distances32")
    add("features/default", LandmarkFeatures, "rows")
    for how in ("uniform", "kmeans++", "leverage"):
        params = {"n_landmarks": 15, "landmarks": how}
        add(f"features/{how}", LandmarkFeatures, "rows", **params)
    add("features/float32", LandmarkFeatures, "rows32", kernel="rbf", n_landmarks=20)
    add("features/dtw", LandmarkFeatures, "series", kernel="dtw", n_landmarks=9)
    for name, params in (("default", {}), ("grid", {"grid": (2, 2), "ridge": 1e-3})):
        add(f"regions/{name}", RegionCovariance, "images", **params)
    logistic = KreinLogisticRegression
    for name, samples, steps in (
        ("scaled", "rows3", [MinMaxScaler(), logistic(norm="hilbert")]),
        (
            "clip-svc",
            "matrix",
            [SpectrumRepair(mode="clip"), SVC(kernel="precomputed")],
        ),
        ("images", "images", [RegionCovariance(), logistic("spd_log_euclid")]),
        ("ridge", "rows", [LandmarkFeatures(n_landmarks=20), RidgeClassifier()]),
        (
            "distance-svc",
            "distances",
            [
                DistanceSimilarity(form="gaussian"),
                SpectrumRepair(),
                SVC(kernel="precomputed"),
            ],
        ),
    ):
        add(f"pipeline/{name}", lambda steps=steps: make_pipeline(*steps), samples)
    add("pipeline/prepared", make_prepared, "frame")
    grid = {"lam": [0.1, 0.01], "kernel_params": [{"ratio": 0.3}, {"ratio": 0.6}]}
    add("pipeline/grid", lambda: GridSearchCV(logistic(), grid, cv=3), "rows")


def make_prepared():
    return make_pipeline(prepare(get_samples("frame").X), KreinLogisticRegression())


def add_landmarks(add):
    """Add landmark models; `make_source` gives rows that are not arrays."""
    model = LandmarkLogisticRegression
    few = {"n_landmarks": 20, "lam": 1e-3}
    for norm in NORMS:
        add(f"landmarks/{norm}", model, "rows", norm=norm, **few)
        add(f"landmarks/three-{norm}", model, "more rows3", norm=norm, **few)
    for how in ("kmeans++", "leverage"):
        add(
            f"landmarks/{how}", model, "more rows", landmarks=how, random_state=2, **few
        )
    given = get_samples("rows").new
    add("landmarks/given", model, "rows", landmarks=given, kernel="rbf", lam=1e-3)
    add("landmarks/all", model, "rows", lam=1e-2)
    add("landmarks/ovr", model, "rows3", multi_class="ovr", **few)
    add("landmarks/float32", model, "rows3_32", dtype="float32", **few)
    add("landmarks/chunks-of-7", model, "rows", chunk_size=7, memory=2000, **few)
    weights = {"sample_weight": np.arange(60) % 3 / 2}
    add("landmarks/weights", model, "rows", weights, class_weight="balanced", **few)
    params = {"lams": [0.1, 0.01], "kernel_grid": {"ratio": [0.3, 0.7]}}
    add("landmarks/search", model, "rows", n_landmarks=15, cv=3, **params)
    add("landmarks/search-lam", model, "rows3", n_landmarks=15, cv=3)
    for kernel in ("dtw", "smith_waterman", "spd_stein"):
        params = {"kernel": kernel, "n_landmarks": 9, "lam": 1e-2}
        add(f"landmarks/{kernel}", model, SAMPLES_OF_KERNEL[kernel], **params)
    add("landmarks/distance", model, "distances", kernel="distance", **few)
    add("landmarks/matrix", model, "matrix", kernel="precomputed", **few)
    params = {"kernel": "precomputed", "landmarks": np.arange(30), "lam": 1e-3}
    add("landmarks/rectangle", model, "rectangle", **params)
    add("landmarks/callable", model, "rows", kernel=compare_rows, **few)
    for source in ("memory map", "parquet", "csv", "dataset", "chunks", "generator"):
        add(f"landmarks/{source}", model, f"source: {source}", **few)
    for source in ("dask array", "dask frame", "delayed"):
        add(f"landmarks/{source}", model, f"source: {source}", **few)
    add("landmarks/dask-three", model, "source: dask array3", **few)
    add("landmarks/fit-from", model, "source: fit_from", **few)


def make_source(name: str, folder: Path) -> Data:
    """Return rows as a file, an iterable or a Dask collection."""
    frame = get_samples("frame")
    table = frame.X.assign(kind=frame.y)
    X, y = frame.X.to_numpy(), frame.y
    parts = [(X[i : i + 17], y[i : i + 17]) for i in range(0, len(X), 17)]
    if name == "memory map":
        np.save(folder / "X.npy", X)
        return Data(np.load(folder / "X.npy", mmap_mode="r"), y, frame.new.to_numpy())
    if name == "csv" or name == "fit_from":
        table.to_csv(folder / "t.csv", index=False)
        return Data(folder / "t.csv", "kind", frame.new)
    if name in ("parquet", "dataset"):
        import pyarrow.dataset

        table[:25].to_parquet(folder / "0.parquet", index=False)
        table[25:].to_parquet(folder / "1.parquet", index=False)
        found = folder if name == "parquet" else pyarrow.dataset.dataset(folder)
        return Data(found, "kind", frame.new)
    if name in ("chunks", "generator"):
        found = parts if name == "chunks" else lambda: iter(parts)
        return Data(found, None, frame.new.to_numpy())
    import dask
    import dask.array
    import dask.dataframe

    if name == "dask frame":
        whole = dask.dataframe.from_pandas(table, npartitions=3)
        return Data(whole[list("abcd")], whole["kind"], frame.new)
    if name == "delayed":
        lazy = [
            [dask.delayed(each) for each in part] for part in zip(*parts, strict=True)
        ]
        return Data(*lazy, frame.new.to_numpy())
    if name == "dask array3":
        X, y, _ = get_samples("rows3")
    found = (
        dask.array.from_array(X, chunks=(20, -1)),
        dask.array.from_array(y, chunks=20),
    )
    return Data(*found, frame.new.to_numpy())


def run_fit(name: str) -> dict[str, Any]:
    """Fit one case; return its fitted attributes and outputs by field."""
    case = list_fits()[name]
    model, given = case.make(), case.given
    with tempfile.TemporaryDirectory() as folder:
        if not case.samples.startswith("source: "):
            data = get_samples(case.samples)
        else:
            data = make_source(case.samples.removeprefix("source: "), Path(folder))
        if "fit-from" in name:
            model = fit_from(model, data.X, data.y)
        elif "dask" in case.samples or "delayed" in case.samples:
            fit_on_cluster(model, data)
        else:
            model.fit(data.X, data.y, **given)
        found = record_attributes(model)
        if hasattr(model, "fit_transform") and not hasattr(model, "predict"):
            found["fit_transform"] = model.fit_transform(data.X, data.y)
        return found | record_outputs(model, data.new)


def fit_on_cluster(model, data):
    """Fit on one worker with one thread, so that sums are in one order."""
    import distributed

    settings = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(dashboard_address=None, **settings) as cluster,
        distributed.Client(cluster),
    ):
        model.fit(data.X, data.y)


UNRECORDED = ("history_", "X_fit_", "estimators_", "cv_results_", "refit_time_")
"""Attributes with seconds or with copies of the samples."""


def record_attributes(model) -> dict[str, Any]:
    """Return all fitted attributes; of a pipeline those of its last step."""
    if hasattr(model, "steps"):
        model = model.steps[-1][1]
    names = [each for each in dir(model) if each.endswith("_") and each[0] != "_"]
    found = {}
    for name in names:
        if name not in UNRECORDED and hasattr(model, name):
            found[name] = simplify(getattr(model, name))
    for i, each in enumerate(getattr(model, "estimators_", ())):
        found[f"estimators_[{i}].dual_coef_"] = each.dual_coef_
        found[f"estimators_[{i}].residual_"] = each.residual_
    if "tol" in model.get_params():
        found["tol"] = model.tol
    return found


def record_outputs(model, new) -> dict[str, Any]:
    """Return everything that a model computes for new samples."""
    methods = ("predict", "predict_proba", "decision_function", "transform")
    if not getattr(model, "refit", True):
        return {}
    return {
        name: np.asarray(getattr(model, name)(new))
        for name in methods
        if hasattr(model, name)
    }


def simplify(value: Any) -> Any:
    """Return arrays, numbers, text and containers as they are, others by name."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): simplify(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [simplify(each) for each in value]
    if isinstance(value, pd.DataFrame | pd.Series):
        return value.to_numpy()
    if value is None or isinstance(value, bool | int | float | str | np.ndarray):
        return value
    return getattr(value, "__name__", type(value).__name__)


@cache
def list_functions() -> dict[str, Any]:
    """Return calls of public functions by name; each gives results by field."""
    cases = {}
    for problem in (1, 2, 3):
        cases[f"monks-{problem}"] = lambda p=problem: dict_fields(make_monks(p))
    for signature in ((5, 3), (4, 4, 2)):
        name = f"make-gram-{len(signature)}"
        cases[name] = lambda s=signature: dict_fields(make_gram(s, random_state=0))
    for samples in ("matrix", "matrix32"):
        cases[f"describe-{samples}"] = lambda s=samples: describe_matrix(s)
    for kernel in SAMPLES_OF_KERNEL:
        cases[f"gram-{kernel}"] = lambda k=kernel: compute_grams(k)
    return {f"function/{name}": call for name, call in cases.items()}


def dict_fields(results):
    return dict(zip("Xy", results, strict=True))


def describe_matrix(samples):
    return simplify(describe(get_samples(samples).X, lam=0.01))


def compute_grams(kernel):
    """Return the matrices of a kernel, or of the measure of one that has none."""
    X, _, new = get_samples(SAMPLES_OF_KERNEL[kernel])
    compute = KERNELS[kernel]
    if SAMPLES_OF_KERNEL[kernel] in ("rows", "spd"):
        compute = partial(gram, kernel=kernel)
    return {"square": compute(X), "cross": compute(new, X)}


def list_cases() -> list[str]:
    """Return the names of all fits and functions."""
    return [*list_fits(), *list_functions()]


def run_case(name: str) -> dict[str, Any]:
    """Return the results of a case by field; an error is a field of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            functions = list_functions()
            found = functions[name]() if name in functions else run_fit(name)
        except Exception as error:
            found = {"error": type(error).__name__}
    categories = {each.category.__name__ for each in caught}
    return found | {"warnings": sorted(categories & set(WARNINGS))}
