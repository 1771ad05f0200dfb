"""Distances to similarities, as a scikit-learn transformer."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from kreinlearn._typing import Array
from kreinlearn._validation import check_distances
from kreinlearn.estimators._conventions import Documented
from kreinlearn.estimators._inputs import PRECISIONS
from kreinlearn.kernels.distances import DistanceForm, check_form, learned_form


class DistanceSimilarity(
    OneToOneFeatureMixin, TransformerMixin, Documented, BaseEstimator
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
        Median distance m between different training samples; 2000 evenly spaced ones
        if there are more. If it is 0, since most samples have copies, the median of
        the distances above 0; 1 if there are none.
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
        return self._form()(distances)

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
        return self._form()(check_distances(rows, square=False))

    def _fit(self, D: ArrayLike) -> Array:
        check_form({"form": self.form, "width": self.width})
        given = validate_data(self, D, dtype=PRECISIONS, ensure_all_finite=False)
        distances = check_distances(np.asarray(given))
        learned = learned_form(distances, self.form, self.width)
        self.median_, self.means_ = learned.median, learned.means
        return distances

    def _form(self) -> DistanceForm:
        return DistanceForm(self.form, self.width, self.median_, self.means_)
