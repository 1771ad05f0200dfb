"""Displays of predictions, in the pattern of scikit-learn.

Matplotlib is imported only when a display is drawn.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["ContributionDisplay", "ReviewCurveDisplay", "review_curve"]


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


def _get_axes(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]
