"""Results as JSON Lines: one line per cell, on disk as soon as it is known."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from kreinlearn._files import check_regular, replace
from kreinlearn.app.runs.cells import Cell, Record

DIGITS = 6
"""Significant digits of a stored number."""
FAILED = frozenset({"error", "timeout"})
"""Status words of records without scores."""

FIELDS = (
    "key exp data method run set seed half status error acc bacc ll auc truth "
    "proba score fit_s pred_s gram_s n_iter chosen grid cv cv_n curve n m tau sig "
    "mu neg mu_bound split tried indefinite mu_ratio shape pixels hits curves steps "
    "ver git"
).split()
"""Keys of a record, in the order in which they are written; absent where they do not
apply.

key : the cell as one string; unique in a file
exp : experiment
data : data set
method : method
run : repetition
set : further settings of the cell
seed : seed of the method
half : seed of the random half and of the folds
status : how the fit ended, or error or timeout
error : what went wrong
acc : accuracy on the test half
bacc : balanced accuracy on the test half
ll : log-loss on the test half, if the method has probabilities
auc : area under the ROC curve; the mean of each class against the rest
truth : classes of the test rows, by position
proba : probabilities of the test rows; of the second class if there are two
score : their scores, if the method has no probabilities
fit_s : seconds of the fit with the chosen hyper-parameters, given K
pred_s : seconds of the prediction, given the similarities
gram_s : seconds of the kernel matrix of the training half
n_iter : iterations of the fit
chosen : hyper-parameters that cross-validation chose
grid : what it chose from
cv : how many of its fits ended with which status
cv_n : training rows it saw, if not all
curve : objective after each outer iteration
n : training rows
m : features
tau : truncation of the TL1 kernel
sig : numbers of positive, negative and zero eigenvalues of the training K
mu : smallest and largest eigenvalue of the training K
neg : share of the negative eigenvalues in the sum of absolute values
mu_bound : true if the smallest is only known to be at most that
split : how K was split, if not as in the paper
tried : kernel matrices that were looked at
indefinite : how many of them have a negative eigenvalue
mu_ratio : their smallest eigenvalue relative to the largest, of all of them
shape : rows, columns, height and width of example images
pixels : their gray values, compressed
hits : test rows that are right, by start, for each lam of the grid
curves : objective after each outer iteration, by eps, for each lam of the grid
steps : inner steps, by eps, for each lam; null where the fit diverged
ver : versions
git : revision of the source
"""


def rounded(value: Any) -> Any:
    """Return a value as it is stored.

    Parameters
    ----------
    value : object
        Numbers, strings, and lists and mappings of them.

    Returns
    -------
    object
        Floats with six significant digits; None for what is not finite; NumPy's
        numbers as Python's.
    """
    if isinstance(value, Mapping):
        return {str(name): rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0:
        return [rounded(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def record_of(cell: Cell, outcome: Record, **surroundings: Any) -> Record:
    """Return the record of a cell.

    Parameters
    ----------
    cell : Cell
        What was run.
    outcome : mapping
        What came of it; "status" at least.
    **surroundings : object
        Versions and revision.

    Returns
    -------
    dict
        Keys in the order of `FIELDS`.
    """
    identity = {"key": cell.key, "seed": cell.seed, "half": cell.half_seed}
    everything = {**cell.as_dict(), **identity, **rounded(outcome), **surroundings}
    unknown = set(everything) - set(FIELDS)
    if unknown:
        raise ValueError(f"A record has no field {min(unknown)!r}; see FIELDS.")
    return {
        name: everything[name] for name in FIELDS if everything.get(name) is not None
    }


def _parse(text: bytes, where: str) -> tuple[list[Record], int]:
    """Return the records and the length of what is whole.

    A line without its line break was cut short, whatever it holds.
    """
    whole = text.rfind(b"\n") + 1
    found: list[Record] = []
    # Lines end as they were written: a stray \r inside of one ends nothing.
    for number, line in enumerate(text[:whole].split(b"\n")[:-1], start=1):
        try:
            record = json.loads(line)
            if not isinstance(record, dict) or not isinstance(record["key"], str):
                raise ValueError
        except (ValueError, KeyError, RecursionError):
            if text[:whole].count(b"\n") == number:  # torn in the middle of a block
                return found, whole - len(line) - 1
            raise ValueError(
                f"Line {number} of {where} is not a record of an experiment: "
                f"{line[:60]!r}. Remove the line, or the file."
            ) from None
        found.append(record)
    return found, whole


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Return all records of a file, leaving out a last line that was cut short.

    Parameters
    ----------
    path : path-like
        A file that `Store` wrote.

    Returns
    -------
    list of dict
        In the order in which they were found; empty if there is no file.
    """
    path = Path(path)
    if not path.exists():
        return []
    check_regular(path)
    return _parse(path.read_bytes(), str(path))[0]


def forget(path: str | os.PathLike[str], keys: Iterable[str]) -> None:
    """Remove records, so that their cells are run again.

    Parameters
    ----------
    path : path-like
        A file that `Store` wrote.
    keys : iterable of str
        Keys of the records.
    """
    dropped = set(keys)
    if not dropped:
        return
    kept = [record for record in read_records(path) if record["key"] not in dropped]
    replace(path, b"".join(map(_encoded, kept)))


def _encoded(record: Record) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


class Store:
    """A file of records, open for appending by this process alone.

    On opening, a last line that was cut short (by a kill, a full disk) is removed.

    Parameters
    ----------
    path : path-like
        The file; folders above it are made.

    Attributes
    ----------
    keys : set of str
        Keys of all records in the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        check_regular(self.path)
        # Unbuffered: a line is one write, which an interrupt cannot tear.
        self._file = open(self.path, "a+b", buffering=0)
        try:
            _lock(self._file.fileno(), self.path)
            self._file.seek(0)
            found, whole = _parse(self._file.read(), str(self.path))
            self._file.truncate(whole)
        except BaseException:
            self._file.close()
            raise
        self.keys = {record["key"] for record in found}

    def append(self, record: Record) -> None:
        """Write a record and wait until it is on disk.

        Parameters
        ----------
        record : dict
            From `record_of`; its key must be new.

        Raises
        ------
        OSError
            If it cannot be written; the file holds what it did before.
        """
        if record["key"] in self.keys:
            raise ValueError(f"{self.path} already has a record {record['key']!r}.")
        line = _encoded(record)
        end = self._file.seek(0, os.SEEK_END)
        try:
            while line:  # a disk that is nearly full takes a part, without an error
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(end)
            reason = error.strerror or str(error)
            raise type(error)(
                f"{self.path} could not be written: {reason}. The results in it are "
                "whole: make room, and run the same again to go on."
            ) from None
        self.keys.add(record["key"])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _lock(descriptor: int, path: Path) -> None:
    """Refuse a file that another process writes; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # not on this system: two runs at once are the user's affair
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BlockingIOError(
            f"{path} is being written by another run; wait for it to end, or use "
            "another folder."
        ) from None
