"""Samples of a file in memory, and the sources that tables are read from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.columns import (
    NO_ROLES,
    ColumnLayout,
    ColumnRoles,
    assign_roles,
    check_features,
    check_unique_ids,
    to_numbers,
    to_text,
)
from kreinlearn.io.labels import as_labels, to_labels, to_text_labels
from kreinlearn.io.options import SampleKind
from kreinlearn.io.sources import Cells, TableSource

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """Samples from a file.

    Attributes
    ----------
    path : str
        The file.
    X : DataFrame of shape (n_samples, n_features) or None
        Features, by name; its index holds the lines of the file. Numbers are float64,
        columns of text are objects; missing cells are NaN.
    y : ndarray of shape (n_samples,) or None
        Labels: integers if all are, floats if all are numbers, text otherwise.
    K : ndarray of shape (n_samples, n_columns) or None
        Similarities or distances, if the file holds a matrix.
    items : list or None
        Series, sequences or graphs, as kernels take them.
    kind : {"series", "sequences", "graphs"} or None
        The kind of ``items``.
    target : str or None
        Name of the column, or the array, of labels.
    header : bool
        Whether the names come from the file; otherwise they are positions from 1.
    target_place : int or None
        Position of the labels in a table, counted from zero.
    names : list of str or None
        Names of the samples, if the file has them.
    remark : str
        Note about filled or ignored values, for the user; may be empty.
    groups : ndarray of shape (n_samples,) or None
        Group of each sample, if a column holds groups.
    layout : ColumnLayout or None
        Roles of the columns of a table.
    format : str or None
        Format of the file, as in `kreinlearn.io.formats.FORMATS`.
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
    layout: ColumnLayout | None = None
    format: str | None = None

    @property
    def samples(self) -> "pd.DataFrame | Array":
        """Features, or else the matrix."""
        given = self.K if self.X is None else self.X
        assert given is not None  # a file holds one of them, or items
        return given

    @property
    def named_samples(self) -> "pd.DataFrame | Array | list[Any]":
        """Training input of an estimator; matrices with names are DataFrames."""
        if self.items is not None:
            return self.items
        if self.names is None or self.X is not None:
            return self.samples
        import pandas as pd

        return pd.DataFrame(self.K, self.names, self.names, copy=False)


def read_table(
    source: TableSource,
    *,
    target: str | None = None,
    labels: bool = False,
    text: Collection[str] = (),
    roles: ColumnRoles = NO_ROLES,
) -> Table:
    """Return a table of numbers, text and labels.

    Parameters
    ----------
    source : TableSource
        The file.
    target : str or None
        Name or position of the labels; by default the column that the format defines.
    labels : bool
        Whether labels are needed: without ``target``, the last column without a role.
    text : collection of str
        Columns to read as text, even if their cells look like numbers.
    roles : ColumnRoles
        Columns that are not features.

    Returns
    -------
    Table
        With X, and y if there are labels; names and groups if columns hold them.
    """
    path, names = source.path, source.names
    layout = assign_roles(path, names, roles, target or source.labels, labels=labels)
    if layout.target is not None:
        check_features(path, layout)
    others = [n for n in (layout.target, layout.id, layout.group) if n is not None]
    cells = source.read([*layout.features, *others], {*others, *text})
    y = place = ids = groups = None
    if layout.target is not None:
        place = names.index(layout.target)
        y = to_labels(cells.columns[layout.target])
        if labels:
            where = f"{path}, column {layout.target!r}"
            y = as_labels(y, cells.lines, where, cells.unit)
    if layout.id is not None:
        column = cells.columns[layout.id]
        ids = check_unique_ids(path, layout.id, column, cells.lines, cells.unit)
    if layout.group is not None:
        groups = _convert_groups(cells, layout.group)
    return Table(
        path,
        convert_features(cells, layout.features, text),
        y,
        target=layout.target,
        header=source.header,
        target_place=place,
        names=ids,
        groups=groups,
        layout=layout,
        format="table",
    )


def _convert_groups(cells: Cells, name: str) -> Array:
    """Return the group of each sample, or raise if one is missing."""
    groups = to_text_labels(cells.columns[name])
    missing = groups == ""
    if missing.any():
        line = cells.lines[int(missing.argmax())]
        raise ValueError(
            f"{cells.path}: the group in {cells.unit} {line}, column {name!r} is "
            "missing; every sample needs one."
        )
    return groups


def convert_features(
    cells: Cells, names: Sequence[str], text: Collection[str] = ()
) -> "pd.DataFrame":
    """Return some columns as numbers or, if they are in ``text``, as text."""
    import pandas as pd

    columns, path, lines, unit = cells.columns, cells.path, cells.lines, cells.unit
    found = {
        name: to_text(columns[name])
        if name in text
        else to_numbers(columns[name], path, name, lines, unit)
        for name in names
    }
    index = pd.Index(lines, name=unit)
    if found and all(column.dtype == float for column in found.values()):
        # One block in C order, as an array of numbers would be.
        block = np.column_stack(list(found.values()))
        X = pd.DataFrame(block, index=index, columns=list(found), copy=False)
    else:
        series = {k: pd.Series(v, index=index, dtype=v.dtype) for k, v in found.items()}
        X = pd.DataFrame(series, index=index)
    X.attrs["path"] = path
    return X
