"""Base classes of estimators: validation, labels, tags, callbacks, predictions.

Estimators store only the training samples with a nonzero coefficient. Letters:
``scores`` (n, k), one column per class, or a single one for two classes.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import wraps
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from kreinlearn._memory import check_bytes, check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import (
    INFORMATIVE_TOL,
    STRIP_ROWS,
    check_choice,
    check_count,
    check_distances,
    check_matrix,
    check_similarities,
    looks_like_distances,
    symmetrize_matrix,
)
from kreinlearn.exceptions import IndefiniteKernelWarning, warn_caller
from kreinlearn.kernels.registry import (
    ResolvedKernel,
    find_kind,
    list_kernels,
    resolve_kernel,
)
from kreinlearn.losses import Link, log_probabilities
from kreinlearn.operators import Blocked, Dense, General, take_samples

if TYPE_CHECKING:
    import pandas as pd

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as sklearn_with_callbacks
except ImportError:  # before scikit-learn 1.9
    sklearn_with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Supports no callbacks."""


NESTED_PREFIX = "kernel_params__"
"""Prefix of single kernel parameters in grids."""
PRECISIONS = [np.float64, np.float32]
"""Precisions that are kept; other types are converted to the first."""
MIN_SCALED_COLUMNS = 4
"""Features below which scales are not compared."""
DOMINANT_VARIANCE, DOMINANT_SPREAD = 0.99, 30.0
"""A quarter of the features, or fewer, dominate all distances if they have this
fraction of the variance, and the largest spread is this many times the median."""
WEIGHT_FLOOR = 1e-30
"""Weights below this fraction of the largest are set to zero."""
ValidSamples = Array | list[Any]
"""Validated samples: rows, a stack of matrices, or a list."""
ClassWeight = Mapping[Any, float] | str | None
"""Values of ``class_weight=``."""
Labels = list[Hashable]
"""Labels of the rows or columns of a matrix."""
FitMethod = TypeVar("FitMethod", bound=Callable[..., Any])
Item = TypeVar("Item")


class DocumentedEstimator:
    """An estimator whose representation in a notebook links to its page."""

    _doc_link_module = "kreinlearn"
    _doc_link_template = (
        "https://kreinlearn.readthedocs.io/en/stable/api/generated/"
        "kreinlearn.{estimator_name}.html"
    )


