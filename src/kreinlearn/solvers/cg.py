"""Preconditioned conjugate gradients on Newton models, many problems at once."""

from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.solvers.base import Model

NEGATIVE = 1e-10
"""Curvature below this share of the direction's squared length counts as negative."""


@dataclass
class Steps:
    """Where the solves of a block have ended.

    Attributes
    ----------
    D, KD : ndarray of shape (n, P, C)
        ``T X`` for the solution X, and its product with K.
    negative : ndarray of shape (P,)
        Where negative curvature stopped a problem, the modulus of the Rayleigh
        quotient of K that was met; zero elsewhere.
    products, columns : int
        Products with K, and columns in all of them.
    """

    D: Array
    KD: Array
    negative: Array
    products: int = 0
    columns: int = 0


def solve(model: Model, rtol: Array, max_iter: int) -> Steps:
    """Solve (I + T'KT) X = rhs for each problem.

    Parameters
    ----------
    model : Model
        The models of a block.
    rtol : ndarray of shape (P,)
        A problem is done when its residual is this share of the first.
    max_iter : int
        Most products with K.

    Returns
    -------
    Steps
        The solutions, as far as they were followed.
    """
    R = model.rhs
    found = Steps(np.zeros(R.shape), np.zeros(R.shape), np.zeros(R.shape[1]))
    active: Array = np.arange(R.shape[1])
    P = model.precondition(R)
    rr, rz = dot(R, R), dot(R, P)
    goal = rtol**2 * rr
    keep = np.flatnonzero(rr > 0)
    while keep.size and found.products < max_iter:
        if keep.size < active.size:
            active, model = active[keep], model.take(keep)
            R, P, rz, goal = R[:, keep], P[:, keep], rz[keep], goal[keep]
        TP, KTP = model.apply(P)
        found.products += 1
        found.columns += TP[0].size
        H = model.pull(TP, KTP, P)
        curvature = dot(P, H)
        bent = curvature <= NEGATIVE * dot(P, P)
        alpha = rz / np.where(bent, 1.0, curvature)
        if bent.any():
            alpha[bent] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                met = -dot(TP[:, bent], KTP[:, bent]) / dot(TP[:, bent], TP[:, bent])
            found.negative[active[bent]] = np.maximum(met, np.finfo(float).tiny)
        if active.size == len(found.negative):
            found.D += alpha[:, None] * TP
            found.KD += alpha[:, None] * KTP
        else:
            found.D[:, active] += alpha[:, None] * TP
            found.KD[:, active] += alpha[:, None] * KTP
        R = R - alpha[:, None] * H
        keep = np.flatnonzero(~bent & (dot(R, R) > goal))
        if keep.size:
            Z = model.precondition(R)
            new = dot(R, Z)
            P = Z + (new / rz)[:, None] * P
            rz = new
    return found


def dot(U: Array, V: Array) -> Array:
    """Return the inner products of each problem's columns, shape (P,)."""
    return np.asarray(np.einsum("npc,npc->p", U, V))
