"""One table of methods: how each is built, tuned and scored.

Some methods score all values of a hyper-parameter at once, and share a repair or a
split of K, or one block of problems for the exact solver. Such a `path` ends at the
same solutions as the estimators.

Notation: ``K`` (n, n) similarities among training samples; ``K_new`` (k, n) those of
new samples with them; scores (k, c), with c = 1 column for two classes, else one per
class.
"""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, ParamSpec, Self, TypeAlias, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from kreinlearn._typing import Array
from kreinlearn.app.runs import Record
from kreinlearn.estimators import (
    DCASVC,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    SpectrumRepair,
)
from kreinlearn.losses import find_link, log_probabilities, loss_for
from kreinlearn.operators import Dense, limit_blas_threads
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.search import DUAL_TOL, Fold
from kreinlearn.solvers import CCCP, PUBLISHED, DualNewton, Status
from kreinlearn.spectrum import split
from kreinlearn.spectrum.norms import make_dual_matrix

__all__ = ["ALL_METHODS", "Method", "fit_method", "held_out_scores", "tune"]

LAM_UNITS = (100.0, 10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Values of n lam that comparisons try, in units of the matrix."""
SVM_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""Values of C that comparisons try, in the same units. Beyond, LIBSVM runs into its
limit of steps where classes overlap, and changes nothing where they do not."""
NEIGHBOR_COUNTS = (11.0, 7.0, 5.0, 3.0, 1.0)
"""Numbers of neighbors that comparisons try; odd, so that two classes cannot tie."""
RBF_GAMMAS = (0.01, 0.1, 1.0, 10.0)
"""Values of gamma of a Gaussian on features in [0, 1], the widest first."""
SOLVER_TOL = 1e-6
"""Default tolerance of the estimators."""
SMO_STEPS = 1_000_000
"""Most steps of LIBSVM, which has no proof of convergence for an indefinite matrix."""
CALIBRATION_FOLDS = 5
"""Folds whose out-of-fold scores fit the probabilities of a calibrated SVM."""
LBFGS_STEPS = 1000
"""Most steps of scikit-learn's logistic regression."""
UNCHECKED_PARAMS = {"check": False}
"""Kernel parameters of a matrix of similarities that was checked before."""
GIVEN_GRAM: Any = {"kernel": "precomputed", "kernel_params": UNCHECKED_PARAMS}
"""Arguments of our estimators for such a matrix."""


Classifier: TypeAlias = Any
"""An estimator of scikit-learn, which has no types; its scores are optional."""
Build = Callable[[float, int], Classifier]
"""From a value of the hyper-parameter and a seed to an unfitted estimator."""
Values = Sequence[float]
"""Values of a hyper-parameter."""
Search = Callable[..., Classifier]
"""From values and folds to an unfitted estimator that tunes itself."""
Scores = list[tuple[Array, str]]
"""Scores and status of each value."""
Path = Callable[[Array, Array, Array, Values, int], Scores]
"""From (K, y, K_new, values, seed) to the scores of each value."""


@dataclass(frozen=True)
class Method:
    """A method that learns from a Gram matrix, or from samples.

    Parameters
    ----------
    name : str
        Name in tables.
    build : callable
        Returns the unfitted estimator for a value and a seed: a pipeline, if the
        matrix is repaired first.
    parameter : {"lam", "C", "n_neighbors"} or None
        Hyper-parameter; None if the method tunes itself, or has none.
    link : {"multinomial", "ovr"} or None
        How scores of more than two classes become probabilities; None if the method
        has no probabilities.
    path : callable, optional
        Scores all values of a fold at once.
    search : callable, optional
        Returns an estimator that chooses among values itself, on given folds.
    search_path : callable, optional
        The path as `kreinlearn.search` solves it: to its tolerance, and each value
        from the solution of the value before, which is larger.
    input : {"gram", "rows", "data"}
        Input of the estimator: a Gram matrix; the features of a table; or the data as
        `krein fit` takes them, with the kernel as keyword arguments of ``search``.
    is_control : bool
        Whether it is a simple baseline, without a model of the similarity.
    definite_only : bool
        Whether its theory needs a positive semidefinite matrix.
    summed : bool
        Whether its values of lam belong to the summed loss, and are n times ours.
    on_request : bool
        Whether a comparison runs it only if it is named: the published procedures,
        which take longer than all other methods together, and calibrated SVMs.
    is_calibrated : bool
        Whether probabilities are fitted to out-of-fold scores, after the tuning.
    weight : float
        Rough seconds of `fit_method` with 1000 samples of two classes and one thread.
    """

    name: str
    build: Build
    parameter: Literal["lam", "C", "n_neighbors"] | None = None
    link: Literal["multinomial", "ovr"] | None = None
    path: Path | None = None
    search: Search | None = None
    search_path: Path | None = None
    input: Literal["gram", "rows", "data"] = "gram"
    is_control: bool = False
    definite_only: bool = False
    summed: bool = False
    on_request: bool = False
    is_calibrated: bool = False
    weight: float = 1.0

    @property
    def has_proba(self) -> bool:
        """Whether it has probabilities."""
        return self.link is not None or self.is_calibrated

    @property
    def score(self) -> str:
        """Score for tuning: "log_loss" if scores are log-odds, else "accuracy"."""
        return "accuracy" if self.link is None else "log_loss"

    def values(self, n: int) -> list[float]:
        """Return the values for n rows, the strongest regularization first."""
        if self.parameter == "C":
            return list(SVM_COSTS)
        if self.parameter == "n_neighbors":
            return list(NEIGHBOR_COUNTS)
        return [unit if self.summed else unit / n for unit in LAM_UNITS]

    def per_sample(self, value: float, n: int) -> float:
        """Return a value of lam in our units, those of the mean loss of n rows.

        ``sum of losses + (lam / 2) a'Ka`` is n times our objective with ``lam / n``.
        """
        return value / n if self.summed else value

    def compute_path(
        self, K: Array, y: Array, K_new: Array, values: Values, seed: int
    ) -> Scores:
        """Return the scores of all values: by the path, or by one fit for each."""
        if self.path is not None:
            return self.path(K, y, K_new, values, seed)
        found, lams = [], [self.per_sample(value, len(y)) for value in values]
        for model, rows in _fit_each(self.build, K, y, K_new, lams, seed):
            if self.has_proba:
                scores = get_scores(model, rows)
            else:  # estimators break ties of votes in their own ways
                hits = model.predict(rows)[:, None] == np.unique(y)
                scores = np.where(hits[:, 1:] if hits.shape[1] == 2 else hits, 1.0, -1)
            found.append((scores, get_status(model)))
        return found


def krein_regression(
    name: str,
    norm: Literal["krein", "hilbert", "euclidean"] = "krein",
    repair: str | None = None,
    out_of_sample: Literal["exact", "none"] = "exact",
    weight: float = 4.0,
) -> Method:
    r"""Return logistic regression by Newton's method, on K or on a repaired K.

    Parameters
    ----------
    name, weight
        See `Method`.
    norm : {"krein", "hilbert", "euclidean"}
        Penalty a'Ka, a'\|K\|a or a'a.
    repair : str, optional
        Mode of `SpectrumRepair`, applied first.
    out_of_sample : {"exact", "none"}
        Whether new samples are repaired as well.
    """
    transformer = SpectrumRepair(repair or "clip", out_of_sample, check=False)

    def build(value: float, seed: int) -> Classifier:
        model = KreinLogisticRegression(**GIVEN_GRAM, lam=value, norm=norm)
        return model if repair is None else make_pipeline(clone(transformer), model)

    def solve(
        is_search: bool, K: Array, y: Array, K_new: Array, values: Values, seed: int
    ) -> Scores:
        if repair is not None:
            fitted = clone(transformer)
            K, K_new = fitted.fit_transform(K), fitted.transform(K_new)
        n, lams = len(y), np.asarray(values, dtype=float)
        matrix, back = make_dual_matrix(norm, Dense(K), np.ones(n), formed=True)
        classes = np.unique(y)
        targets = (y[:, None] == classes).astype(float)
        targets = targets[:, 1:] if len(classes) == 2 else targets
        block = KreinDual(
            matrix,
            np.repeat(targets[:, None], len(lams), axis=1),
            np.full((n, len(lams)), 1 / n),
            lams,
            loss_for(len(classes) > 2),
        )
        tol = DUAL_TOL if is_search else SOLVER_TOL
        after = range(-1, len(lams) - 1) if is_search else None
        result = DualNewton().solve(block, tol=tol, after=after)
        point = block.point(result.w, result.F)
        scores = K_new @ back(point.A.reshape(n, -1))
        scores = scores.reshape(len(K_new), *point.A.shape[1:]) + point.c
        return [(scores[:, j], str(result.status[j])) for j in range(len(lams))]

    def search(values: Values, folds: Sequence[Fold]) -> Classifier:
        model = KreinLogisticRegressionCV(**GIVEN_GRAM, norms=(norm,))
        return model.set_params(lams=values, cv=folds)

    return Method(
        name,
        build,
        "lam",
        "multinomial",
        path=partial(solve, False),
        search=search if repair is None else None,
        search_path=partial(solve, True),
        weight=weight,
    )


def published(name: str, solver: CCCP, *, summed: bool = False) -> Method:
    """Return a procedure of the paper.

    More than two classes are learned one against the rest. The path splits K once,
    and all classes and values are columns of one block.
    """

    def build(value: float, seed: int) -> Classifier:
        model = KreinLogisticRegression(**GIVEN_GRAM, lam=value, solver=solver)
        return model.set_params(random_state=seed)

    def path(K: Array, y: Array, K_new: Array, values: Values, seed: int) -> Scores:
        n, labels = len(y), np.unique(y)
        targets = np.where(y[:, None] == labels, 1.0, -1.0)
        targets = targets[:, 1:] if len(labels) == 2 else targets
        c = targets.shape[1]
        lams = np.array([value / n if summed else value for value in values])
        # A random stream per value: results do not depend on the other values.
        streams = [[seed, int(1e6 * value)] for value in values for _ in range(c)]
        risk = KreinRisk(
            Dense(K),
            split(Dense(K), solver.split),
            np.tile(targets, len(values)),
            np.full(n, 1 / n),
            np.repeat(lams, c),
            scale=float(n) if solver.loss_scale == "sum" else 1.0,
        )
        rngs = [np.random.default_rng(stream) for stream in streams]
        result = solver.solve(risk, tol=SOLVER_TOL, rng=rngs)
        scores = (K_new @ result.w[:n] + result.w[n]).reshape(len(K_new), -1, c)
        return [
            (scores[:, j], worst_status(result.status[j * c : (j + 1) * c]))
            for j in range(len(values))
        ]

    method = Method(name, build, "lam", "ovr", path, summed=summed)
    return replace(method, on_request=True, weight=4.0)


def support_vector_machine(
    name: str,
    model: type,
    weight: float,
    repair: str | None = None,
    is_calibrated: bool = False,
) -> Method:
    """Return a support vector machine, on K or on a repaired K.

    Calibrated probabilities are those of Platt: sigmoid functions of out-of-fold
    scores, one class against the rest.
    """

    def build(value: float, seed: int) -> Classifier:
        last = model(C=value, kernel="precomputed")
        if model is not DCASVC:
            last.set_params(max_iter=SMO_STEPS)
        if model is not SVC:
            last.set_params(kernel_params=UNCHECKED_PARAMS)
        if repair is None:
            return last
        return make_pipeline(SpectrumRepair(mode=repair, check=False), last)

    def build_calibrated(value: float, seed: int) -> Classifier:
        folds = StratifiedKFold(CALIBRATION_FOLDS, shuffle=True, random_state=seed)
        return CalibratedClassifierCV(build(value, seed), cv=folds, ensemble=False)

    def path(K: Array, y: Array, K_new: Array, values: Values, seed: int) -> Scores:
        fits = _fit_each(build, K, y, K_new, values, seed)
        return [(get_scores(m, rows), get_status(m)) for m, rows in fits]

    method = Method(name, build, "C", path=path, weight=weight)
    if not is_calibrated:
        return method
    return replace(method, build=build_calibrated, is_calibrated=True, on_request=True)


class SimilarityNeighbors(ClassifierMixin, BaseEstimator):
    """Vote of the nearest training samples, on a Gram matrix.

    The squared distance of x and z is ``k(x, x) + k(z, z) - 2 k(x, z)``. The first term
    is the same for all neighbors z of x: neighbors are ranked by the other two, and
    k(x, x) is not needed. Negative squared distances of an indefinite similarity are
    nearer than zero. Votes are too coarse for probabilities.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbors that vote; all samples if there are fewer. Ties of votes go
        to the class of the nearest of the tied; equally near samples are taken in the
        order of training.
    """

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, K: Array, y: Array) -> Self:
        """Store the labels, and the similarity of each sample with itself."""
        self.classes_, self.index_ = np.unique(y, return_inverse=True)
        self.own_ = np.diag(K).copy()
        return self

    def decision_function(self, K: Array) -> Array:
        """Return fractions of the votes; for two classes that of the second less 1/2.

        Nearer neighbors have a slightly larger vote, which only breaks ties.
        """
        k = min(self.n_neighbors, len(self.own_))
        nearest = np.argsort(self.own_ - 2 * K, axis=1, kind="stable")[:, :k]
        # Halves sum to less than one, and each to more than all after it.
        votes = 1 + 0.5 ** np.arange(1, k + 1)
        hits = self.index_[nearest][:, :, None] == np.arange(len(self.classes_))
        fractions = votes @ hits / votes.sum()
        return fractions[:, 1] - 0.5 if fractions.shape[1] == 2 else fractions

    def predict(self, K: Array) -> Array:
        """Return the labels with the largest fractions."""
        scores = self.decision_function(K)
        place = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[place.astype(int)])