class KernelEstimator(DocumentedEstimator, CallbackSupportMixin, BaseEstimator):
    """An estimator with the parameters ``kernel``, ``kernel_params`` and ``dtype``.

    Entries of ``kernel_params`` can be set one by one: ``kernel_params__sigma``.
    """

    kernel: Any  # a name or a function; in a search also a sequence of them
    kernel_params: Mapping[str, Any] | None
    dtype: DTypeLike | None
    n_features_in_: int
    dual_coef_: Array
    support_: Array
    X_fit_: ValidSamples | None
    _labels: Labels | Array | None  # of training samples, unless they are strings
    distance_median_: float
    distance_means_: Array | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the entries of ``kernel_params``, as
            ``kernel_params__sigma``.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep)
        if deep and isinstance(self.kernel_params, Mapping):
            params |= {f"{NESTED_PREFIX}{k}": v for k, v in self.kernel_params.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : dict
            Values by name; ``kernel_params__sigma`` sets one entry of
            ``kernel_params`` and keeps the others.

        Returns
        -------
        self : estimator
            The same object.
        """
        nested = {
            name.removeprefix(NESTED_PREFIX): params.pop(name)
            for name in list(params)
            if name.startswith(NESTED_PREFIX)
        }
        super().set_params(**params)
        if nested:  # a new dict, since the given one may be shared
            self.kernel_params = {**(self.kernel_params or {}), **nested}
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kinds = [find_kind(kernel) for kernel in list_kernels(self.kernel)]
        tags.input_tags.pairwise = kinds in (["gram"], ["distance"])
        tags.input_tags.positive_only = kinds == ["distance"]
        tags.input_tags.three_d_array = "matrices" in kinds
        tags.input_tags.sparse = {*kinds} == {"rows"}
        return tags

    @property
    def _takes_any_shape(self) -> bool:
        """Whether a matrix need not be symmetric."""
        return False

    def _resolve_kernels(self) -> list[ResolvedKernel]:
        """Return the kernels with their parameters checked, or raise."""
        how = getattr(self, "symmetrize", None)
        if self.dtype is not None and np.dtype(self.dtype).char not in "fd":
            raise ValueError(
                f"'dtype' must be None, 'float32' or 'float64', got {self.dtype!r}."
            )
        kernels = list_kernels(self.kernel)
        return [resolve_kernel(each, self.kernel_params, how) for each in kernels]

    def _restore_kernel(self) -> ResolvedKernel:
        """Return the kernel of a fitted estimator."""
        kernel = self._resolve_kernels()[0]
        if not kernel.is_distance:
            return kernel
        return kernel.restore(self.distance_median_, self.distance_means_)

    def _check_training(
        self,
        kernel: ResolvedKernel,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[ValidSamples, Array]:
        """Return validated training samples and labels; set ``n_features_in_``.

        Weights and groups are checked only for the order of their labels.
        """
        self._labels = None
        X = convert_matrix(X, kernel, is_training=True) if kernel.is_pairwise else X
        if kernel.is_pairwise and hasattr(X, "columns"):  # a DataFrame
            X, self._labels = match_training(
                X, y=y, sample_weight=sample_weight, groups=groups
            )
        samples, labels = self._check_labeled(kernel, X, y, reset=True)
        return self._check_given(kernel, samples), labels

    def _check_labeled(
        self, kernel: ResolvedKernel, X: ArrayLike, y: ArrayLike, *, reset: bool
    ) -> tuple[ValidSamples, Array]:
        """Return validated samples and their labels, or raise."""
        samples, given = self._check_samples(kernel, X, y, reset=reset)
        labels = column_or_1d(given, warn=reset)
        check_consistent_length(samples, labels)
        check_classification_targets(labels)
        return samples, labels

    def _check_given(self, kernel: ResolvedKernel, X: ValidSamples) -> ValidSamples:
        """Return training samples; check a given matrix, and symmetrize it."""
        if kernel.kind == "rows":
            warn_distances(np.asarray(X))
            warn_unscaled(np.asarray(X), getattr(self, "feature_names_in_", None))
        if not kernel.is_pairwise:
            return X
        how = getattr(self, "symmetrize", None)
        if how is not None:
            X = symmetrize_matrix(check_matrix(X, symmetric="any")[0], how)
        if kernel.is_distance:
            return check_distances(X, symmetric=not self._takes_any_shape)
        if kernel.params.get("check", True):
            check_similarities(np.asarray(X))
        return X

    def _check_new(self, X: ArrayLike) -> ValidSamples:
        """Return validated new samples."""
        kernel = self._resolve_kernels()[0]
        if not kernel.is_pairwise:
            samples: ValidSamples = self._check_samples(kernel, X, reset=False)
            return samples
        K = match_new(self, convert_matrix(X, kernel))
        with explain_columns(self, K):
            checker = self._match_width(K)
            samples = checker._check_samples(kernel, K, reset=False)
        return check_distances(samples, square=False) if kernel.is_distance else samples

    def _check_samples(
        self, kernel: ResolvedKernel, X: ArrayLike, *y: ArrayLike, reset: bool
    ) -> Any:
        """Return validated samples of a kernel, and labels if given."""
        if kernel.is_measured:
            assert kernel.record is not None and kernel.record.check is not None
            checked = kernel.record.check(X)
            return (checked, *y) if y else checked
        is_function = kernel.kind == "callable"
        samples: Any = _convert_numbers(X) if is_function else X
        if kernel.kind == "rows":
            samples = densify(X)
        if not is_function or isinstance(samples, np.ndarray):
            return validate_data(
                self,
                samples,
                *y,
                dtype=PRECISIONS if self.dtype is None else np.dtype(self.dtype),
                allow_nd=kernel.kind in ("callable", "matrices"),
                # `check_distances` names the pair of a missing distance.
                ensure_all_finite=kernel.kind != "distance",
                reset=reset,
            )
        if len(samples) == 0:
            raise ValueError("'X' must hold at least one sample, got none.")
        return (samples, *y) if y else samples

    def _match_width(self, X: ArrayLike) -> "KernelEstimator":
        """Return an estimator that expects as many columns as X has.

        Columns are all training samples, or those of ``support_``.
        """
        support = getattr(self, "support_", None)
        if support is None:
            return self
        shape = getattr(X, "shape", None) or np.asarray(X, dtype=object).shape
        if shape[1:] != (len(support),) or len(support) == self.n_features_in_:
            return self
        narrow = copy(self)
        narrow.n_features_in_ = len(support)
        if hasattr(self, "feature_names_in_"):
            narrow.feature_names_in_ = self.feature_names_in_[support]
        return narrow

    def _store_support(self, kernel: ResolvedKernel, X: ValidSamples) -> None:
        """Set ``support_`` from ``dual_coef_``, ``X_fit_`` and the fitted transform.

        Samples are not copied if all of them are needed.
        """
        needed = (self.dual_coef_ != 0).any(axis=0)
        if kernel.transform is not None:
            self.distance_median_ = kernel.transform.median
            self.distance_means_ = kernel.transform.means
            needed |= kernel.transform.means is not None  # a mean over all columns
        self.support_ = np.flatnonzero(needed)
        if kernel.is_pairwise:
            self.X_fit_ = None
        elif needed.all():
            self.X_fit_ = X
        else:
            self.X_fit_ = take_samples(X, self.support_)


class KernelClassifier(ClassifierMixin, KernelEstimator):
    """A classifier that predicts the class with the largest score."""

    classes_: Array
    intercept_: Array

    def _scores(self, X: ArrayLike) -> Array:
        """Return the scores of new samples, of shape (n_new, n_columns)."""
        check_is_fitted(self)
        return compute_scores([self], [self._check_new(X)])[0]

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the scores f.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or samples of the kernel
            Samples; with ``kernel="precomputed"`` their similarities with the
            training samples, of shape (n_new, n_samples), or with those of
            ``support_`` alone, of shape (n_new, n_support); with
            ``kernel="distance"`` their distances to these. Columns of a DataFrame are
            matched by label.

        Returns
        -------
        ndarray of shape (n_new,) or (n_new, n_classes)
            Scores; positive means the second of two classes.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> Array:
        """Return the most probable labels.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or samples of the kernel
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_new,)
            Labels.
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    def explain(self, X: ArrayLike, top: int | None = 5) -> "pd.DataFrame":
        """Return the training samples that count most for and against each class.

        The score of a sample is the sum of the contributions of all training samples
        and the intercept.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or samples of the kernel
            Samples, as in `decision_function`.
        top : int or None, default=5
            Largest number of training samples for each sample and class, by the size
            of their contribution; None for all that have a coefficient.

        Returns
        -------
        DataFrame
            Columns ``sample`` and ``training_sample`` (labels if X and the training
            samples have them, else positions), ``class``, ``similarity`` and
            ``contribution``, the largest contributions first. With two classes there is
            one score, that of the second class. Averaged models have averaged
            similarities and contributions.
        """
        import pandas as pd

        check_is_fitted(self)
        if top is not None:
            check_count("top", top)
        positions, K, parts = self._contributions(X)
        order = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :top]
        # Samples, then classes, then training samples.
        at = np.moveaxis(order, 2, 1)
        row, column, _ = (each.ravel() for each in np.indices(at.shape))
        flat, known = at.ravel(), get_row_labels(X)
        is_pairwise = self.__sklearn_tags__().input_tags.pairwise
        names = _training_labels(self) if is_pairwise else None
        others = positions[flat].tolist()
        others = others if names is None else [names[i] for i in others]
        return pd.DataFrame(
            {
                "sample": row if known is None else [known[i] for i in row],
                "class": self.classes_[column + (parts.shape[2] == 1)],
                "training_sample": others,
                "similarity": K[row, flat],
                "contribution": parts[row, flat, column],
            }
        )

    def _contributions(self, X: ArrayLike) -> tuple[Array, Array, Array]:
        """Return the contributions of training samples to the scores of new ones.

        Positions (m,), similarities (n_new, m) and contributions (n_new, m, n_columns).
        """
        K = self._compute_similarities(self._check_new(X))
        a = self.dual_coef_[:, self.support_].T
        return self.support_, K, K[:, :, None] * a

    def _compute_similarities(self, X: ValidSamples) -> Array:
        """Return the similarities of validated new samples with those of support_."""
        kernel = self._restore_kernel()
        if not kernel.is_pairwise:
            return kernel.cross(X[:], self.X_fit_).astype(float, copy=False)
        K = np.asarray(X)
        K = K if K.shape[1] == len(self.support_) else K.take(self.support_, 1)
        return kernel.transform_values(K).astype(float, copy=False)

    def _compute_training_matrix(self, X: ArrayLike) -> Array:
        """Return the similarities among training samples, or of their matrix X."""
        check_is_fitted(self)
        return self._restore_kernel().cross(self._check_new(X))


