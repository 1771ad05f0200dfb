"""The table of methods, and how one of them is tuned and fitted to any data."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from kreinlearn._typing import Array
from kreinlearn.app.methods.controls import GAMMAS, neighbors, on_features
from kreinlearn.app.methods.folds import grouped_folds, groups_per_class
from kreinlearn.app.methods.judging import status_of
from kreinlearn.app.methods.records import GIVEN, Method, exact, machine, published
from kreinlearn.app.methods.tuning import Choice, tune
from kreinlearn.estimators import DCASVC, KreinLogisticRegressionCV, KreinSVC
from kreinlearn.operators import limit_blas_threads
from kreinlearn.search import Fold
from kreinlearn.solvers import PUBLISHED

INNER_FOLDS = 5
SMO_STEPS = 1_000_000
"""Most steps of LIBSVM, which has no proof of convergence for an indefinite matrix."""
LBFGS_STEPS = 1000
"""Most steps of scikit-learn's logistic regression."""

METHODS: dict[str, Method] = {
    each.name: each
    for each in (
        Method(
            "KreinCV",
            lambda value, seed: KreinLogisticRegressionCV(),
            link="multinomial",
            search=lambda values, folds: KreinLogisticRegressionCV(cv=folds),
            on_samples=True,
            weight=16,
        ),
        Method(
            "IKLR",
            lambda value, seed: KreinLogisticRegressionCV(
                kernel="precomputed", kernel_params=GIVEN
            ),
            link="multinomial",
            search=lambda values, folds: KreinLogisticRegressionCV(
                kernel="precomputed", kernel_params=GIVEN, cv=folds
            ),
            weight=1.0,
        ),
        exact("IKLR krein", "krein", weight=0.5),
        exact("IKLR hilbert", "hilbert", weight=0.9),
        exact("IKLR euclidean", "euclidean", weight=0.9),
        exact("clip + KLR", repair="clip"),
        exact("flip + KLR", repair="flip"),
        # A shift spoils new rows if it is extended to them.
        exact("shift + KLR", repair="shift", out_of_sample="none"),
        exact("square + KLR", repair="square"),
        replace(
            machine("SVC raw", SVC, weight=1.3, max_iter=SMO_STEPS), definite_only=True
        ),
        machine("SVC clip", SVC, "clip", weight=3, max_iter=SMO_STEPS),
        machine("SVC flip", SVC, "flip", weight=3, max_iter=SMO_STEPS),
        machine("KSVM", KreinSVC, weight=3, max_iter=SMO_STEPS),
        machine("TDCASVM", DCASVC, weight=4),
        neighbors("k-NN", weight=0.3),
        on_features(
            "logistic regression",
            LogisticRegression(max_iter=LBFGS_STEPS),
            "multinomial",
            weight=0.3,
        ),
        on_features("SVC RBF", SVC(max_iter=SMO_STEPS), weight=4, gamma=GAMMAS),
        published("CCCP-GD", PUBLISHED["cccp-gd"]),
        published("CCICP-GD", PUBLISHED["ccicp-gd"]),
        published("CCICP-SGD", PUBLISHED["ccicp-sgd"]),
    )
}
"""Every method by the name that tables give it; to add a method, add a record."""


def inner_folds(
    y: Array, seed: int, least: int = 1, groups: Array | None = None
) -> list[Fold]:
    """Return five stratified folds, or as many as the rarest class has rows.

    With ``least``, there are never fewer than that, and some may lack a class. Groups
    stay together.
    """
    if groups is not None:
        count = min(INNER_FOLDS, *groups_per_class(y, groups).values())
        return grouped_folds(y, groups, count, seed)
    rarest = int(np.unique(y, return_counts=True)[1].min())
    count = max(least, min(INNER_FOLDS, rarest))
    splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))


@dataclass(frozen=True)
class Fitted:
    """A method that was tuned and fitted; ``choice`` is None if it chose for itself."""

    method: Method
    model: Any
    choice: Choice | None

    def fields(self) -> dict[str, Any]:
        """Return the status, what was chosen, and how the fits of the search ended."""
        if self.choice is not None:
            return {
                "status": status_of(self.model),
                "chosen": {self.method.parameter: self.choice.value},
                "cv": dict(sorted(self.choice.statuses.items())),
            }
        return {"status": status_of(self.model), "chosen": chosen_by(self.model)}


def chosen_by(model: Any) -> dict[str, Any]:
    """Return what an estimator chose for itself, as far as it says."""
    if hasattr(model, "best_params_"):
        return dict(model.best_params_)
    found = {"kernel": getattr(model, "kernel_", None)}
    found |= getattr(model, "kernel_params_", None) or {}
    found |= {name: getattr(model, f"{name}_", None) for name in ("lam", "norm")}
    return {name: value for name, value in found.items() if value is not None}


def fit_method(
    name: str,
    X: Array,
    y: Array,
    *,
    fold_seed: int,
    seed: int,
    groups: Array | None = None,
) -> Fitted:
    """Tune a method on training rows and fit it to them.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    X : ndarray of shape (n, m), or (n, n)
        Training samples, or their Gram matrix, as the method takes them.
    y : ndarray of shape (n,)
        Labels.
    fold_seed, seed : int
        Seeds of the inner folds, the same for all methods, and of the method itself.
    groups : ndarray of shape (n,), optional
        Rows that belong together, and stay so in the inner folds.

    Returns
    -------
    Fitted
        Warns of nothing: its status says how the fit ended.
    """
    method, folds = METHODS[name], inner_folds(y, fold_seed, groups=groups)
    values, seed = method.values(len(y)), seed % 2**32
    choice = None
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        limit_blas_threads(len(y)),
    ):
        # Methods that do not converge are part of a comparison.
        warnings.simplefilter("ignore")
        if method.search is not None:
            model = method.search(values, folds)
        elif method.parameter is None:
            model = method.build(np.nan, seed)
        else:
            choice = tune(method, [X], y, folds, values, seed=seed)
            model = method.build(method.per_sample(choice.value, len(y)), seed)
        return Fitted(method, model.fit(X, y), choice)