def feature_baseline(
    name: str,
    model: BaseEstimator,
    link: Literal["multinomial"] | None = None,
    *,
    weight: float,
    **grid: Values,
) -> Method:
    """Return a classifier of scikit-learn on the features of a table.

    Its C is tuned by a grid search, and further parameters in ``grid``, whose values
    begin with the smoothest.
    """

    def search(values: Values, folds: Sequence[Fold]) -> Classifier:
        scoring = "accuracy" if link is None else "neg_log_loss"
        tried = {"C": list(values), **grid}
        return GridSearchCV(model, tried, cv=folds, scoring=scoring)

    def build(value: float, seed: int) -> Classifier:
        return clone(model).set_params(C=value)

    method = Method(name, build, "C", link, search=search, input="rows")
    return replace(method, is_control=True, weight=weight)


def _fit_each(
    build: Build, K: Array, y: Array, K_new: Array, values: Values, seed: int
) -> Iterator[tuple[Classifier, Array]]:
    """Yield the fitted estimator of each value, and its new rows.

    All steps of a pipeline but the last are fitted once.
    """
    first = build(values[0], seed)
    if isinstance(first, Pipeline):
        K, K_new = first[:-1].fit_transform(K, y), first[:-1].transform(K_new)
    for value in values:
        yield _last_step(build(value, seed)).fit(K, y), K_new


