"""Cells to run, and their results as JSON Lines, written as soon as they are known."""

import hashlib
import json
import math
import os
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from kreinlearn._files import check_regular

SIGNIFICANT_DIGITS = 6
"""Significant digits of a stored number."""
GIT_SECONDS = 10.0
"""Time limit of the call of git."""
FAILED_STATUSES = frozenset({"error", "timeout"})
"""Statuses of records without scores."""

Value = str | int | float | bool
"""Value of a setting: JSON must return it unchanged."""
Record = dict[str, Any]
"""Result of a cell, by field; fields that do not apply are absent.

key : the cell as one string; unique in a file
exp : experiment
data : data set
method : method
run : repetition
set : further settings of the cell
seed : seed of the method
half : seed of the random half and of the folds
status : status of the fit, or error or timeout
error : error message
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
grid : hyper-parameters that it tried
cv : number of its fits by status
cv_n : training rows of the cross-validation, if not all
curve : objective after each outer iteration
n : training rows
m : features
tau : truncation of the TL1 kernel
sig : numbers of positive, negative and zero eigenvalues of the training K
mu : smallest and largest eigenvalue of the training K
neg : fraction of the negative eigenvalues in the sum of absolute values
mu_bound : true if the smallest is only an upper bound
split : method by which K was split, if not that of the paper
tried : number of kernel matrices
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


def derive_seed(*identity: Value) -> int:
    """Return a seed below 2**32 that depends on the text of some values alone.

    Examples
    --------
    >>> from kreinlearn.app.runs.records import derive_seed
    >>> derive_seed("half", "monks1", 0)
    1729717323
    """
    text = "\x1f".join(str(part) for part in identity)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Cell:
    """One fit to run: a method on one split of one data set.

    Parameters
    ----------
    experiment : str
        Name of the experiment, such as "table3".
    dataset, method : str
        Names of the data set and of the method.
    run : int
        Number of the repetition.
    settings : tuple of (str, value) pairs
        Further settings. The setting "half" fixes the random half: cells of all runs
        then use the half of that run.

    Examples
    --------
    >>> from kreinlearn.app.runs.records import Cell
    >>> Cell("fig2", "monks1", "CCICP-GD", 3, (("eps", 0.1),)).key
    'fig2/monks1/CCICP-GD/3/eps=0.1'
    """

    experiment: str
    dataset: str
    method: str
    run: int = 0
    settings: tuple[tuple[str, Value], ...] = ()

    @property
    def key(self) -> str:
        """Identifier of the cell and of its record."""
        parts = [self.experiment, self.dataset, self.method, str(self.run)]
        parts += [f"{name}={value}" for name, value in self.settings]
        return "/".join(parts)

    @property
    def seed(self) -> int:
        """Seed of the method."""
        return derive_seed("cell", self.key)

    @property
    def half_seed(self) -> int:
        """Seed of the random half and of the folds: the same for all methods."""
        return derive_seed("half", self.dataset, self.setting("half", self.run))

    def setting(self, name: str, default: Any = None) -> Any:
        """Return the value of a setting."""
        return dict(self.settings).get(name, default)


def to_json(value: Any) -> Any:
    """Convert numbers, strings, lists and mappings of them for JSON.

    Floats are rounded to six significant digits; non-finite ones become None.
    """
    if isinstance(value, Mapping):
        return {str(name): to_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0:
        return [to_json(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        digits = SIGNIFICANT_DIGITS
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


def make_record(cell: Cell, outcome: Record, **environment: object) -> Record:
    """Return the record of a cell, from its outcome and versions of libraries."""
    fields = {
        "key": cell.key,
        "exp": cell.experiment,
        "data": cell.dataset,
        "method": cell.method,
        "run": cell.run,
        "set": dict(cell.settings) or None,
        "seed": cell.seed,
        "half": cell.half_seed,
        **to_json(outcome),
        **environment,
    }
    return {name: value for name, value in fields.items() if value is not None}


@cache
def describe_environment() -> Record:
    """Return versions and, in a checkout, the revision: fields of a record."""
    names = ("numpy", "scipy", "scikit-learn", "kreinlearn")
    versions = {"python": platform.python_version()}
    versions |= {name: version(name) for name in names}
    root, revision = Path(__file__).parents[4], ""
    if (root / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            revision = subprocess.check_output(
                [
                    "git",
                    "describe",
                    "--always",
                    "--dirty",
                    "--abbrev=12",
                    "--exclude=*",
                ],
                cwd=root,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=GIT_SECONDS,
            ).strip()
    return {"ver": versions, "git": revision or None}


def _parse(text: bytes, where: str) -> tuple[list[Record], int]:
    """Return the records of complete lines, and the length of these lines."""
    found: list[Record] = []
    lines, length = text.splitlines(keepends=True), 0
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            is_record = line.endswith(b"\n") and isinstance(record["key"], str)
        except (ValueError, KeyError, TypeError, RecursionError):
            is_record = False
        if is_record:
            found.append(record)
            length += len(line)
        elif number < len(lines):  # the last line may be torn
            raise ValueError(
                f"Line {number} of {where} is not a record of an experiment: "
                f"{line[:60].rstrip()!r}. Remove the line, or the file."
            )
    return found, length


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Return all records of a file without a last line that was cut short.

    A missing file has no records.
    """
    path = Path(path)
    if not path.exists():
        return []
    check_regular(path)
    return _parse(path.read_bytes(), str(path))[0]


def encode_record(record: Record) -> bytes:
    """Return a record as a line of a file."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


class Store:
    """A file of records, open for appending by this process alone.

    A last line that was cut short by a kill or a full disk is removed on opening.

    Parameters
    ----------
    path : path-like
        The file; it and its folder are created if necessary.

    Attributes
    ----------
    keys : set of str
        Keys of all records.

    Raises
    ------
    BlockingIOError
        If another process writes to the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        check_regular(self.path)
        # Unbuffered: a line is one write, which an interrupt cannot tear.
        self._file = open(self.path, "a+b", buffering=0)
        try:
            _lock_file(self._file.fileno(), self.path)
            self._file.seek(0)
            found, length = _parse(self._file.read(), str(self.path))
            self._file.truncate(length)
        except BaseException:
            self._file.close()
            raise
        self.keys = {record["key"] for record in found}

    def append(self, record: Record) -> None:
        """Write a record, whose key must be new, and wait until it is on disk."""
        if record["key"] in self.keys:
            raise ValueError(f"{self.path} already has a record {record['key']!r}.")
        line = encode_record(record)
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
                f"{self.path} could not be written: {reason}. Earlier results are "
                "safe: free some space and run the same command again."
            ) from None
        self.keys.add(record["key"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def _lock_file(descriptor: int, path: Path) -> None:
    """Raise if another process writes the file; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BlockingIOError(
            f"{path} is being written by another run; wait for it to end, or use "
            "another folder."
        ) from None
