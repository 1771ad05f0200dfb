"""Fits of every kind of similarity, with certificates computed again in long double.

A fit may raise one clear error. Otherwise the model must be finite, its
probabilities must be probabilities, and its residual must be correct, and below
the tolerance if it reports convergence.
"""

import itertools
import time
import traceback
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from kreinlearn import KreinLogisticRegression
from tests.stress import Batch, Kind, Settings

BATCH = 50
SECONDS = 20.0
"""The longest that a fit of a few samples may take, in time of the processor."""
SCALES = (*(0,) * 10, *(-3, 3, 5) * 2, -20, -8, 15, 26)
"""Powers of ten that similarities are multiplied by; the last two take longest."""
NORMS = ("krein", "hilbert", "euclidean")


def case(norm: str, seed: int, number: int) -> tuple[KreinLogisticRegression, tuple]:
    """Return an estimator, and what it is to be fitted to."""
    rng = np.random.default_rng([seed, number, NORMS.index(norm)])
    n, n_classes = int(rng.integers(4, 40)), int(rng.integers(2, 5))
    y = rng.integers(n_classes, size=n)
    y[:2] = 0, 1
    K = similarities(rng, n) * 10.0 ** rng.choice(SCALES)
    K = K.astype(np.float32) if rng.random() < 0.15 else K
    weights = None
    if norm == "krein" and rng.random() < 0.4:
        weights = rng.choice([1.0, 2.0, 0.3, 1e-8, 1e-40, 0.0], size=n)
        weights[:n_classes] = 1.0
    model = KreinLogisticRegression(
        "precomputed",
        lam=10.0 ** rng.uniform(-10, 3),
        norm=norm,
        fit_intercept=bool(rng.random() < 0.8),
        multi_class=str(rng.choice(["auto", "ovr"])),
        max_iter=int(rng.choice([1, 5, 100, 100, 100])),
        tol=float(rng.choice([1e-6, 1e-6, 1e-9])),
    )
    return model, (K, y, weights)


def similarities(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a symmetric matrix of one of several kinds."""
    A = rng.standard_normal((n, n))
    rank = int(rng.integers(1, n))
    signs = rng.choice([-1.0, 1.0], size=rank)
    kinds = (
        (A + A.T) / 2,
        A @ A.T / n,
        (A[:, :rank] * signs) @ A[:, :rank].T,
        np.diag(10.0 ** rng.uniform(-6, 6, n)),
        -np.abs(A[:, :1] - A[:, :1].T),
        np.sign(A + A.T),
        np.ones((n, n)) + 1e-12 * (A + A.T),
        np.repeat(np.repeat((A + A.T)[: (n + 1) // 2, : (n + 1) // 2], 2, 0), 2, 1)[
            :n, :n
        ],
    )
    K = kinds[int(rng.integers(len(kinds)))]
    return np.asarray((K + K.T) / 2)


def fault(norm: str, seed: int, number: int) -> str:
    """Return what is wrong with a fit, or nothing."""
    model, data = case(norm, seed, number)
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(*data)
            wrong = judged(model, *data)
    except (ValueError, MemoryError) as error:
        said = str(error)
        wrong = "" if said.endswith(".") and "\n" not in said else repr(said[:200])
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        wrong = f"{type(error).__name__}: {str(error)[:200]!r} at {place}"
    if not wrong and time.process_time() - began > SECONDS:
        wrong = f"took {time.process_time() - began:.0f} seconds"
    return wrong


def judged(
    model: KreinLogisticRegression, K: np.ndarray, y: np.ndarray, w: np.ndarray | None
) -> str:
    """Return what is wrong with a fitted model, or nothing."""
    if not (
        np.isfinite(model.dual_coef_).all() and np.isfinite(model.intercept_).all()
    ):
        return f"not finite, {model.status_}"
    P = model.predict_proba(K)
    if not np.isfinite(P).all() or np.abs(P.sum(axis=1) - 1).max() > 1e-9:
        return f"no probabilities, {model.status_}"
    is_converged = model.status_ == "converged"
    if is_converged and not model.residual_ <= model.tol:
        return f"converged with residual {model.residual_}"
    if model.norm != "krein" or model.multi_class == "ovr":
        return ""
    found, noise = residual(model, K, y, w)
    limit = max(model.tol, model.residual_) if is_converged else 2 * model.residual_
    if not found <= 1.01 * limit + noise:
        return f"residual {found:.3g} instead of {model.residual_:.3g}, {model.status_}"
    return ""


def residual(
    model: KreinLogisticRegression, K: np.ndarray, y: np.ndarray, w: np.ndarray | None
) -> tuple[float, float]:
    """Return the certificate from its definition, and how far rounding may move it."""
    w = np.ones(len(y)) if w is None else w
    w = np.where(w < 1e-30 * w.max(), 0.0, w)
    share = (w / w.sum()).astype(np.longdouble)
    A, exact = model.dual_coef_.T.astype(np.longdouble), K.astype(np.longdouble)
    F = (exact[:, :, None] * A).sum(axis=1) + model.intercept_
    size = float((np.abs(exact)[:, :, None] * np.abs(A)).sum(axis=1).max())
    targets = (y[:, None] == model.classes_).astype(np.longdouble)
    if len(model.classes_) == 2:
        B, targets = 1 / (1 + np.exp(-F)), targets[:, 1:]
    else:
        odds = np.exp(F - F.max(axis=1, keepdims=True))
        B = odds / odds.sum(axis=1, keepdims=True)
    used = share > 0
    gap = model.lam * A[used] / share[used, None] - (targets - B)[used]
    return float(np.abs(gap).max()), len(y) * np.finfo(float).eps * (size + 1)


def _batches(norm: str, settings: Settings) -> Iterator[Batch]:
    for begin in itertools.count(0, BATCH):
        batch = Batch(BATCH)
        for number in range(begin, begin + BATCH):
            if wrong := fault(norm, settings.seed, number):
                batch.failed.append(f"case {number}: {wrong}")
        yield batch


KINDS: dict[str, Kind] = {f"fits-{norm}": partial(_batches, norm) for norm in NORMS}