def get_scores(model: Classifier, X: Array) -> Array:
    """Return the decision function as an array of shape (k, c)."""
    return np.asarray(model.decision_function(X)).reshape(len(X), -1)


def worst_status(statuses: Iterable[str]) -> str:
    """Return the worst of several statuses."""
    return max(statuses, key=[str(status) for status in Status].index)


def get_status(model: Classifier) -> str:
    """Return the status of a fit, the worst of all parts of a model."""
    last = _last_step(model)
    if hasattr(last, "estimators_"):
        return worst_status(get_status(each) for each in last.estimators_)
    if hasattr(last, "status_"):
        return str(last.status_)
    most, count = getattr(last, "max_iter", -1), get_iterations(last)
    # The logistic regression of scikit-learn has no fit_status_.
    is_cut = count is not None and 0 < most <= count
    return "max_iter" if getattr(last, "fit_status_", is_cut) else "converged"


def get_iterations(model: Classifier) -> int | None:
    """Return the number of iterations of a fit, if it is known."""
    count = getattr(_last_step(model), "n_iter_", None)
    return None if count is None else int(np.max(count))


def _last_step(model: Classifier) -> Classifier:
    best = getattr(model, "best_estimator_", model)
    return best[-1] if isinstance(best, Pipeline) else best


KREIN_CV = "KreinCV"
"""Name of `KreinLogisticRegressionCV` with its default search, as in `krein fit`."""


