"""Every method by name, for any number of classes and any data.

``methods.METHODS`` follows the paper: two classes, one grid, accuracy as the judge.
Here are the same methods as a user would compare them on other data, as scikit-learn
estimators: any number of classes, samples or Gram matrices, and one grid and the same
inner folds for all. Methods with probabilities are tuned by log-loss, the others, which
have none, by accuracy.

Letters: ``K`` (n, n) similarities among training samples; ``K_new`` (k, n) those of new
samples with them.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.metaestimators import available_if

from kreinlearn._typing import Array
from kreinlearn.estimators import (
    DCASVC,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    SpectrumRepair,
)
from kreinlearn.operators import few_threads
from kreinlearn.paper.learners import SMO_STEPS, status_of
from kreinlearn.paper.several import worst
from kreinlearn.paper.tuning import LOST

STRENGTHS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.1, 0.01)
"""Values of n lam, which is 1 / C, for all methods: ties go to the strongest."""
INNER_FOLDS = 5
WORST_LOG_LOSS = -float(np.log(np.finfo(float).eps))
"""Log-loss that a diverged fit counts as: the most that scikit-learn's can be."""

Folds = Sequence[tuple[Array, Array]]


def inner_folds(y: Array, seed: int) -> list[tuple[Array, Array]]:
    """Return the folds of training rows on which every method is tuned.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Training labels, at least two of each class.
    seed : int
        The same seed gives the same folds.

    Returns
    -------
    list of (train, test)
        Row numbers: five stratified folds, or as many as the rarest class has rows.
    """
    count = min(INNER_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))


def _repairer(mode: str) -> SpectrumRepair:
    """Return the repair as it works best: a shift spoils new rows if extended."""
    return SpectrumRepair(mode, "none" if mode == "shift" else "exact")


def _has(name: str) -> Callable[[Any], bool]:
    return lambda tuned: hasattr(tuned.model, name)