class ProbabilisticKernelClassifier(KernelClassifier):
    """A classifier whose scores are log-odds."""

    _link: Link

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or samples of the kernel
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            Probabilities in the order of ``classes_``; one-versus-rest ones are scaled
            to sum to one.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Return the logarithms of the probabilities, without underflow.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or samples of the kernel
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            Log-probabilities, in the order of ``classes_``.
        """
        return log_probabilities(self._scores(X), self._link)


def compute_scores(
    models: Sequence[KernelClassifier], parts: Sequence[ValidSamples]
) -> Array:
    """Return the scores of new samples by models fitted to the same training samples.

    Parameters
    ----------
    models : sequence of KernelClassifier
        Fitted models.
    parts : sequence of ndarray or list
        The validated new samples of each model; with a given matrix, similarities or
        distances to all training samples or to those of ``support_``.

    Returns
    -------
    ndarray of shape (n_models, n_new, n_columns)
        Scores. Similarities are not stored, and an expensive measure is computed once.
    """
    kernels = [model._restore_kernel() for model in models]
    # The same memory layout, whether just fitted or read from a file.
    coefs = [np.ascontiguousarray(m.dual_coef_[:, m.support_].T) for m in models]
    scores: list[Any] = [None] * len(models)
    groups: dict[str, list[int]] = {}
    for g, (model, kernel, a) in enumerate(zip(models, kernels, coefs, strict=True)):
        X = parts[g]
        if kernel.is_pairwise:
            # The same columns in both cases, so that products agree to the bit.
            K = np.asarray(X)
            is_part = K.shape[1] == len(a)
            K = np.ascontiguousarray(K) if is_part else K.take(model.support_, 1)
            scores[g] = kernel.transform_values(K) @ a
        elif len(a) == 0:
            scores[g] = np.zeros((len(X), a.shape[1]))
        elif kernel.is_measured:
            scores[g] = np.empty((len(X), a.shape[1]))
            groups.setdefault(repr(kernel.measure_params), []).append(g)
        else:
            # A slice, since measures of one object with itself round differently.
            scores[g] = kernel.dot(X[:], model.X_fit_, a)
    for group in groups.values():
        needed: dict[int, Any] = {}
        for g in group:
            X_fit = models[g].X_fit_
            assert X_fit is not None
            needed |= dict(zip(models[g].support_.tolist(), X_fit, strict=True))
        order = sorted(needed)
        others = [needed[i] for i in order]
        places = {g: np.searchsorted(order, models[g].support_) for g in group}
        for rows, D in kernels[group[0]].iterate(parts[group[0]], others):
            for g in group:
                own = D if len(places[g]) == len(order) else D[:, places[g]]
                scores[g][rows] = kernels[g].transform_values(own) @ coefs[g]
    pairs = zip(scores, models, strict=True)
    return np.stack([np.asarray(f + model.intercept_) for f, model in pairs])


def share_support(models: Sequence[KernelClassifier]) -> Array:
    """Return the positions of all samples that any of the models needs, increasing.

    Models that need the same samples share one copy of them afterwards.
    """
    copies: dict[bytes, ValidSamples | None] = {}
    for each in models:
        each.X_fit_ = copies.setdefault(each.support_.tobytes(), each.X_fit_)
    return np.unique(np.concatenate([each.support_ for each in models]))


# Labels and weights of samples.


def check_classes(y: Array, weights: Array) -> tuple[Array, Array]:
    """Return the sorted classes, and each sample's index among them."""
    classes, index = np.unique(y, return_inverse=True)
    present = np.bincount(index, weights=weights, minlength=len(classes)) > 0
    if present.sum() < 2:
        labels = ", ".join(repr(label) for label in classes[present].tolist())
        raise ValueError(
            "'y' must hold at least two classes with positive weight, got "
            f"{int(present.sum())} class: {labels}."
        )
    return classes, index