def _list_methods() -> Iterator[Method]:
    """Yield the records of all methods, in the order of tables."""
    yield Method(
        KREIN_CV,
        lambda value, seed: KreinLogisticRegressionCV(),
        link="multinomial",
        search=lambda values, cv, **given: KreinLogisticRegressionCV(cv=cv, **given),
        input="data",
        weight=16,
    )
    yield krein_regression("Krein norm", "krein", weight=0.5)
    yield krein_regression("Hilbert norm", "hilbert", weight=0.9)
    yield krein_regression("Euclidean norm", "euclidean", weight=0.9)
    yield krein_regression("clip + KLR", repair="clip")
    yield krein_regression("flip + KLR", repair="flip")
    # The extension of a shift to new rows would spoil them.
    yield krein_regression("shift + KLR", repair="shift", out_of_sample="none")
    yield krein_regression("square + KLR", repair="square")
    yield replace(support_vector_machine("SVC raw", SVC, 1.3), definite_only=True)
    for repair in ("clip", "flip"):
        yield support_vector_machine(f"SVC {repair}", SVC, 3, repair)
    for repair in ("clip", "flip"):
        name = f"SVC {repair} + Platt"
        yield support_vector_machine(name, SVC, 4, repair, is_calibrated=True)
    yield support_vector_machine("KSVM", KreinSVC, 3)
    yield support_vector_machine("TDCASVM", DCASVC, 4)
    neighbors = Method("k-NN", lambda k, _: SimilarityNeighbors(int(k)), "n_neighbors")
    yield replace(neighbors, is_control=True, weight=0.3)
    linear, gaussian = LogisticRegression(max_iter=LBFGS_STEPS), SVC(max_iter=SMO_STEPS)
    yield feature_baseline("logistic regression", linear, "multinomial", weight=0.3)
    yield feature_baseline("SVC RBF", gaussian, weight=4, gamma=RBF_GAMMAS)
    for name in ("CCCP-GD", "CCICP-GD", "CCICP-SGD"):
        yield published(name, PUBLISHED[name.lower()])


