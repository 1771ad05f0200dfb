"""Displays of predictions and similarities, in the pattern of scikit-learn.

Matplotlib is imported only when a display is drawn.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array
from kreinlearn._validation import check_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = [
    "ContributionDisplay",
    "ReviewCurveDisplay",
    "SimilarityMatrixDisplay",
    "SpectrumDisplay",
    "review_curve",
]

BLUE, ORANGE = "#0072b2", "#d55e00"
"""Colors of positive and negative eigenvalues."""


def review_curve(is_error: ArrayLike, confidence: ArrayLike) -> tuple[Array, Array]:
    """Return the errors that are left if a person reviews the least certain samples.

    Parameters
    ----------
    is_error : array-like of bool of shape (n,)
        Whether each prediction is wrong.
    confidence : array-like of shape (n,)
        Confidence in each prediction, such as its probability.

    Returns
    -------
    fraction_reviewed, errors_left : ndarray
        Ends of a piecewise linear curve. Equally certain samples are reviewed in random
        order, on average.

    Examples
    --------
    >>> from kreinlearn.plotting import review_curve
    >>> fraction, left = review_curve([True, False, True, False], [0.5, 0.5, 0.8, 0.9])
    >>> fraction.tolist(), left.tolist()
    ([0.0, 0.5, 0.75, 1.0], [2.0, 1.0, 0.0, 0.0])
    """
    errors = np.asarray(is_error, bool)
    levels, place = np.unique(np.asarray(confidence, float), return_inverse=True)
    seen = np.bincount(place, minlength=len(levels))
    found = np.bincount(place, errors, minlength=len(levels))
    fraction = np.concatenate([[0.0], np.cumsum(seen) / len(errors)])
    return fraction, errors.sum() - np.concatenate([[0.0], np.cumsum(found)])


class ReviewCurveDisplay:
    """Errors that are left against the fraction of predictions that a person reviews.

    The least certain predictions are reviewed first, and a reviewed error is corrected.

    Parameters
    ----------
    fraction_reviewed, errors_left : ndarray
        Points of the curve, as from `review_curve`.
    estimator_name : str, optional
        Name in the legend.

    Attributes
    ----------
    ax_, figure_, line_
        Axes, figure and line, after `plot`.
    """

    def __init__(
        self,
        *,
        fraction_reviewed: Array,
        errors_left: Array,
        estimator_name: str | None = None,
    ) -> None:
        self.fraction_reviewed = fraction_reviewed
        self.errors_left = errors_left
        self.estimator_name = estimator_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier with probabilities.

        Parameters
        ----------
        estimator : classifier
            Fitted, with ``predict_proba``.
        X : array-like
            Samples that were not used for training.
        y : array-like of shape (n,)
            Their labels.
        name : str, optional
            Name in the legend; that of the class by default.
        ax : Axes, optional
            Axes to draw on.
        **kwargs
            For ``Axes.plot``.
        """
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            classes=estimator.classes_,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n, n_classes)
            Probabilities of the classes.
        classes : array-like of shape (n_classes,), optional
            Labels of the columns; the sorted labels in ``y_true`` by default.
        name, ax, **kwargs
            As in `from_estimator`.
        """
        y, proba = np.asarray(y_true), np.asarray(y_proba, float)
        labels = np.unique(y) if classes is None else np.asarray(classes)
        if proba.shape != (len(y), len(labels)):
            raise ValueError(
                f"'y_proba' must have shape {(len(y), len(labels))}, a row per sample "
                f"and a column per class, got {proba.shape}."
            )
        is_error = labels[proba.argmax(axis=1)] != y
        fraction, left = review_curve(is_error, proba.max(axis=1))
        display = cls(fraction_reviewed=fraction, errors_left=left, estimator_name=name)
        return display.plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For ``Axes.plot``.
        """
        self.ax_ = _get_axes(ax)
        self.figure_ = self.ax_.figure
        look = {"label": self.estimator_name} | kwargs
        (self.line_,) = self.ax_.plot(self.fraction_reviewed, self.errors_left, **look)
        self.ax_.set(xlabel="fraction reviewed", ylabel="errors left")
        self.ax_.set_xlim(0, 1)
        self.ax_.set_ylim(bottom=0)
        if look["label"] is not None:
            self.ax_.legend()
        return self


