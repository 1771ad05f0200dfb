"""Logistic regression on landmarks: any number of samples, and M numbers."""

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags

from kreinlearn._typing import Array, Kernel, Seed
from kreinlearn._validation import (
    check_choice,
    check_count,
    check_positive,
)
from kreinlearn.estimators._callbacks import tells_callbacks
from kreinlearn.estimators._collections import is_collection
from kreinlearn.estimators._inputs import (
    check_learned_params,
    check_pairwise_params,
    check_weights,
    is_pairwise,
    learns_form,
)
from kreinlearn.estimators._landmarks import CHUNK_BYTES, OnLandmarks
from kreinlearn.kernels import KERNELS
from kreinlearn.landmarks.engine import LocalEngine
from kreinlearn.landmarks.fit import fit
from kreinlearn.landmarks.rows import Memory, Source
from kreinlearn.landmarks.select import WAYS
from kreinlearn.landmarks.settings import Settings
from kreinlearn.landmarks.sources import Blocks, BlockSource, blocks_of
from kreinlearn.spectrum.norms import NORMS


class LandmarkLogisticRegression(OnLandmarks):
    r"""Logistic regression on similarities with landmarks, for many samples.

    Minimizes the mean loss of ``f(x) = sum_j k(x, z_j) b_j + c`` over M landmarks z,
    with the penalty ``lam / 2`` times b'Rb, where R is made of the similarities among
    the landmarks. Memory and time grow with the number of samples n, not its square.

    Parameters
    ----------
    kernel : str or callable, default="tl1"
        As in `KreinLogisticRegression`. With "precomputed" and "distance" X has one
        column for each landmark, and ``landmarks`` says which rows they are; or it is
        square, and landmarks are drawn.
    kernel_params : dict, default=None
        Keyword arguments of the kernel.
    n_landmarks : int, default=1000
        Number of landmarks, unless they are given. If there are fewer samples, all of
        them are landmarks.
    landmarks : {"uniform", "kmeans++", "leverage"} or sequence, default="uniform"
        How they are chosen: all samples alike, by distances between vectors, or by
        approximate leverage scores; or the landmarks themselves. With "precomputed"
        and "distance": positions in X of the samples that its columns stand for.
    norm : {"hilbert", "euclidean", "krein"}, default="hilbert"
        Penalty of the coefficients: R is \|K_ZZ\|, s I with the scale s of K_ZZ, or
        K_ZZ, for which a stationary point is found. The first two are convex.
    lam : float, default=1e-4
        Regularization, in units of the mean loss as in `KreinLogisticRegression`.
    lams : sequence of float, default=None
        Regularizations to choose from by held-out log-loss. None tries, if ``cv`` or
        ``kernel_grid`` is set, ``u s / n`` for u from 100 to 0.001.
    cv : int, splitter or iterable, default=None
        Number of folds of the search, drawn at random for each sample; or as in
        scikit-learn, if each sample is held out once. None means 3 folds, if there is
        anything to choose.
    kernel_grid : dict or list of dict, default=None
        Kernel parameters to choose from: values by parameter, or settings. Settings
        are compared on a share of the samples.
    fit_intercept : bool, default=True
        Whether to add c.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, as in scikit-learn.
    multi_class : {"auto", "ovr", "multinomial"}, default="auto"
        For more than two classes; auto is multinomial.
    tol : float, default=1e-6
        Largest accepted ``residual_``.
    max_iter : int, default=100
        Most Newton steps.
    chunk_size : int, default=None
        Samples that are looked at together. It has no influence on the result.
    memory : int or str, default=None
        Memory for similarities with the landmarks, such as "2GB", or bytes. They are
        kept as far as it reaches, and computed anew beyond. None means 1.5 GiB, or
        half of what is free. On a cluster: of each worker, at most half of its limit;
        None means a quarter.
    dtype : {None, "float32", "float64"}, default=None
        Precision in which similarities are kept. None means single for compiled
        kernels between vectors if double would take more than 256 MiB. Sums and the
        certificate are in double precision in any case.
    checkpoint : path-like, default=None
        File that the state of the last fit is written to after each step. If it is
        there, the fit goes on from it.
    random_state : int, RandomState or None, default=None
        For landmarks, folds and shares of the samples; None means 0.
    verbose : int or callable, default=0
        Prints what is kept, and one line per step; a callable gets these rows instead.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    landmarks_ : sequence of M samples
        The landmarks; for "precomputed" and "distance" their own rows.
    landmark_indices_ : ndarray of shape (M,) or None
        Their positions among the training samples; None if samples were given.
    coef_ : ndarray of shape (n_columns, M)
        Coefficients b, one row per class, or a single row if there are two.
    intercept_ : ndarray of shape (n_columns,)
        Intercepts c.
    lam_, kernel_params_ : float, dict
        What was used, or chosen.
    lams_ : ndarray of shape (n_settings, n_lams)
        Regularizations that were tried, decreasing, for each setting of the kernel.
    scores_ : ndarray of shape (n_settings, n_lams, n_folds)
        Negative log-losses of held-out samples; larger is better.
    residual_ : float
        Certificate, in double precision: largest entry of the gradient, those of
        coefficients in units of the mean similarity with their landmark.
    gap_ : float
        Bound on how far the objective is from its minimum, given the intercept; NaN
        with "krein", which has no minimum.
    status_ : str
        "converged", "max_iter" or "stalled".
    converged_ : bool
        Whether ``residual_`` is at most ``tol``.
    n_iter_ : int
        Newton steps, those on a share of the samples included.
    n_passes_ : int
        Passes over all samples, the first included.
    history_ : list of dict
        One row for each step.
    distance_median_ : float
        Median distance between landmarks, where distances are compared.
    n_features_in_ : int
        Number of features, if samples are rows of a table.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Their names, if X has string column names.

    See Also
    --------
    KreinLogisticRegression : All samples are landmarks.
    LandmarkFeatures : Features for other linear models.

    Notes
    -----
    For an indefinite similarity, directions that hardly count among the landmarks may
    count among other samples. Moduli of eigenvalues of R are therefore raised to the
    size that their directions have among all samples. If all samples are landmarks,
    nothing is raised, and it is the exact model.

    Examples
    --------
    >>> from kreinlearn import LandmarkLogisticRegression
    >>> from kreinlearn.datasets import make_monks
    >>> from sklearn.preprocessing import minmax_scale
    >>> X, y = make_monks(3)
    >>> model = LandmarkLogisticRegression(n_landmarks=100, lam=1e-3)
    >>> print(f"{model.fit(minmax_scale(X), y).score(minmax_scale(X), y):.2f}")
    0.99
    >>> model.coef_.shape, model.status_
    ((1, 100), 'converged')
    """

    def __init__(
        self,
        kernel: Kernel = "tl1",
        *,
        kernel_params: dict[str, Any] | None = None,
        n_landmarks: int = 1000,
        landmarks: Any = "uniform",
        norm: str = "hilbert",
        lam: float = 1e-4,
        lams: Sequence[float] | Array | None = None,
        cv: Any = None,
        kernel_grid: Any = None,
        fit_intercept: bool = True,
        class_weight: str | dict[Any, float] | None = None,
        multi_class: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        chunk_size: int | None = None,
        memory: int | str | None = None,
        dtype: str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        random_state: Seed = None,
        verbose: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.norm = norm
        self.lam = lam
        self.lams = lams
        self.cv = cv
        self.kernel_grid = kernel_grid
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter
        self.chunk_size = chunk_size
        self.memory = memory
        self.dtype = dtype
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Rows that are left out take no column with them if columns are landmarks.
        tags.input_tags.pairwise &= isinstance(self.landmarks, str)
        return tags

    @tells_callbacks()
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or whatever the kernel takes
            Training samples; with ``kernel="precomputed"`` their similarities with the
            landmarks, with "distance" the distances, of shape (n_samples, M), or with
            all samples, of shape (n_samples, n_samples). Or what is read in blocks and
            never held as a whole: the path of a parquet file, of a folder of them, or
            of a csv file; a pyarrow dataset; or chunks (X, y) or (X, y, weights), in
            anything that can be iterated over again and again, or from a function that
            returns a fresh iterator. Or a Dask array or DataFrame, or a list of delayed
            objects that become samples: the workers of the current client make the fit.
        y : array-like of shape (n_samples,) or str
            Labels; of a file or dataset the name of their column; in the same
            partitions if X is a Dask collection. Chunks have them.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights; a weight of two is a row repeated. Of a file the name of a column.

        Returns
        -------
        self : LandmarkLogisticRegression
            The fitted estimator.
        """
        grid = self._check_parameters()
        if is_collection(X):
            return self._fit_cluster(X, y, sample_weight, grid)
        blocks = blocks_of(X, y, sample_weight)
        if blocks is not None:
            return self._fit_blocks(*blocks, grid)
        samples, labels = self._check_training(X, y, sample_weight)
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(labels))
        seed = self._seed()
        landmarks, every, self.support_ = self.landmarks, None, None
        if is_pairwise(self.kernel):
            samples, landmarks, rows = self._given(samples, weights, seed)
            every = self._every(rows, labels, weights)
            self.landmark_indices_ = rows
        elif not isinstance(landmarks, str):
            landmarks = self._check_samples(landmarks, reset=False)
        size = self._chunk_rows(landmarks, len(labels))
        n_folds, folds = self._folds(samples, labels, len(grid) > 1)
        source = Memory(samples, labels, weights, size, folds)
        settings = self._settings(grid, n_folds, landmarks, every, seed)
        return self._fit_source(source, settings)

    def _fit_blocks(
        self, read: Blocks, n_rows: int | None, grid: list[Mapping[str, Any]]
    ) -> Self:
        """Fit to rows that are read in blocks."""
        if is_pairwise(self.kernel) or not isinstance(self.cv, Integral | None):
            raise ValueError(
                "Rows that are read in blocks take a kernel between samples, and 'cv' "
                f"as a number of folds; got kernel={self.kernel!r} and "
                f"cv={self.cv!r:.40}. A matrix may be an array that is mapped into "
                "memory."
            )
        self._labels, self.support_ = None, None
        landmarks, size = self.landmarks, self._chunk_rows(self.landmarks, n_rows)
        # The first block says how many columns there are.
        check = partial(self._check_samples, reset=True)
        for _ in BlockSource(read, check, size).chunks():
            break
        check = partial(self._check_samples, reset=False)
        if not isinstance(landmarks, str):
            landmarks = check(landmarks)
        n_folds, _ = self._folds([], np.empty(0), len(grid) > 1)
        settings = self._settings(grid, n_folds, landmarks, None, self._seed())
        return self._fit_source(BlockSource(read, check, size, n_rows), settings)

    def _fit_source(self, source: Source, settings: Settings) -> Self:
        """Fit to rows, wherever they are."""
        engine = LocalEngine(source, self._memory(), self.dtype)
        n = source.n_rows
        watch = self._watch(n, self._n_landmarks(settings.landmarks, n))
        fitted, first = fit(engine, settings, self._factors, watch)
        self._learn(fitted, first, engine.n_passes)
        return self

    def _n_landmarks(self, landmarks: Any, n_rows: int | None) -> int:
        M = self.n_landmarks if isinstance(landmarks, str) else len(landmarks)
        return M if n_rows is None else min(M, n_rows)

    def _chunk_rows(self, landmarks: Any, n_rows: int | None) -> int:
        M = self._n_landmarks(landmarks, n_rows)
        return int(self.chunk_size or max(64, CHUNK_BYTES // (4 * M)))

    def _check_parameters(self) -> list[Mapping[str, Any]]:
        """Raise if a parameter is wrong; return settings of the kernel to try."""
        self._check_kernel()
        check_count("n_landmarks", self.n_landmarks)
        check_choice("norm", self.norm, NORMS)
        check_choice("multi_class", self.multi_class, ["auto", "ovr", "multinomial"])
        for name in ("lam", "tol"):
            check_positive(name, getattr(self, name))
        for lam in [] if self.lams is None else self.lams:
            check_positive("lams", lam)
        check_count("max_iter", self.max_iter)
        if self.chunk_size is not None:
            check_count("chunk_size", self.chunk_size)
        if isinstance(self.landmarks, str):
            check_choice("landmarks", self.landmarks, WAYS)
            is_vectors = isinstance(self.kernel, str) and not is_pairwise(self.kernel)
            is_vectors = is_vectors and KERNELS[self.kernel].samples == "rows"
            if self.landmarks == "kmeans++" and not (
                is_vectors or callable(self.kernel)
            ):
                raise ValueError(
                    "'landmarks' may be 'kmeans++' for samples that are vectors only, "
                    f"which those of kernel {self.kernel!r} are not; use 'uniform' or "
                    "'leverage'."
                )
        grid = self.kernel_grid
        if grid is None:
            return [{}]
        settings = (
            list(ParameterGrid(grid)) if isinstance(grid, Mapping) else list(grid)
        )
        for each in settings:
            params = {**(self.kernel_params or {}), **each}
            if is_pairwise(self.kernel):
                check_pairwise_params(self.kernel, params)
            elif learns_form(self.kernel):
                check_learned_params(self.kernel, params)
        if not settings:
            raise ValueError("'kernel_grid' must hold at least one setting, got none.")
        return settings
