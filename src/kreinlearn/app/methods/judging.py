"""How fits ended, and how good they are on new samples.

Letters: scores (k, c), with c = 1 column for two classes, else one per class.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import Pipeline

from kreinlearn._typing import Array
from kreinlearn.solvers import Status

P = ParamSpec("P")
T = TypeVar("T")


def worst(statuses: Iterable[str]) -> str:
    """Return the worst of several endings."""
    return max(statuses, key=[str(status) for status in Status].index)


def status_of(model: Any) -> str:
    """Return how a fit ended, the worst of all parts of a model."""
    last = _last(model)
    if hasattr(last, "estimators_"):
        return worst(status_of(each) for each in last.estimators_)
    if hasattr(last, "status_"):
        return str(last.status_)
    most, count = getattr(last, "max_iter", -1), iterations_of(last)
    # Scikit-learn's own way to say so, which its logistic regression does not have.
    is_cut = count is not None and 0 < most <= count
    return "max_iter" if getattr(last, "fit_status_", is_cut) else "converged"


def _last(model: Any) -> Any:
    """Return the fit itself, of a search or of a pipeline."""
    best = getattr(model, "best_estimator_", model)
    return best[-1] if isinstance(best, Pipeline) else best


def iterations_of(model: Any) -> int | None:
    """Return the number of iterations of a fit, as the estimator counts them."""
    last = _last(model)
    count = getattr(last, "n_iter_", None)
    return None if count is None else int(np.max(count))


def timed(
    function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> tuple[T, float]:
    """Return what a call returns, and the seconds it took."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - start


def judged(model: Any, X: Array, y: Array, *, most_loss: float = np.inf) -> dict:
    """Judge a fitted model on new samples; every method by this one function.

    Parameters
    ----------
    model : estimator
        Fitted.
    X, y : ndarray
        New samples as the model takes them, and their labels.
    most_loss : float
        Largest log-loss that a sample counts with.

    Returns
    -------
    dict
        Fields of a record: ``acc``, ``bacc``, ``pred_s``, ``truth``; ``ll`` and
        ``proba``, or ``score``. Two classes have one column, that of the second.
    """
    predicted, pred_s = timed(model.predict, X)
    fields = {
        "acc": float((predicted == y).mean()),
        "bacc": float(balanced_accuracy_score(y, predicted)),
        "pred_s": pred_s,
        "truth": y,
    }
    if hasattr(model, "predict_log_proba"):
        logs = model.predict_log_proba(X)
        own = logs[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        fields["ll"] = float(-np.maximum(own, -most_loss).mean())
        proba = np.exp(logs)
        fields["proba"] = proba[:, 1] if proba.shape[1] == 2 else proba
    else:
        scores = scores_of(model, X)
        fields["score"] = scores[:, 0] if scores.shape[1] == 1 else scores
    return fields


def scores_of(model: Any, X: Array) -> Array:
    """Return scores of shape (k, c)."""
    return np.asarray(model.decision_function(X)).reshape(len(X), -1)
