"""Transformers of given matrices: repaired spectra, and distances to similarities."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from kreinlearn._typing import Array
from kreinlearn._validation import (
    check_choice,
    check_distances,
    check_matrix,
    check_similarities,
)
from kreinlearn.estimators._base import (
    PRECISIONS,
    DocumentedEstimator,
    explain_columns,
    match_new,
    match_training,
)
from kreinlearn.kernels.transforms import (
    DistanceTransform,
    check_transform_params,
    fit_transform,
)
from kreinlearn.operators import limit_blas_threads
from kreinlearn.spectrum.decompose import decompose
from kreinlearn.spectrum.repair import REPAIRS, Repaired, replace_eigenvalues

DISTANCES_REMEDY = (
    "Put DistanceSimilarity() before it if these are distances, or set check=False if "
    "they are similarities, such as counts or an adjacency matrix."
)


class SpectrumRepair(
    OneToOneFeatureMixin, TransformerMixin, DocumentedEstimator, BaseEstimator
):
    r"""Makes an indefinite Gram matrix positive semidefinite, and new rows with it.

    The training matrix :math:`K = V \operatorname{diag}(\mu) V^\top` becomes
    :math:`V \operatorname{diag}(h(\mu)) V^\top`, and rows :math:`K_z` of similarities
    between new and training samples become
    :math:`K_z V \operatorname{diag}(h(\mu)/\mu) V^\top`.

    Parameters
    ----------
    mode : {"flip", "clip", "shift", "square"}, default="flip"
        Moduli of the eigenvalues; negative ones set to zero; all moved up by the most
        negative one; squares.
    out_of_sample : {"exact", "none"}, default="exact"
        "exact" extends the change to new rows, so that training and prediction see
        one and the same similarity. "none" changes the training matrix only, as is
        often done in the literature, and leaves new rows alone.
    check : bool, default=True
        Whether to refuse a matrix that looks like distances (zero on its diagonal,
        nothing negative); False for counts or an adjacency matrix.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_samples,)
        Eigenvalues of the training matrix, the smallest first.
    repaired_eigenvalues_ : ndarray of shape (n_samples,)
        Eigenvalues of the matrix that `fit_transform` returns.
    extension_ : ndarray of shape (n_samples, n_samples) or None
        Matrix that `transform` multiplies new rows by; None for "none".
    n_features_in_ : int
        Number of training samples.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Names of the columns, in the order of the rows, if K has string column names.

    See Also
    --------
    kreinlearn.KreinSVC : Keeps the indefinite similarity in its decision function.
    kreinlearn.DistanceSimilarity : Goes before it if there are distances.

    Notes
    -----
    A positive semidefinite matrix is returned unchanged, to rounding, in every mode
    but "square".

    With "exact", ``transform(K)`` of the training matrix is ``fit_transform(K)`` to
    rounding. With "none" it is not: `transform` cannot know that the rows it is given
    are the training rows and returns them unchanged; only `fit_transform`, which
    pipelines call in training, gives the repaired matrix. Scores *on training data*
    of a pipeline with "none" therefore mix a repaired with an unrepaired matrix.

    An eigenvalue with ``|mu| <= n_samples * eps * max|mu|``, eps the spacing of the
    precision, counts as zero and its direction is left out with "exact". This matters
    for "shift" and a singular K: the training matrix is then shifted on the range of
    K only, while "none" gives ``K - mu_n I``. "shift" with "exact" also multiplies
    directions by ``1 + |mu_n| / mu``, which amplifies noise in new rows where mu is
    small; prefer "clip" or "flip".

    The result depends on the training samples: it is a change of the matrix, not of
    the similarity function, and each fold of a cross-validation has its own.

    References
    ----------
    .. [1] G. Wu, E. Y. Chang, Z. Zhang, "An analysis of transformation on
       non-positive semidefinite similarity matrix for kernel machines", ICML 2005.
    .. [2] Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti,
       "Similarity-based classification: concepts and algorithms", Journal of Machine
       Learning Research 10 (2009).

    Examples
    --------
    >>> from kreinlearn import SpectrumRepair
    >>> from kreinlearn.datasets import make_monks
    >>> from kreinlearn.kernels import gram
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> X, y = make_monks(3)
    >>> K = gram(X, kernel="tl1")
    >>> model = make_pipeline(SpectrumRepair("clip"), SVC(kernel="precomputed"))
    >>> print(f"{cross_val_score(model, K, y).mean():.2f}")
    1.00
    """

    def __init__(
        self, mode: str = "flip", out_of_sample: str = "exact", check: bool = True
    ) -> None:
        self.mode = mode
        self.out_of_sample = out_of_sample
        self.check = check

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, K: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the eigenvalues and their replacements.

        Parameters
        ----------
        K : array-like of shape (n_samples, n_samples)
            Similarities among training samples; columns of a DataFrame are matched to
            its rows by label.
        y : array-like of shape (n_samples,), default=None
            Ignored, unless its labels are those of the rows in another order.

        Returns
        -------
        self : SpectrumRepair
            The fitted transformer.
        """
        self._fit(K, y)
        return self

    def fit_transform(self, K: ArrayLike, y: ArrayLike | None = None) -> Array:
        """Return the repaired training matrix.

        Parameters
        ----------
        K : array-like of shape (n_samples, n_samples)
            Similarities among training samples; columns of a DataFrame are matched to
            its rows by label.
        y : array-like of shape (n_samples,), default=None
            Ignored, unless its labels are those of the rows in another order.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
            Positive semidefinite, to rounding.
        """
        return self._fit(K, y).matrix(on_range=self.out_of_sample == "exact")

    def transform(self, K: ArrayLike) -> Array:
        """Return the repaired similarities of new samples.

        Parameters
        ----------
        K : array-like of shape (n_new, n_samples)
            Similarities of new samples with the training samples; columns of a
            DataFrame are matched by label.

        Returns
        -------
        ndarray of shape (n_new, n_samples)
            Repaired with "exact", unchanged with "none".
        """
        check_is_fitted(self)
        K = match_new(self, K)
        with explain_columns(self, K):
            rows: Array = validate_data(self, K, dtype=PRECISIONS, reset=False)
        if self.extension_ is None:
            return rows
        return rows @ self.extension_.astype(rows.dtype, copy=False)

    def _fit(self, K: ArrayLike, y: ArrayLike | None) -> Repaired:
        check_choice("mode", self.mode, REPAIRS)
        check_choice("out_of_sample", self.out_of_sample, ["exact", "none"])
        K, self._labels = match_training(K, y=y)
        K, _ = check_matrix(validate_data(self, K, dtype=PRECISIONS))
        if self.check:
            check_similarities(K, ways=DISTANCES_REMEDY)
        is_exact = self.out_of_sample == "exact"
        with limit_blas_threads(len(K)):
            change = replace_eigenvalues(decompose(K), self.mode)
            self.extension_ = change.extension() if is_exact else None
        mu = change.spectrum.values
        self.eigenvalues_ = mu
        self.repaired_eigenvalues_ = change.factors * mu if is_exact else change.values
        return change