def check_weights(sample_weight: ArrayLike | None, n_samples: int) -> Array:
    """Return one nonnegative weight per sample, not normalized."""
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
    return _drop_negligible_weights(weights)


def _drop_negligible_weights(weights: Array) -> Array:
    return np.where(weights < WEIGHT_FLOOR * weights.max(), 0.0, weights)


def apply_class_weight(
    weights: Array, class_weight: ClassWeight, classes: Array, index: Array
) -> Array:
    """Return the weights of the samples times those of their classes."""
    present, place = np.unique(index, return_inverse=True)
    factors = expand_class_weight(class_weight, classes[present], place)
    return _drop_negligible_weights(weights * factors)


def expand_class_weight(
    class_weight: ClassWeight, classes: Array, index: Array
) -> Array:
    """Return the factor of ``class_weight`` for each sample."""
    if isinstance(class_weight, str):
        check_choice("class_weight", class_weight, ["balanced"])
    factors = compute_class_weight(class_weight, classes=classes, y=classes[index])
    return np.asarray(factors, dtype=float)[index]


def one_hot(index: Array, n_classes: int) -> Array:
    """Return targets, 0 or 1: one column per class, or a single one for two classes."""
    targets = (index[:, None] == np.arange(n_classes)).astype(float)
    return targets[:, 1:] if n_classes == 2 else targets