class ContributionDisplay:
    """Contributions of training samples to the score of one prediction.

    Parameters
    ----------
    contributions : DataFrame
        Rows of ``explain`` for one sample and one class.

    Attributes
    ----------
    ax_, figure_, bars_
        Axes, figure and bars, after `plot`.
    """

    def __init__(self, contributions: "DataFrame") -> None:
        self.contributions = contributions

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        label: Any = None,
        top: int = 5,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the training samples that count most for and against a class.

        Parameters
        ----------
        estimator : classifier
            Fitted, with ``explain``.
        X : array-like
            One sample, as for ``predict``.
        label : object, optional
            The class; by default the predicted one. Two classes have one score, that
            of the second class.
        top : int
            Largest number of training samples.
        ax : Axes, optional
            Axes to draw on.
        **kwargs
            For ``Axes.barh``.
        """
        predicted = estimator.predict(X)
        if len(predicted) != 1:
            raise ValueError(f"'X' must hold one sample, got {len(predicted)}.")
        classes = list(estimator.classes_)
        wanted = predicted[0] if label is None else label
        if wanted not in classes:
            raise ValueError(f"'label' must be one of {classes}, got {wanted!r}.")
        found = estimator.explain(X, top=top)
        wanted = classes[1] if len(classes) == 2 else wanted
        return cls(found[found["class"] == wanted]).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the contributions as bars, the largest on top.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For ``Axes.barh``.
        """
        self.ax_ = _get_axes(ax)
        self.figure_ = self.ax_.figure
        rows = self.contributions
        self.bars_ = self.ax_.barh(range(len(rows)), rows["contribution"], **kwargs)
        names = [str(each) for each in rows["training_sample"]]
        self.ax_.set_yticks(range(len(rows)), names)
        self.ax_.invert_yaxis()
        self.ax_.axvline(0, color="0.5", lw=0.8)
        labels = rows["class"].unique()
        whose = f" to the score of class {labels[0]}" if len(labels) == 1 else ""
        self.ax_.set(xlabel=f"contribution{whose}", ylabel="training sample")
        return self


