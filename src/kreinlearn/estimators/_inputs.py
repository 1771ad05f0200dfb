"""What estimators take, checked: samples, labels, weights, and similarities of samples.

Only the training samples with a nonzero coefficient are kept: the others play no part
in predictions.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from kreinlearn._memory import check_fits, fits
from kreinlearn._typing import Array
from kreinlearn._validation import (
    ALMOST,
    MEAN,
    STRIP,
    SYMMETRIZED,
    SYMMETRY,
    asymmetry,
    check_choice,
    check_distances,
    check_finite,
    check_matrix,
    check_similarities,
    judge_asymmetry,
    symmetrized,
)
from kreinlearn.estimators._callbacks import CallbackSupportMixin
from kreinlearn.estimators._conventions import NestedKernelParams, dense_rows
from kreinlearn.estimators._labels import (
    Labels,
    about_training_samples,
    match_new,
    match_training,
)
from kreinlearn.exceptions import IndefiniteKernelWarning, warn_caller
from kreinlearn.kernels import KERNELS, Similarities, gram, resolve
from kreinlearn.kernels.distances import DEFAULTS, PAIRWISE, check_form, learned_form
from kreinlearn.operators import Blocked, Dense, General

PRECISIONS = [np.float64, np.float32]
"""Kept as they come; anything else becomes the first."""
ASYMMETRIC = (
    "Say symmetrize='mean', 'max' or 'min', or use the norm 'euclidean', which takes "
    "the matrix as it is."
)
"""What to do about a matrix that is not symmetric."""
DUST = 1e-30
"""Weights below this share of the largest count as zero: no double tells otherwise."""
FINITE = "Kernel {!r} must give finite numbers, which samples of such a range do not"
"""What is wrong with similarities that overflow."""
AnyKernel = str | Callable[..., Array]
"""What ``kernel=`` takes: a name or a function of two sets of samples."""
Keywords = Mapping[str, Any]
"""Keyword arguments of a kernel."""
ValidSamples = Array | list[Any]
"""Validated samples: rows, a stack of matrices, or a list of anything."""
ClassWeight = Mapping[Any, float] | str | None
"""What ``class_weight=`` takes."""


def is_pairwise(kernel: AnyKernel | Sequence[AnyKernel]) -> bool:
    """Tell whether samples are rows of a square matrix: similarities or distances."""
    kernels = kernels_of(kernel)
    return len(kernels) == 1 and kernels[0] in PAIRWISE


def is_distance(kernel: AnyKernel | Sequence[AnyKernel]) -> bool:
    """Tell whether samples are rows of a matrix of distances."""
    return is_pairwise(kernel) and kernels_of(kernel)[0] == "distance"


def learns_form(kernel: AnyKernel | Sequence[AnyKernel]) -> bool:
    """Tell whether distances are computed, and their form is learned."""
    first = kernels_of(kernel)[0]
    return isinstance(first, str) and first in KERNELS and KERNELS[first].learns_form


def takes_matrices(kernel: AnyKernel) -> bool:
    """Tell whether samples are covariance matrices, so that X has three dimensions."""
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    return record is not None and record.samples == "matrices"


def takes_rows(kernel: AnyKernel) -> bool:
    """Tell whether samples are rows of numbers, for a kernel with a name."""
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    return record is not None and record.samples == "rows"


def kernels_of(kernel: AnyKernel | Sequence[AnyKernel]) -> list[AnyKernel]:
    """Return the kernels that an estimator is to try, one or more."""
    return [kernel] if isinstance(kernel, str) or callable(kernel) else list(kernel)


def kernel_name(kernel: AnyKernel) -> str:
    """Return what to call a kernel."""
    return kernel if isinstance(kernel, str) else getattr(kernel, "__name__", "kernel")


class KernelEstimator(NestedKernelParams, CallbackSupportMixin, BaseEstimator):
    """An estimator with the parameters ``kernel``, ``kernel_params`` and ``dtype``."""

    kernel: Any  # AnyKernel, or a sequence of them in a search
    kernel_params: Keywords | None
    dtype: DTypeLike | None
    n_features_in_: int
    dual_coef_: Array
    support_: Array
    X_fit_: ValidSamples | None
    _labels: Labels | Array | None  # of training samples, unless they are strings
    distance_median_: float
    distance_means_: Array | None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernels = kernels_of(self.kernel)
        tags.input_tags.pairwise = is_pairwise(self.kernel)
        tags.input_tags.positive_only = is_distance(self.kernel)
        tags.input_tags.three_d_array = any(map(takes_matrices, kernels))
        tags.input_tags.sparse = all(map(takes_rows, kernels))
        return tags

    @property
    def _takes_any_shape(self) -> bool:
        """Whether a matrix need not be symmetric."""
        return False

    def _check_kernel(self) -> None:
        """Raise if there is no such kernel, or if there is no such precision."""
        for kernel in kernels_of(self.kernel):
            if is_pairwise(kernel):
                check_pairwise_params(kernel, self.kernel_params or {})
            elif learns_form(kernel):
                check_learned_params(kernel, self.kernel_params or {})
            else:
                resolve(kernel)
        if self.dtype is not None and np.dtype(self.dtype).char not in "fd":
            raise ValueError(
                f"'dtype' must be None, 'float32' or 'float64', got {self.dtype!r}."
            )

    def _check_training(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[ValidSamples, Array]:
        """Return validated training samples and labels; learn ``n_features_in_``.

        Weights and groups are looked at only to see whether they are in the order of X.
        """
        self._labels = None
        if is_pairwise(self.kernel) and hasattr(X, "columns"):  # a DataFrame
            X, self._labels = match_training(
                X, y=y, sample_weight=sample_weight, groups=groups
            )
        samples, labels = self._check_samples(X, y, reset=True)
        labels = column_or_1d(labels, warn=True)
        check_consistent_length(samples, labels)
        check_classification_targets(labels)
        given = check_given(
            samples,
            self.kernel,
            self.kernel_params or {},
            getattr(self, "symmetrize", None),
            any_shape=self._takes_any_shape,
        )
        return given, labels

    def _check_new(self, X: ArrayLike) -> ValidSamples:
        """Return validated new samples."""
        if not is_pairwise(self.kernel):
            return self._check_samples(X, reset=False)
        K = match_new(self, X)
        with about_training_samples(self, K):
            samples = self._with_columns_of(K)._check_samples(K, reset=False)
        if is_distance(self.kernel):
            return check_distances(samples, square=False)
        return samples

    def _check_samples(self, X: ArrayLike, *y: ArrayLike, reset: bool) -> Any:
        """Return samples, and labels if given, whatever the kernel takes."""
        kernel = kernels_of(self.kernel)[0]
        record = KERNELS.get(kernel) if isinstance(kernel, str) else None
        if record is not None and record.check is not None:
            checked = record.check(X)
            return (checked, *y) if y else checked
        is_name = isinstance(kernel, str)
        samples: Any = X if is_name else _as_array_if_numbers(X)
        if takes_rows(kernel):
            samples = dense_rows(X)
        if is_name or isinstance(samples, np.ndarray):
            return validate_data(
                self,
                samples,
                *y,
                dtype=PRECISIONS if self.dtype is None else np.dtype(self.dtype),
                allow_nd=not is_name or takes_matrices(kernel),
                # Of distances, the pair is named for which one is missing.
                ensure_all_finite=not is_distance(kernel),
                reset=reset,
            )
        if len(samples) == 0:
            raise ValueError("'X' must hold at least one sample, got none.")
        return (samples, *y) if y else samples

    def _with_columns_of(self, X: ArrayLike) -> "KernelEstimator":
        """Return an estimator that expects the columns that X has, if they suffice.

        If columns are training samples: all of them, or those of ``support_``.
        """
        support = getattr(self, "support_", None)
        if support is None or not is_pairwise(self.kernel):
            return self
        shape = getattr(X, "shape", None) or np.asarray(X, dtype=object).shape
        if shape[1:] != (len(support),) or len(support) == self.n_features_in_:
            return self
        narrow = copy(self)
        narrow.n_features_in_ = len(support)
        if hasattr(self, "feature_names_in_"):
            narrow.feature_names_in_ = self.feature_names_in_[support]
        return narrow


def _as_array_if_numbers(X: Any) -> Any:
    """Turn tables of numbers into arrays; leave lists of anything else alone."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return X
    if hasattr(X, "to_numpy"):
        return X.to_numpy()
    if issparse(X) or hasattr(X, "__dataframe__"):  # such as a table of pyarrow
        return np.asarray(dense_rows(X))
    if isinstance(X, list | tuple):
        try:
            array = np.asarray(X)
        except ValueError:  # ragged: a list of sequences
            return list(X)
        return array if array.dtype.kind in "biuf" and array.ndim > 1 else list(X)
    return X