# Samples.


def densify(X: Any) -> Any:
    """Return sparse samples as an array and others unchanged, or raise."""
    if not issparse(X):
        return X
    n, m = X.shape
    check_bytes(
        n * m * X.dtype.itemsize,
        f"Kernels take rows as dense arrays, and 'X' of shape ({n}, {m}) needs",
        "Reduce the number of features first, e.g. with "
        "sklearn.decomposition.TruncatedSVD, or use kernel='precomputed' with a matrix "
        "of similarities.",
    )
    return X.toarray()


def _convert_numbers(X: Any) -> Any:
    """Return tables of numbers as arrays, and lists of anything else as lists."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return X
    if hasattr(X, "to_numpy"):
        return X.to_numpy()
    if issparse(X) or hasattr(X, "__dataframe__"):  # such as a table of pyarrow
        return np.asarray(densify(X))
    if isinstance(X, list | tuple):
        try:
            array = np.asarray(X)
        except ValueError:  # ragged: a list of sequences
            return list(X)
        return array if array.dtype.kind in "biuf" and array.ndim > 1 else list(X)
    return X


def warn_if_uninformative(K: Dense | General | Blocked, kernel: ResolvedKernel) -> None:
    """Warn if similarities of some samples are almost diagonal or almost constant."""
    n = K.shape[0]
    if kernel.kind == "gram" or n < 3:
        return
    some = np.arange(0, n, max(1, n // STRIP_ROWS))
    shape = _find_uninformative(K.part(some, some))
    if shape is None:
        return
    is_diagonal = shape == "diagonal"
    if kernel.is_distance:
        advice = "set another form or width in kernel_params."
    elif kernel.kind == "matrices":
        advice = (
            f"a sigma far {'below' if is_diagonal else 'above'} the distances "
            "between samples is the usual reason. Set sigma in kernel_params, e.g. to "
            "the root of the median of what kreinlearn.kernels.spd_distances gives."
        )
    else:
        advice = (
            f"features of a {'wide' if is_diagonal else 'narrow'} range are the "
            "usual reason. Scale them first, e.g. with "
            "sklearn.preprocessing.MinMaxScaler, or set kernel_params."
        )
    warn_caller(
        f"The Gram matrix of kernel {kernel.name!r} is almost {shape}, so that "
        f"it hardly separates samples; {advice}",
        IndefiniteKernelWarning,
    )


def _find_uninformative(K: Array) -> str | None:
    """Return "diagonal" or "constant" if K is almost that."""
    n, sizes = len(K), np.abs(K)
    diagonal = sizes.diagonal()
    off = float((sizes.sum(axis=1) - diagonal).sum()) / (n * (n - 1))
    if off < INFORMATIVE_TOL * float(diagonal.mean()):
        return "diagonal"
    is_constant = float(K.max()) - float(K.min()) < INFORMATIVE_TOL * float(sizes.max())
    return "constant" if is_constant else None


# Callbacks of scikit-learn, such as progress bars.


def with_callbacks(n_tasks: int = 0) -> Callable[[FitMethod], FitMethod]:
    """Notify scikit-learn callbacks when ``fit`` starts and finishes.

    Parameters
    ----------
    n_tasks : int
        Largest number of parts that the method reports by `subtask`.

    Returns
    -------
    callable
        The decorator; before scikit-learn 1.9 it returns the method unchanged.
    """

    def decorate(fit: FitMethod) -> FitMethod:
        if sklearn_with_callbacks is None:
            return fit

        @sklearn_with_callbacks
        @wraps(fit)
        def notify(self: Any, X: Any, y: Any = None, *args: Any, **given: Any) -> Any:
            task = self._init_callback_context(max_subtasks=n_tasks)
            weights = args[0] if args else given.get("sample_weight")
            about: dict[str, Any] = {"estimator": self, "X": X, "y": y}
            if weights is not None:
                about["metadata"] = {"sample_weight": weights}
            task.call_on_fit_task_begin(**about)
            fit(self, X, y, *args, **given)
            # A copy needs no further attributes to predict.
            task.call_on_fit_task_end(**about, reconstruction_attributes=dict)
            return self

        return notify

    return decorate


@contextmanager
def subtask(estimator: Any, name: str, n_tasks: int = 0) -> Iterator[Any]:
    """Notify the callbacks of an estimator of one part of its fit."""
    fit = getattr(estimator, "_callback_fit_ctx", None)
    if fit is None:
        yield None
        return
    task = fit.subcontext(name, max_subtasks=n_tasks)
    task.call_on_fit_task_begin(estimator=estimator)
    yield task
    task.call_on_fit_task_end(estimator=estimator)


def notify_each(
    estimator: Any, name: str, items: Iterable[Item], n_items: int
) -> Iterator[Item]:
    """Yield items, and notify the callbacks of an estimator of each of them."""
    with subtask(estimator, name, n_items) as task:
        for item in items:
            if task is not None:
                one = task.subcontext(f"{name} of one setting")
                one.call_on_fit_task_begin(estimator=estimator)
                one.call_on_fit_task_end(estimator=estimator)
            yield item


# Labels of given matrices. Columns of a DataFrame are matched to training samples by
# label. The numbers 0, 1, ... of pandas are labels only if the other side has them too.


def match_training(
    K: Any, **beside: ArrayLike | None
) -> tuple[ArrayLike, Labels | Array | None]:
    """Return K with its columns in the order of its rows, and labels to store.

    Raises if labels do not match, or if y, weights or groups are in another order.
    Strings are stored in ``feature_names_in_`` by scikit-learn; other labels are
    returned, to be stored in ``_labels`` of the estimator.
    """
    columns, rows = _column_labels(K), get_row_labels(K)
    if columns is None:
        return K, None
    _check_unique(columns, "column")
    if rows is not None and _are_comparable(rows, columns):
        _check_unique(rows, "row")
        _check_same_labels(rows, columns)
        K, columns = _select(K, columns, rows), rows
    for labels, where in ((rows, "index"), (columns, "columns")):
        if labels is not None:
            _check_order(labels, where, beside)
    if _is_named(K):
        return K, None
    is_whole = all(type(label) is int for label in columns)
    return _number_columns(K), np.array(columns) if is_whole else columns


def match_new(estimator: BaseEstimator, K: Any) -> ArrayLike:
    """Return similarities of new samples with their columns in the order of training.

    Columns are all training samples, or those of ``support_``. Without labels on one
    side, K is returned unchanged, with the warning of scikit-learn.
    """
    learned, columns = _training_labels(estimator), _column_labels(K)
    if learned is None:
        return K
    if columns is None:
        return _warn_unlabeled(estimator, K)
    _check_not_transposed(learned, columns, get_row_labels(K))
    support = getattr(estimator, "support_", None)
    wanted = learned
    if support is not None and len(columns) == len(support):
        wanted = [learned[i] for i in support]
    if is_numbering(columns):
        is_labelled = set(columns) == set(wanted)
    else:
        # Numbers 0, 1, ... of training may be reordered, but do not match names.
        is_whole = all(type(label) is int for label in columns)
        is_labelled = is_whole or not is_numbering(learned)
    if not is_labelled:
        return _warn_unlabeled(estimator, K)
    _check_unique(columns, "column")
    _check_complete(columns, wanted)
    return _number_columns(_select(K, columns, wanted))


def convert_matrix(X: Any, kernel: ResolvedKernel, *, is_training: bool = False) -> Any:
    """Return a given matrix of another library as a DataFrame or an array, or raise.

    A ``DistanceMatrix`` of scikit-bio becomes a DataFrame with its ids as labels. Pairs
    that a sparse matrix does not store get the value ``missing``; among training
    samples the value of the other direction, if that is stored.
    """
    if hasattr(X, "ids") and hasattr(X, "to_data_frame"):
        return X.to_data_frame()
    if not issparse(X):
        return X
    missing = kernel.params.get("missing")
    if missing is None:
        raise ValueError(
            f"'X' is sparse and stores {X.nnz:,} of {X.shape[0] * X.shape[1]:,} pairs; "
            "state a value for the others by kernel_params={'missing': value}, or pass "
            "X.toarray() if they are 0."
        )
    check_fits(X.shape[0], X.shape[1], float, "The dense matrix")
    stored = X.tocsr().tocoo()  # sums entries that are stored twice
    K = np.full(X.shape, missing, dtype=float)
    if is_training and X.shape[0] == X.shape[1]:
        K[stored.col, stored.row] = stored.data
        if kernel.is_distance:
            np.fill_diagonal(K, 0.0)
    K[stored.row, stored.col] = stored.data
    return K


def warn_distances(X: Array) -> None:
    """Warn if rows of features are a matrix of distances."""
    if len(X) > MIN_SCALED_COLUMNS and looks_like_distances(X) and (X == X.T).all():
        warn_caller(
            "X looks like a matrix of distances: it is symmetric with a zero diagonal. "
            "Use kernel='distance'; otherwise its columns are features.",
            IndefiniteKernelWarning,
        )


def warn_unscaled(X: Array, names: Array | None) -> None:
    """Warn if a few columns dominate every distance between rows."""
    n_columns = X.shape[1]
    if n_columns < MIN_SCALED_COLUMNS:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.std(X, axis=0, dtype=float)
    if not np.isfinite(spread).all() or not spread.any():
        return
    spread = spread / spread.max()
    order = np.argsort(-spread)
    total = np.cumsum(spread[order] ** 2)
    n_dominant = 1 + int(np.searchsorted(total, DOMINANT_VARIANCE * total[-1]))
    is_even = DOMINANT_SPREAD * np.median(spread[spread > 0]) > 1
    if n_dominant > n_columns / 4 or is_even:
        return
    first = [str(j if names is None else names[j]) for j in order[:n_dominant]]
    listed = ", ".join(first[:3]) + ", ..." * (n_dominant > 3)
    warn_caller(
        f"{n_dominant} of {n_columns} features ({listed}) have {DOMINANT_VARIANCE:.0%} "
        "of the variance and dominate every distance. Scale the features first: "
        "make_pipeline(MinMaxScaler(), model)."
    )


@contextmanager
def explain_columns(estimator: BaseEstimator, K: ArrayLike) -> Iterator[None]:
    """Explain in errors about features that they are training samples here."""
    try:
        yield
    except ValueError as error:
        if "features" not in str(error):
            raise
        is_distance = getattr(estimator, "kernel", None) in ("distance", ("distance",))
        values = "distances" if is_distance else "similarities"
        advice = (
            f"Pass the {values} between new and training samples, one column per "
            "training sample."
        )
        if np.shape(K)[0] == getattr(estimator, "n_features_in_", None):
            advice += (
                " If its rows are the training samples, pass its transpose, K.T; if "
                "its columns are features, use another kernel."
            )
        raise ValueError(f"{error} {advice}") from None


def _column_labels(K: Any) -> Labels | None:
    """Return the labels of the columns, or None if K is not a DataFrame."""
    found = getattr(K, "columns", None)
    if found is None or callable(found):
        return None
    is_frame = hasattr(K, "iloc") or _is_named(K)  # columns of pyarrow are arrays
    return [_make_label(label) for label in found] if is_frame else None


def get_row_labels(values: Any) -> Labels | None:
    """Return the labels of the rows, or None if there are none, as in polars.

    Of several matrices by name, those of the first.
    """
    if isinstance(values, Mapping) and not issparse(values):
        values = next(iter(values.values()), None)
    found = getattr(values, "index", None)
    if found is None or callable(found):  # lists have a method of this name
        return None
    return [_make_label(label) for label in found]


def _make_label(label: Any) -> Hashable:
    """Return a label of a type that a file can hold; other objects by their repr."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return tuple(_make_label(part) for part in label)
    is_plain = label is None or type(label) in (str, int, float, bool)
    return label if is_plain and label == label else repr(label)


