"""From rows behind an engine to coefficients: landmarks, penalty, search, solve.

Nothing here sees a row, apart from those that were drawn to be landmarks, so that it
is the same for rows in memory, on disk, or on other machines.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import SYMMETRY_TOL, asymmetry, check_matrix
from kreinlearn.landmarks import select
from kreinlearn.landmarks.checkpoint import Checkpoint, key_of
from kreinlearn.landmarks.columns import Columns, columns_for
from kreinlearn.landmarks.engine import Engine
from kreinlearn.landmarks.first import Draws, First
from kreinlearn.landmarks.newton import ROWS_PER_NUMBER, Watch, solve
from kreinlearn.landmarks.objective import Objective, Problems, with_share
from kreinlearn.landmarks.passes import Point, Task
from kreinlearn.landmarks.penalty import Penalty, penalty_of
from kreinlearn.landmarks.rows import SampleSet, chosen
from kreinlearn.landmarks.settings import Factors, Fitted, Settings
from kreinlearn.losses import find_link

SEARCH_TOL = 1e-4
SEARCH_GAIN = 1e-5
"""Residual of fits whose held-out rows are judged, or what a Newton step would still
take from the mean loss: no choice depends on less."""
GRID_ROWS = 50
"""Rows for each landmark, by which settings of the kernel are compared."""
ASYMMETRIC = "Use the norm 'euclidean', which takes similarities as they are."
MATRICES = 12
"""Matrices of M x M numbers that a fit needs at a time."""


@dataclass(frozen=True)
class _Chosen:
    """Landmarks: samples, their row numbers if known, weights if they are all rows."""

    Z: SampleSet
    rows: Array | None
    weights: Array | None


def fit(
    engine: Engine, settings: Settings, factors: Factors, watch: Watch | None = None
) -> tuple[Fitted, First]:
    """Learn coefficients of landmarks.

    Parameters
    ----------
    engine : Engine
        Makes the passes.
    settings : Settings
        What is to be learned.
    factors : callable
        Gives the weights of the classes, from what the first pass has learned.
    watch : callable, optional
        Sees each row of history.

    Returns
    -------
    Fitted
        The model.
    First
        What the first pass learned.
    """
    is_drawn = isinstance(settings.landmarks, str)
    n_drawn = 0
    if is_drawn:
        n_drawn = select.n_candidates(settings.landmarks, settings.n_landmarks)
    draws = Draws(settings.n_folds, n_drawn, settings.seed)
    first = engine.first(draws)
    weights = factors(first)
    landmarks = _landmarks(settings, first, weights)
    M = len(landmarks.Z)
    check_fits(MATRICES * M, M, np.float64, f"Work with {M} landmarks on matrices")
    run = _Run(engine, settings, first, weights, landmarks, draws, watch)
    return run.fitted(), first


class _Run:
    """One fit, after the first pass."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        first: First,
        factors: Array,
        landmarks: _Chosen,
        draws: Draws,
        watch: Watch | None,
    ) -> None:
        self.engine, self.settings, self.first = engine, settings, first
        self.factors, self.landmarks, self.draws = factors, landmarks, draws
        self.watch = watch
        self.unsolved = (0, 0)
        self._prepared: tuple[int, tuple[Columns, Penalty, Array]] | None = None
        self.n_classes = len(first.labels)
        self.multinomial = settings.multinomial and self.n_classes > 2
        self.n_scores = self.n_classes if self.multinomial else 1

    def fitted(self) -> Fitted:
        """Search if that is asked for, then solve."""
        settings, best, start = self.settings, 0, None
        lam, lams, scores = settings.lam, None, None
        if settings.n_folds > 1:
            lams, scores = self._search_settings()
            means = scores.mean(axis=2)
            best = int(means.max(axis=1).argmax())
            if len(settings.params) > 1:
                lams[best], scores[best], start = self._search(best, 1.0)
            else:
                start = self._start
            at = int(scores[best].mean(axis=1).argmax())
            lam, start = float(lams[best, at]), start[at]
        columns, penalty, K = self._prepare(best)
        positive = np.arange(self.n_classes) if self._is_ovr else np.array([1])
        problems = self._problems(np.array([lam]), np.array([-1]), positive)
        objective = Objective(self.engine, penalty, problems, self.first.weights)
        checkpoint = None
        if settings.checkpoint is not None:
            checkpoint = Checkpoint(settings.checkpoint, self._key(lam, K))
        found = solve(
            objective,
            self.first.n_rows,
            tol=settings.tol,
            max_iter=settings.max_iter,
            start=start,
            watch=self.watch,
            checkpoint=checkpoint,
        )
        B = found.B.reshape(len(found.B), -1)
        n = self.first.n_rows
        rows = self.landmarks.rows
        return Fitted(columns, rows, B, lam, lams, scores, found, n, self.unsolved)

    def _key(self, lam: float, K: Array) -> str:
        """Return what tells this fit from others; it may end later or sooner."""
        settings, first = self.settings, self.first
        kernel = getattr(settings.kernel, "__name__", settings.kernel)
        model = (settings.norm, settings.fit_intercept, self.multinomial, settings.seed)
        known = (K, first.labels, first.counts, first.weights, self.factors)
        return key_of([kernel, lam, *model, *known])

    @property
    def _is_ovr(self) -> bool:
        return self.n_classes > 2 and not self.multinomial

    def _search_settings(self) -> tuple[Array, Array]:
        """Return values of lam and scores of all settings of the kernel."""
        n = len(self.settings.params)
        M = len(self.landmarks.Z)
        share = with_share(GRID_ROWS, M, self.first.n_rows) if n > 1 else 1.0
        found = [self._search(i, share) for i in range(n)]
        self._start = found[0][2]
        return np.stack([f[0] for f in found]), np.stack([f[1] for f in found])

    def _search(self, which: int, share: float) -> tuple[Array, Array, Array]:
        """Return values of lam, held-out scores (L, n_folds), and where to start.

        The last has shape (L, r + 1, P, C), with the mean over the folds.
        """
        _, penalty, _ = self._prepare(which)
        settings = self.settings
        lams = settings.lams
        if lams is None:
            lams = settings.units * penalty.scale / self.first.n_used
        folds = np.arange(settings.n_folds)
        positive = np.arange(self.n_classes) if self._is_ovr else np.array([1])
        problems = self._problems(lams, folds, positive)
        objective = Objective(self.engine, penalty, problems, self.first.weights)
        found = solve(
            objective,
            self.first.n_rows,
            tol=max(SEARCH_TOL, settings.tol),
            max_iter=settings.max_iter,
            share=share,
            gain=SEARCH_GAIN,
            watch=self.watch,
        )
        n_unsolved = sum(status != "converged" for status in found.status)
        known = self.unsolved
        self.unsolved = known[0] + n_unsolved, known[1] + len(found.status)
        point = objective.point(found.u, np.arange(len(problems.lam)))
        link = find_link(self.n_classes, self.multinomial)
        losses = self.engine.held(point, link, share).reshape(len(lams), -1)
        held = self.first.weights if share == 1.0 else self.engine.weights(share)
        scores = -losses / held.sum(axis=0)
        shape = (-1, len(lams), len(folds), len(positive), self.n_scores)
        start = found.u.reshape(shape).mean(axis=2).swapaxes(0, 1)
        return np.asarray(lams, dtype=float), scores, start

    def _prepare(self, which: int) -> tuple[Columns, Penalty, Array]:
        """Hand the landmarks to the engine; return what belongs to one setting."""
        if self._prepared is not None and self._prepared[0] == which:
            return self._prepared[1]
        settings = self.settings
        columns = columns_for(settings.kernel, settings.params[which], self.landmarks.Z)
        K = landmark_matrix(columns, settings.norm)
        self.engine.prepare(
            Task(columns, self.first.labels, self.factors, self.multinomial, self.draws)
        )
        moment = None
        if self.landmarks.weights is None and settings.norm != "euclidean":
            moment = second_moment(
                self.engine, len(K), self.first.n_rows, self.n_scores
            )
        penalty = penalty_of(settings.norm, K, self.landmarks.weights, moment)
        self._prepared = which, (columns, penalty, K)
        return columns, penalty, K

    def _problems(self, lams: Array, folds: Array, positive: Array) -> Problems:
        grid = np.meshgrid(lams, folds, positive, indexing="ij")
        lam, fold, column = (each.ravel() for each in grid)
        return Problems(
            lam, column, fold, self.n_scores, self.factors, self.settings.fit_intercept
        )