class SpectrumDisplay:
    """Eigenvalues of a matrix of similarities, the negative ones hatched.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n,)
        Eigenvalues in any order.
    places : ndarray of shape (n,), optional
        Their places among all, from 1 for the largest; 1 to n by default.

    Attributes
    ----------
    negative_fraction : float
        Sum of the absolute negative eigenvalues, as a fraction of all.
    ax_, figure_
        Axes and figure, after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.plotting import SpectrumDisplay
    >>> SpectrumDisplay(eigenvalues=np.array([-1.0, 3.0, 0.0])).negative_fraction
    0.25
    """

    def __init__(self, *, eigenvalues: Array, places: Array | None = None) -> None:
        self.eigenvalues = np.sort(np.asarray(eigenvalues, float))[::-1]
        n = len(self.eigenvalues)
        self.places = np.arange(1, n + 1) if places is None else np.asarray(places)
        sizes = np.abs(self.eigenvalues)
        negative = float(sizes[self.eigenvalues < 0].sum())
        self.negative_fraction = negative / (float(sizes.sum()) or 1.0)

    @classmethod
    def from_matrix(cls, K: ArrayLike, *, ax: "Axes | None" = None) -> Self:
        """Draw the eigenvalues of a symmetric matrix.

        Parameters
        ----------
        K : array-like of shape (n, n)
            Similarities.
        ax : Axes, optional
            Axes to draw on.
        """
        matrix, _ = check_matrix(K)
        mu = np.linalg.eigvalsh(matrix)
        mu[np.abs(mu) < len(mu) * np.finfo(mu.dtype).eps * np.abs(mu).max()] = 0
        return cls(eigenvalues=mu).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, *, ax: "Axes | None" = None
    ) -> Self:
        """Draw the eigenvalues of the similarities that a classifier computes.

        Parameters
        ----------
        estimator : classifier
            Fitted. Of averaged models, the one with the largest weight.
        X : array-like
            Training samples, or their matrix.
        ax : Axes, optional
            Axes to draw on.
        """
        return cls.from_matrix(estimator._compute_training_matrix(X), ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the eigenvalues in decreasing order, on a symmetric log scale.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; new ones by default.
        """
        self.ax_ = _get_axes(ax)
        self.figure_ = self.ax_.figure
        mu, place = self.eigenvalues, self.places
        bars: Any = {"where": mu >= 0, "color": BLUE, "lw": 0}
        self.ax_.fill_between(place, mu, step="mid", **bars)
        if mu[-1] < 0:
            bars = {"where": mu < 0, "facecolor": "none", "edgecolor": ORANGE}
            bars |= {"hatch": "//////", "lw": 0.8}
            self.ax_.fill_between(place, mu, step="mid", **bars)
            first = float(place[mu < 0].min()) - 0.5
            self.ax_.axvspan(first, place[-1] + 0.5, color=ORANGE, alpha=0.12, lw=0)
        self.ax_.axhline(0, color=self.ax_.spines["left"].get_edgecolor(), lw=0.8)
        if mu.any():
            _scale_signed(self.ax_, mu)
        self.ax_.set(
            xlabel="place of the eigenvalue, from the largest",
            ylabel="eigenvalue (log scale)",
            xlim=(0.5, place[-1] + 0.5),
        )
        return self


def _scale_signed(axes: "Axes", mu: Array) -> None:
    """Scale an axis by powers of ten on both sides of zero, with few ticks."""
    low, high, top = float(mu.min()), float(mu.max()), float(np.abs(mu).max())
    small = float(np.median(np.abs(mu)))
    if low < 0:  # a tenth of the largest negative one is still seen as a bar
        small = min(small, -low / 10)
    least = int(np.floor(np.log10(max(small, 1e-6 * top))))
    most = int(np.floor(np.log10(top)))
    step = -(-(most - least) // 4) or 1
    sizes = [10.0**power for power in range(most, least, -step)]
    axes.set_yscale("symlog", linthresh=10.0**least, linscale=0.4)
    ticks = [-size for size in sizes if -size >= low] + [0.0]
    axes.set_yticks(ticks + [size for size in sizes if size <= high])
    axes.set_yticks([], minor=True)
    axes.set_ylim(2 * min(0.0, low), 2 * max(0.0, high))


class SimilarityMatrixDisplay:
    """A matrix of similarities or distances, with its samples ordered by class.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        The matrix.
    y : array-like of shape (n,), optional
        Labels; without them, samples stay in their order.

    Attributes
    ----------
    ax_, figure_, image_, colorbar_
        Axes, figure, image and color bar, after `plot`.
    """

    def __init__(self, matrix: ArrayLike, *, y: ArrayLike | None = None) -> None:
        self.matrix, _ = check_matrix(matrix, "A matrix to draw", symmetric="any")
        self.y = None if y is None else np.asarray(y)
        if self.y is not None and self.y.shape != (len(self.matrix),):
            raise ValueError(
                f"'y' must have {len(self.matrix)} labels, one for each row of the "
                f"matrix, got shape {self.y.shape}."
            )

    @classmethod
    def from_matrix(
        cls,
        matrix: ArrayLike,
        y: ArrayLike | None = None,
        *,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a matrix.

        Parameters
        ----------
        matrix : array-like of shape (n, n)
            Similarities or distances.
        y : array-like of shape (n,), optional
            Labels.
        ax : Axes, optional
            Axes to draw on.
        **kwargs
            For ``Axes.imshow``.
        """
        return cls(matrix, y=y).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the similarities that a classifier computes among training samples.

        Parameters
        ----------
        estimator : classifier
            Fitted. Of averaged models, the one with the largest weight.
        X : array-like
            Training samples, or their matrix.
        y : array-like of shape (n,), optional
            Labels.
        ax : Axes, optional
            Axes to draw on.
        **kwargs
            For ``Axes.imshow``.
        """
        matrix = estimator._compute_training_matrix(X)
        return cls.from_matrix(matrix, y, ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the matrix, with a line between classes.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For ``Axes.imshow``.
        """
        self.ax_ = _get_axes(ax)
        self.figure_ = self.ax_.figure
        K, look = self.matrix, {"interpolation": "nearest"} | kwargs
        if self.y is not None:
            labels, counts = np.unique(self.y, return_counts=True)
            order = np.argsort(self.y, kind="stable")
            K = K[np.ix_(order, order)]
            ends = np.cumsum(counts)
            for end in ends[:-1]:
                self.ax_.axhline(end - 0.5, color="white", lw=0.8)
                self.ax_.axvline(end - 0.5, color="white", lw=0.8)
            middles = ends - counts / 2 - 0.5
            names = [str(label) for label in labels]
            self.ax_.set_xticks(middles, names, rotation=90 * (len(names) > 4))
            self.ax_.set_yticks(middles, names)
            self.ax_.tick_params(length=0)
        self.image_ = self.ax_.imshow(K, **look)
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_)
        return self


def _get_axes(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]
