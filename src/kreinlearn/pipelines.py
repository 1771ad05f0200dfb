"""Preparation of tables for kernels: fill, encode, scale."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from kreinlearn._memory import available_bytes
from kreinlearn._typing import Array
from kreinlearn._validation import check_choice
from kreinlearn.io.columns import (
    MANY_WORDS,
    MIN_ROWS_PER_WORD,
    NUMERIC_FRACTION,
    warn_about_columns,
)
from kreinlearn.io.dataset import Dataset
from kreinlearn.io.formats import table_blocks
from kreinlearn.io.text import quote_names

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.dataset

__all__ = ["check_complete", "fit_from", "prepare", "text_columns"]

DATE_TEXT = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
)
"""A date, perhaps with a time."""
SCALER_MAKERS: dict[str, Callable[[], TransformerMixin | None]] = {
    "minmax": MinMaxScaler,
    "standard": StandardScaler,
    # A range from 5 % to 95 % of the values, rather than from quarter to quarter,
    # leaves features about as wide as [0, 1], for which kernels have their parameters.
    "robust": lambda: RobustScaler(quantile_range=(5.0, 95.0)),
    "none": lambda: None,
}
"""How numbers are scaled, by name."""
MAX_KEPT_BYTES = 2**28
"""Memory, at most, for a table that is read in blocks, to save further passes."""
DRAWN_BYTES = 2**23
"""Memory for the rows that a transformer learns from, if a table is read in blocks."""


def prepare(
    X: "pd.DataFrame",
    *,
    scale: str = "minmax",
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
    scale : {"minmax", "standard", "robust", "none"}
        How to scale numbers: to [0, 1]; to mean 0 and variance 1; to median 0 and a
        range of 1 from the 5 % quantile to the 95 % quantile, which a few outliers
        leave alone; or not at all.
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
        If there is text or a missing cell that is not to be dealt with, a column
        without any value, or one of text in which nearly every value is different.

    Warns
    -----
    UserWarning
        If a column is the same for all samples, counts them, or holds a few outliers
        that leave next to nothing of the range to all other values.

    Examples
    --------
    >>> import pandas as pd
    >>> from kreinlearn.pipelines import prepare
    >>> prepare(pd.DataFrame({"width": [1.0, 2.0], "length": [3.0, 5.0]}))
    MinMaxScaler()
    """
    check_choice("scale", scale, list(SCALER_MAKERS))
    words = text_columns(X)
    check_table(X, impute=impute, one_hot=one_hot)
    numbers = [name for name in X.columns if name not in words]
    warn_about_columns(X, numbers, check_outliers=scale in ("minmax", "standard"))
    fillers = [
        SimpleImputer(strategy=strategy, keep_empty_features=True) if impute else None
        for strategy in ("median", "most_frequent")
    ]
    number_steps = _chain(fillers[0], SCALER_MAKERS[scale]())
    if not words:
        return number_steps
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    word_steps = _chain(fillers[1], encoder)
    both = [(number_steps, numbers)] if numbers else []
    return make_column_transformer(*both, (word_steps, words))


