"""Methods as records: how each is built, tuned and scored.

Some methods can score all values of a fold at once, with what the values share: a
repair or a split of K, or one block of problems for the exact solver. Such a `path`
ends at the same solutions as the estimators.

Letters: ``K`` (n, n) similarities among training samples; ``K_new`` (k, n) those of new
samples with them; scores (k, c), with c = 1 column for two classes, else one per class.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, Self

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from kreinlearn._typing import Array
from kreinlearn.app.methods.judging import scores_of, status_of, worst
from kreinlearn.estimators import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    SpectrumRepair,
)
from kreinlearn.losses import loss_for
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.search import DUAL_TOL, Fold
from kreinlearn.solvers import CCCP, DualNewton
from kreinlearn.spectrum import split
from kreinlearn.spectrum.norms import make_dual_matrix

STRENGTHS = (100.0, 10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Values of n lam that comparisons try, in units of the matrix."""
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""Values of C that comparisons try, in the same units. Beyond, LIBSVM runs into its
limit of steps where classes overlap, and changes nothing where they do not."""
NEIGHBORS = (11.0, 7.0, 5.0, 3.0, 1.0)
"""Numbers of neighbors that comparisons try; odd, so that two classes cannot tie."""
TOL = 1e-6
"""Default tolerance of the estimators."""
GIVEN = {"check": False}
"""Parameters of a matrix that holds similarities: whoever read it has looked, or was
told so."""


class Classifier(Protocol):
    """What is asked of an estimator; its scores are optional."""

    def fit(self, X: Array, y: Array) -> Self:
        """Learn from samples, or from a Gram matrix."""

    def predict(self, X: Array) -> Array:
        """Return labels."""


Build = Callable[[float, int], Classifier]
"""From a value of the hyper-parameter and a seed to an unfitted estimator."""
Tried = Sequence[float]
"""What is tried of a hyper-parameter."""
Search = Callable[[Tried, Sequence[Fold]], Classifier]
"""From values and folds to an unfitted estimator that chooses for itself."""
Scores = list[tuple[Array, str]]
"""The scores and the status of each value."""
Path = Callable[[Array, Array, Array, Tried, int], Scores]
"""From (K, y, K_new, values, seed) to what came of each value."""


@dataclass(frozen=True)
class Method:
    """How to learn from a Gram matrix.

    Parameters
    ----------
    name : str
        What tables call it.
    build : callable
        Gives the unfitted estimator on Gram matrices for a value and a seed: a
        pipeline, if the matrix is repaired first.
    parameter : {"lam", "C", "n_neighbors"} or None
        What is tuned; None if the method chooses for itself, or nothing.
    link : {"multinomial", "ovr"} or None
        How the scores of more than two classes become probabilities; None if the
        method has no probabilities.
    path : callable, optional
        Scores all values of a fold at once.
    search : callable, optional
        Gives an estimator that chooses among values itself, on given folds.
    loose : callable, optional
        The path as `kreinlearn.search` solves it: to its tolerance, and each value
        from the solution for the one before, which is larger.
    on_samples : bool
        Whether it takes samples, and brings its own kernels if it needs any.
    is_control : bool
        Whether it is there to tell if the others are needed at all: it does without a
        model of the similarity, or without the similarity.
    binary_only : bool
        Whether it is for two classes only.
    definite_only : bool
        Whether its theory needs a positive semidefinite matrix.
    summed : bool
        Whether its values of lam belong to the summed loss, and are n times ours.
    on_request : bool
        Whether a comparison runs it only if it is named: the published procedures,
        which take longer than all other methods together.
    weight : float
        Seconds that `fit_method` takes with 1000 samples of two classes and one
        thread, roughly.
    """

    name: str
    build: Build
    parameter: Literal["lam", "C", "n_neighbors"] | None = None
    link: Literal["multinomial", "ovr"] | None = None
    path: Path | None = None
    search: Search | None = None
    loose: Path | None = None
    on_samples: bool = False
    is_control: bool = False
    binary_only: bool = False
    definite_only: bool = False
    summed: bool = False
    on_request: bool = False
    weight: float = 1.0

    @property
    def has_proba(self) -> bool:
        """Whether it has probabilities."""
        return self.link is not None

    @property
    def score(self) -> str:
        """What it is tuned by: "log_loss" if it has probabilities, or "accuracy"."""
        return "log_loss" if self.has_proba else "accuracy"

    def values(self, n: int) -> list[float]:
        """Return what to try with n rows, the strongest regularization first."""
        if self.parameter == "C":
            return list(COSTS)
        if self.parameter == "n_neighbors":
            return list(NEIGHBORS)
        return [s if self.summed else s / n for s in STRENGTHS]

    def per_sample(self, value: float, n: int) -> float:
        """Return a value of lam in our units, those of the mean loss of n rows.

        The one place that knows: ``sum of losses + (lam / 2) a'Ka`` is n times ours
        with ``lam / n``.
        """
        return value / n if self.summed else value


def exact(
    name: str,
    norm: Literal["krein", "hilbert", "euclidean"] = "krein",
    repair: str | None = None,
    out_of_sample: Literal["exact", "none"] = "exact",
    weight: float = 4.0,
) -> Method:
    r"""Return logistic regression by Newton's method, on K or on a repaired K.

    Parameters
    ----------
    name : str
        What tables call it.
    norm : {"krein", "hilbert", "euclidean"}
        Penalty a'Ka, a'\|K\|a or a'a.
    repair : str, optional
        Mode of `SpectrumRepair`, applied first.
    out_of_sample : {"exact", "none"}
        Whether new samples are repaired as well.
    weight : float
        See `Method`.

    Returns
    -------
    Method
        Solves for all values of a fold as one block.
    """

    def build(value: float, seed: int) -> Classifier:
        model = KreinLogisticRegression(
            "precomputed", kernel_params=GIVEN, lam=value, norm=norm
        )
        if repair is None:
            return model
        return make_pipeline(SpectrumRepair(repair, out_of_sample, check=False), model)

    def solved(
        loosely: bool, K: Array, y: Array, K_new: Array, values: Tried, seed: int
    ) -> Scores:
        if repair is not None:
            change = SpectrumRepair(repair, out_of_sample, check=False)
            K, K_new = change.fit_transform(K), change.transform(K_new)
        n, lams = len(y), np.asarray(values, dtype=float)
        matrix, back = make_dual_matrix(norm, Dense(K), np.ones(n), formed=True)
        classes = np.unique(y)
        columns = (y[:, None] == classes).astype(float)
        columns = columns[:, 1:] if len(classes) == 2 else columns
        block = KreinDual(
            matrix,
            np.repeat(columns[:, None], len(lams), axis=1),
            np.full((n, len(lams)), 1 / n),
            lams,
            loss_for(len(classes) > 2),
        )
        tol = DUAL_TOL if loosely else TOL
        after = range(-1, len(lams) - 1) if loosely else None
        result = DualNewton().solve(block, tol=tol, after=after)
        point = block.point(result.w, result.F)
        A = point.A.reshape(n, -1)
        scores = K_new @ back(A)
        scores = scores.reshape(len(K_new), *point.A.shape[1:]) + point.c
        return [(scores[:, j], str(result.status[j])) for j in range(len(lams))]

    search = block_search(norm) if repair is None else None
    path, loose = partial(solved, False), partial(solved, True)
    return Method(name, build, "lam", "multinomial", path, search, loose, weight=weight)


def block_search(*norms: str) -> Search:
    """Return logistic regression on K that chooses lam, and the norm, for itself."""
    return lambda values, folds: KreinLogisticRegressionCV(
        lams=values, norms=norms, kernel="precomputed", kernel_params=GIVEN, cv=folds
    )


def published(name: str, solver: CCCP, *, summed: bool = False) -> Method:
    """Return the paper's procedure.

    Parameters
    ----------
    name : str
        What tables call it.
    solver : CCCP
        Its settings.
    summed : bool
        See `Method`.

    Returns
    -------
    Method
        More than two classes are learned one against the rest. Its path splits K once,
        and all classes and values are columns of one block.
    """

    def build(value: float, seed: int) -> Classifier:
        return KreinLogisticRegression(
            "precomputed",
            kernel_params=GIVEN,
            lam=value,
            solver=solver,
            random_state=seed,
        )

    def path(K: Array, y: Array, K_new: Array, values: Tried, seed: int) -> Scores:
        n, labels = len(y), np.unique(y)
        columns = np.where(y[:, None] == labels, 1.0, -1.0)
        columns = columns[:, 1:] if len(labels) == 2 else columns
        c = columns.shape[1]
        lams = np.array([method.per_sample(value, n) for value in values])
        # A stream of its own for each value: another grid changes no result.
        streams = [[seed, int(1e6 * value)] for value in values for _ in range(c)]
        risk = KreinRisk(
            Dense(K),
            split(Dense(K), solver.split),
            np.tile(columns, len(values)),
            np.full(n, 1 / n),
            np.repeat(lams, c),
            scale=float(n) if solver.loss_scale == "sum" else 1.0,
        )
        rngs = [np.random.default_rng(stream) for stream in streams]
        result = solver.solve(risk, tol=TOL, rng=rngs)
        scores = (K_new @ result.w[:n] + result.w[n]).reshape(len(K_new), -1, c)
        return [
            (scores[:, j], worst(result.status[j * c : (j + 1) * c]))
            for j in range(len(values))
        ]

    method = Method(
        name,
        build,
        "lam",
        "ovr",
        path,
        summed=summed,
        on_request=True,
        weight=4.0,
    )
    return method


def machine(
    name: str, model: type, repair: str | None = None, *, weight: float, **settings: int
) -> Method:
    """Return a support vector machine, on K or on a repaired K."""

    def build(value: float, seed: int) -> Classifier:
        last = model(C=value, kernel="precomputed", **settings)
        if hasattr(last, "kernel_params"):
            last.set_params(kernel_params=GIVEN)
        if repair is None:
            return last
        return make_pipeline(SpectrumRepair(repair, check=False), last)

    def path(K: Array, y: Array, K_new: Array, values: Tried, seed: int) -> Scores:
        fits = _fits(build, K, y, K_new, values, seed)
        return [(scores_of(m, rows), status_of(m)) for m, rows in fits]

    return Method(name, build, "C", path=path, weight=weight)


def path_of(method: Method) -> Path:
    """Return how a method scores a fold: its path, or else a fit for each value."""

    def path(K: Array, y: Array, K_new: Array, values: Tried, seed: int) -> Scores:
        found, ours = [], [method.per_sample(value, len(y)) for value in values]
        for model, rows in _fits(method.build, K, y, K_new, ours, seed):
            if method.has_proba:
                scores = scores_of(model, rows)
            else:  # estimators have their own ways to decide a tie of votes
                hits = model.predict(rows)[:, None] == np.unique(y)
                scores = np.where(hits[:, 1:] if hits.shape[1] == 2 else hits, 1.0, -1)
            found.append((scores, status_of(model)))
        return found

    return method.path or path


def _fits(
    build: Build, K: Array, y: Array, K_new: Array, values: Tried, seed: int
) -> Iterator[tuple[Classifier, Array]]:
    """Yield the estimator of each value, and new rows as it takes them.

    All steps of a pipeline but the last are fitted once.
    """
    first = build(values[0], seed)
    if isinstance(first, Pipeline):
        K, K_new = first[:-1].fit_transform(K, y), first[:-1].transform(K_new)
    for value in values:
        model = build(value, seed)
        last = model[-1] if isinstance(model, Pipeline) else model
        yield last.fit(K, y), K_new
