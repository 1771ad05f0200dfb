"""What an estimator on landmarks does before and after the passes."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from kreinlearn._memory import available_bytes, parse_bytes
from kreinlearn._typing import Array
from kreinlearn._validation import (
    check_count,
    check_distances,
    check_similarities,
)
from kreinlearn.estimators._collections import Blockwise, cluster_engine
from kreinlearn.estimators._inputs import (
    ValidSamples,
    check_classes,
    class_weighted,
    is_distance,
    is_pairwise,
    learns_form,
)
from kreinlearn.exceptions import ConvergenceWarning, warn_caller
from kreinlearn.kernels.distances import DEFAULTS, DistanceForm
from kreinlearn.landmarks.columns import Columns
from kreinlearn.landmarks.first import First
from kreinlearn.landmarks.fit import fit
from kreinlearn.landmarks.rows import LANDMARKS, drawn
from kreinlearn.landmarks.settings import Fitted, Settings
from kreinlearn.losses import find_link
from kreinlearn.search import UNITS
from kreinlearn.solvers.monitor import callback_for

CHUNK_BYTES = 2**24
"""Similarities of a chunk of rows, in single precision."""
KEPT_BYTES = 3 * 2**29
"""Similarities that are kept by default, or half of the free memory if that is less."""
FOLDS = 3
"""Folds of a search by default: rows are many."""


class OnLandmarks(Blockwise):
    """Checks of given columns and folds, what a fit is told, and what it has learned.

    Parameters are those of `LandmarkLogisticRegression`.
    """

    landmarks: Any
    n_landmarks: int
    norm: str
    lam: float
    lams: Any
    cv: Any
    fit_intercept: bool
    class_weight: Any
    multi_class: str
    tol: float
    max_iter: int
    memory: int | str | None
    checkpoint: Any
    random_state: Any
    verbose: Any
    support_: Any
    landmark_indices_: Array | None
    distance_means_: Array | None

    def _check_training(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[ValidSamples, Array]:
        """Return validated training samples and labels."""
        is_square = isinstance(self.landmarks, str)
        if not is_pairwise(self.kernel):
            return super()._check_training(X, y, sample_weight, groups)
        if is_square and hasattr(X, "columns"):
            return super()._check_training(X, y, sample_weight, groups)
        self._labels = None
        samples, labels = self._check_samples(X, y, reset=True)
        labels = column_or_1d(labels, warn=True)
        check_consistent_length(samples, labels)
        check_classification_targets(labels)
        if is_distance(self.kernel):
            samples = check_distances(samples, square=False)
        return samples, labels

    @property
    def _takes_any_shape(self) -> bool:
        return self.norm == "euclidean"

    def _seed(self) -> int:
        """Return a number that landmarks, folds and shares are drawn by."""
        state = 0 if self.random_state is None else self.random_state
        return int(check_random_state(state).randint(2**31))

    def _given(
        self, samples: ValidSamples, weights: Array | None, seed: int
    ) -> tuple[Array, Array, Array]:
        """Return columns of a given matrix, those of the landmarks, and positions."""
        K = np.asarray(samples)
        n, width = K.shape
        if isinstance(self.landmarks, str):
            if n != width or self.landmarks != "uniform":
                raise ValueError(
                    f"With kernel={self.kernel!r}, 'landmarks' must be positions of "
                    "the samples that the columns of X stand for, or 'uniform' if X is "
                    f"square; got {self.landmarks!r} and X of shape {K.shape}."
                )
            used = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
            key = drawn(used, seed, LANDMARKS)
            positions = np.sort(
                used[np.argsort(key, kind="stable")[: self.n_landmarks]]
            )
            self.support_ = positions
            K = np.ascontiguousarray(K[:, positions])
        else:
            positions = column_or_1d(self.landmarks)
            is_whole = positions.dtype.kind in "iu" and len(positions) == width
            if not is_whole or positions.min() < 0 or positions.max() >= n:
                raise ValueError(
                    f"'landmarks' must be {width} positions from 0 to {n - 1}, one for "
                    f"each column of X, got {self.landmarks!r:.60}."
                )
        Z = K[positions]
        if is_distance(self.kernel):
            check_distances(
                Z, "The distances among landmarks", symmetric=self.norm != "euclidean"
            )
        elif (self.kernel_params or {}).get("check", True):
            check_similarities(Z, "The matrix among landmarks")
        return K, Z, positions

    def _every(
        self, rows: Array, labels: Array, weights: Array | None
    ) -> tuple[Array, Array] | None:
        """Return weights and labels of the landmarks if all samples that count are."""
        counts = np.ones(len(labels)) if weights is None else weights
        is_all = len(np.unique(rows)) == len(rows) == (counts > 0).sum()
        return (counts[rows], labels[rows]) if is_all and counts[rows].all() else None

    def _folds(
        self, X: ValidSamples, y: Array, has_grid: bool
    ) -> tuple[int, Array | None]:
        """Return the number of folds, and that of each sample unless it is drawn."""
        if self.cv is None:
            return (FOLDS if has_grid or self.lams is not None else 1), None
        if isinstance(self.cv, Integral):
            if check_count("cv", int(self.cv)) < 2:
                raise ValueError(f"'cv' must be at least 2 folds, got {self.cv!r}.")
            return int(self.cv), None
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        folds = np.full(len(y), -1)
        for number, (train, held) in enumerate(splits):
            is_train = np.isin(np.arange(len(y)), train)
            is_new = (folds[held] < 0).all() and not is_train[held].any()
            if not is_new or len(held) + is_train.sum() != len(y):
                break
            folds[held] = number
        if (folds < 0).any():
            raise ValueError(
                "'cv' must hold each sample out once and learn from all others, as "
                "KFold does, but these splits do not; use a number of folds."
            )
        return len(splits), folds

    def _fit_cluster(
        self, X: Any, y: Any, sample_weight: Any, grid: list[Mapping[str, Any]]
    ) -> Self:
        """Find the coefficients by the workers of a Dask cluster."""
        if not (self.cv is None or isinstance(self.cv, Integral)):
            raise ValueError(
                "'cv' must be a number of folds if X is a Dask collection, got "
                f"{self.cv!r:.60}."
            )
        memory = None if self.memory is None else parse_bytes("memory", self.memory)
        engine = cluster_engine(self, X, y, sample_weight, memory)
        landmarks, self.support_ = self.landmarks, None
        if not isinstance(landmarks, str):
            landmarks = self._check_samples(landmarks, reset=False)
        n_folds, _ = self._folds([], np.empty(0), len(grid) > 1)
        settings = self._settings(grid, n_folds, landmarks, None, self._seed())
        watch = callback_for(self.verbose) if self.verbose else None
        fitted, first = fit(engine, settings, self._factors, watch)
        self._learn(fitted, first, engine.n_passes)
        return self

    def _settings(
        self,
        grid: list[Mapping[str, Any]],
        n_folds: int,
        landmarks: Any,
        every: tuple[Array, Array] | None,
        seed: int,
    ) -> Settings:
        lams = (
            None if self.lams is None else np.sort(np.asarray(self.lams, float))[::-1]
        )
        return Settings(
            kernel=self.kernel,
            params=tuple({**(self.kernel_params or {}), **each} for each in grid),
            n_landmarks=int(self.n_landmarks),
            landmarks=landmarks,
            norm=self.norm,
            lam=float(self.lam),
            lams=lams,
            units=np.array(UNITS),
            n_folds=n_folds,
            fit_intercept=bool(self.fit_intercept),
            multinomial=self.multi_class != "ovr",
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            seed=seed,
            checkpoint=self.checkpoint,
            every=every,
        )

    def _memory(self) -> int:
        """Return the bytes that similarities may take."""
        if self.memory is not None:
            return parse_bytes("memory", self.memory)
        free = available_bytes()
        return KEPT_BYTES if free is None else min(KEPT_BYTES, free // 2)

    def _watch(self, n: int | None, M: int) -> Any:
        """Return what sees each step; say first what will be kept."""
        watch = callback_for(self.verbose) if self.verbose else None
        granted = self._memory() / 2**30
        if watch is not None and n is None:
            watch({"landmarks": M, "GiB granted": granted})
        elif watch is not None and n is not None:
            needed = 4 * n * M / 2**30
            kept = min(1.0, granted / needed)
            watch({"landmarks": M, "GiB in single": needed, "share kept": kept})
        return watch

    def _factors(self, first: First) -> Array:
        """Return the weights of the classes, by what the first pass has counted."""
        weights = first.weights.sum(axis=1)
        check_classes(first.labels, weights)
        n_classes = len(first.labels)
        factors = class_weighted(self.class_weight, first.labels, np.arange(n_classes))
        if isinstance(self.class_weight, str):  # balanced
            factors = first.n_rows / (n_classes * first.counts.sum(axis=1))
        check_classes(first.labels, weights * factors)  # those of a class may be zero
        if isinstance(self.landmarks, str) and self.n_landmarks > first.n_used:
            self._warn_all(first.n_used)
        return factors

    def _warn_all(self, n: int) -> None:
        warn_caller(
            f"n_landmarks={self.n_landmarks} is more than the {n} samples with "
            "positive weight: all of them are landmarks, which is the exact model of "
            "KreinLogisticRegression."
        )

    def _learn(self, fitted: Fitted, first: First, n_passes: int) -> None:
        """Set what the fit has learned."""
        columns, solution = fitted.columns, fitted.solution
        self.classes_ = first.labels
        multinomial = self.multi_class != "ovr"
        self._link = find_link(len(self.classes_), multinomial)
        self.landmarks_ = columns.Z
        if not is_pairwise(self.kernel):
            self.landmark_indices_ = fitted.rows
        self.coef_ = np.ascontiguousarray(fitted.B[:-1].T)
        self.intercept_ = fitted.B[-1] * bool(self.fit_intercept)
        self.lam_, self.kernel_params_ = fitted.lam, dict(columns.params)
        if fitted.scores is not None:
            self.lams_, self.scores_ = fitted.lams, fitted.scores
        if columns.form is not None:
            self.distance_median_ = columns.form.median
            self.distance_means_ = columns.form.means
        self.residual_ = float(solution.residual.max())
        self.gap_ = float(solution.gap.max())
        order = ["converged", "max_iter", "stalled"]
        self.status_ = max(solution.status, key=order.index)
        self.converged_ = self.status_ == "converged"
        self.n_iter_ = int(solution.n_iter.max())
        self.n_passes_, self.history_ = n_passes, solution.history
        few, many = fitted.unsolved
        if few:
            warn_caller(
                f"{few} of the {many} fits of the search ended before they converged, "
                "so that their 'scores_' are rough. Raise max_iter, or leave the "
                "smallest 'lams' out.",
                ConvergenceWarning,
            )
        if not self.converged_:
            warn_caller(
                f"The fit stopped with status {self.status_!r} after {self.n_iter_} "
                f"steps (residual {self.residual_:.1e}, tol {self.tol:.1e}). Raise "
                "max_iter or lam, or use a looser tol.",
                ConvergenceWarning,
            )

    def _columns(self) -> Columns:
        """Return what gives similarities with the landmarks."""
        form = None
        if is_distance(self.kernel) or learns_form(self.kernel):
            own = {k: v for k, v in self.kernel_params_.items() if k in DEFAULTS}
            learned = (self.distance_median_, self.distance_means_)
            form = DistanceForm(
                **{**DEFAULTS, **own}, median=learned[0], means=learned[1]
            )
        return Columns(self.kernel, self.kernel_params_, self.landmarks_, form)

    def _scores(self, X: ArrayLike) -> Array:
        """Scores of new samples, shape (n_new, n_columns), in blocks of rows."""
        check_is_fitted(self)
        samples, columns = self._check_new(X), self._columns()
        if self.support_ is not None and np.shape(samples)[1] != len(columns):
            samples = np.asarray(samples)[:, self.support_]
        step = max(64, CHUNK_BYTES // (8 * len(columns)))
        b = np.ascontiguousarray(self.coef_.T)
        parts = [
            columns(samples[i : i + step]) @ b for i in range(0, len(samples), step)
        ]
        return np.asarray(np.concatenate(parts) + self.intercept_)