def is_numbering(labels: Labels) -> bool:
    """Return whether labels are 0, 1, ..., the default of pandas."""
    return labels == list(range(len(labels)))


def _is_named(K: Any) -> bool:
    """Return whether all columns have strings as names."""
    return all(type(label) is str for label in K.columns)


def _are_comparable(rows: Labels, columns: Labels) -> bool:
    """Return whether labels of rows and columns can be matched."""
    if set(rows) == set(columns):
        return True
    return not is_numbering(rows) and not is_numbering(columns)


def _training_labels(estimator: BaseEstimator) -> Labels | None:
    """Return the labels of the training samples, or None."""
    found = getattr(estimator, "feature_names_in_", None)
    if found is None:
        found = getattr(estimator, "_labels", None)
    return found.tolist() if isinstance(found, np.ndarray) else found


def _warn_unlabeled(estimator: BaseEstimator, K: ArrayLike) -> ArrayLike:
    """Return K; warn that it has no labels, unless scikit-learn does."""
    learned = getattr(estimator, "_labels", None)
    if learned is not None and not is_numbering(list(learned)):
        warn_caller(
            f"X does not have valid feature names, but {type(estimator).__name__} was "
            "fitted with feature names"
        )
    return K


def _select(K: Any, columns: Labels, wanted: Labels) -> Any:
    """Return the columns of a DataFrame in the wanted order."""
    if columns == wanted:
        return K
    place = {label: i for i, label in enumerate(columns)}
    order = [place[label] for label in wanted]
    return K.iloc[:, order] if hasattr(K, "iloc") else K[:, order]