def second_moment(
    engine: Engine, n_landmarks: int, n_rows: int, n_scores: int = 1
) -> Array:
    """Return the mean of k k' over a share of the rows.

    Parameters
    ----------
    engine : Engine
        Prepared.
    n_landmarks, n_rows : int
        Numbers of landmarks and of all rows.
    n_scores : int
        Columns of scores of the model that it was prepared for.

    Returns
    -------
    ndarray of shape (M, M)
        With the similarities k of a row with the landmarks.
    """
    # At zero all rows have the same curvature: the Hessian is what is wanted.
    zero = Point(np.zeros((n_landmarks + 1, 1, n_scores)), np.ones(1), -np.ones(1, int))
    share = with_share(ROWS_PER_NUMBER, n_landmarks, n_rows)
    H = engine.hessians(zero, [np.array([0])], share)[0, 0]
    return np.ascontiguousarray(H[:-1, :-1] / H[-1, -1])


def landmark_matrix(columns: Columns, norm: str) -> Array:
    """Return K_ZZ in double precision, exactly symmetric unless it need not be.

    Parameters
    ----------
    columns : Columns
        Similarities with the landmarks.
    norm : str
        "euclidean" takes K_ZZ as it is.

    Returns
    -------
    ndarray of shape (M, M)
        Similarities among the landmarks.
    """
    K = columns(columns.Z)
    if norm == "euclidean" and asymmetry(K) > SYMMETRY_TOL:
        return check_matrix(K, symmetric="any", square=False)[0]
    what = "The matrix of similarities among landmarks"
    return check_matrix(K, what, remedy=ASYMMETRIC, dtype=np.float64)[0]