def check_pairwise_params(kernel: AnyKernel, params: Keywords) -> None:
    """Raise unless a matrix takes these parameters."""
    if is_distance(kernel):
        check_form(params)
        return
    for name, value in params.items():
        if name != "check" or not isinstance(value, bool):
            raise TypeError(
                "Kernel 'precomputed' takes 'check', True or False, and nothing else, "
                f"got {name!r}: {value!r}."
            )


def check_learned_params(kernel: AnyKernel, params: Keywords) -> None:
    """Raise unless parameters are those of a measure, or of a form of it."""
    record = KERNELS[str(kernel)]
    measure = record.measure
    assert measure is not None
    known = [*measure.params, *DEFAULTS]
    for name in params:
        if name not in known:
            listed = ", ".join(map(repr, known))
            raise TypeError(f"Kernel {kernel!r} takes {listed}, got {name!r}.")
    check_form({k: v for k, v in params.items() if k not in measure.params})


def check_given(
    X: ValidSamples,
    kernel: AnyKernel | Sequence[AnyKernel],
    params: Keywords,
    symmetrize: str | None = None,
    *,
    any_shape: bool = False,
) -> ValidSamples:
    """Return training samples; raise if a given matrix holds what it should not.

    It is made symmetric first if that is asked for; ``any_shape`` allows distances that
    are not.
    """
    if not is_pairwise(kernel):
        return X
    if symmetrize is not None:
        X = symmetrized(check_matrix(X, symmetric="any")[0], symmetrize)
    if is_distance(kernel):
        return check_distances(X, symmetric=not any_shape)
    if params.get("check", True):
        check_similarities(np.asarray(X))
    return X