ALL_METHODS = {method.name: method for method in _list_methods()}
"""Every method by its name in tables; to add a method, add a record."""


INNER_FOLDS = 5
MAX_FOLD_DRAWS = 20
"""Draws of grouped folds, at most, until each has all classes."""
DIVERGED_STATUSES = ("diverged", "nonfinite")
"""Statuses of fits that count as wrong everywhere, since their result is arbitrary."""
MAX_LOG_LOSS = -float(np.log(np.finfo(float).eps))
"""Log-loss of a diverged fit: the most that scikit-learn's can be."""
TIE_DIGITS = 9
"""Scores that agree to so many decimals are equal."""

CallParams = ParamSpec("CallParams")
CallResult = TypeVar("CallResult")


def count_groups(y: Array, groups: Array) -> dict[str | int | float, int]:
    """Return the number of groups of each class.

    Examples
    --------
    >>> count_groups(np.array([0, 0, 1, 1]), np.array(["a", "b", "b", "b"]))
    {0: 2, 1: 1}
    """
    return {c: len(np.unique(groups[y == c])) for c in np.unique(y).tolist()}


def grouped_folds(y: Array, groups: Array, count: int, seed: int) -> list[Fold]:
    """Return folds that keep groups together, each with samples of all classes.

    Parameters
    ----------
    y, groups : ndarray of shape (n,)
        Labels, and the group of each sample.
    count : int
        Number of folds.
    seed : int
        Random seed.

    Returns
    -------
    list of (train, test)
        Row numbers; every row is held out once.

    Raises
    ------
    ValueError
        If there are too few groups, or too few with samples of some class.
    """
    n_groups, per_class = len(np.unique(groups)), count_groups(y, groups)
    if n_groups < count:
        many = f"{n_groups} group{'s' * (n_groups > 1)}"
        advice = f"use {n_groups} folds" if n_groups > 1 else "name another column"
        raise ValueError(
            f"Groups are held out as a whole, and {count} folds need at least {count} "
            f"of them, got {many}; {advice}."
        )
    rarest = min(per_class, key=per_class.__getitem__)
    if per_class[rarest] < count:
        raise ValueError(
            f"Each of {count} folds needs a group with samples of each class, but "
            f"class {rarest!r} is in {per_class[rarest]} of {n_groups} groups; use "
            "fewer folds."
        )
    for draw in range(MAX_FOLD_DRAWS):
        state = (seed + draw) % 2**32
        splitter = StratifiedGroupKFold(count, shuffle=True, random_state=state)
        folds = list(splitter.split(np.zeros(len(y)), y, groups))
        if all(set(y[part].tolist()) == set(per_class) for f in folds for part in f):
            return folds
    raise ValueError(
        f"No {count} folds were found that keep the {n_groups} groups together and "
        "have samples of each class; use fewer folds."
    )