class Tuned(ClassifierMixin, BaseEstimator):
    """A classifier on Gram matrices, its strength chosen on inner folds.

    What ``GridSearchCV`` over a pipeline does, but each fold repairs its matrix once
    for all values, and a fit that diverged is never preferred.

    Parameters
    ----------
    model : estimator
        Takes Gram matrices.
    parameter : {"lam", "C"}
        Its hyper-parameter.
    values : sequence of float
        What to try, the strongest regularization first.
    folds : list of (train, test)
        Rows of the inner folds.
    repair : str, optional
        Mode of `SpectrumRepair`, fitted to the training rows of each fold.

    Attributes
    ----------
    model_ : estimator
        With the best value, fitted to all rows.
    scores_ : ndarray of shape (n_values,)
        Negative log-loss if the model has probabilities, or accuracy; mean of folds.
    statuses_ : Counter
        How many fits of the search ended how.
    repair_ : SpectrumRepair or None
        Fitted to all rows.
    """

    def __init__(self, model, parameter, values, folds, repair=None):
        self.model = model
        self.parameter = parameter
        self.values = values
        self.folds = folds
        self.repair = repair

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags

    def fit(self, K: Array, y: Array) -> Self:
        """Choose the value and fit it.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            Similarities.
        y : ndarray of shape (n,)
            Labels.

        Returns
        -------
        self : Tuned
            The fitted estimator.
        """
        self.classes_ = np.unique(y)
        self.statuses_: Counter[str] = Counter()
        scores = np.zeros((len(self.values), len(self.folds)))
        for f, (train, test) in enumerate(self.folds):
            repair, K_train = self._repaired(K[np.ix_(train, train)])
            K_test = K[np.ix_(test, train)]
            if repair is not None:
                K_test = repair.transform(K_test)
            for i, value in enumerate(self.values):
                model = self._with(value).fit(K_train, y[train])
                self.statuses_[status_of(model)] += 1
                scores[i, f] = self._score(model, K_test, y[test])
        self.scores_ = scores.mean(axis=1)
        best = self.values[int(self.scores_.argmax())]
        self.repair_, K = self._repaired(K)
        self.model_ = self._with(best).fit(K, y)
        return self

    def _with(self, value: float) -> Any:
        return clone(self.model).set_params(**{self.parameter: value})

    def _repaired(self, K: Array) -> tuple[SpectrumRepair | None, Array]:
        if self.repair is None:
            return None, K
        change = _repairer(self.repair)
        return change, change.fit_transform(K)

    def _score(self, model: Any, K: Array, y: Array) -> float:
        lost = status_of(model) in LOST
        if not hasattr(model, "predict_proba"):
            return 0.0 if lost else float(model.score(K, y))
        if lost:
            return -WORST_LOG_LOSS
        return -float(log_loss(y, model.predict_proba(K), labels=self.classes_))

    def _rows(self, K_new: Array) -> Array:
        return K_new if self.repair_ is None else self.repair_.transform(K_new)

    def predict(self, K_new: Array) -> Array:
        """Return labels.

        Parameters
        ----------
        K_new : ndarray of shape (k, n)
            Similarities of new samples with the training samples.

        Returns
        -------
        ndarray of shape (k,)
            Labels.
        """
        return np.asarray(self.model_.predict(self._rows(K_new)))

    def decision_function(self, K_new: Array) -> Array:
        """Return scores.

        Parameters
        ----------
        K_new : ndarray of shape (k, n)
            Similarities of new samples with the training samples.

        Returns
        -------
        ndarray of shape (k,) or (k, n_classes)
            Scores.
        """
        return np.asarray(self.model_.decision_function(self._rows(K_new)))

    @available_if(_has("predict_proba"))
    def predict_proba(self, K_new: Array) -> Array:
        """Return probabilities, if the model has them.

        Parameters
        ----------
        K_new : ndarray of shape (k, n)
            Similarities of new samples with the training samples.

        Returns
        -------
        ndarray of shape (k, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return np.asarray(self.model_.predict_proba(self._rows(K_new)))


@dataclass(frozen=True)
class Contender:
    """A method of a comparison.

    Parameters
    ----------
    make : callable
        From the number of training rows, inner folds and a seed to an estimator.
    on_samples : bool
        Whether it is given the samples and brings kernels of its own, instead of a
        Gram matrix.
    weight : float
        Seconds of a fit with its tuning on 1000 samples of two classes with one
        thread, roughly.
    """

    make: Callable[[int, Folds, int], Any]
    on_samples: bool = False
    weight: float = 1.0


def _krein_cv(n: int, folds: Folds, seed: int) -> Any:
    return KreinLogisticRegressionCV(cv=folds)


def _iklr(norms: tuple[str, ...], n: int, folds: Folds, seed: int) -> Any:
    return KreinLogisticRegressionCV(
        _lams(n), norms=norms, kernel="precomputed", cv=folds
    )


def _klr(
    repair: str | None, solver: str, n: int, folds: Folds, seed: int
) -> ClassifierMixin:
    model = KreinLogisticRegression("precomputed", solver=solver, random_state=seed)
    return Tuned(model, "lam", _lams(n), folds, repair)


def _machine(
    model: Any, repair: str | None, n: int, folds: Folds, seed: int
) -> ClassifierMixin:
    return Tuned(model, "C", [1 / strength for strength in STRENGTHS], folds, repair)


def _lams(n: int) -> list[float]:
    return [strength / n for strength in STRENGTHS]


_SVC = SVC(kernel="precomputed", max_iter=SMO_STEPS)

CONTENDERS: dict[str, Contender] = {
    "KreinCV": Contender(_krein_cv, on_samples=True, weight=16),
    "IKLR": Contender(partial(_iklr, ("krein", "hilbert")), weight=0.9),
    "IKLR krein": Contender(partial(_iklr, ("krein",)), weight=0.5),
    "IKLR hilbert": Contender(partial(_iklr, ("hilbert",)), weight=0.9),
    **{
        f"{mode} + KLR": Contender(partial(_klr, mode, "newton"), weight=4)
        for mode in ("clip", "flip", "shift", "square")
    },
    "SVC raw": Contender(partial(_machine, _SVC, None), weight=1.3),
    "SVC clip": Contender(partial(_machine, _SVC, "clip"), weight=3),
    "SVC flip": Contender(partial(_machine, _SVC, "flip"), weight=3),
    "KSVM": Contender(
        partial(_machine, KreinSVC(kernel="precomputed", max_iter=SMO_STEPS), None),
        weight=3,
    ),
    "TDCASVM": Contender(
        partial(_machine, DCASVC(kernel="precomputed"), None), weight=4
    ),
    "CCCP-GD": Contender(partial(_klr, None, "cccp-gd"), weight=4),
    "CCICP-GD": Contender(partial(_klr, None, "ccicp-gd"), weight=4),
    "CCICP-SGD": Contender(partial(_klr, None, "ccicp-sgd"), weight=4),
}
"""Every method by the name that tables give it."""


def fit(name: str, X: Array, y: Array, *, fold_seed: int, seed: int) -> Any:
    """Tune a method on training rows and fit it to them.

    Parameters
    ----------
    name : str
        One of `CONTENDERS`.
    X : ndarray of shape (n, m), or (n, n)
        Training samples, or their Gram matrix, as the method takes them.
    y : ndarray of shape (n,)
        Labels.
    fold_seed, seed : int
        Seeds of the inner folds, the same for all methods, and of the method itself.

    Returns
    -------
    estimator
        Fitted; it warns of nothing, `outcome_fields` tells how it ended.
    """
    folds = inner_folds(y, fold_seed)
    model = CONTENDERS[name].make(len(y), folds, seed % 2**32)
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        few_threads(len(y)),
    ):
        # Methods that do not converge are part of a comparison; the status says so.
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def outcome_fields(model: Any) -> dict[str, Any]:
    """Return what a record says about a fit.

    Parameters
    ----------
    model : estimator
        From `fit`.

    Returns
    -------
    dict
        Status, hyper-parameters, and how the fits of the search ended.
    """
    if isinstance(model, Tuned):
        chosen = {model.parameter: getattr(model.model_, model.parameter)}
        ended = dict(sorted(model.statuses_.items()))
        return {"status": status_of(model.model_), "chosen": chosen, "cv": ended}
    chosen = {"kernel": model.kernel_, **(model.kernel_params_ or {})}
    chosen |= {"lam": model.lam_, "norm": model.norm_}
    return {
        "status": worst([status_of(each) for each in model.estimators_]),
        "chosen": chosen,
    }