def choose(
    first: First,
    way: str,
    n_landmarks: int,
    kernel: Any,
    params: Mapping[str, Any],
    seed: int,
) -> Array:
    """Return positions of landmarks among the candidates of the first pass.

    Parameters
    ----------
    first : First
        With as many candidates as `select.n_candidates` says.
    way : {"uniform", "kmeans++", "leverage"}
        How they are chosen.
    n_landmarks : int
        How many; all rows with positive weight if there are no more.
    kernel, params : object
        The kernel, for leverage scores.
    seed : int
        For the choice.

    Returns
    -------
    ndarray of int
        Increasing.
    """
    n = len(first.row)
    if n <= n_landmarks:
        return np.arange(n)
    if way == "kmeans++":
        return select.kmeans(first.samples, first.weight, n_landmarks, seed)
    some = np.linspace(0, n - 1, min(n, select.PILOTS)).astype(int)
    pilots = columns_for(kernel, params, chosen(first.samples, some))
    K = landmark_matrix(pilots, "hilbert")
    return select.leverage(pilots(first.samples), K, first.weight, n_landmarks, seed)


def _landmarks(settings: Settings, first: First, factors: Array) -> _Chosen:
    """Return the landmarks among those that were drawn, or those given."""
    if not isinstance(settings.landmarks, str):
        if settings.every is None:
            return _Chosen(settings.landmarks, None, None)
        weights, labels = settings.every
        weights = weights * factors[np.searchsorted(first.labels, labels)]
        return _Chosen(settings.landmarks, None, weights)
    kernel = (settings.kernel, settings.params[0])
    way, M = settings.landmarks, settings.n_landmarks
    which = choose(first, way, M, *kernel, settings.seed)
    Z, rows = chosen(first.samples, which), first.row[which]
    if first.n_used > M:
        return _Chosen(Z, rows, None)
    place = np.searchsorted(first.labels, first.label[which])
    return _Chosen(Z, rows, first.weight[which] * factors[place])