def inner_folds(
    y: Array, seed: int, least: int = 1, groups: Array | None = None
) -> list[Fold]:
    """Return five stratified folds, or as many as the rarest class has rows or groups.

    There are never fewer than ``least``; some of these may lack a class.
    """
    if groups is not None:
        count = min(INNER_FOLDS, *count_groups(y, groups).values())
        return grouped_folds(y, groups, count, seed)
    rarest = int(np.unique(y, return_counts=True)[1].min())
    count = max(least, min(INNER_FOLDS, rarest))
    splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))


def held_out_scores(
    method: Method,
    K: Array,
    y: Array,
    folds: Sequence[Fold],
    values: Sequence[float],
    seed: int,
) -> tuple[Array, list[list[str]]]:
    """Return out-of-fold scores of every row, for every value.

    Parameters
    ----------
    method : Method
        The method.
    K : ndarray of shape (n, n)
        Similarities.
    y : ndarray of shape (n,)
        Labels.
    folds : sequence of (train, test)
        Row numbers; every row is held out once.
    values : sequence of float
        Values of the hyper-parameter.
    seed : int
        Seed of the estimators; a path gets ``seed`` plus the number of the fold.

    Returns
    -------
    scores : ndarray of shape (n_values, n, c)
        Minus infinity for a class that was not among the training rows.
    statuses : list of list of str
        One list per fold; empty if the training rows have a single class.
    """
    classes = np.unique(y)
    is_binary = len(classes) == 2
    scores = np.full((len(values), len(y), 1 if is_binary else len(classes)), -np.inf)
    statuses: list[list[str]] = []
    for k, (train, test) in enumerate(folds):
        own = np.searchsorted(classes, np.unique(y[train]))
        if len(own) == 1:
            if not is_binary or own[0] == 1:
                scores[:, test, 0 if is_binary else own[0]] = np.inf
            statuses.append([])
            continue
        # The same stream in all folds would correlate their errors.
        fold_seed = seed if method.path is None else (seed + k) % 2**32
        inside, across = K[np.ix_(train, train)], K[np.ix_(test, train)]
        fits = method.compute_path(inside, y[train], across, values, fold_seed)
        columns = own[:1] if is_binary else own
        for j, (found, _) in enumerate(fits):
            if found.shape[1] < len(columns):  # two classes of several
                found = np.hstack([np.zeros_like(found), found])
            scores[j][np.ix_(test, columns)] = found
        statuses.append([status for _, status in fits])
    return scores, statuses