def fit_from(
    model: Any,
    source: "str | os.PathLike[str] | pyarrow.dataset.Dataset | Dataset",
    y: str | None = None,
    *,
    scale: str = "minmax",
    impute: bool = False,
    one_hot: bool = False,
) -> Pipeline:
    """Fit a model to a table on disk that is read in blocks.

    One pass over the table learns how features are filled in, encoded and scaled; the
    model then makes its passes over the prepared features. These are kept in memory if
    they take at most 256 MiB, and read again in each pass otherwise.

    Parameters
    ----------
    model : LandmarkLogisticRegression
        Not fitted; it is fitted in place.
    source : path-like, pyarrow Dataset or Dataset
        A parquet file, a folder of parquet files, a dataset, or a csv or tsv file.
    y : str, optional
        Column of the labels; the last by default.
    scale : str
        As in `prepare`. Ranges for "minmax" are those of all rows; quantiles for
        "robust", and means and variances for "standard", are those of rows drawn at
        random, as many as fit in 8 MiB.
    impute, one_hot : bool
        As in `prepare`. Words are those of all rows; medians and most frequent words
        are those of the rows drawn.

    Returns
    -------
    Pipeline
        Fitted. It predicts from DataFrames with the same columns, and can be saved.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kreinlearn import LandmarkLogisticRegression
    >>> from kreinlearn.datasets import make_monks
    >>> from kreinlearn.pipelines import fit_from
    >>> import pandas as pd
    >>> X, y = make_monks(3)
    >>> table = pd.DataFrame(X, columns=list("abcdef"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "monks.csv")
    ...     table.assign(kind=y).to_csv(path, index=False)
    ...     model = LandmarkLogisticRegression(n_landmarks=100, lam=1e-3)
    ...     whole = fit_from(model, path, "kind")
    >>> print(f"{whole.score(table, y):.2f}")
    0.99
    """
    table = source if isinstance(source, Dataset) else table_blocks(source, y)
    blocks, transformer, _ = prepare_blocks(
        table, scale=scale, impute=impute, one_hot=one_hot
    )
    model.fit(blocks)
    return make_pipeline(transformer, model)


def prepare_blocks(
    table: Dataset, watch: Callable[[float], None] | None = None, **steps: Any
) -> tuple["PreparedBlocks", TransformerMixin, "pd.DataFrame"]:
    """Learn in one pass how features are prepared, and return blocks of them.

    Parameters
    ----------
    table : Dataset
        The table.
    watch : callable, optional
        Receives the fraction of the rows that have been read.
    **steps : str or bool
        As in `prepare`.

    Returns
    -------
    blocks : PreparedBlocks
        Features, labels and weights.
    transformer : transformer
        Fitted.
    drawn : DataFrame
        The rows that it learned from.
    """
    if table.record.text and not steps.get("one_hot", False):
        X = next(iter(table)).X
        assert X is not None
        check_table(X, impute=True, one_hot=False)
    drawn = _draw_rows(_iterate_features(table, watch))
    transformer = prepare(drawn, **steps)
    transformer.fit(drawn)
    return PreparedBlocks(table, transformer.transform), transformer, drawn


