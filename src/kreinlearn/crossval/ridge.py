"""Convex cross-validation: logistic regression with a ridge on orthogonal features.

For the norms a'|K|a and s a'a of a stored matrix. With the eigenpairs (v, mu) of the
training samples' part of K, samples have the features K v, divided by sqrt(|mu|) for
the first norm and by sqrt(s) for the second; the penalty is the sum of the squares of
their coefficients. One decomposition serves both norms and all values of lam. Features
are orthogonal, so that the Newton system is almost diagonal, and conjugate gradients
need few products.

Each fold has a decomposition of its own. One of all samples would be cheaper, and no
label would leak; but held-out samples then look more predictable than new ones are, and
now and then far too small a lam is chosen. Nested cross-validation on fourteen
similarities, five outer folds: log-loss 0.181 and accuracy 0.929 that way, 0.179 and
0.932 this way; single cases 0.137 and 0.117, or 0.098 and 0.008.

Letters: ``E`` (n, r) features of n training samples; L values of lam, C columns of
scores per problem; ``b`` (r, C) coefficients, ``c`` (C,) intercepts.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import eigh

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.crossval.held import Fold
from kreinlearn.crossval.newton import RidgeProblems, solve
from kreinlearn.kernels.threads import available, helpers
from kreinlearn.operators import Dense, General, gemm

Result = TypeVar("Result")
Model = tuple[str, float]
"""A norm and a lam."""

START_TOL = 1e-7
"""Error of what an exact fit starts from, so that most need no further step."""
SINGLE, SINGLE_TOL = 0.5e-3, 1e-5
"""Smallest u = n lam / s and error for which problems are solved in single precision,
which takes half the time; beyond, rounding would show. Those that do not converge in it
are solved again."""
NEGLIGIBLE = 1e-12
"""Features whose eigenvalue is below this share of the largest are left out."""
GROUP_COLUMNS = 24
"""Columns of scores that are solved together, from larger to smaller lam."""
STACKED_SIZE = 1200
"""Samples times the root of the columns up to which all folds are solved together:
then calls of NumPy cost more than their work."""
STACK_FEATURES = 2**22
"""Largest number of features in a stack: 16 MB in single precision."""
STACK_SCORES, MAX_STACKS = 2**14, 4
"""Scores that are worth a stack of their own, and a thread."""
COPIES = 4
"""Matrices of the size of K that an eigendecomposition needs in memory."""


@dataclass(frozen=True)
class Basis:
    """Orthogonal features of the training samples of a fold, and of those held out.

    ``sizes`` are their absolute eigenvalues, with the mean ``scale``; ``mean`` is that
    of the features.
    """

    E: Array
    held: Array
    mean: Array
    sizes: Array
    weights: Array
    train: Array
    largest_weight: float
    scale: float


def basis_of(
    K: Dense | General, weights: Array, held: Array, kind: DTypeLike = np.float64
) -> Basis:
    """Decompose the part of K among training samples.

    Parameters
    ----------
    K : Dense or General
        Similarities among all samples, or with others.
    weights : ndarray of shape (n,)
        Weights of the samples; training samples have one above zero. With row i
        repeated w_i times, the eigenpairs are those of W^(1/2) K W^(1/2).
    held : ndarray
        Samples that are held out.
    kind : dtype
        Precision; small eigenvalues are noise in single precision.

    Returns
    -------
    Basis
        The features.
    """
    train = np.flatnonzero(weights > 0)
    w = weights[train]
    root = np.sqrt(w / w.max())
    is_square = K.shape[0] == K.shape[1]
    others = train if is_square else np.arange(K.shape[1])
    columns = root if is_square else np.ones(K.shape[1])
    check_fits(COPIES * len(train), len(others), np.float64, "Room for eigenvectors")
    part = K.part(train, others)
    if isinstance(K, Dense):
        values, vectors = _eigh((root[:, None] * part * root).astype(kind, copy=False))
    else:
        scaled = root[:, None] * part * columns
        squares, vectors = _eigh(gemm(scaled.T, scaled, kind))
        values = np.sqrt(np.maximum(squares, 0.0))
    sizes = np.abs(values)
    kept = np.argsort(-sizes, kind="stable")
    kept = kept[sizes[kept] > NEGLIGIBLE * sizes.max(initial=0.0)]
    directions = columns[:, None] * vectors[:, kept]
    E = gemm(part, directions, kind)
    share = w / w.sum()
    mean = share @ E
    E_held = gemm(K.part(held, others), directions, kind)
    largest = float(w.max()) if is_square else 1.0
    scale = float(sizes.sum() / (root @ root))
    about = (sizes[kept], share, train, largest, scale)
    return Basis(E, E_held, mean, *about)


def _eigh(A: Array) -> tuple[Array, Array]:
    values, vectors = eigh(A, driver="evd", check_finite=False, overwrite_a=True)
    return np.asarray(values), np.asarray(vectors)


@dataclass(frozen=True)
class FoldStack:
    """Features of S folds as padded arrays, in the precision of a solve.

    Features are divided by a power of two, such that the largest is about one. With an
    intercept, they have mean zero, which needs fewer steps, and the last one is
    constant.

    ``scales`` (S,) those of the matrices; ``E`` (S, n, q) features of training samples,
    ``held`` of those held out; ``Y`` (S, k, n) targets; ``weights`` (S, n), zero for
    padded samples; ``units`` (S,) what features were divided by.
    """

    bases: Sequence[Basis]
    scales: Sequence[float]
    E: Array
    held: list[Array]
    Y: Array
    weights: Array
    units: Array
    fit_intercept: bool

    def make_problems(
        self, norms: Sequence[str], lams: Array, n_classes: int
    ) -> RidgeProblems:
        """Return the problems of M models, each with one per class if one-versus-rest.

        ``norms`` (M,) are the same in all folds, ``lams`` (S, M) are not.
        """
        S, _, q = self.E.shape
        penalty = np.ones((S, len(norms), 1, q))  # one for padded features
        for f, (basis, scale) in enumerate(zip(self.bases, self.scales, strict=True)):
            squares = {
                "hilbert": basis.sizes,
                "euclidean": scale / basis.largest_weight,
            }
            for m, norm in enumerate(norms):
                part = penalty[f, m, 0, : len(basis.sizes)]
                part[:] = lams[f, m] * (squares[norm] / self.units[f]) / self.units[f]
        if self.fit_intercept:
            penalty[..., -1] = 0
        Y = self.Y.reshape(S, -1, n_classes, self.Y.shape[2])
        penalty = np.repeat(penalty, Y.shape[1], axis=1).astype(self.E.dtype)
        repeated = np.tile(Y, (1, len(norms), 1, 1))
        return RidgeProblems(self.E, repeated, self.weights[:, None, None], penalty)

    def make_start(self, n_classes: int) -> Array:
        """Return first coefficients of one model: none but class frequencies."""
        S, _, q = self.E.shape
        start = np.zeros((S, self.Y.shape[1] // n_classes, n_classes, q), self.E.dtype)
        if self.fit_intercept:
            share = np.vecdot(self.Y, self.weights[:, None]).reshape(start.shape[:3])
            share = np.clip(share, 1e-9, 1 - 1e-9)
            rest = np.log1p(-share) if n_classes == 1 else 0.0
            start[..., -1] = np.log(share) - rest
        return start


def stack_folds(
    bases: Sequence[Basis],
    scales: Sequence[float],
    columns: Array,
    fit_intercept: bool,
    kind: DTypeLike,
) -> FoldStack:
    """Return the features of folds as padded arrays.

    Parameters
    ----------
    bases : sequence of Basis
        Features of S folds, perhaps of several matrices.
    scales : sequence of float
        The scale of each fold's matrix, see `kreinlearn.spectrum.norms.scale_of`.
    columns : ndarray of shape (n, k)
        Targets of all samples, 0 or 1.
    fit_intercept : bool
        Whether to center features and add a constant one.
    kind : dtype
        Precision.

    Returns
    -------
    FoldStack
        The arrays.
    """
    S, n = len(bases), max(len(basis.train) for basis in bases)
    q = max(len(basis.sizes) for basis in bases) + int(fit_intercept)
    largest = [basis.sizes[0] if len(basis.sizes) else 1.0 for basis in bases]
    units = 2.0 ** np.frexp(largest)[1]
    Y, weights = np.zeros((S, columns.shape[1], n), kind), np.zeros((S, n), kind)

    def pad(E: Array, f: int, n_rows: int) -> Array:
        out = np.zeros((n_rows, q), kind)
        shift = bases[f].mean if fit_intercept else 0.0
        out[: len(E), : E.shape[1]] = (E - shift) / units[f]
        if fit_intercept:
            out[:, -1] = 1
        return out

    for f, basis in enumerate(bases):
        Y[f, :, : len(basis.train)] = columns[basis.train].T
        weights[f, : len(basis.train)] = basis.weights
    E = np.stack([pad(basis.E, f, n) for f, basis in enumerate(bases)])
    held = [pad(basis.held, f, len(basis.held)) for f, basis in enumerate(bases)]
    return FoldStack(bases, scales, E, held, Y, weights, units, fit_intercept)


def ridge_scores(
    bases: Sequence[Basis],
    norms: Sequence[str],
    scales: Sequence[float],
    columns: Array,
    lams: Array,
    *,
    multinomial: bool,
    fit_intercept: bool,
    max_iter: int,
    tol: float,
) -> tuple[list[Array], Array]:
    """Return the scores of held-out samples for every norm and lam, and what converged.

    Parameters
    ----------
    bases : sequence of Basis
        Features of S folds, perhaps of several matrices, which are solved together.
    norms : sequence of {"hilbert", "euclidean"}
        N penalties.
    scales : sequence of float
        The scale of each fold's matrix, see `kreinlearn.spectrum.norms.scale_of`.
    columns : ndarray of shape (n, k)
        Targets of all samples, 0 or 1.
    lams : ndarray of shape (S, L)
        Regularizations, decreasing.
    multinomial, fit_intercept : bool
        The model; without "multinomial", columns are problems of their own.
    max_iter : int
        Most Newton steps.
    tol : float
        Root of twice the distance of the value from its minimum, about.

    Returns
    -------
    scores : list of S ndarrays of shape (N, L, n_held, k)
        Scores.
    converged : ndarray of shape (S, N, L)
        Whether the minimum was reached.
    """
    path = partial(
        _solve_path,
        norms=norms,
        columns=columns,
        n_classes=columns.shape[1] if multinomial else 1,
        fit_intercept=fit_intercept,
        max_iter=max_iter,
        tol=tol,
    )
    is_single = tol >= SINGLE_TOL and all(
        own.min() * len(basis.train) >= SINGLE * basis.scale
        for own, basis in zip(lams, bases, strict=True)
    )
    if not is_single:
        return path(bases, scales, lams, np.float64)
    scores, converged = path(bases, scales, lams, np.float32)
    failed = np.flatnonzero(~converged.all(axis=(1, 2))).tolist()
    if len(failed):
        some = [bases[f] for f in failed], [scales[f] for f in failed], lams[failed]
        again, converged[failed] = path(*some, np.float64)
        for f, each in zip(failed, again, strict=True):
            scores[f] = each
    return scores, converged


def _solve_path(
    bases: Sequence[Basis],
    scales: Sequence[float],
    lams: Array,
    kind: DTypeLike,
    *,
    norms: Sequence[str],
    columns: Array,
    n_classes: int,
    fit_intercept: bool,
    max_iter: int,
    tol: float,
) -> tuple[list[Array], Array]:
    """Return what `ridge_scores` does, from larger to smaller lam in groups."""
    stack = stack_folds(bases, scales, columns, fit_intercept, kind)
    S, k, N = len(bases), columns.shape[1], len(norms)
    start = np.tile(stack.make_start(n_classes), (1, N, 1, 1))
    group = max(1, GROUP_COLUMNS // (k * N))
    scores, errors = [], []
    for first in range(0, lams.shape[1], group):
        part = lams[:, first : first + group]
        L = part.shape[1]
        repeated = np.repeat(part, N, axis=1)
        problems = stack.make_problems([*norms] * L, repeated, n_classes)
        x, error = solve(problems, np.tile(start, (1, L, 1, 1)), tol, max_iter)
        start = x[:, -start.shape[1] :]
        shape = (L, N, k)
        each = [
            _compute_scores(E, b, shape) for E, b in zip(stack.held, x, strict=True)
        ]
        scores.append(each)
        errors.append(error.reshape(S, L, N, -1).max(axis=3))
    found = [np.concatenate(fold).swapaxes(0, 1) for fold in zip(*scores, strict=True)]
    return found, (np.concatenate(errors, axis=1) <= tol).swapaxes(1, 2)


def _compute_scores(E: Array, x: Array, shape: tuple[int, ...]) -> Array:
    """Return the scores (..., n, k) of samples with features E; shape is (..., k)."""
    F = gemm(E, x.reshape(-1, x.shape[-1]).T, E.dtype).astype(float)
    return np.moveaxis(F.reshape(len(E), *shape), 0, -2)


def rough_scores(
    K: Dense | General,
    counts: Array,
    models: Sequence[Model],
    scale: float,
    columns: Array,
    *,
    multinomial: bool,
    fit_intercept: bool,
    max_iter: int,
) -> list[Array]:
    """Return the scores of all samples by models of them, for an exact fit to start.

    Parameters
    ----------
    K : Dense or General
        Similarities.
    counts : ndarray of shape (n,)
        Weights of the samples.
    models : sequence of (norm, lam)
        Norms "hilbert" and "euclidean".
    scale, columns, multinomial, fit_intercept, max_iter : object
        As in `ridge_scores`.

    Returns
    -------
    list of ndarray of shape (n, k)
        Scores, with intercepts.
    """
    rest = np.flatnonzero(counts <= 0)
    basis = basis_of(K, counts, rest)
    k = columns.shape[1]
    n_classes = k if multinomial else 1
    stack = stack_folds([basis], [scale], columns, fit_intercept, np.float64)
    norms, lams = zip(*models, strict=True)
    problems = stack.make_problems(norms, np.array([lams]), n_classes)
    start = np.tile(stack.make_start(n_classes), (1, len(models), 1, 1))
    x, _ = solve(problems, start, START_TOL, max_iter)
    F = np.empty((len(models), len(counts), k))
    shape = (len(models), k)
    F[:, basis.train] = _compute_scores(stack.E[0], x[0], shape)
    F[:, rest] = _compute_scores(stack.held[0], x[0], shape)
    return list(F)


def bases_of(
    K: Dense | General, weights: Array, folds: Sequence[Fold], kind: DTypeLike
) -> list[Basis]:
    """Return the features of all folds, in parallel."""
    return in_threads(
        [
            partial(basis_of, K, weights[:, f], held, kind)
            for f, (_, held) in enumerate(folds)
        ]
    )


def group_folds(bases: Sequence[Basis], n_columns: int) -> list[slice]:
    """Return which folds are solved together: single ones of many samples, else more.

    Threads take turns in Python, so that each needs a large stack. The groups do not
    depend on the number of threads, and neither does rounding.
    """
    S, n = len(bases), max(len(basis.train) for basis in bases)
    columns = min(n_columns, GROUP_COLUMNS)
    if n * np.sqrt(columns) > STACKED_SIZE:
        return [slice(f, f + 1) for f in range(S)]
    n_stacks = min(max(1, S * n * columns // STACK_SCORES), MAX_STACKS)
    n_stacks = max(n_stacks, -(-S * n * n // STACK_FEATURES))
    each = -(-S // n_stacks)
    return [slice(first, first + each) for first in range(0, S, each)]


def in_threads(jobs: Sequence[Callable[[], Result]]) -> list[Result]:
    """Return the results of jobs that release Python's lock, as threads allow."""
    wanted = min(available(), len(jobs))
    with helpers(wanted if wanted > 1 else 0) as count:
        if count < 2:
            return [job() for job in jobs]
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(lambda job: job(), jobs))
