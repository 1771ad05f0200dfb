"""From a table as it is to features that a kernel takes: fill, encode, scale."""

import warnings
from typing import TYPE_CHECKING

from sklearn.base import TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_complete", "prepare", "text_columns"]


def prepare(
    X: "pd.DataFrame",
    *,
    scale: bool = True,
    impute: bool = False,
    one_hot: bool = False,
) -> TransformerMixin:
    """Return the transformer for a table, to be fitted with the model.

    In a pipeline it learns from training samples only:
    ``make_pipeline(prepare(X), model)``. For a table of numbers it is scikit-learn's
    `MinMaxScaler` and nothing else.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        The table, to see which columns are text; nothing is learned from it.
    scale : bool
        Whether to scale numbers to [0, 1].
    impute : bool
        Whether to fill missing cells, by the median of numbers and the most frequent
        text, instead of refusing them.
    one_hot : bool
        Whether to turn text into one column of zeros and ones for each word of it,
        instead of refusing it.

    Returns
    -------
    transformer
        Not fitted.

    Raises
    ------
    ValueError
        If there is text or a missing cell that is not to be dealt with, or a column
        without any value.

    Examples
    --------
    >>> import pandas as pd
    >>> from kreinlearn.pipelines import prepare
    >>> prepare(pd.DataFrame({"width": [1.0, 2.0], "length": [3.0, 5.0]}))
    MinMaxScaler()
    """
    words = text_columns(X)
    if words and not one_hot:
        cell = next(cell for cell in X[words[0]] if isinstance(cell, str))
        listed = ", ".join(repr(name) for name in words[:5])
        more = f" and {len(words) - 5} more" if len(words) > 5 else ""
        raise ValueError(
            f"{_source(X)}numbers were expected, but column{'s' * (len(words) > 1)} "
            f"{listed}{more} hold{'s' * (len(words) == 1)} text such as {cell!r}; "
            "encode text with one_hot=True (--one-hot on the command line)."
        )
    empty = [name for name in X.columns if X[name].isna().all()]
    if empty:
        raise ValueError(
            f"{_source(X)}column {empty[0]!r} has no value at all; remove it."
        )
    if not impute:
        check_complete(X, "fill with impute=True (--impute on the command line)")
    _warn_if_constant(X)
    numbers = [name for name in X.columns if name not in words]
    of_numbers = _chain(
        SimpleImputer(strategy="median", keep_empty_features=True) if impute else None,
        MinMaxScaler() if scale else None,
    )
    if not words:
        return of_numbers
    of_words = _chain(
        SimpleImputer(strategy="most_frequent", keep_empty_features=True)
        if impute
        else None,
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    both = [(of_numbers, numbers)] if numbers else []
    return make_column_transformer(*both, (of_words, words))


def text_columns(X: "pd.DataFrame") -> list[str]:
    """Return the names of the columns that are not numbers.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        A table.

    Returns
    -------
    list of str
        In their order.
    """
    return [name for name in X.columns if X[name].dtype.kind not in "fiub"]


def check_complete(X: "pd.DataFrame", advice: str) -> None:
    """Raise if a cell is missing.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        A table.
    advice : str
        What to do then, for the message.
    """
    missing = X.isna().to_numpy()
    if missing.any():
        row, column = divmod(int(missing.argmax()), missing.shape[1])
        count = int(missing.sum())
        raise ValueError(
            f"{_source(X)}the value in {X.index.name or 'row'} {X.index[row]}, column "
            f"{X.columns[column]!r} is missing{f', {count} in all' * (count > 1)}; "
            f"{advice}."
        )


def _source(X: "pd.DataFrame") -> str:
    path = X.attrs.get("path")
    return f"{path}: " if path else ""


def _chain(*steps: TransformerMixin | None) -> TransformerMixin:
    """Return the steps that are there as one transformer."""
    kept = [step for step in steps if step is not None]
    if not kept:  # passes on what comes, and learns the names of the columns
        return FunctionTransformer(feature_names_out="one-to-one")
    return kept[0] if len(kept) == 1 else make_pipeline(*kept)


def _warn_if_constant(X: "pd.DataFrame") -> None:
    constant = [name for name in X.columns if X[name].nunique() == 1]
    if constant:
        listed = ", ".join(repr(name) for name in constant[:5])
        more = f" and {len(constant) - 5} more" if len(constant) > 5 else ""
        warnings.warn(
            f"{_source(X)}the same value for all samples in column"
            f"{'s' * (len(constant) > 1)} {listed}{more}, which tell nothing apart.",
            UserWarning,
            stacklevel=3,
        )
