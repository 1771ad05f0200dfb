"""The methods of the tables by name: from two halves to an outcome.

Each is a function of ``(X_train, y_train, X_test, y_test, cell)`` that gives fields of
a record. Features are scaled, labels -1 and +1.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.estimators import KreinLogisticRegressionCV
from kreinlearn.kernels import gram
from kreinlearn.paper.learners import (
    Exact,
    Learner,
    Margin,
    Published,
    iterations_of,
    status_of,
)
from kreinlearn.paper.published import TABLE2
from kreinlearn.paper.splits import RATIO, half_rows, scale, spectrum_fields
from kreinlearn.paper.tuning import (
    GRID,
    LOST,
    Choice,
    choice_fields,
    choose,
    subsample,
)
from kreinlearn.runs.cells import Cell
from kreinlearn.solvers import CCCP, PUBLISHED, SGD, Status

TL1 = ({"kernel": "tl1", "ratio": RATIO},)
GAUSSIANS = tuple({"kernel": "rbf", "sigma": sigma} for sigma in reversed(GRID))
"""The widest first: ties go to the smoothest."""
SEVERITY = [str(status) for status in Status]
"""From the best ending to the worst."""
SPLIT_LIMIT = 5000
"""Training rows up to which K is split by its eigenvectors, as in the paper."""

Method = Callable[[Array, Array, Array, Array, Cell], dict[str, Any]]


def learn(
    learner: Learner,
    kernels: tuple[Mapping[str, Any], ...],
    X_train: Array,
    y_train: Array,
    X_test: Array,
    y_test: Array,
    cell: Cell,
) -> dict[str, Any]:
    """Tune a learner on the training half, fit it, and score it on the test half.

    Parameters
    ----------
    learner : Learner
        The method.
    kernels : tuple of dict
        Arguments of `gram`, one for each setting to choose from.
    X_train, y_train, X_test, y_test : ndarray
        The halves.
    cell : Cell
        Seeds, and settings of the published procedure: "eps", "init", and "tuned",
        the method whose cross-validation chooses lam.

    Returns
    -------
    dict
        Fields of a record. Seconds are those of the estimator on a given matrix: not
        those of the kernel, the cross-validation or the scores.
    """
    n = len(y_train)
    learner = _adapted(learner, cell, n)
    # 1. Hyper-parameters, from at most MOST_ROWS rows of the training half.
    rows = subsample(n, cell.half_seed)
    matrices = [gram(X_train[rows], **kernel) for kernel in kernels]
    tuned = cell.setting("tuned")
    judge = learner if tuned is None else _adapted(LEARNERS[tuned], cell, n)
    choice = choose(
        judge, matrices, y_train[rows], half_seed=cell.half_seed, seed=cell.seed
    )
    del matrices
    kernel = kernels[choice.setting]
    # 2. Fit.
    K, gram_s = timed(gram, X_train, **kernel)
    value, model, fit_s = _fit(judge, choice, K, y_train, cell.seed)
    if judge != learner:
        model = learner.estimator(value, cell.seed)
        _, fit_s = timed(model.fit, K, y_train)
    fields = {
        "status": status_of(model),
        "fit_s": fit_s,
        "gram_s": gram_s,
        "n_iter": iterations_of(model),
        "n": n,
        "m": X_train.shape[1],
        **choice_fields(choice, learner, n),
        **spectrum_fields(K),
    }
    fields["chosen"][learner.parameter] = value
    if len(kernels) > 1:
        fields["chosen"]["sigma"] = kernel["sigma"]
        fields["grid"]["sigma"] = [each["sigma"] for each in kernels]
    if isinstance(learner, Published):
        if learner.solver.split != "paper":
            fields["split"] = learner.solver.split
        if cell.experiment.startswith("fig"):
            fields["curve"] = [row["value"] for row in model.history_]
    # 3. Score. The largest matrices fit in memory one at a time.
    del K
    K_test = gram(X_test, X_train, **kernel)
    return fields | judged(model, K_test, y_test)


def _fit(
    learner: Learner, choice: Choice, K: Array, y: Array, seed: int
) -> tuple[float, Any, float]:
    """Return the chosen value, the fitted estimator and the seconds of its fit.

    The rate of the published procedures is too long for a large K, and the more so the
    larger it is. Where lam was chosen on a part of the rows, the best value whose fit
    does not diverge on all of them is taken: what folds of all rows would have told.
    """
    candidates = [value for i, value in choice.ranking if i == choice.setting]
    if choice.rows == len(y):
        candidates = candidates[:1]
    first = None
    for value in candidates:
        model = learner.estimator(value, seed)
        _, seconds = timed(model.fit, K, y)
        first = first or (value, model, seconds)
        if status_of(model) not in LOST:
            return value, model, seconds
    assert first is not None  # a ranking is never empty
    return first


def _adapted(learner: Learner, cell: Cell, n: int) -> Learner:
    """Return the published procedure as the cell, and the size, ask for it."""
    if not isinstance(learner, Published):
        return learner
    given = {name: cell.setting(name) for name in ("eps", "init")}
    settings = {name: value for name, value in given.items() if value is not None}
    if n > SPLIT_LIMIT:
        settings["split"] = "shift"
    return learner.with_settings(**settings)


def krein_cv(
    X_train: Array, y_train: Array, X_test: Array, y_test: Array, cell: Cell
) -> dict[str, Any]:
    """Fit and score the recommended estimator with its defaults.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : ndarray
        The halves.
    cell : Cell
        Not used: nothing is random.

    Returns
    -------
    dict
        Fields of a record. Seconds are those of the whole fit, with its kernels and
        its cross-validation; the spectrum is that of the best kernel.
    """
    model = KreinLogisticRegressionCV()
    _, fit_s = timed(model.fit, X_train, y_train)
    params = dict(model.kernel_params_ or {})
    statuses = [status_of(each) for each in model.estimators_]
    return {
        "status": max(statuses, key=SEVERITY.index),
        "fit_s": fit_s,
        "n_iter": iterations_of(model),
        "n": len(y_train),
        "m": X_train.shape[1],
        "chosen": {
            "kernel": model.kernel_,
            **params,
            "lam": model.lam_,
            "norm": model.norm_,
            "averaged": len(model.estimators_),
        },
        "grid": {"lam": model.lams_, "kernels": len(model.scores_)},
        **spectrum_fields(gram(X_train, None, model.kernel_, **params)),
        **judged(model, X_test, y_test),
    }


def statistics(X: Array, cell: Cell) -> dict[str, Any]:
    """Return the extreme eigenvalues of the TL1 kernel on a random half.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Raw features.
    cell : Cell
        For its seed, and its data set, whose printed m gives tau.

    Returns
    -------
    dict
        Fields of a record.

    Notes
    -----
    Features are scaled over all rows and tau is 0.7 times the m that the paper
    prints: of all readings, the one that gives most of its eigenvalues.
    """
    rows, _ = half_rows(len(X), cell.half_seed)
    tau = RATIO * TABLE2[cell.dataset].m
    K = gram(scale(X)[0][rows], kernel="tl1", tau=tau)
    counts = {"n": len(rows), "m": X.shape[1], "tau": tau}
    return {"status": "done", **counts, **spectrum_fields(K)}


def timed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, float]:
    """Return what a call returns, and the seconds it took.

    Parameters
    ----------
    function : callable
        What to call.
    *args, **kwargs : object
        What with.

    Returns
    -------
    result : object
        What came back.
    seconds : float
        By the wall clock.
    """
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - start


def judged(model: Any, X: Array, y: Array) -> dict[str, Any]:
    """Judge a fitted model on test samples; every method by this one function.

    Parameters
    ----------
    model : estimator
        Fitted.
    X, y : ndarray
        Test samples as the model takes them, and their labels.

    Returns
    -------
    dict
        Fields of a record.
    """
    predicted, pred_s = timed(model.predict, X)
    right = predicted == y
    recalls = [right[y == label].mean() for label in np.unique(y)]
    fields = {
        "acc": float(right.mean()),
        "bacc": float(np.mean(recalls)),
        "pred_s": pred_s,
    }
    if hasattr(model, "predict_log_proba"):
        logs = model.predict_log_proba(X)
        column = np.searchsorted(model.classes_, y)
        fields["ll"] = float(-logs[np.arange(len(y)), column].mean())
    return fields


LEARNERS: dict[str, Learner] = {
    "Flip": Exact(repair="flip", out_of_sample="none"),
    "Clip": Exact(repair="clip", out_of_sample="none"),
    "Shift": Exact(repair="shift", out_of_sample="none"),
    "TDCASVM": Margin("tdcasvm"),
    "KSVM": Margin("ksvm"),
    "CCCP-GD": Published(PUBLISHED["cccp-gd"]),
    "CCICP-GD": Published(PUBLISHED["ccicp-gd"]),
    "CCICP-SGD": Published(PUBLISHED["ccicp-sgd"]),
    "CCICP-SGD-I": Published(CCCP(inner=SGD(), eps=1.0)),
    "IKLR krein": Exact("krein"),
    "IKLR hilbert": Exact("hilbert"),
    "Flip exact": Exact(repair="flip"),
    "Clip exact": Exact(repair="clip"),
    "SVC raw": Margin("svc"),
}
"""Learners on the TL1 matrix."""

METHODS: dict[str, Method] = {
    "KLR(RBF)": partial(learn, Exact(), GAUSSIANS),
    "SVM(RBF)": partial(learn, Margin("svc"), GAUSSIANS),
    **{name: partial(learn, each, TL1) for name, each in LEARNERS.items()},
    "KreinCV": krein_cv,
}
"""Every method by the name that tables give it."""