def learn_support(
    estimator: KernelEstimator, given: ValidSamples | Similarities
) -> None:
    """Learn ``support_`` from ``dual_coef_``, and ``X_fit_``, the samples it names.

    The samples are not copied if all of them are needed. Of distances, only their
    median and, for the form "centered", means are kept.
    """
    X = given.X if isinstance(given, Similarities) else given
    needed = (estimator.dual_coef_ != 0).any(axis=0)
    if is_distance(estimator.kernel) or learns_form(estimator.kernel):
        params = estimator.kernel_params or {}
        if is_distance(estimator.kernel):
            form = learned_form(np.asarray(X), **params)
        else:
            shared = given if isinstance(given, Similarities) else Similarities(X)
            form = shared.form(KERNELS[str(kernels_of(estimator.kernel)[0])], params)
        estimator.distance_median_ = form.median
        estimator.distance_means_ = form.means
        needed |= form.means is not None  # the mean is taken over all columns
    estimator.support_ = np.flatnonzero(needed)
    if is_pairwise(estimator.kernel):
        estimator.X_fit_ = None
    elif needed.all():
        estimator.X_fit_ = X
    elif isinstance(X, np.ndarray):
        estimator.X_fit_ = X[estimator.support_]
    else:
        estimator.X_fit_ = [X[i] for i in estimator.support_]


def check_classes(y: Array, weights: Array) -> tuple[Array, Array]:
    """Return the sorted classes, and each sample's index among them."""
    classes, index = np.unique(y, return_inverse=True)
    present = np.bincount(index, weights=weights, minlength=len(classes)) > 0
    if present.sum() < 2:
        held = ", ".join(repr(label) for label in classes[present].tolist())
        raise ValueError(
            "'y' must hold at least two classes with positive weight, got "
            f"{int(present.sum())} class: {held}."
        )
    return classes, index