class DistanceSimilarity(
    OneToOneFeatureMixin, TransformerMixin, DocumentedEstimator, BaseEstimator
):
    r"""Turns distances into similarities.

    Distances are given, not computed: `fit` takes those among the training samples,
    `transform` those of new samples to the training samples. With d a distance, m the
    median distance between training samples and w the width, a similarity is

    ============= =====================================================================
    form          similarity
    ============= =====================================================================
    "exponential" :math:`e^{-d / (w m)}`
    "gaussian"    :math:`e^{-(d / (w m))^2}`
    "negative"    :math:`-d`
    "centered"    :math:`-\tfrac12 J D^2 J`, squared distances with the means over the
                  training samples taken off: inner products, if D is Euclidean
    "truncated"   :math:`\max(w m - d, 0)`
    ============= =====================================================================

    None of them is positive definite for every distance.

    Parameters
    ----------
    form : str, default="exponential"
        "exponential", "gaussian", "negative", "centered" or "truncated".
    width : float, default=1.0
        Width in medians; without meaning for "negative" and "centered".

    Attributes
    ----------
    median_ : float
        Median distance m between different training samples, of 2000 evenly spaced
        ones if there are more. If it is 0, the median of the positive distances; 1 if
        there are none.
    means_ : ndarray of shape (n_samples,) or None
        Mean squared distance of each training sample to all of them, for "centered".
    n_features_in_ : int
        Number of training samples.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Names of the columns, if D has string column names.

    See Also
    --------
    kreinlearn.KreinLogisticRegressionCV : With ``kernel="distance"`` it tries several
        forms and widths, and needs no transformer.
    kreinlearn.SpectrumRepair : Makes the similarities positive semidefinite.

    Notes
    -----
    ``transform(D)`` of the training distances is ``fit_transform(D)``. Sample weights
    change neither the median nor the means.

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn import DistanceSimilarity
    >>> D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    >>> model = DistanceSimilarity("truncated").fit(D)
    >>> model.median_
    2.0
    >>> model.transform(np.array([[0.5, 0.5, 2.5]]))
    array([[1.5, 1.5, 0. ]])
    """

    def __init__(self, form: str = "exponential", width: float = 1.0) -> None:
        self.form = form
        self.width = width

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, D: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn the median distance and, for "centered", the means.

        Parameters
        ----------
        D : array-like of shape (n_samples, n_samples)
            Distances among training samples.
        y : None
            Ignored.

        Returns
        -------
        self : DistanceSimilarity
            The fitted transformer.
        """
        self._fit(D)
        return self

    def fit_transform(self, D: ArrayLike, y: ArrayLike | None = None) -> Array:
        """Return the similarities among training samples.

        Parameters
        ----------
        D : array-like of shape (n_samples, n_samples)
            Distances among training samples.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
            Similarities, exactly symmetric.
        """
        distances = self._fit(D)
        return self._make_transform()(distances)

    def transform(self, D: ArrayLike) -> Array:
        """Return the similarities of new samples.

        Parameters
        ----------
        D : array-like of shape (n_new, n_samples)
            Distances between new and training samples.

        Returns
        -------
        ndarray of shape (n_new, n_samples)
            Similarities with the training samples.
        """
        check_is_fitted(self)
        rows = validate_data(
            self, D, dtype=PRECISIONS, ensure_all_finite=False, reset=False
        )
        return self._make_transform()(check_distances(rows, square=False))

    def _fit(self, D: ArrayLike) -> Array:
        check_transform_params({"form": self.form, "width": self.width})
        given = validate_data(self, D, dtype=PRECISIONS, ensure_all_finite=False)
        distances = check_distances(np.asarray(given))
        learned = fit_transform(distances, self.form, self.width)
        self.median_, self.means_ = learned.median, learned.means
        return distances

    def _make_transform(self) -> DistanceTransform:
        return DistanceTransform(self.form, self.width, self.median_, self.means_)
