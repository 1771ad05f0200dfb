"""The local data folder: where it is, what it holds, and loading from it."""

import os
from pathlib import Path
from typing import NamedTuple

from sklearn.utils import Bunch

from kreinlearn._files import user_cache
from reproduction.data import tables
from reproduction.data.entries import Dataset
from reproduction.data.registry import REGISTRY, info

DATA_VARIABLE = "KREINLEARN_DATA"
"""Variable that names the data folder."""
FETCH_COMMAND = "python -m reproduction data fetch"


class CheckRecord(NamedTuple):
    """State of one data set in the local folder."""

    name: str
    status: str
    """ok, missing, wrong checksum, wrong counts, or unreadable."""
    detail: str
    """File concerned and what is wrong with it; empty if all is well."""


def folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the data folder, without creating it.

    Parameters
    ----------
    data_home : path-like, optional
        The folder. By default ``$KREINLEARN_DATA``; if that is not set,
        ``kreinlearn`` in the user's cache, ``$XDG_CACHE_HOME`` or ``~/.cache``.

    Returns
    -------
    Path
        The folder, which may not exist.
    """
    chosen = data_home or os.environ.get(DATA_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache()


def describe_dataset(entry: Dataset, part: str | None = None) -> str:
    """Return a short description of a data set for people.

    Parameters
    ----------
    entry : Dataset
        Entry of the registry.
    part : str, optional
        The part, or None for the one that the paper uses.

    Returns
    -------
    str
        Title, counts, quirks and source.
    """
    table = entry.table(part)
    which = part or entry.paper_part
    lines = [
        f"{entry.name}: {entry.title}" + ("" if which == "all" else f", {which} part"),
        "",
        f"{table.n_samples} samples, {entry.n_features} features, "
        f"{table.n_positive} labels +1 and {table.n_samples - table.n_positive} "
        "labels -1; raw values, not scaled.",
        *([entry.note] if entry.note else []),
        f"Source: {entry.source}",
    ]
    return "\n".join(lines)


def load(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    part: str | None = None,
) -> Bunch:
    """Return a data set of the paper from the local data folder.

    Parameters
    ----------
    name : str
        One of :func:`reproduction.data.names`.
    data_home : path-like, optional
        Folder with the ``NAME.csv.gz`` files. By default ``$KREINLEARN_DATA``; if
        that is not set, ``kreinlearn`` in the user's cache.
    part : {"train", "test"}, optional
        One part of a predefined split: SPECT, monks1, monks2, monks3, splice,
        guide1-t and madelon have one. By default the part that the paper uses,
        which is the test file for guide1-t and the training file for the others.

    Returns
    -------
    Bunch
        With ``data``, ndarray of shape (n_samples, n_features), raw and not scaled;
        ``target``, ndarray of shape (n_samples,) with values -1 and +1; ``name``;
        ``feature_names``; and ``DESCR`` with the counts, quirks and source.

    Raises
    ------
    ValueError
        If the name or the part is unknown, or if the file is damaged or has other
        counts of rows, features or classes than it should.
    FileNotFoundError
        If the file is not in the folder.

    See Also
    --------
    fetch : Download a data set into the folder.
    check : State of the whole folder.

    Notes
    -----
    The tables follow the paper, not good practice. Before comparing, mind that

    * ``breast-cancer``: x0 is an identifier, and missing values of x6 are 0;
    * ``climate``: x0 and x1 number the study and the run;
    * ``parkinsons``, ``SPECT``, ``ijcnn1-tr``: the paper prints 23, 21 and 26
      features, the files have 22 each;
    * ``EEG``: recording outliers are kept;
    * ``splice``, ``ijcnn1-tr``, ``EEG``, ``madelon``: the published eigenvalues of
      the TL1 kernel do not match these data.

    Examples
    --------
    >>> from reproduction.data import load
    >>> load("monks1", "no/such/folder")
    Traceback (most recent call last):
        ...
    FileNotFoundError: 'monks1' needs the file monks1.csv.gz in no/such/folder, ...
    """
    entry = info(name)
    if part not in entry.keys():
        choices = " or ".join(repr(key) for key in entry.keys())
        raise ValueError(f"'part' must be {choices} for {name!r}, got {part!r}.")
    path = folder(data_home) / entry.file(part)
    try:
        X, y = tables.from_text(tables.unpack(path))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{name!r} needs the file {path.name} in {path.parent}, which is not "
            f"there; run `{FETCH_COMMAND} {name}`, or set {DATA_VARIABLE} to the "
            "folder that has it."
        ) from None
    except ValueError as error:
        raise ValueError(
            f"{path} cannot be read: {error}; delete it and run "
            f"`{FETCH_COMMAND} {name}`."
        ) from error
    difference = tables.describe_mismatch(X, y, entry.table(part), entry.n_features)
    if difference:
        raise ValueError(
            f"{path} is not the table of {name!r}: {difference}; delete it and run "
            f"`{FETCH_COMMAND} {name}`."
        )
    return Bunch(
        data=X,
        target=y,
        name=name,
        feature_names=tables.header(entry.n_features),
        DESCR=describe_dataset(entry, part),
    )


def available(data_home: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """Return the names of the data sets that the local folder has.

    Parameters
    ----------
    data_home : path-like, optional
        As in :func:`load`.

    Returns
    -------
    tuple of str
        Names in the order of the paper. Files are not opened; see :func:`check`.

    Examples
    --------
    >>> from reproduction.data import available
    >>> available("no/such/folder")
    ()
    """
    home = folder(data_home)
    return tuple(
        name for name, entry in REGISTRY.items() if (home / entry.file(None)).is_file()
    )


def inspect_file(entry: Dataset, part: str | None, home: Path) -> tuple[str, str]:
    """Return the status of one stored table and what is wrong with it.

    Parameters
    ----------
    entry : Dataset
        Entry of the registry.
    part : str or None
        The part; None for the one that the paper uses.
    home : Path
        The data folder.

    Returns
    -------
    status : str
        As in :class:`CheckRecord`.
    detail : str
        File and fault; empty if the status is ok.
    """
    table, name = entry.table(part), entry.file(part)
    try:
        text = tables.unpack(home / name)
        found = tables.digest(text)
        if found == table.sha256:
            return "ok", ""
        X, y = tables.from_text(text)
    except FileNotFoundError:
        return "missing", f"{name} is not in {home}"
    except (OSError, ValueError) as error:
        return "unreadable", f"{name}: {error}"
    difference = tables.describe_mismatch(X, y, table, entry.n_features)
    if difference:
        return "wrong counts", f"{name}: {difference}"
    if table.sha256:
        expected = f"expected sha256 {table.sha256}, got {found}"
        return "wrong checksum", f"{name}: {expected}"
    return "ok", ""


def check(data_home: str | os.PathLike[str] | None = None) -> list[CheckRecord]:
    """Return the state of every data set in the local folder.

    Parameters
    ----------
    data_home : path-like, optional
        As in :func:`load`.

    Returns
    -------
    list of CheckRecord
        One record (name, status, detail) per data set, in the order of the paper. The
        status is the first that is not ``"ok"`` among the files of the data set:
        ``"missing"``, ``"unreadable"``, ``"wrong counts"``, or ``"wrong checksum"``,
        which is a table of the right counts with other numbers in it.

    Examples
    --------
    >>> from reproduction.data import check
    >>> check("no/such/folder")[0].status
    'missing'
    """
    home = folder(data_home)
    records = []
    for name, entry in REGISTRY.items():
        states = [inspect_file(entry, part, home) for part in entry.keys()]
        faults = [state for state in states if state[0] != "ok"]
        records.append(CheckRecord(name, *(faults or states)[0]))
    return records