def check_weights(sample_weight: ArrayLike | None, n_samples: int) -> Array:
    """Return one nonnegative weight per sample, not yet normalized."""
    if sample_weight is None or isinstance(sample_weight, Real):
        weights = np.full(n_samples, 1.0 if sample_weight is None else sample_weight)
    else:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    if weights.shape != (n_samples,):
        raise ValueError(
            f"'sample_weight' must have shape ({n_samples},), one number per sample, "
            f"got shape {weights.shape}."
        )
    if weights.min() < 0:
        raise ValueError(
            f"'sample_weight' must not be negative, got {weights.min()!r}."
        )
    if weights.sum() == 0:
        raise ValueError("'sample_weight' must not be zero for every sample.")
    return without_dust(weights)


def without_dust(weights: Array) -> Array:
    """Return weights with those set to zero that are DUST of the largest."""
    return np.where(weights < DUST * weights.max(), 0.0, weights)


def combined(
    weights: Array, class_weight: ClassWeight, classes: Array, index: Array
) -> Array:
    """Return the weights of the samples times those of their classes."""
    present, place = np.unique(index, return_inverse=True)
    factors = class_weighted(class_weight, classes[present], place)
    return without_dust(weights * factors)


def class_weighted(class_weight: ClassWeight, classes: Array, index: Array) -> Array:
    """Return the factor that ``class_weight`` gives each sample."""
    if isinstance(class_weight, str):
        check_choice("class_weight", class_weight, ["balanced"])
    factors = compute_class_weight(class_weight, classes=classes, y=classes[index])
    return np.asarray(factors, dtype=float)[index]


def one_per_class(index: Array, n_classes: int) -> Array:
    """Return targets, 0 or 1: one column per class, or one in all for two classes."""
    onehot = (index[:, None] == np.arange(n_classes)).astype(float)
    return onehot[:, 1:] if n_classes == 2 else onehot


def training_gram(
    X: ValidSamples | Similarities,
    kernel: AnyKernel,
    params: Keywords,
    *,
    any_shape: bool = False,
    remedy: str = MEAN,
) -> Array:
    """Return the similarities among training samples.

    They are exactly symmetric, unless ``any_shape`` takes them as they are.
    """
    given = X.X if isinstance(X, Similarities) else X
    if is_distance(kernel):
        D = np.asarray(given)
        check_fits(len(D), len(D), D.dtype, "The matrix of similarities")
        K = learned_form(D, **params)(D)
    elif is_pairwise(kernel):
        K = np.asarray(given)
    elif isinstance(X, Similarities):
        K = X.matrix(kernel, params)
    elif learns_form(kernel):
        K = Similarities(X).matrix(kernel, params)
    else:
        K = gram(X, None, kernel, **params)
    if isinstance(kernel, str) and not is_pairwise(kernel):
        check_finite(K, FINITE.format(kernel))
        return K
    if any_shape and asymmetry(K) > SYMMETRY:
        return check_matrix(K, symmetric="any", square=False)[0]
    return check_matrix(K, remedy=remedy)[0]


def training_operator(
    X: ValidSamples | Similarities,
    kernel: AnyKernel,
    params: Keywords,
    operator: str,
    symmetrize: str | None = None,
    *,
    any_shape: bool = False,
) -> Dense | General | Blocked:
    """Return the similarities among training samples as something to multiply by.

    Blocked if asked for, or if the matrix would not fit in memory. ``any_shape`` allows
    a matrix that is not symmetric.
    """
    kernel = symmetric_kernel(kernel, symmetrize)
    samples = X.X if isinstance(X, Similarities) else X
    check_choice("operator", operator, ["auto", "dense", "blocked"])
    blocked = operator == "blocked"
    if is_pairwise(kernel) or learns_form(kernel):
        if blocked:
            raise ValueError(
                f"'operator' must be 'auto' or 'dense' with kernel={kernel!r}, whose "
                "matrix is stored in any case, got 'blocked'."
            )
    elif operator == "auto":
        dtype = getattr(samples, "dtype", np.dtype(float))
        blocked = not fits(len(samples), len(samples), dtype)
    if blocked:
        return _blocked(samples, kernel, params, any_shape)
    K = training_gram(X, kernel, params, any_shape=any_shape, remedy=ASYMMETRIC)
    is_symmetric = not any_shape or asymmetry(K) == 0
    return Dense(K) if is_symmetric else General(K)