@dataclass(frozen=True)
class Choice:
    """Result of a cross-validation.

    Attributes
    ----------
    ranking : tuple of (int, float)
        Pairs of matrix and value, from the best to the worst.
    scores : ndarray of shape (n_matrices, n_values)
        Mean over the folds of the accuracy, or of minus the log-loss.
    statuses : Counter
        Number of fits by status.
    rows : int
        Number of rows.
    values : tuple of float
        Values that were tried.
    """

    ranking: tuple[tuple[int, float], ...]
    scores: Array
    statuses: Counter[str]
    rows: int
    values: tuple[float, ...]

    @property
    def value(self) -> float:
        """The chosen hyper-parameter."""
        return self.ranking[0][1]

    @property
    def setting(self) -> int:
        """The chosen matrix."""
        return self.ranking[0][0]


def tune(
    method: Method,
    matrices: Sequence[Array],
    y: Array,
    folds: Sequence[Fold],
    values: Sequence[float],
    *,
    seed: int,
    score: str | None = None,
) -> Choice:
    """Rank matrices and values by the mean out-of-fold score.

    Parameters
    ----------
    method : Method
        The method.
    matrices : sequence of ndarray of shape (n, n)
        Gram matrices of the same rows, the smoothest first.
    y : ndarray of shape (n,)
        Labels.
    folds : sequence of (train, test)
        Row numbers.
    values : sequence of float
        Values of the hyper-parameter.
    seed : int
        Seed of the method.
    score : {"log_loss", "accuracy"}, optional
        That of the method by default.

    Returns
    -------
    Choice
        Ties go to the strongest regularization, then to the first matrix. A fit that
        diverged counts as wrong on all rows.
    """
    classes, index = np.unique(y, return_inverse=True)
    link = None
    if (score or method.score) == "log_loss":
        link = find_link(len(classes), method.link == "multinomial")

    def score_fold(scores: Array, truth: Array, status: str) -> float:
        if link is None:
            guess = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
            return float((guess == truth).mean()) * (status not in DIVERGED_STATUSES)
        if status in DIVERGED_STATUSES:
            return -MAX_LOG_LOSS
        proba = np.exp(log_probabilities(scores, link))
        return -float(log_loss(truth, proba, labels=np.arange(proba.shape[1])))

    means = np.zeros((len(matrices), len(values)))
    ended: Counter[str] = Counter()
    for i, K in enumerate(matrices):
        scores, statuses = held_out_scores(method, K, y, folds, values, seed)
        each = np.empty((len(values), len(folds)))
        for f, (_, test) in enumerate(folds):
            ended.update(statuses[f])
            for j, status in enumerate(statuses[f] or [""] * len(values)):
                each[j, f] = score_fold(scores[j, test], index[test], status)
        means[i] = each.mean(axis=1)
    order = np.argsort(values)[:: 1 if method.parameter == "C" else -1]
    pairs = [(i, int(j)) for j in order for i in range(len(matrices))]
    pairs.sort(key=lambda pair: -round(float(means[pair]), TIE_DIGITS))  # stable
    ranking = tuple((i, float(values[j])) for i, j in pairs)
    return Choice(ranking, means, ended, len(y), tuple(values))