def _number_columns(K: Any) -> Any:
    """Return K with numbered columns if scikit-learn might reject their labels."""
    if _is_named(K):
        return K
    shallow = K.copy(deep=False)
    shallow.columns = range(K.shape[1])
    return shallow


def _check_unique(labels: Labels, what: str) -> None:
    """Raise if a label occurs twice."""
    if len(set(labels)) == len(labels):
        return
    seen: set[Hashable] = set()
    for label in labels:
        if label in seen:
            raise ValueError(
                f"Labels of rows and columns must differ, but {what} {label!r} occurs "
                "more than once: drop or rename one, or pass X.to_numpy(), which has "
                "no labels."
            )
        seen.add(label)


def _check_same_labels(rows: Labels, columns: Labels) -> None:
    """Raise unless a training matrix has the same labels on both sides."""
    sides = (("row", rows, "column", columns), ("column", columns, "row", rows))
    for what, ours, other, theirs in sides:
        known = set(theirs)
        for label in ours:
            if label not in known:
                raise ValueError(
                    "Rows and columns of the training matrix must have the same "
                    f"labels, but {what} {label!r} has no {other}: add the {other}, "
                    f"drop the {what}, or pass X.to_numpy() if rows and columns are "
                    "in the same order in spite of their labels."
                )