def _blocked(
    X: ValidSamples, kernel: AnyKernel, params: Keywords, any_shape: bool
) -> Blocked:
    """Return the operator, after the same look at both directions as when stored."""
    K = Blocked(X, kernel, **params)
    if isinstance(kernel, str):
        # In a sum over a row, what is not finite stays what it is.
        row = int(np.isfinite(K.matmat(np.ones((len(X), 1)))[:, 0]).argmin())
        check_finite(K.rows(np.array([row])), FINITE.format(kernel), (row, 0))
        return K
    if isinstance(kernel, SymmetricKernel):
        return K
    difference, relative = K.asymmetry()
    if any_shape and relative > SYMMETRY:
        K.is_symmetric = False
    elif judge_asymmetry(difference, relative, K.dtype, remedy=ASYMMETRIC):
        return Blocked(X, SymmetricKernel(kernel, "mean"), **params)
    return K


def check_symmetrize(how: str | None) -> None:
    """Raise unless it is a way to make a matrix symmetric, or None."""
    if how is not None:
        check_choice("symmetrize", how, SYMMETRIZED)


@dataclass(frozen=True)
class SymmetricKernel:
    """A kernel of the user's with both of its values for a pair made one."""

    kernel: Callable[..., Array]
    how: str

    def __call__(self, X: Any, Y: Any, **params: Any) -> Array:
        K, mirror = self.kernel(X, Y, **params), self.kernel(Y, X, **params)
        return SYMMETRIZED[self.how](np.asarray(K), np.asarray(mirror).T)


def symmetric_kernel(kernel: AnyKernel, how: str | None) -> AnyKernel:
    """Return a kernel whose values are symmetric, as far as it can be called."""
    if how is None or isinstance(kernel, str | SymmetricKernel):
        return kernel  # kernels with a name are symmetric; matrices have no other
    return SymmetricKernel(kernel, how)


def warn_if_uninformative(K: Dense | General | Blocked, kernel: AnyKernel) -> None:
    """Warn if similarities are almost diagonal or almost constant; a part will tell."""
    if kernel == "precomputed" or K.shape[0] < 3:
        return
    some = np.arange(0, K.shape[0], max(1, K.shape[0] // STRIP))
    what = _uninformative(K.part(some, some))
    if what is None:
        return
    if is_distance(kernel) or learns_form(kernel):
        advice = "set another form or width in kernel_params."
    elif takes_matrices(kernel):
        advice = (
            f"a sigma far {'below' if what == 'diagonal' else 'above'} the distances "
            "between samples is the usual reason. Set sigma in kernel_params, e.g. to "
            "the root of the median of what kreinlearn.kernels.spd_distances gives."
        )
    else:
        advice = (
            f"features of a {'wide' if what == 'diagonal' else 'narrow'} range are the "
            "usual reason. Scale them first, e.g. with "
            "sklearn.preprocessing.MinMaxScaler, or set kernel_params."
        )
    warn_caller(
        f"The Gram matrix of kernel {kernel_name(kernel)!r} is almost {what}, so that "
        f"it hardly tells samples apart; {advice}",
        IndefiniteKernelWarning,
    )


def _uninformative(K: Array) -> str | None:
    """Return "diagonal" or "constant" if K is almost that."""
    n = len(K)
    diagonal = np.abs(K.diagonal())
    row_sums = np.zeros(n)
    low, high = np.inf, -np.inf
    for i in range(0, n, STRIP):
        rows = K[i : i + STRIP]
        row_sums[i : i + STRIP] = np.abs(rows).sum(axis=1)
        low, high = min(low, float(rows.min())), max(high, float(rows.max()))
    off = float((row_sums - diagonal).sum()) / (n * (n - 1))
    if off < ALMOST * float(diagonal.mean()):
        return "diagonal"
    return "constant" if high - low < ALMOST * max(abs(high), abs(low)) else None