@dataclass(frozen=True)
class Fitted:
    """A method that was tuned and fitted; ``choice`` is None if it tuned itself."""

    method: Method
    model: Classifier
    choice: Choice | None

    def fields(self) -> Record:
        """Return the status, the chosen parameters, and the statuses of the search."""
        if self.choice is not None:
            return {
                "status": get_status(self.model),
                "chosen": {self.method.parameter: self.choice.value},
                "cv": dict(sorted(self.choice.statuses.items())),
            }
        if hasattr(self.model, "best_params_"):
            chosen = dict(self.model.best_params_)
        else:
            chosen = {"kernel": getattr(self.model, "kernel_", None)}
            chosen |= getattr(self.model, "kernel_params_", None) or {}
            chosen |= {x: getattr(self.model, f"{x}_", None) for x in ("lam", "norm")}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        return {"status": get_status(self.model), "chosen": chosen}


def fit_method(
    name: str,
    X: Array,
    y: Array,
    *,
    fold_seed: int = 0,
    seed: int = 0,
    groups: Array | None = None,
    kernel: Mapping[str, object] | None = None,
) -> Fitted:
    """Tune a method on training rows and fit it to them, without warnings.

    Parameters
    ----------
    name : str
        One of `ALL_METHODS`.
    X : ndarray of shape (n, m), or (n, n)
        Training samples, or their Gram matrix, as the method takes them.
    y : ndarray of shape (n,)
        Labels.
    fold_seed, seed : int
        Seeds of the inner folds, the same for all methods, and of the method itself.
    groups : ndarray of shape (n,), optional
        Groups of rows, which are never split across the inner folds.
    kernel : mapping, optional
        Parameters ``kernel`` and ``kernel_params`` of a method with input "data".
    """
    method, folds = ALL_METHODS[name], inner_folds(y, fold_seed, groups=groups)
    values, seed, choice = method.values(len(y)), seed % 2**32, None
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        limit_blas_threads(len(y)),
    ):
        # Methods that do not converge are part of a comparison.
        warnings.simplefilter("ignore")
        if method.search is not None:
            given = (kernel or {}) if method.input == "data" else {}
            model = method.search(values, folds, **given)
        elif method.parameter is None:
            model = method.build(np.nan, seed)
        else:
            choice = tune(method, [X], y, folds, values, seed=seed)
            model = method.build(method.per_sample(choice.value, len(y)), seed)
        return Fitted(method, model.fit(X, y), choice)


def call_timed(
    function: Callable[CallParams, CallResult],
    *args: CallParams.args,
    **kwargs: CallParams.kwargs,
) -> tuple[CallResult, float]:
    """Return the result of a call, and its seconds."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - start


def evaluate(
    model: Classifier, X: Array, y: Array, *, max_loss: float = np.inf
) -> Record:
    """Score a fitted model on new samples.

    Parameters
    ----------
    model : estimator
        Fitted.
    X, y : ndarray
        New samples as the model takes them, and their labels.
    max_loss : float
        Largest log-loss of a single sample.

    Returns
    -------
    dict
        Fields of a record: ``acc``, ``bacc``, ``pred_s``, ``truth``; ``ll`` and
        ``proba``, or ``score``. Two classes have one column, that of the second.
    """
    predicted, pred_s = call_timed(model.predict, X)
    fields = {
        "acc": float((predicted == y).mean()),
        "bacc": float(balanced_accuracy_score(y, predicted)),
        "pred_s": pred_s,
        "truth": y,
    }
    logs = None
    if isinstance(model, CalibratedClassifierCV):
        with np.errstate(divide="ignore"):
            logs = np.log(model.predict_proba(X))
    elif hasattr(model, "predict_log_proba"):
        logs = model.predict_log_proba(X)
    if logs is None:
        scores = get_scores(model, X)
        return fields | {"score": scores[:, 0] if scores.shape[1] == 1 else scores}
    own = logs[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    fields["ll"] = float(-np.maximum(own, -max_loss).mean())
    proba = np.exp(logs)
    return fields | {"proba": proba[:, 1] if proba.shape[1] == 2 else proba}
