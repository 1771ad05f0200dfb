"""Search and fit on landmarks, by the passes of an engine.

Only the landmarks are in this process, so that rows in memory, on disk and on other
machines are treated in the same way.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array, SampleSet
from kreinlearn.kernels import ResolvedKernel
from kreinlearn.landmarks.checkpoint import Checkpoint, digest
from kreinlearn.landmarks.engine import Engine
from kreinlearn.landmarks.newton import HESSIAN_ROWS, HistoryCallback, NewtonSolver
from kreinlearn.landmarks.objective import Objective, subsample_fraction
from kreinlearn.landmarks.passes import (
    Columns,
    DataSummary,
    PassContext,
    Point,
    SamplingPlan,
    fit_columns,
)
from kreinlearn.landmarks.penalty import Penalty, build_penalty, landmark_gram
from kreinlearn.losses import find_link

SEARCH_TOL = 1e-4
"""Residual of converged fits in a search."""
SEARCH_GAIN = 1e-5
"""Fits in a search also end when a Newton step would gain less of the mean loss."""
GRID_ROWS = 50
"""Rows per landmark in the comparison of kernel parameters."""
WORK_MATRICES = 12
"""Matrices of M x M numbers that a fit needs at a time."""


@dataclass
class LandmarkFit:
    """A search, if there are folds, and a fit.

    Parameters
    ----------
    engine : Engine
        Passes over the rows.
    summary : DataSummary
        Result of the first pass.
    plan : SamplingPlan
        Folds and seed.
    grid : sequence of ResolvedKernel
        Kernels to choose from.
    Z : sequence of M samples
        The landmarks.
    weights : ndarray of shape (M,) or None
        Their weights if they are all rows with positive weight.
    factors : ndarray of shape (n_classes,)
        Class weights.
    norm : {"krein", "hilbert", "euclidean"}
        The penalty.
    lam : float
        Regularization; replaced by the best one after a search.
    lams : ndarray or None
        Regularizations to choose from, decreasing.
    units : ndarray
        Default of ``lams``, in multiples of the scale of K over n.
    fit_intercept, multinomial : bool
        The model; ``multinomial`` matters for more than two classes.
    tol : float
        Largest residual of a converged fit.
    max_iter : int
        Maximum number of Newton steps.
    checkpoint : path-like or None
        File for the state of the final fit.
    callback : callable or None
        Called with each row of history.

    Attributes
    ----------
    columns : Columns
        Similarities with the landmarks, by the best kernel.
    solution : Solution
        The coefficients.
    tried, scores : ndarray or None
        Regularizations (n_settings, n_lams), and negative log-losses of held-out rows
        (n_settings, n_lams, n_folds).
    n_unsolved, n_searched : int
        Fits of the search that did not converge, and all of them.
    """

    engine: Engine
    summary: DataSummary
    plan: SamplingPlan
    grid: Sequence[ResolvedKernel]
    Z: SampleSet
    weights: Array | None
    factors: Array
    norm: str
    lam: float
    lams: Array | None
    units: Array
    fit_intercept: bool
    multinomial: bool
    tol: float
    max_iter: int
    checkpoint: str | os.PathLike[str] | None = None
    callback: HistoryCallback | None = None

    def __post_init__(self) -> None:
        M, self.n_classes = len(self.Z), len(self.summary.labels)
        what = f"Work with {M} landmarks on matrices"
        check_fits(WORK_MATRICES * M, M, np.float64, what)
        self.multinomial &= self.n_classes > 2
        self.n_scores = self.n_classes if self.multinomial else 1
        self.n_unsolved = self.n_searched = 0
        self.tried: Array | None = None
        self.scores: Array | None = None
        self._prepared: tuple[int, Columns, Penalty, Array] | None = None

    def run(self) -> "LandmarkFit":
        """Search if there are folds, and fit."""
        best, start, n = 0, None, len(self.grid)
        if self.plan.n_folds > 1:
            part = subsample_fraction(GRID_ROWS, len(self.Z), self.engine.n_rows)
            found = [self._search(i, part if n > 1 else 1.0) for i in range(n)]
            lams, scores = (np.stack([each[k] for each in found]) for k in (0, 1))
            best = int(scores.mean(axis=2).max(axis=1).argmax())
            start = found[0][2]
            if n > 1:
                lams[best], scores[best], start = self._search(best, 1.0)
            at = int(scores[best].mean(axis=1).argmax())
            self.lam, start = float(lams[best, at]), start[at]
            self.tried, self.scores = lams, scores
        self.columns, penalty, K = self._prepare(best)
        objective = self._objective(penalty, np.array([self.lam]), np.array([-1]))
        options: dict[str, Any] = {"callback": self.callback}
        if self.checkpoint is not None:
            model = (self.norm, self.fit_intercept, self.multinomial, self.plan.seed)
            rows = (self.summary.labels, self.summary.counts, self.summary.weights)
            key = digest([self.grid[0].name, self.lam, *model, K, *rows, self.factors])
            options["checkpoint"] = Checkpoint(self.checkpoint, key)
        solver = NewtonSolver(objective, self.tol, self.max_iter, **options)
        self.solution = solver.solve(start)
        return self

    def _search(self, which: int, fraction: float) -> tuple[Array, Array, Array]:
        """Return values of lam, held-out scores (L, n_folds), and starting points.

        The last have shape (L, r + 1, P, C); they are means over the folds.
        """
        _, penalty, _ = self._prepare(which)
        lams = self.lams
        if lams is None:
            lams = self.units * penalty.scale / self.summary.n_used
        folds = np.arange(self.plan.n_folds)
        objective = self._objective(penalty, lams, folds)
        tol = max(SEARCH_TOL, self.tol)
        options = (fraction, SEARCH_GAIN, self.callback)
        found = NewtonSolver(objective, tol, self.max_iter, *options).solve()
        self.n_unsolved += sum(status != "converged" for status in found.status)
        self.n_searched += len(found.status)
        point = objective.point(found.u, np.arange(len(found.status)))
        link = find_link(self.n_classes, self.multinomial)
        losses = self.engine.held_out_losses(point, link, fraction)
        held_out = self.engine.weights(fraction).sum(axis=0)
        scores = -losses.reshape(len(lams), -1) / held_out
        shape = (found.u.shape[0], len(lams), len(folds), -1, self.n_scores)
        start = found.u.reshape(shape).mean(axis=2).swapaxes(0, 1)
        return np.asarray(lams, dtype=float), scores, start

    def _prepare(self, which: int) -> tuple[Columns, Penalty, Array]:
        """Send the landmarks to the engine; return the penalty of one setting."""
        if self._prepared is None or self._prepared[0] != which:
            columns = fit_columns(self.grid[which], self.Z)
            K = landmark_gram(columns, self.norm)
            model = (self.summary.labels, self.factors, self.multinomial)
            self.engine.prepare(PassContext(columns, *model, self.plan))
            moment = None
            if self.weights is None and self.norm != "euclidean":
                moment = second_moment(self.engine, self.n_scores)
            penalty = build_penalty(self.norm, K, self.weights, moment)
            self._prepared = which, columns, penalty, K
        return self._prepared[1:]

    def _objective(self, penalty: Penalty, lams: Array, folds: Array) -> Objective:
        is_ovr = self.n_classes > 2 and not self.multinomial
        positive = np.arange(self.n_classes) if is_ovr else np.array([1])
        grid = np.meshgrid(lams, folds, positive, indexing="ij")
        lam, fold, column = (each.ravel() for each in grid)
        model = (self.n_scores, self.factors, self.fit_intercept)
        return Objective(self.engine, penalty, lam, column, fold, *model)


def second_moment(engine: Engine, n_scores: int = 1) -> Array:
    """Return the mean of k k' over a subsample, shape (M, M).

    Parameters
    ----------
    engine : Engine
        Prepared; k are the similarities of a row with its landmarks.
    n_scores : int
        Columns of scores of its model.

    Returns
    -------
    ndarray of shape (M, M)
        In double precision.
    """
    # At zero all rows have the same curvature, so that the Hessian is proportional.
    M = engine.n_columns
    zero = Point(np.zeros((M + 1, 1, n_scores)), np.ones(1), -np.ones(1, int))
    fraction = subsample_fraction(HESSIAN_ROWS, M, engine.n_rows)
    H = engine.hessians(zero, [np.array([0])], fraction)[0, 0]
    return np.ascontiguousarray(H[:-1, :-1] / H[-1, -1])
