"""Pairs and matrices with names, as matrices that estimators take."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.guards import naming_file
from kreinlearn.io.kinds import Format, kind_of
from kreinlearn.io.labels import read_labels
from kreinlearn.io.named import Named, read_named
from kreinlearn.io.pairlists import PairList, read_list, spread, turned
from kreinlearn.io.phylip import read_phylip
from kreinlearn.io.scores import Holds, PairOptions, completed, completed_new, said
from kreinlearn.io.table import Table
from kreinlearn.io.values import some_of

if TYPE_CHECKING:
    import pandas as pd

LISTS = ("pairs", "blast")


@naming_file
def read_pairs(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    training: Sequence[str] | None = None,
    holds: Holds | None = None,
    missing: float | None = None,
    missing_self: float | None = None,
    repeated: str | None = None,
    symmetrize: str | None = None,
    header: bool | None = None,
) -> "pd.DataFrame":
    """Return scores of pairs of named samples as a matrix with these names.

    Parameters
    ----------
    path : path-like
        Text, plain or compressed (.gz).
    format : {"pairs", "blast", "phylip", "matrix"}, optional
        Two names and a score in each line; BLAST's outfmt 6, as of Foldseek and
        MMseqs2; a matrix of PHYLIP, square or triangular; a table with names in the
        first line and the first column. Without, the name of the file tells (.m8,
        .phylip), or the same names on both sides of a table.
    training : sequence of str, optional
        Samples of training, if the file holds scores of new samples with these.
    holds : {"similarities", "distances"}, optional
        What the scores are. By default similarities, which are refused if they look
        like distances.
    missing : float, optional
        What stands for the score of a missing pair, which is refused by default.
    missing_self : float, optional
        What stands for the missing similarity of a sample with itself, which is
        refused by default. The distance of a sample to itself is 0.
    repeated : {"mean", "max", "min"}, optional
        What to make of several scores of a pair in one direction. By default hits of a
        search have the best score, and others are refused if they differ.
    symmetrize : {"mean", "max", "min"}, optional
        What to make of scores that differ between both directions.
    header : bool, optional
        Whether the first line of a list holds titles; by default if its score is no
        number.

    Returns
    -------
    DataFrame of shape (n_samples, n_samples), or (n_new, n_training)
        Scores, with names of samples as index and columns. What was filled in or left
        out is told in ``attrs["remark"]``.

    Raises
    ------
    ValueError, OSError, MemoryError
        One sentence with the file, the line or the pair, and what to do.
    """
    import pandas as pd

    options = PairOptions(format, missing, missing_self, repeated)
    place, kind, ending = kind_of(path, format)
    if kind not in (*LISTS, "matrix", "phylip") or ending in (".npz", ".npy"):
        raise ValueError(
            f"{path} is no text with pairs or a matrix with names; if it is, say which "
            "by format='pairs', 'blast', 'phylip' or 'matrix'."
        )
    if training is None:
        names, K, remarks = _square(place, kind, options, holds, symmetrize, header)
        columns: Sequence[str] = names
    else:
        is_distance = holds == "distances"
        columns = list(training)
        names, K, remarks = _new(
            place, kind, columns, columns, options, is_distance, symmetrize, header
        )
    frame = pd.DataFrame(K, index=list(names), columns=list(columns), copy=False)
    frame.attrs["remark"] = said(str(path), remarks)
    return frame


def read_training(
    path: Path,
    kind: Format,
    options: PairOptions,
    *,
    target: str | None,
    labels: bool | None,
    holds: Holds | None,
    symmetrize: str | None,
    header: bool | None,
) -> Table:
    """Return a matrix of training samples with their names, and labels by name.

    Parameters
    ----------
    path : Path
        The file.
    kind : {"pairs", "blast", "phylip", "matrix"}
        What it holds.
    options : PairOptions
        What to make of gaps, and where the labels are.
    target, labels, holds, symmetrize, header
        As in `kreinlearn.io.read`.

    Returns
    -------
    Table
        With K, names, a remark, and y if there are labels.
    """
    if labels and options.labels is None:
        raise ValueError(
            f"{path} holds no labels; name a file with the name and the label of each "
            "sample by --labels."
        )
    if target is not None and options.labels is None:
        raise ValueError(
            f"{path} has no column of labels, got {target!r} as the target; it goes "
            "with a file of labels (--labels)."
        )
    names, K, remarks = _square(path, kind, options, holds, symmetrize, header)
    y = title = None
    if options.labels is not None:
        y, title = read_labels(options.labels, names, str(path), target)
    remark = said(str(path), remarks)
    return Table(str(path), K=K, y=y, target=title, names=names, remark=remark)


def read_new(
    path: Path,
    kind: Format,
    training: Sequence[str],
    needed: Sequence[str],
    options: PairOptions,
    *,
    is_distance: bool,
    symmetrize: str | None,
    header: bool | None,
) -> Table:
    """Return the scores of new samples with some training samples, by name.

    Parameters
    ----------
    path : Path
        The file.
    kind : {"pairs", "blast", "phylip", "matrix"}
        What it holds.
    training : sequence of str
        All training samples.
    needed : sequence of str
        Those that are needed, in the order of the columns.
    options : PairOptions
        What to make of missing pairs.
    is_distance : bool
        Whether scores are distances.
    symmetrize : {"mean", "max", "min"} or None
        What was made of two directions in training.
    header : bool or None
        As in `kreinlearn.io.read`.

    Returns
    -------
    Table
        With K, names of the new samples, and a remark.
    """
    names, K, remarks = _new(
        path, kind, training, needed, options, is_distance, symmetrize, header
    )
    return Table(str(path), K=K, names=names, remark=said(str(path), remarks))


def _square(
    path: Path,
    kind: Format,
    options: PairOptions,
    holds: Holds | None,
    symmetrize: str | None,
    header: bool | None,
) -> tuple[list[str], Array, list[str]]:
    """Return names, scores of all pairs of them, and what was done to these."""
    remarks = list[str]()
    if kind in LISTS:
        pairs = read_list(path, kind == "blast", header, options.marks)
        names = pairs.names
        given, repeated = spread(pairs, names, names, options.repeated)
        remarks += _repeated(pairs, repeated, options.repeated)
    else:
        if options.repeated is not None:
            raise ValueError(
                f"{path} holds a matrix, in which no pair is repeated: leave out "
                "repeated (--repeated)."
            )
        matrix = _matrix(path, kind, options)
        names = matrix.rows
        given = matrix.values[:, _order(matrix, names, "column")]
        if len(names) < len(matrix.columns):
            rest = [name for name in matrix.columns if name not in set(names)]
            raise ValueError(
                f"{path}: rows and columns must be the same samples, but column "
                f"{rest[0]!r} has no row, and {len(rest):,} have none; add the rows, "
                "or remove the columns."
            )
    if len(names) < 2:
        raise ValueError(f"{path} must hold two samples at least, got {names[0]!r}.")
    K, more = completed(str(path), names, given, options, holds, symmetrize)
    return (
        names,
        K,
        [f"{len(names):,} samples", *remarks, *more] if (remarks or more) else [],
    )


def _matrix(path: Path, kind: Format, options: PairOptions) -> Named:
    """Return a matrix with names."""
    if kind == "phylip":
        return read_phylip(path)
    return read_named(path, options.marks)


def _new(
    path: Path,
    kind: Format,
    training: Sequence[str],
    needed: Sequence[str],
    options: PairOptions,
    is_distance: bool,
    symmetrize: str | None,
    header: bool | None,
) -> tuple[list[str], Array, list[str]]:
    """Return names of new samples, their scores, and what was done to these."""
    remarks = list[str]()
    if kind in LISTS:
        pairs = read_list(path, kind == "blast", header, options.marks)
        names = _new_names(pairs, training)
        forth, ahead = spread(pairs, names, needed, options.repeated)
        back, behind = spread(turned(pairs), names, needed, options.repeated)
        remarks += _repeated(pairs, ahead + behind, options.repeated)
    else:
        matrix = _matrix(path, kind, options)
        names = matrix.rows
        _check_side(matrix, training)
        forth = matrix.values[:, _order(matrix, needed, "training sample")]
        back = _mirrored(matrix, needed)
    K, more = completed_new(
        str(path),
        names,
        needed,
        forth,
        back,
        options,
        is_distance=is_distance,
        symmetrize=symmetrize,
    )
    remarks += more
    return names, K, [f"{len(names):,} new samples", *remarks] if remarks else []


def _order(matrix: Named, wanted: Sequence[str], what: str) -> list[int]:
    """Return which columns of a matrix are wanted, or raise if one is missing."""
    place = {name: i for i, name in enumerate(matrix.columns)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(
            f"{matrix.path} lacks {len(missing):,} of {len(wanted):,} {what}s, first "
            f"that of {missing[0]!r}; add them: each sample to compare with needs one "
            "(or is it a list of pairs? Then say --format pairs)."
        )
    return [place[name] for name in wanted]


def _mirrored(matrix: Named, columns: Sequence[str]) -> Array:
    """Return the scores from some columns to the rows, NaN if these are not there."""
    back = np.full((len(matrix.rows), len(columns)), np.nan)
    row, column = (
        {name: i for i, name in enumerate(side)}
        for side in (matrix.rows, matrix.columns)
    )
    there = [j for j, name in enumerate(columns) if name in row]
    here = [i for i, name in enumerate(matrix.rows) if name in column]
    starts = [row[columns[j]] for j in there]
    ends = [column[matrix.rows[i]] for i in here]
    back[np.ix_(here, there)] = matrix.values[np.ix_(starts, ends)].T
    return back


def _check_side(matrix: Named, training: Sequence[str]) -> None:
    """Raise if the training samples are the rows instead of the columns."""
    known = set(training)
    if known.isdisjoint(matrix.columns) and known.issubset(matrix.rows):
        raise ValueError(
            f"{matrix.path} must have a row for each new sample and a column for each "
            "training sample, but its rows are the training samples; transpose it."
        )


def _new_names(pairs: PairList, training: Sequence[str]) -> list[str]:
    """Return the samples of a list that predictions are made for.

    These are samples that are not of training. In a search, queries come first:
    what else was found is none of the new samples. If all are of training, they are
    predicted once more.
    """
    known = set(training)
    firsts, seconds = (
        [pairs.names[i] for i in np.unique(side)]
        for side in (pairs.first, pairs.second)
    )
    sides = [firsts, seconds] if pairs.is_search else [pairs.names]
    if known.isdisjoint(pairs.names):
        raise ValueError(
            f"{pairs.path} has no pair with a training sample, such as "
            f"{some_of(training, 3)}; its samples are {some_of(pairs.names, 3)}."
        )
    for side in sides:
        new = [name for name in side if name not in known]
        if new:
            return new
    return firsts if pairs.is_search else pairs.names


def _repeated(pairs: PairList, count: int, repeated: str | None) -> list[str]:
    """Return a remark about lines that repeat a pair."""
    if count == 0:
        return []
    kept = f"their {repeated} is taken" if repeated else "the best score is taken"
    if not repeated and not pairs.is_search:
        kept = "with the same score"
    return [f"pairs repeated, {kept}: {count:,} of {len(pairs.lines):,} lines"]
