"""What a driver remembers between two passes, and what it ends with."""

from dataclasses import dataclass, field

import numpy as np

from kreinlearn._typing import Array


@dataclass(frozen=True)
class Stage:
    """One of the problems on the way: rows, lam and accuracy.

    ``factor`` (P,) is what each lam is multiplied by. On a path, a problem starts where
    the same with the next larger lam has ended.
    """

    share: float
    factor: Array
    tol: float
    is_path: bool = False


@dataclass
class State:
    """All that a driver has to remember between two passes; arrays and numbers only."""

    u: Array
    """(r + 1, P, C) where the problems are."""
    anchor: Array
    """(r + 1, P, C) where their Newton matrices were made."""
    d: Array
    """(r + 1, P, C) their directions."""
    t: Array
    """(P,) lengths of the steps to be tried."""
    is_moving: Array
    """(P,) whether there is a direction."""
    is_stale: Array
    """(P,) whether the Newton matrix is to be made anew."""
    is_stuck: Array
    """(P,) whether no step gains anything."""
    is_good: Array
    """(P,) whether the next step would gain too little."""
    is_waiting: Array
    """(P,) whether the same problem with a larger lam comes first."""
    n_iter: Array
    """(P,) steps so far."""
    steps: Array
    """(m, r + 1, P, C) the last steps."""
    changes: Array
    """(m, r + 1, P, C) and the changes of the gradient that they brought."""
    value: Array = field(default_factory=lambda: np.zeros(0))
    """(P,) values, by which a checkpoint knows its data."""
    stage: int = 0
    step: int = 0
    curved: float = 1.0
    """Share of the rows that Hessians are summed over."""
    exact: bool = False
    """Whether similarities are computed in double precision now."""


@dataclass(frozen=True)
class Solution:
    """What a solve ends with, one entry per problem.

    Attributes
    ----------
    B : ndarray of shape (M + 1, P, C)
        Coefficients; the last are intercepts.
    u : ndarray of shape (r + 1, P, C)
        The same in the coordinates of the penalty.
    value : ndarray of shape (P,)
        Mean loss and penalty.
    residual : ndarray of shape (P,)
        Largest entry of the gradient, each in units of the mean similarity with its
        landmark; in double precision.
    gap : ndarray of shape (P,)
        Bound on the distance of the value from its minimum; NaN if there is none.
    status : list of str
        "converged", "max_iter" or "stalled".
    n_iter : ndarray of shape (P,)
        Newton steps.
    history : list of dict
        One row for each step.
    """

    B: Array
    u: Array
    value: Array
    residual: Array
    gap: Array
    status: list[str]
    n_iter: Array
    history: list[dict[str, float]]


def started(u: Array) -> State:
    """Return the state before the first pass.

    Parameters
    ----------
    u : ndarray of shape (r + 1, P, C)
        Where the problems start.

    Returns
    -------
    State
        With no direction and no Newton matrix.
    """
    P = u.shape[1]
    return State(
        u=u,
        anchor=u.copy(),
        d=np.zeros_like(u),
        t=np.ones(P),
        is_moving=np.zeros(P, bool),
        is_stale=np.ones(P, bool),
        is_stuck=np.zeros(P, bool),
        is_good=np.zeros(P, bool),
        is_waiting=np.zeros(P, bool),
        n_iter=np.zeros(P, int),
        steps=np.zeros((0, *u.shape)),
        changes=np.zeros((0, *u.shape)),
    )
