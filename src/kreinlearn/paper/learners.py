"""Learners on a Gram matrix: the public estimators, and shortcuts to tune them.

A learner gives the estimator for one value of its hyper-parameter, and, for the folds
of a cross-validation, scores for all values at once, with whatever they can share: a
split or repair of K, or one product with K for all columns. Estimator and shortcut end
at the same solution.

Letters: ``K`` (n, n) similarities among training samples; ``K_new`` (k, n) those of new
samples with them; ``y`` (n,) labels, -1 or +1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kreinlearn._typing import Array
from kreinlearn.estimators import (
    DCASVC,
    KreinLogisticRegression,
    KreinSVC,
    SpectrumRepair,
)
from kreinlearn.losses import Logistic
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.solvers import CCCP, DualNewton
from kreinlearn.spectrum import split
from kreinlearn.spectrum.modulus import absolute

TOL = 1e-6
"""Default tolerance of the estimators."""
SMO_STEPS = 1_000_000
"""Most steps of LIBSVM, which has no proof of convergence for an indefinite matrix."""


class Path(Protocol):
    """Scores of new samples and status words, one for each hyper-parameter value."""

    def __call__(
        self, K: Array, y: Array, K_new: Array, values: Sequence[float], seed: int
    ) -> list[tuple[Array, str]]:
        """Return scores of shape (k,) and the status of each fit."""


class Learner(Protocol):
    """What the experiments ask of a method."""

    @property
    def parameter(self) -> str:
        """Name of the hyper-parameter, lam or C."""

    @property
    def path(self) -> Path:
        """How folds are scored."""

    def estimator(self, value: float, seed: int) -> Any:
        """Return the unfitted estimator on Gram matrices."""


@dataclass(frozen=True)
class Exact:
    r"""Kernel logistic regression by Newton's method, on K or on a repaired K.

    Parameters
    ----------
    norm : {"krein", "hilbert"}
        Penalty a'Ka or a'\|K\|a.
    repair : str, optional
        Mode of `SpectrumRepair`, applied first.
    out_of_sample : {"exact", "none"}
        Whether the repair goes on to new samples.
    """

    norm: Literal["krein", "hilbert"] = "krein"
    repair: str | None = None
    out_of_sample: Literal["exact", "none"] = "exact"
    parameter: str = "lam"

    def estimator(self, value: float, seed: int) -> Any:
        """Return the unfitted estimator; see `Learner`."""
        model = KreinLogisticRegression("precomputed", lam=value, norm=self.norm)
        if self.repair is None:
            return model
        return make_pipeline(SpectrumRepair(self.repair, self.out_of_sample), model)

    def path(
        self, K: Array, y: Array, K_new: Array, values: Sequence[float], seed: int
    ) -> list[tuple[Array, str]]:
        """Solve for all values as columns of one block; see `Path`."""
        if self.repair is not None:
            change = SpectrumRepair(self.repair, self.out_of_sample)
            K, K_new = change.fit_transform(K), change.transform(K_new)
        n, count = len(y), len(values)
        back = None
        if self.norm == "hilbert":
            K, back = absolute(K, np.full(n, 1 / n))
        block = KreinDual(
            Dense(K),
            np.broadcast_to((y > 0).astype(float)[:, None, None], (n, count, 1)),
            np.full((n, count), 1 / n),
            np.asarray(values, dtype=float),
            Logistic(),
        )
        result = DualNewton().solve(block, tol=TOL)
        point = block.point(result.w, result.F)
        A = point.A[..., 0]
        if back is not None:
            A = back(A)
        scores = K_new @ A + point.c[:, 0]
        return [(scores[:, j], str(result.status[j])) for j in range(count)]


@dataclass(frozen=True)
class Published:
    """The paper's procedure.

    Parameters
    ----------
    solver : CCCP
        Its settings.
    """

    solver: CCCP
    parameter: str = "lam"

    def with_settings(self, **settings: Any) -> "Published":
        """Return the procedure with other settings.

        Parameters
        ----------
        **settings : object
            Fields of `CCCP`.

        Returns
        -------
        Published
            A copy.
        """
        return replace(self, solver=replace(self.solver, **settings))

    def estimator(self, value: float, seed: int) -> Any:
        """Return the unfitted estimator; see `Learner`."""
        return KreinLogisticRegression(
            "precomputed", lam=value, solver=self.solver, random_state=seed
        )

    def path(
        self, K: Array, y: Array, K_new: Array, values: Sequence[float], seed: int
    ) -> list[tuple[Array, str]]:
        """Run for each value with one split of K; see `Path`."""
        operator = Dense(K)
        parts = split(operator, self.solver.split)
        n = len(y)
        scale = float(n) if self.solver.loss_scale == "sum" else 1.0
        found = []
        for value in values:
            # A stream of its own for each value: another grid changes no result.
            rng = np.random.default_rng([seed, int(1e6 * value)])
            weights = np.full(n, 1 / n)
            risk = KreinRisk(operator, parts, y, weights, float(value), scale=scale)
            result = self.solver.solve(risk, tol=TOL, rng=rng)
            scores = K_new @ result.w[:n] + result.w[n]
            found.append((scores, str(result.status[0])))
        return found


@dataclass(frozen=True)
class Margin:
    """Support vector machines.

    Parameters
    ----------
    kind : {"svc", "ksvm", "tdcasvm"}
        Scikit-learn's on the matrix as it is, or one for indefinite matrices.
    """

    kind: Literal["svc", "ksvm", "tdcasvm"]
    parameter: str = "C"

    def estimator(self, value: float, seed: int) -> Any:
        """Return the unfitted estimator; see `Learner`."""
        if self.kind == "ksvm":
            return KreinSVC(value, "precomputed", max_iter=SMO_STEPS)
        if self.kind == "tdcasvm":
            return DCASVC(value, "precomputed")
        return SVC(C=value, kernel="precomputed", max_iter=SMO_STEPS)

    def path(
        self, K: Array, y: Array, K_new: Array, values: Sequence[float], seed: int
    ) -> list[tuple[Array, str]]:
        """Fit the estimator for each value: nothing is shared; see `Path`."""
        models = [self.estimator(value, seed).fit(K, y) for value in values]
        return [(model.decision_function(K_new), status_of(model)) for model in models]


def status_of(model: Any) -> str:
    """Return how a fit ended.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted.

    Returns
    -------
    str
        A status word.
    """
    last = model[-1] if hasattr(model, "steps") else model
    if hasattr(last, "status_"):
        return str(last.status_)
    return "max_iter" if getattr(last, "fit_status_", 0) else "converged"


def iterations_of(model: Any) -> int | None:
    """Return the number of iterations of a fit.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted.

    Returns
    -------
    int or None
        As the estimator counts them.
    """
    last = model[-1] if hasattr(model, "steps") else model
    count = getattr(last, "n_iter_", None)
    return None if count is None else int(np.max(count))