@dataclass
class PreparedBlocks:
    """Blocks of a table after a transformer; they can be read again and again.

    They are kept in memory after the first pass if they take little of it, since
    parsing a csv takes longer than most passes.
    """

    table: Dataset
    transform: Callable[..., Array]
    _kept: list[tuple[Array, Array, Array | None]] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def __iter__(self) -> Iterator[tuple[Array, Array, Array | None]]:
        """Yield features, labels and weights of the rows, block by block."""
        if self._kept is not None:
            yield from self._kept
            return
        kept, size = [], 0
        free = available_bytes()
        most = MAX_KEPT_BYTES if free is None else min(MAX_KEPT_BYTES, free // 8)
        for block in self.table:
            X, y = np.asarray(self.transform(block.X)), np.asarray(block.y)
            size += X.nbytes + y.nbytes
            if size <= most:
                kept.append((X, y, block.weights))
            else:
                kept.clear()
            yield X, y, block.weights
        self._kept = kept if size <= most else None


def _iterate_features(
    table: Dataset, watch: Callable[[float], None] | None
) -> Iterator["pd.DataFrame"]:
    count = 0
    for block in table:
        assert block.X is not None
        yield block.X
        count += len(block.X)
        if watch is not None:
            watch(count / table.n_rows)


def _draw_rows(blocks: Iterable["pd.DataFrame"]) -> "pd.DataFrame":
    """Return rows from which a transformer learns nearly the same as from all.

    They are all rows of a table that is small. Of others they are rows drawn at random,
    and with them every row that was the first one to hold a word, a missing cell, or
    the least or largest number of its column.
    """
    import pandas as pd

    rng, kept, keys = np.random.default_rng(0), list["pd.DataFrame"](), list[Array]()
    seen: dict[str, set[Any]] = {}
    most = count = 0
    for X in blocks:
        most = most or max(1000, DRAWN_BYTES // (8 * X.shape[1]))
        key = rng.random(len(X))
        key[_find_new_values(X, seen)] = -1.0
        kept.append(X)
        keys.append(key)
        count += len(X)
        if count > 2 * most:
            kept, keys = _keep_smallest(kept, keys, most)
            count = len(keys[0])
    path = kept[0].attrs.get("path")
    kept, _ = _keep_smallest(kept, keys, most)
    rows = kept[0]
    assert isinstance(rows, pd.DataFrame)
    if path is not None:
        rows.attrs["path"] = path
    return rows


def _keep_smallest(
    kept: list["pd.DataFrame"], keys: list[Array], most: int
) -> tuple[list["pd.DataFrame"], list[Array]]:
    """Return the rows with the smallest keys, in their order, as a single block."""
    import pandas as pd

    key = np.concatenate(keys)
    size = max(most, int((key < 0).sum()))
    places = np.sort(np.argsort(key, kind="stable")[:size])
    return [pd.concat(kept).iloc[places]], [key[places]]


def _find_new_values(X: "pd.DataFrame", seen: dict[str, set[Any]]) -> list[int]:
    """Return the places of rows with values that no row before had."""
    places: list[int] = []
    for name in X.columns:
        column, known = X[name], seen.setdefault(name, set())
        is_missing = column.isna().to_numpy()
        if is_missing.any() and None not in known:
            known.add(None)
            places.append(int(is_missing.argmax()))
        if is_missing.all():
            continue
        if column.dtype.kind in "fiub":
            values = column.to_numpy()
            for place in (int(np.nanargmin(values)), int(np.nanargmax(values))):
                numbers = [value for value in known if value is not None]
                value = float(values[place])
                if not numbers or value < min(numbers) or value > max(numbers):
                    known.add(value)
                    places.append(place)
            continue
        first = ~column.duplicated().to_numpy() & ~is_missing
        for at in np.flatnonzero(first).tolist():
            if (word := column.iloc[at]) not in known:
                known.add(word)
                places.append(at)
    return places


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
        Remedy, for the message.
    """
    if message := describe_missing(X):
        raise ValueError(f"{_name_source(X)}{message}; {advice}.")


def describe_missing(X: "pd.DataFrame") -> str:
    """Return a message about missing cells, empty if there are none."""
    missing = X.isna().to_numpy()
    if not missing.any():
        return ""
    row, column = divmod(int(missing.argmax()), missing.shape[1])
    count = int(missing.sum())
    return (
        f"the value in {X.index.name or 'row'} {X.index[row]}, column "
        f"{X.columns[column]!r} is missing{f', {count} in all' * (count > 1)}"
    )


class PreparationError(ValueError):
    """Error about columns that cannot be features without preparation.

    Attributes
    ----------
    options : list of str
        Options of `krein fit` that would prepare the table.
    """

    def __init__(self, message: str, options: list[str]) -> None:
        super().__init__(message)
        self.options = options


def check_table(X: "pd.DataFrame", *, impute: bool, one_hot: bool) -> None:
    """Raise one error about all columns that need preparation.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        The table.
    impute, one_hot : bool
        As in `prepare`.

    Raises
    ------
    PreparationError
        With the problems and the options that solve them.
    """
    found = list(_find_problems(X, impute, one_hot))
    if not found:
        return
    options = [option for _, _, own in found for option in own]
    message = "; ".join(found[0][:2])
    if len(found) > 1:
        flags = {"--one-hot": "one_hot=True", "--impute": "impute=True"}
        used = ", ".join(flags[option] for option in options if option in flags)
        listed = "; ".join(problem for problem, _, _ in found)
        message = f"{listed}. Use {shlex.join(options)}{f' ({used})' * bool(used)}"
    raise PreparationError(f"{_name_source(X)}{message}.", options)


def _find_problems(
    X: "pd.DataFrame", impute: bool, one_hot: bool
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield problems of a table, their remedies, and options that solve them."""
    words = text_columns(X)
    dates = [name for name in words if is_date_column(X[name])]
    names = [name for name in words if _is_name_column(X[name]) and name not in dates]
    texts = [name for name in words if name not in (*names, *dates)]
    rare = [n for n in dates if X[n].count() < MIN_ROWS_PER_WORD * X[n].nunique()]
    dates = rare if one_hot else dates
    for i, name in enumerate(names):
        known = X[name].dropna()
        yield (
            f"column {name!r} holds text that repeats too seldom to learn from, "
            f"{known.nunique():,} different values in {len(known):,} rows, such as "
            f"{known.iloc[0]!r}",
            f"remove the column (--drop {name}), keep it in predictions (--id {name}) "
            "if it names samples, or make it numbers if it holds measurements",
            ["--drop" if i else "--id", name],
        )
    if dates:
        remedy = f"leave them out (--drop {dates[0]}), or convert them to numbers"
        if not rare:
            remedy += (
                " such as days. To encode each date as a category, use one_hot=True "
                "(--one-hot)"
            )
        drop = [option for name in dates for option in ("--drop", name)]
        problem = f"{_list_columns(dates)} dates such as {_quote_first(X, dates)}"
        yield problem, remedy, drop
    if texts and not one_hot:
        yield (
            f"{_list_columns(texts)} text such as {_quote_first(X, texts)}",
            "encode text with one_hot=True (--one-hot on the command line), leave it "
            f"out (--drop {texts[0]}), or, if it holds the labels, use --target "
            f"{texts[0]}",
            ["--one-hot"],
        )
    empty = [name for name in X.columns if X[name].isna().all()]
    if empty:
        drop = [option for name in empty for option in ("--drop", name)]
        yield f"column {empty[0]!r} has no value at all", "remove it", drop
    if not impute and (message := describe_missing(X)):
        remedy = "fill with impute=True (--impute on the command line)"
        yield message, remedy, ["--impute"]


def is_date_column(column: "pd.Series") -> bool:
    """Return whether nearly all cells of a column of text are dates.

    Examples
    --------
    >>> import pandas as pd
    >>> is_date_column(pd.Series(["2024-03-01", "2024-11-17"]))
    True
    """
    known = [cell for cell in column if isinstance(cell, str)]
    count = sum(DATE_TEXT.fullmatch(cell) is not None for cell in known)
    return bool(known) and count >= NUMERIC_FRACTION * len(known)


def _is_name_column(column: "pd.Series") -> bool:
    """Return whether nearly every cell differs: no new sample would have the same."""
    known = column.dropna()
    different = known.nunique()
    return different >= MANY_WORDS and different > NUMERIC_FRACTION * len(known)


def _list_columns(names: list[str]) -> str:
    is_one = len(names) == 1
    return f"column{'s' * (not is_one)} {quote_names(names)} hold{'s' * is_one}"


def _quote_first(X: "pd.DataFrame", names: list[str]) -> str:
    """Return the first text in some columns, in quotes."""
    return repr(next((cell for cell in X[names[0]] if isinstance(cell, str)), ""))


def _name_source(X: "pd.DataFrame") -> str:
    path = X.attrs.get("path")
    return f"{path}: " if path else ""


def _chain(*steps: TransformerMixin | None) -> TransformerMixin:
    """Return the steps that are there as one transformer."""
    kept = [step for step in steps if step is not None]
    if not kept:  # passes on its input, and learns the names of the columns
        return FunctionTransformer(feature_names_out="one-to-one")
    return kept[0] if len(kept) == 1 else make_pipeline(*kept)
