"""One table of methods: how each is built, tuned and scored.

Some methods score all values of a hyper-parameter at once, and share a repair or a
split of K, or one block of problems for the exact solver. Such a `path` ends at the
same solutions as the estimators.

Notation: ``K`` (n, n) similarities among training samples; ``K_new`` (k, n) those of
new samples with them; scores (k, c), with c = 1 column for two classes, else one per
class.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from kreinlearn._typing import Array
from kreinlearn.estimators import (
    DCASVC,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    SpectrumRepair,
)
from kreinlearn.losses import loss_for
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.search import DUAL_TOL, Fold
from kreinlearn.solvers import CCCP, PUBLISHED, DualNewton, Status
from kreinlearn.spectrum import split
from kreinlearn.spectrum.norms import make_dual_matrix

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
    repair: str | None = None,
    *,
    weight: float,
    is_calibrated: bool = False,
    **settings: int,
) -> Method:
    """Return a support vector machine, on K or on a repaired K.

    Calibrated probabilities are those of Platt: sigmoid functions of out-of-fold
    scores, one class against the rest.
    """

    def build(value: float, seed: int) -> Classifier:
        last = model(C=value, kernel="precomputed", **settings)
        if hasattr(last, "kernel_params"):
            last.set_params(kernel_params=UNCHECKED_PARAMS)
        if repair is None:
            return last
        return make_pipeline(SpectrumRepair(mode=repair, check=False), last)

    def build_calibrated(value: float, seed: int) -> Classifier:
        folds = StratifiedKFold(CALIBRATION_FOLDS, shuffle=True, random_state=seed)
        machine = build(value, seed)
        return CalibratedClassifierCV(machine, cv=folds, ensemble=False)

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
        model = build(value, seed)
        last = model[-1] if isinstance(model, Pipeline) else model
        yield last.fit(K, y), K_new


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
ALL_METHODS: dict[str, Method] = {
    each.name: each
    for each in (
        Method(
            KREIN_CV,
            lambda value, seed: KreinLogisticRegressionCV(),
            link="multinomial",
            search=lambda values, folds, **kernel: KreinLogisticRegressionCV(
                cv=folds, **kernel
            ),
            input="data",
            weight=16,
        ),
        krein_regression("Krein norm", "krein", weight=0.5),
        krein_regression("Hilbert norm", "hilbert", weight=0.9),
        krein_regression("Euclidean norm", "euclidean", weight=0.9),
        krein_regression("clip + KLR", repair="clip"),
        krein_regression("flip + KLR", repair="flip"),
        # The extension of a shift to new rows would spoil them.
        krein_regression("shift + KLR", repair="shift", out_of_sample="none"),
        krein_regression("square + KLR", repair="square"),
        replace(
            support_vector_machine("SVC raw", SVC, weight=1.3, max_iter=SMO_STEPS),
            definite_only=True,
        ),
        support_vector_machine("SVC clip", SVC, "clip", weight=3, max_iter=SMO_STEPS),
        support_vector_machine("SVC flip", SVC, "flip", weight=3, max_iter=SMO_STEPS),
        *(
            support_vector_machine(
                f"SVC {repair} + Platt",
                SVC,
                repair,
                weight=4,
                is_calibrated=True,
                max_iter=SMO_STEPS,
            )
            for repair in ("clip", "flip")
        ),
        support_vector_machine("KSVM", KreinSVC, weight=3, max_iter=SMO_STEPS),
        support_vector_machine("TDCASVM", DCASVC, weight=4),
        Method(
            "k-NN",
            lambda value, seed: SimilarityNeighbors(int(value)),
            "n_neighbors",
            is_control=True,
            weight=0.3,
        ),
        feature_baseline(
            "logistic regression",
            LogisticRegression(max_iter=LBFGS_STEPS),
            "multinomial",
            weight=0.3,
        ),
        feature_baseline(
            "SVC RBF", SVC(max_iter=SMO_STEPS), weight=4, gamma=RBF_GAMMAS
        ),
        *(
            published(name, PUBLISHED[name.lower()])
            for name in ("CCCP-GD", "CCICP-GD", "CCICP-SGD")
        ),
    )
}
"""Every method by its name in tables; to add a method, add a record."""
