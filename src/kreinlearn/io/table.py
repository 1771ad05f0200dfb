"""What was read: columns of a table, a matrix, or other samples, and labels."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io import values
from kreinlearn.io.columns import Layout, Roles, layout_of, sample_names

if TYPE_CHECKING:
    import pandas as pd

NO_ROLES = Roles()
SampleKind = Literal["series", "sequences", "graphs"]
"""What samples are that are no rows of a table; kernels have the same words."""


@dataclass(frozen=True)
class Table:
    """Samples from a file.

    Attributes
    ----------
    path : str
        Where they come from.
    X : DataFrame of shape (n_samples, n_features) or None
        Features, by name; its index are the lines of the file. Numbers are float64,
        columns of text are objects; missing cells are NaN.
    y : ndarray of shape (n_samples,) or None
        Labels: whole numbers if all are, numbers if all are, text otherwise.
    K : ndarray of shape (n_samples, n_columns) or None
        Similarities, if the file holds these and no features.
    items : list or None
        Series, sequences or graphs, as kernels take them, if the file holds these.
    kind : {"series", "sequences", "graphs"} or None
        Which of them.
    target : str or None
        Name of the column, or the array, of labels.
    header : bool
        Whether the names come from the file; otherwise they are positions from 1.
    target_place : int or None
        Which column of a table holds the labels, counted from zero.
    names : list of str or None
        Names of the samples, if the file has names for sequences or for the samples of
        a matrix, or a column of a table holds them.
    remark : str
        What was filled in or left out of a matrix, in one sentence; empty if nothing.
    groups : ndarray of shape (n_samples,) or None
        Which samples belong together, if a column of a table says so.
    layout : Layout or None
        What the columns of a table are for.
    """

    path: str
    X: "pd.DataFrame | None" = None
    y: Array | None = None
    K: Array | None = None
    items: list[Any] | None = None
    kind: SampleKind | None = None
    target: str | None = None
    header: bool = False
    target_place: int | None = None
    names: list[str] | None = None
    remark: str = ""
    groups: Array | None = None
    layout: Layout | None = None

    @property
    def samples(self) -> "pd.DataFrame | Array":
        """Features, or else similarities."""
        given = self.K if self.X is None else self.X
        assert given is not None  # a file holds one of them, or items
        return given

    @property
    def named_samples(self) -> "pd.DataFrame | Array | list[Any]":
        """What to learn from; similarities of samples with names are a DataFrame."""
        if self.items is not None:
            return self.items
        if self.names is None or self.X is not None:
            return self.samples
        import pandas as pd

        return pd.DataFrame(self.K, self.names, self.names, copy=False)


@dataclass(frozen=True)
class Cells:
    """The columns of a file as they stand in it.

    Attributes
    ----------
    path : str
        The file, for messages.
    names : list of str
        Names of the columns, no two alike.
    columns : sequence of columns
        The cells of each.
    lines : sequence of int
        Where each sample is in the file, counted in ``unit``.
    header : bool
        Whether the names come from the file.
    unit : str
        What samples are counted in: "line" or "row".
    labels : str or None
        The column of labels, in formats that have one.
    """

    path: str
    names: list[str]
    columns: Sequence[values.CellColumn]
    lines: Sequence[int]
    header: bool
    unit: str = "line"
    labels: str | None = None

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ValueError(
                f"{self.path}: the names in the header must differ, got {twice!r} "
                f"{self.names.count(twice)} times."
            )
        if not self.lines:
            raise ValueError(f"{self.path} holds a header but no samples below it.")


def build(
    cells: Cells,
    *,
    target: str | None = None,
    labels: bool = False,
    text: Collection[str] = (),
    roles: Roles = NO_ROLES,
) -> Table:
    """Return a table of numbers, text and labels from the cells of a file.

    Parameters
    ----------
    cells : Cells
        What the file holds.
    target : str or None
        Name or position of the labels.
    labels : bool
        Whether labels are needed: without ``target`` the last column then that is
        not spoken for.
    text : collection of str
        Columns to leave as text, even if their cells look like numbers.
    roles : Roles
        Columns that are no features.

    Returns
    -------
    Table
        With X, and y if there are labels; names and groups if columns hold them.
    """
    path, names = cells.path, cells.names
    found = layout_of(path, names, roles, target, labels=labels)
    by_name = dict(zip(names, cells.columns, strict=True))
    y = place = None
    if found.target is not None:
        place = names.index(found.target)
        check_features(path, found)
        y = values.plain_labels(by_name[found.target])
        if labels:
            where = f"{path}, column {found.target!r}"
            y = values.as_labels(y, cells.lines, where, cells.unit)
    ids = None
    if found.id is not None:
        ids = sample_names(path, found.id, by_name[found.id], cells.lines, cells.unit)
    groups = None
    if found.group is not None:
        groups = _groups_of(cells, found.group, by_name[found.group])
    return Table(
        path,
        features_of(cells, found.features, text),
        y,
        target=found.target,
        header=cells.header,
        target_place=place,
        names=ids,
        groups=groups,
        layout=found,
    )


def check_features(path: str, layout: Layout) -> None:
    """Raise if a table has nothing to learn from beside its labels."""
    if layout.features:
        return
    if layout.apart:
        raise ValueError(
            f"{path} must have at least one column of features besides the labels in "
            f"{layout.target!r} and {values.some_of(layout.apart)}; drop fewer."
        )
    raise ValueError(
        f"{path} must have a column of labels and at least one column of features, got "
        "one column only; is the delimiter a comma, a semicolon or, in .tsv, a tab? "
        "--sep names another."
    )


def _groups_of(cells: Cells, name: str, column: values.CellColumn) -> Array:
    """Return the group of each sample, or raise if one has none."""
    groups = values.text_labels(column)
    missing = groups == ""
    if missing.any():
        line = cells.lines[int(missing.argmax())]
        raise ValueError(
            f"{cells.path}: the group in {cells.unit} {line}, column {name!r} is "
            "missing; every sample needs one."
        )
    return groups


def features_of(
    cells: Cells, names: Sequence[str], text: Collection[str] = ()
) -> "pd.DataFrame":
    """Return some columns, each as numbers or, if it is named in ``text``, as text."""
    import pandas as pd

    columns = dict(zip(cells.names, cells.columns, strict=True))
    found = {
        name: values.as_text(columns[name])
        if name in text
        else values.as_numbers(columns[name], cells.path, name, cells.lines, cells.unit)
        for name in names
    }
    index = pd.Index(cells.lines, name=cells.unit)
    if all(column.dtype == float for column in found.values()):
        # One block, sample after sample, as an array of numbers would be.
        block = np.column_stack(list(found.values()))
        X = pd.DataFrame(block, index=index, columns=list(found), copy=False)
    else:
        series = {k: pd.Series(v, index=index, dtype=v.dtype) for k, v in found.items()}
        X = pd.DataFrame(series)
    X.attrs["path"] = cells.path
    return X
