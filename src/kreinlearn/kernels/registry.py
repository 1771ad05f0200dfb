"""Kernels by name, and kernels with their parameters resolved.

``kernel=`` of an estimator is a name, a function, "precomputed" or "distance".
`resolve_kernel` turns it into a `ResolvedKernel` once, at the boundary of an estimator.
Code below that boundary asks the resolved kernel, never the name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kreinlearn._memory import check_fits, fits
from kreinlearn._typing import Array, SampleSet
from kreinlearn._validation import (
    MEAN_REMEDY,
    SYMMETRIZERS,
    SYMMETRY_TOL,
    asymmetry,
    check_choice,
    check_finite,
    check_matrix,
    judge_asymmetry,
)
from kreinlearn.kernels._cache import compute_measure, digest, iterate_measure_rows
from kreinlearn.kernels._pairwise import Compiled, check_pair
from kreinlearn.kernels._records import (
    MEDIAN_PAIR_SAMPLES,
    Function,
    Kernel,
    Measure,
    Params,
)
from kreinlearn.kernels.graphs import GRAPH_KERNELS
from kreinlearn.kernels.products import multiply_rows, multiply_values
from kreinlearn.kernels.rows import ROW_KERNELS
from kreinlearn.kernels.sequences import SEQUENCE_KERNELS
from kreinlearn.kernels.series import SERIES_KERNELS
from kreinlearn.kernels.spd import SPD_KERNELS
from kreinlearn.kernels.transforms import (
    DEFAULT_PARAMS,
    DistanceTransform,
    check_number,
    check_transform_params,
    fit_transform,
    list_candidates,
)
from kreinlearn.kernels.transport import TRANSPORT_KERNELS
from kreinlearn.operators import Blocked, Dense, General, take_samples

Kind = str
"""Content of X: "rows", "matrices", "series", "sequences", "graphs" or "sets" (samples
of a kernel with a name), "gram" or "distance" (a given matrix), or "callable" (samples
of a user's function)."""
PAIRWISE_KINDS: dict[str, Kind] = {"precomputed": "gram", "distance": "distance"}
"""Kernels that stand for a matrix computed elsewhere."""
MATRIX_OPTIONS = ("check", "missing")
"""Parameters of given matrices: whether to reject similarities that look like
distances, and the value of pairs that a sparse matrix does not store."""
IMAGINARY_TOL = 1e-10
"""Largest imaginary part, relative to the largest real one, that is rounding."""
FINITE_RULE = "The kernel must give finite numbers"
NAMED_FINITE_RULE = (
    "Kernel {!r} must give finite numbers, which samples of such a range do not"
)
ASYMMETRY_REMEDY = (
    "Set symmetrize='mean', 'max' or 'min', or use the norm 'euclidean', which needs "
    "no symmetric matrix."
)


class Kernels(dict[str, Kernel]):
    """Kernels by name; a function becomes a `Kernel` with that function alone."""

    def __setitem__(self, name: str, kernel: Kernel | Function) -> None:
        record = kernel if isinstance(kernel, Kernel) else Kernel(name, kernel)
        super().__setitem__(name, record)


_ALL_RECORDS = (*ROW_KERNELS, *SPD_KERNELS, *SERIES_KERNELS, *SEQUENCE_KERNELS)
_ALL_RECORDS += (*GRAPH_KERNELS, *TRANSPORT_KERNELS)
KERNELS = Kernels({each.name: each for each in _ALL_RECORDS})
"""Kernels by name."""


@dataclass(frozen=True, eq=False)
class ResolvedKernel:
    """A kernel with checked parameters; fitted, if it has a transform of distances.

    Parameters
    ----------
    source : str or callable
        The kernel as a user gives it.
    params : mapping
        Its parameters.
    kind : str
        Content of X, see `Kind`.
    record : Kernel, optional
        The record of a kernel with a name.
    symmetrize : {"mean", "max", "min"}, optional
        How both values of a pair become one, if a user's function is not symmetric.
    transform : DistanceTransform, optional
        From distances to similarities, fitted to training samples.
    similarity : str, optional
        Name of the matrix, if several are given.
    """

    source: str | Function
    params: Params
    kind: Kind
    record: Kernel | None = None
    symmetrize: str | None = None
    transform: DistanceTransform | None = None
    similarity: str | None = None

    @property
    def name(self) -> str:
        """The name, or that of the function."""
        if isinstance(self.source, str):
            return self.source
        return str(getattr(self.source, "__name__", "kernel"))

    @property
    def setting(self) -> tuple[Any, Params]:
        """The kernel as a user gives it, and its parameters."""
        return self.source, self.params

    @property
    def described_params(self) -> Params:
        """The parameters, and the name of the matrix if several are given."""
        if self.similarity is None:
            return self.params
        return {"similarity": self.similarity, **self.params}

    @property
    def is_pairwise(self) -> bool:
        """Whether X holds similarities or distances between samples."""
        return self.kind in ("gram", "distance")

    @property
    def is_distance(self) -> bool:
        """Whether distances, given or computed, are transformed."""
        is_record = self.record is not None and self.record.is_distance
        return is_record or self.kind == "distance"

    @property
    def is_stored(self) -> bool:
        """Whether values between training samples are always stored."""
        return self.is_pairwise or self.is_distance

    @property
    def is_measured(self) -> bool:
        """Whether samples are not arrays, and a measure between them is expensive."""
        return self.record is not None and self.record.check is not None

    @property
    def is_cheap(self) -> bool:
        """Whether similarities are compiled sums over features of rows."""
        return self.measure is not None and self.measure.sums is not None

    @property
    def is_symmetric(self) -> bool:
        """Whether both values of a pair are known to be equal."""
        return self.record is not None or self.symmetrize is not None

    @property
    def measure(self) -> Measure | None:
        """The measure between two samples, if it is known."""
        return None if self.record is None else self.record.measure

    @cached_property
    def measure_params(self) -> dict[str, Any]:
        """Parameters of the measure."""
        names = () if self.measure is None else self.measure.params
        return {name: self.params[name] for name in names if name in self.params}

    @property
    def transform_params(self) -> dict[str, Any]:
        """Parameters of the transform."""
        others = {*self.measure_params, *MATRIX_OPTIONS}
        return {k: v for k, v in self.params.items() if k not in others}

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # Without the record, whose functions need not be picklable.
        return _rebuild, (self.source, self.params, self.symmetrize, self.transform)

    def fit(self, samples: "Similarities") -> "ResolvedKernel":
        """Fit the transform of distances to training samples; others need no fit."""
        if not self.is_distance:
            return self
        D = samples.compute_distances(self)
        return replace(self, transform=fit_transform(D, **self.transform_params))

    def restore(self, median: float, means: Array | None) -> "ResolvedKernel":
        """Return the kernel with a transform that was fitted before."""
        params = {**DEFAULT_PARAMS, **self.transform_params}
        transform = DistanceTransform(median=median, means=means, **params)
        return replace(self, transform=transform)

    def transform_values(self, values: Array) -> Array:
        """Return the similarities for distances or scores."""
        return values if self.transform is None else self.transform(values)

    def matrix(self, samples: "Similarities") -> Array:
        """Return the similarities among training samples.

        Parameters
        ----------
        samples : Similarities
            The samples this kernel was fitted to.

        Returns
        -------
        ndarray of shape (n, n)
            The matrix, which the caller may change unless it was given.
        """
        if self.kind == "gram":
            return samples.select_given(self)
        if self.is_distance:
            D = samples.compute_distances(self)
            check_fits(len(D), len(D), D.dtype, "The matrix of similarities")
            return self.transform_values(D)
        if self.record is not None and self.record.form is not None:
            transform = self.record.make_transform(samples.X, self.params)
            values = samples.store_values(self)
            if values is not None:
                return transform(values, is_symmetric=True)
        return self.cross(samples.X)

    def cross(
        self, X: SampleSet, Y: SampleSet | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Return the similarities between two sets of samples.

        Parameters
        ----------
        X : sequence of n samples
            Samples; rows of similarities or distances if the matrix is given.
        Y : sequence of k samples, optional
            Other samples; None means X.
        dtype : dtype, optional
            Precision: compiled sums are computed in it, others are rounded to it. By
            default that of the samples.

        Returns
        -------
        ndarray of shape (n, k)
            Similarities.
        """
        if self.is_pairwise:
            return self.transform_values(np.asarray(X, dtype=dtype))
        if dtype is not None and self.is_cheap:
            X, Y = np.asarray(X, dtype), None if Y is None else np.asarray(Y, dtype)
        K = self._compute(X, Y)
        return K if dtype is None else K.astype(dtype, copy=False)

    def _compute(self, X: SampleSet, Y: SampleSet | None) -> Array:
        others = X if Y is None else Y
        shape = (_count_samples("X", X), _count_samples("Y", others))
        check_fits(*shape, _find_precision(X, others), "The kernel matrix")
        if self.record is None:
            return _check_result(self.call(X, others), shape)
        if not self.is_measured:
            return self.record.function(X, Y, **self.params)
        assert self.measure is not None
        if Y is None:
            values = compute_measure(self.measure, X, self.measure_params)
            return self.transform_values(values)
        K = np.empty(shape)
        for rows, values in self.iterate(X, Y):
            K[rows] = self.transform_values(values)
        return K

    def iterate(self, X: SampleSet, Y: SampleSet) -> Any:
        """Yield rows (slices) and values of the measure between two sets of samples."""
        assert self.measure is not None
        return iterate_measure_rows(self.measure, X, Y, self.measure_params)

    def call(self, X: SampleSet, Y: SampleSet) -> Any:
        """Return the values of a user's function, symmetric if that is asked for."""
        assert callable(self.source)
        K = self.source(X, Y, **self.params)
        if self.symmetrize is None:
            return K
        mirror = np.asarray(self.source(Y, X, **self.params)).T
        return SYMMETRIZERS[self.symmetrize](np.asarray(K), mirror)

    def dot(
        self,
        X: SampleSet,
        Y: SampleSet | None,
        B: ArrayLike,
        is_transposed: bool = False,
    ) -> Array:
        """Return the product of the similarities, which are not stored, with columns.

        Parameters
        ----------
        X, Y : sequence of n and k samples
            As in `cross`.
        B : array-like of shape (k, p)
            Columns.
        is_transposed : bool
            Whether a user's function is called with its arguments exchanged.

        Returns
        -------
        ndarray of shape (n, p)
            The product, in double precision.
        """
        others = X if Y is None else Y
        shape = (_count_samples("X", X), _count_samples("Y", others))
        B = _check_columns(B, shape[1], "X" if Y is None else "Y")
        if self.is_measured:
            product = np.empty((shape[0], B.shape[1]))
            for rows, values in self.iterate(X, others):
                product[rows] = self.transform_values(values) @ B
            return product
        record = None if is_transposed else self._find_record()
        if record is not None and record.measure and record.measure.sums:
            rows, given = check_pair(X, Y)
            transform = record.make_transform(rows, self.params)
            if isinstance(transform, Compiled):
                return multiply_rows(rows, given, record.measure.sums, transform, B)
        is_symmetric = self.record is not None and others is X
        if self.record is not None:
            # Check all samples first: a message names a position in all of them.
            self.record.function(X, others[:1], **self.params)
            if others is not X:
                self.record.function(X[:1], others, **self.params)

        def compute_block(i: slice, j: slice) -> Array:
            if self.record is not None:
                part = None if is_symmetric and i == j else others[j]
                return self.record.function(X[i], part, **self.params)
            pair = (others[j], X[i]) if is_transposed else (X[i], others[j])
            K = np.asarray(self.call(*pair))
            block = (i.stop - i.start, j.stop - j.start)
            return _check_result(K.T if is_transposed else K, block, (i.start, j.start))

        return multiply_values(compute_block, shape, B, is_symmetric)

    def _find_record(self) -> Kernel | None:
        """Return the record, also that of a function of this package."""
        if self.record is not None or self.symmetrize is not None:
            return self.record
        source = getattr(self.source, "function", self.source)
        found = (each for each in KERNELS.values() if each.function is source)
        return next(found, None)

    def training_matrix(
        self,
        samples: "Similarities",
        *,
        any_shape: bool = False,
        remedy: str = MEAN_REMEDY,
    ) -> Array:
        """Return the similarities among training samples, checked.

        They are finite, and exactly symmetric unless ``any_shape`` allows otherwise;
        ``remedy`` is the advice for a matrix that is not symmetric.
        """
        K = self.matrix(samples)
        if self.record is not None:
            check_finite(K, NAMED_FINITE_RULE.format(self.name))
            return K
        if any_shape and asymmetry(K) > SYMMETRY_TOL:
            return check_matrix(K, symmetric="any", square=False)[0]
        return check_matrix(K, remedy=remedy)[0]

    def operator(
        self, samples: "Similarities", how: str, *, any_shape: bool = False
    ) -> Dense | General | Blocked:
        """Return the similarities among training samples as a matrix for solvers.

        Parameters
        ----------
        samples : Similarities
            The samples this kernel was fitted to.
        how : {"auto", "dense", "blocked"}
            Whether the matrix is stored; "auto" stores it if it fits in memory.
        any_shape : bool
            Whether the matrix need not be symmetric.

        Returns
        -------
        Dense, General or Blocked
            The matrix; General if it is stored and not symmetric.
        """
        check_choice("operator", how, ["auto", "dense", "blocked"])
        is_blocked = how == "blocked"
        if self.is_stored:
            if is_blocked:
                raise ValueError(
                    "'operator' must be 'auto' or 'dense' with kernel="
                    f"{self.source!r}, whose matrix is stored in any case, got "
                    "'blocked'."
                )
        elif how == "auto":
            X = samples.X
            dtype = getattr(X, "dtype", np.dtype(float))
            is_blocked = not fits(len(X), len(X), dtype)
        if is_blocked:
            return self._block(samples.X, any_shape)
        K = self.training_matrix(samples, any_shape=any_shape, remedy=ASYMMETRY_REMEDY)
        is_symmetric = not any_shape or asymmetry(K) == 0
        return Dense(K) if is_symmetric else General(K)

    def _block(self, X: SampleSet, any_shape: bool) -> Blocked:
        """Return the matrix in blocks, checked like a stored one."""
        K = Blocked(self, X)
        if self.record is not None:
            # A sum over a row with a value that is not finite is not finite.
            row = int(np.isfinite(K.matmat(np.ones((len(X), 1)))[:, 0]).argmin())
            rule = NAMED_FINITE_RULE.format(self.name)
            check_finite(K.rows(np.array([row])), rule, (row, 0))
            return K
        if self.is_symmetric:
            return K
        difference, relative = K.asymmetry()
        if any_shape and relative > SYMMETRY_TOL:
            K.is_symmetric = False
        elif judge_asymmetry(difference, relative, K.dtype, remedy=ASYMMETRY_REMEDY):
            return Blocked(replace(self, symmetrize="mean"), X)
        return K

    def default_grid(self, samples: "Similarities") -> dict[str, list[float]]:
        """Return the values that a search tries, by parameter."""
        grid = None if self.record is None else self.record.grid
        if grid is None or {grid.parameter, *grid.alternatives} & {*self.params}:
            return {}
        scale = samples.median(self) if self.measure and grid.of_median else 1.0
        return {grid.parameter: [value * scale for value in grid.values]}

    def candidates(
        self, samples: "Similarities | None", grid: Mapping[Any, Any] | None = None
    ) -> list["ResolvedKernel"]:
        """Return the kernel with each combination of parameters that a search tries.

        Parameters
        ----------
        samples : Similarities or None
            Training samples, for the scale of their distances.
        grid : mapping, optional
            Lists of values by parameter. By default `default_grid`; for distances the
            forms and widths of `kernels.transforms.list_candidates`.

        Returns
        -------
        list of ResolvedKernel
            Not fitted.
        """
        from sklearn.model_selection import ParameterGrid

        if self.kind == "gram":
            if grid:
                raise ValueError(
                    "'kernel_grid' must be empty with kernel='precomputed', which has "
                    f"nothing to try, got {grid!r}."
                )
            return [replace(self, params={})]  # the matrix has been checked
        if not self.is_distance:
            if grid is None:
                grid = {} if samples is None else self.default_grid(samples)
            return self._with_each(ParameterGrid(grid))
        names = () if self.measure is None else self.measure.params
        rest = None if grid is None else dict(grid)
        own = {k: rest.pop(k) for k in [*rest] if k in names} if rest else {}
        is_given = rest is not None and (self.kind == "distance" or len(rest) > 0)
        tried = list(ParameterGrid(rest)) if is_given else None
        forms = list_candidates(self.transform_params, tried)
        pairs = product(ParameterGrid(own), forms)
        return self._with_each({**one, **form} for one, form in pairs)

    def _with_each(self, tried: Any) -> list["ResolvedKernel"]:
        fixed = self.measure_params if self.is_distance else self.params
        found = [replace(self, params={**fixed, **one}) for one in tried]
        if self.record is not None and not self.is_distance:
            for each in found:
                self.record.check_params(each.params)
        return found


def resolve_kernel(
    kernel: str | Function, params: Params | None = None, symmetrize: str | None = None
) -> ResolvedKernel:
    """Return a kernel with its parameters checked, or raise.

    Parameters
    ----------
    kernel : str or callable
        A name in KERNELS, a function f(X, Y) of two whole sets of samples,
        "precomputed" or "distance".
    params : mapping, optional
        Its parameters.
    symmetrize : {"mean", "max", "min"}, optional
        How both values of a pair become one, for functions.

    Returns
    -------
    ResolvedKernel
        The kernel, not fitted.
    """
    params = dict(params or {})
    if symmetrize is not None:
        check_choice("symmetrize", symmetrize, SYMMETRIZERS)
    kind = find_kind(kernel)
    given = {k: v for k, v in params.items() if k != "missing"}
    if kind in PAIRWISE_KINDS.values() and params.get("missing") is not None:
        check_number("missing", params["missing"])
    if kind == "distance":
        check_transform_params(given)
    elif kind == "gram":
        for name, value in given.items():
            if name != "check" or not isinstance(value, bool):
                raise TypeError(
                    "Kernel 'precomputed' takes 'check', True or False, and "
                    f"'missing', a number, got {name!r}: {value!r}."
                )
    else:
        resolve(kernel)
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    found = ResolvedKernel(kernel, params, kind, record, None if record else symmetrize)
    if record is not None and not record.is_distance:
        record.check_params(params)
    elif record is not None:
        assert record.measure is not None
        record.check_params(params, [*record.measure.params, *DEFAULT_PARAMS])
        check_transform_params(found.transform_params)
    return found


def _rebuild(
    kernel: Any, params: Params, symmetrize: str | None, transform: Any
) -> ResolvedKernel:
    return replace(resolve_kernel(kernel, params, symmetrize), transform=transform)


def find_kind(kernel: Any) -> Kind:
    """Return the content of X; "callable" for any kernel without a name."""
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel].samples
    is_pairwise = isinstance(kernel, str) and kernel in PAIRWISE_KINDS
    return PAIRWISE_KINDS[kernel] if is_pairwise else "callable"


def list_kernels(kernel: Any) -> list[Any]:
    """Return the kernels of ``kernel=``, which may be one or a sequence."""
    return [kernel] if isinstance(kernel, str) or callable(kernel) else list(kernel)


def resolve(kernel: str | Function) -> Function:
    """Return the function of a kernel, or raise.

    Parameters
    ----------
    kernel : str or callable
        A name in KERNELS, or a function, which is returned.

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> from kreinlearn.kernels import resolve
    >>> resolve("tl1").__name__
    'tl1'
    """
    if isinstance(kernel, Kernel):
        return kernel.function
    if callable(kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel].function
    if isinstance(kernel, str) and kernel in PAIRWISE_KINDS:
        raise ValueError(
            f"'kernel' is {kernel!r}, which is not a function: pass the matrix itself "
            "in place of the samples."
        )
    names = ", ".join(repr(name) for name in sorted(KERNELS))
    error = ValueError if isinstance(kernel, str) else TypeError
    raise error(
        f"'kernel' must be one of {names}, a callable, 'precomputed' or 'distance', "
        f"got {kernel!r}."
    )


class Similarities:
    """Kernel matrices of one set of samples, for a search over kernels and parameters.

    Values of a measure are computed once and stored while they fit in memory. All
    kernels and widths that are transforms of it share them.

    Parameters
    ----------
    X : sequence of n samples
        Samples of the kernels.
    is_search : bool, default=True
        Whether several kernels share measures. For a single one, only distances whose
        transform is fitted are stored.
    names : sequence of str, default=()
        Names of the matrices, if X holds several, of shape (n, n, q).

    Examples
    --------
    >>> from kreinlearn.kernels import Similarities
    >>> similarities = Similarities([[0.0], [1.0], [3.0]])
    >>> similarities.matrix("tl1", {"tau": 2.0})
    array([[2., 1., 0.],
           [1., 2., 0.],
           [0., 0., 2.]])
    >>> similarities.grid("laplacian", {})
    {'sigma': [0.5, 1.0, 2.0, 4.0, 8.0]}
    """

    def __init__(
        self, X: SampleSet, is_search: bool = True, names: Sequence[str] = ()
    ) -> None:
        self.X = X
        self._is_search = is_search
        self._names = list(names)
        self._stored: dict[tuple[str, str], Array] = {}

    def matrix(self, kernel: str | Function, params: Params) -> Array:
        """Return ``gram(X, None, kernel, **params)``, the same to the last bit.

        Parameters
        ----------
        kernel : str or callable
            A name in KERNELS, or a function, which is called.
        params : mapping
            Its parameters.

        Returns
        -------
        ndarray of shape (n, n)
            The matrix; the caller may change it.
        """
        return resolve_kernel(kernel, params).fit(self).matrix(self)

    def grid(self, kernel: str | Function, fixed: Params) -> dict[str, list[float]]:
        """Return the values of a kernel's parameters that are tried by default.

        Parameters
        ----------
        kernel : str or callable
            A name in KERNELS, or a function, for which nothing is tried.
        fixed : mapping
            Parameters that are not tried.

        Returns
        -------
        dict of str to list of float
            Values by parameter; empty if there is nothing to choose.
        """
        return resolve_kernel(kernel, fixed).default_grid(self)

    def take(self, rows: Array) -> "Similarities":
        """Return some of the samples."""
        return Similarities(take_samples(self.X, rows), self._is_search)

    def select_given(self, kernel: ResolvedKernel) -> Array:
        """Return the given matrix of a pairwise kernel, or one of several."""
        given = np.asarray(self.X)
        if kernel.similarity is None:
            return given
        return given[..., self._names.index(kernel.similarity)]

    def compute_distances(self, kernel: ResolvedKernel) -> Array:
        """Return the distances (n, n) of a kernel that transforms them, stored."""
        if kernel.kind == "distance":
            return self.select_given(kernel)
        assert kernel.measure is not None
        key = _make_key(kernel)
        if key not in self._stored:
            n = len(self.X)
            what = "A matrix of distances and one of similarities"
            check_fits(2 * n, n, np.float64, what)
            self._stored[key] = compute_measure(
                kernel.measure, self.X, kernel.measure_params
            )
        return self._stored[key]

    def store_values(self, kernel: ResolvedKernel) -> Array | None:
        """Return the values of a measure, or None if storing them saves no time."""
        measure = kernel.measure
        if measure is None or not self._is_search:
            return None
        key = _make_key(kernel)
        if key not in self._stored:
            n = len(self.X)
            is_worthwhile = measure.size(self.X) >= measure.stored_from
            # The values, and one matrix computed from them.
            if not (is_worthwhile and fits(2 * n, n, _find_precision(self.X))):
                return None
            self._stored[key] = measure.function(self.X, None, **kernel.measure_params)
        return self._stored[key]

    def median(self, kernel: ResolvedKernel) -> float:
        """Return the median distance, from stored values if there are few samples."""
        measure = kernel.measure
        assert measure is not None
        if measure.metric is None and len(self.X) <= MEDIAN_PAIR_SAMPLES:
            D = self.store_values(kernel)
            if D is not None:
                return measure.median_of_values(D)
        return measure.median(self.X, **kernel.measure_params)


def gram(
    X: SampleSet,
    Y: SampleSet | None = None,
    kernel: str | Function = "tl1",
    **params: Any,
) -> Array:
    """Matrix of a kernel between two sets of samples.

    Parameters
    ----------
    X : sequence of n samples
        Samples of the kernel: a matrix with one sample per row, a stack of matrices, a
        list of strings.
    Y : sequence of k samples, default=None
        Other samples; None means X.
    kernel : str or callable, default="tl1"
        A name in KERNELS, or a function f(X, Y) of two whole sets of samples.
    **params : dict
        Parameters of the kernel.

    Returns
    -------
    ndarray of shape (n, k)
        The matrix, float32 if the kernel returns that, float64 otherwise.

    Raises
    ------
    MemoryError
        If the matrix would not fit in memory; raised before it is computed.

    Examples
    --------
    >>> from kreinlearn.kernels import gram
    >>> gram([[0.0, 0.0], [1.0, 0.5]], kernel="tl1", tau=2)
    array([[2. , 0.5],
           [0.5, 2. ]])

    A function of your own, on samples that are not numbers:

    >>> import numpy as np
    >>> def common(X, Y):
    ...     return np.array([[len(set(x) & set(z)) for z in Y] for x in X])
    >>> gram(["kernel", "trick"], ["krein"], kernel=common)
    array([[4.],
           [3.]])
    """
    found, X, Y = _resolve_call(kernel, params, X, Y)
    return found.cross(X, Y)


def multiply(
    X: SampleSet,
    Y: SampleSet | None,
    B: ArrayLike,
    kernel: str | Function = "tl1",
    **params: Any,
) -> Array:
    """Product of a kernel matrix, which is never stored, with columns.

    The same as ``gram(X, Y, kernel, **params) @ B``, for matrices of any size: blocks
    of the matrix are computed, used and dropped.

    Parameters
    ----------
    X : sequence of n samples
        As `gram` takes them.
    Y : sequence of k samples or None
        Other samples; None means X, and takes half the time.
    B : array-like of shape (k, p) or (k,)
        The columns.
    kernel : str or callable, default="tl1"
        A name in KERNELS, or a function f(X, Y) of two whole sets of samples. A
        function is called with slices of X and Y.
    **params : dict
        Parameters of the kernel.

    Returns
    -------
    ndarray of shape (n, p) or (n,)
        The product, float64. The same call on the same machine gives the same bits.

    Notes
    -----
    Takes up to 64 MiB of memory in addition to the samples, the columns and the result,
    for up to 100,000 features; a function of your own is called with up to 1448 samples
    on each side.

    Entries of the matrix are computed in single precision if the samples are float32,
    and summed in double precision. Distances are those of `gram`, except that they are
    summed pair by pair for any number of features, which is more accurate.

    Examples
    --------
    >>> from kreinlearn.kernels import multiply
    >>> multiply([[0.0, 0.0], [1.0, 0.5]], None, [1.0, 2.0], kernel="tl1", tau=2)
    array([3. , 4.5])
    """
    found, X, Y = _resolve_call(kernel, params, X, Y)
    product = found.dot(X, Y, B)
    return product[:, 0] if np.ndim(B) == 1 else product


def _resolve_call(
    kernel: str | Function, params: Params, X: SampleSet, Y: SampleSet | None
) -> tuple[ResolvedKernel, SampleSet, SampleSet | None]:
    """Return kernel and samples of a call of `gram` or `multiply`, checked."""
    resolve(kernel)
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    if record is not None and record.is_distance:
        raise ValueError(
            f"Kernel {kernel!r} is a distance, whose transform is fitted to training "
            "samples: use it in an estimator, or turn what "
            f"kreinlearn.kernels.KERNELS[{kernel!r}] returns into similarities by "
            "DistanceSimilarity."
        )
    found = resolve_kernel(kernel, params)
    if found.is_measured:
        assert found.record is not None and found.record.check is not None
        X, Y = found.record.check(X), None if Y is None else found.record.check(Y)
    return found, X, Y


def _make_key(kernel: ResolvedKernel) -> tuple[str, str]:
    """Return a key for a measure with its parameters."""
    assert kernel.measure is not None
    known = dict(sorted(kernel.measure_params.items()))
    return kernel.measure.name, digest(known) or repr(known)


def _find_precision(*samples: SampleSet) -> type[np.floating]:
    """Return float32 if all samples are float32, else float64."""
    is_single = all(getattr(each, "dtype", None) == np.float32 for each in samples)
    return np.float32 if is_single else np.float64


def _count_samples(name: str, samples: SampleSet) -> int:
    try:
        return len(samples)
    except TypeError:
        raise TypeError(
            f"{name!r} must be an array or a sequence of samples, got an object of "
            f"type {type(samples).__name__}."
        ) from None


def _check_result(
    result: ArrayLike, shape: tuple[int, int], start: tuple[int, int] = (0, 0)
) -> Array:
    """Return the result of a user's kernel as a matrix of finite numbers, or raise.

    ``start`` is the position of its first entry in the whole matrix.
    """
    given = np.asarray(result)
    if given.dtype.kind == "c" and given.size > 0:
        largest = float(np.abs(given.imag).max())
        if largest > IMAGINARY_TOL * float(np.abs(given.real).max()):
            raise ValueError(
                "The kernel must give real numbers, got complex ones with imaginary "
                f"parts up to {largest:.3g}; return the real part, or the modulus."
            )
        given = given.real
    if given.dtype.kind not in "fiub":
        raise TypeError(
            f"The kernel must give real numbers, got an array of dtype {given.dtype}."
        )
    if given.shape != shape:
        raise ValueError(
            f"The kernel must give a matrix of shape {shape}, one row for each sample "
            f"of 'X' and one column for each of 'Y', got shape {given.shape}."
        )
    K: Array = given if given.dtype == np.float32 else given.astype(float, copy=False)
    check_finite(K, FINITE_RULE, start)
    return K


def _check_columns(B: ArrayLike, n_rows: int, samples: str) -> Array:
    """Return columns as a matrix of n_rows rows in double precision, or raise."""
    given = np.asarray(B)
    if given.dtype.kind not in "fiub":
        raise TypeError(
            f"'B' must hold real numbers, got an array of dtype {given.dtype}."
        )
    if given.ndim not in (1, 2) or len(given) != n_rows:
        raise ValueError(
            f"'B' must be a 1-d or 2-d array with {n_rows} rows, one for each sample "
            f"of {samples!r}, got shape {given.shape}."
        )
    columns = given[:, None] if given.ndim == 1 else given
    # Writable, because compiled code would be compiled again for read-only input.
    return np.require(columns, dtype=np.float64, requirements=["C", "A", "W"])