def _check_order(rows: Labels, where: str, beside: dict[str, ArrayLike | None]) -> None:
    """Raise if y, weights or groups have the labels of the rows in another order.

    Labels that have nothing in common are ignored, as scikit-learn does.
    """
    for name, values in beside.items():
        theirs = get_row_labels(values)
        if theirs is None or theirs == rows or len(theirs) != len(rows):
            continue
        is_shuffled = set(theirs) == set(rows)
        is_mixed = not set(theirs).isdisjoint(rows) and not (
            is_numbering(theirs) or is_numbering(rows)
        )
        if is_shuffled or is_mixed:
            pairs = zip(rows, theirs, strict=True)
            i, ours, other = next((i, a, b) for i, (a, b) in enumerate(pairs) if a != b)
            raise ValueError(
                f"{name!r} must be in the order of the rows of X, but entry {i} "
                f"belongs to {ours!r} in X and to {other!r} in {name}: pass "
                f"{name}.loc[X.{where}], or {name}.to_numpy() if the order is right."
            )


def _check_not_transposed(
    learned: Labels, columns: Labels, rows: Labels | None
) -> None:
    """Raise if the rows are the training samples, and the columns are not."""
    if rows is None or is_numbering(rows) or set(rows) != set(learned):
        return
    known = set(learned)
    for label in columns:
        if label not in known:
            raise ValueError(
                "Rows of X must be new samples and columns training samples, but the "
                f"rows are the training samples, and column {label!r} is not one: "
                "pass X.T."
            )


def _check_complete(columns: Labels, wanted: Labels) -> None:
    """Raise unless the columns are those wanted, in any order."""
    given, known = set(columns), set(wanted)
    missing = [f"{label!r} is missing" for label in wanted if label not in given]
    extra = [f"{label!r} is not one" for label in columns if label not in known]
    if missing or extra:
        ways = ["add what is missing"] * bool(missing)
        ways += ["drop what is not a training sample"] * bool(extra)
        raise ValueError(
            "Columns of X must be the training samples, but "
            f"{' and '.join(missing[:1] + extra[:1])}: {' and '.join(ways)}, or pass "
            "X.to_numpy() if columns are in the order of training."
        )
