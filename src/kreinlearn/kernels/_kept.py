"""Values of a measure in a file: verified when read, continued when interrupted.

A file is a line that says what it holds, then blocks of rows, each with its digest.
Blocks are appended; whatever follows the last one that is whole is thrown away.
"""

import hashlib
import json
import os
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path
from typing import IO, Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.exceptions import warn_caller

FORMAT = 1
"""To be raised when a measure is computed in another way."""
LARGEST = 10 * 2**30
"""Bytes of a folder; the files that were not used for longest are removed beyond."""
ENDING = ".measure"
PLAIN = (str, bytes, bool, int, float, complex, type(None))
"""Types whose representation says all; a subclass may say something else."""
_HEAD = struct.Struct("<qq32s")  # first row, row after the last, digest

Block = tuple[slice, Array]
"""Rows of a symmetric matrix, and their entries from the diagonal on."""


def digest(content: Any) -> str | None:
    """Return what tells content from other content, and is the same for the same.

    Parameters
    ----------
    content : object
        Numbers, text, arrays, None, and lists, tuples and dictionaries of these.

    Returns
    -------
    str or None
        Hexadecimal digits; None for an object that does not show its content.
    """
    state = hashlib.sha256()
    try:
        _feed(state.update, content)
    except _UnknownContentError:
        return None
    return state.hexdigest()


class _UnknownContentError(Exception):
    """An object whose content cannot be told."""


def _feed(update: Callable[[bytes | memoryview], None], item: Any) -> None:
    if isinstance(item, np.ndarray) and item.dtype.kind != "O":
        update(f"array {item.dtype.str} {item.shape} ".encode())
        update(np.ascontiguousarray(item).data if item.size else b"")
    elif isinstance(item, list | tuple | np.ndarray):
        update(f"list {len(item)} ".encode())
        for each in item:
            _feed(update, each)
    elif isinstance(item, Mapping):
        _feed(update, [part for pair in item.items() for part in pair])
    elif type(item) in PLAIN or isinstance(item, np.generic):
        text = repr(item).encode()
        update(f"{type(item).__name__} {len(text)} ".encode())
        update(text)
    else:
        raise _UnknownContentError


class Kept:
    """Values of a measure among some samples, in a file of their own.

    Parameters
    ----------
    folder : Path
        Where such files are.
    about : dict
        What the values are, which names the file; ``n`` is the number of samples.
    """

    def __init__(self, folder: Path, about: Mapping[str, str | int]) -> None:
        self.about = {"format": FORMAT, **about}
        self.n = int(about["n"])
        line = json.dumps(self.about, sort_keys=True)
        self.line = line.encode() + b"\n"
        self.path = folder / f"{hashlib.sha256(self.line).hexdigest()[:40]}{ENDING}"
        self._is_refused = False
        self._row, self._end = 0, 0  # what is known to be whole, up to which byte

    def read(self) -> Iterator[Block]:
        """Give the blocks that are whole, from the first row on."""
        try:
            with open(self.path, "rb") as file:
                if file.readline(len(self.line)) != self.line:
                    return
                yield from self._blocks(file)
            os.utime(self.path)
        except OSError:
            return

    def _blocks(self, file: IO[bytes]) -> Iterator[Block]:
        """Give the blocks that are whole, and remember where they end."""
        row, self._row, self._end = 0, 0, file.tell()
        while row < self.n:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                return
            first, last, known = _HEAD.unpack(head)
            if first != row or not row < last <= self.n:
                return
            shape = last - first, self.n - first
            content = file.read(8 * shape[0] * shape[1])
            if _digest_of(first, last, content) != known:
                return
            row, self._row, self._end = last, last, file.tell()
            yield slice(first, last), np.frombuffer(content, "<f8").reshape(shape)

    def append(self, blocks: Iterable[Block]) -> None:
        """Write blocks; if that cannot be done, say so once and go on."""
        if self._is_refused:
            return
        try:
            self._write(list(blocks))
        except OSError as error:
            self._is_refused = True
            warn_caller(
                f"The values of {self.about['measure']} could not be kept in "
                f"{self.path.parent}: {error.strerror or error}.",
                UserWarning,
            )

    def _write(self, blocks: list[Block]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if blocks[0][0].start == 0:
            self._make_room()
        with open(self.path, "a+b") as file:
            if not _locked(file):  # another process writes the same
                self._is_refused = True
                return
            if file.seek(0, os.SEEK_END) != self._end:  # half a block, or more blocks
                self._find_end(file)
                file.truncate(self._end)
            if self._end == 0:
                file.write(self.line)
            for rows, part in blocks:
                if rows.start == self._row:  # no other process was here before
                    content = part.astype("<f8").tobytes()
                    known = _digest_of(rows.start, rows.stop, content)
                    file.write(_HEAD.pack(rows.start, rows.stop, known) + content)
                    self._row = rows.stop
            file.flush()
            os.fsync(file.fileno())
            self._end = file.tell()

    def _find_end(self, file: IO[bytes]) -> None:
        file.seek(0)
        self._row, self._end = 0, 0
        if file.readline(len(self.line)) == self.line:
            for _ in self._blocks(file):
                pass

    def _make_room(self) -> None:
        """Remove old files, and refuse to fill the disk."""
        wanted = 4 * self.n * self.n
        found = []
        for path in self.path.parent.glob(f"*{ENDING}"):
            with suppress(OSError):
                found.append((path.stat().st_mtime, path.stat().st_size, path))
        total = wanted + sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= LARGEST:
                break
            with suppress(OSError):
                path.unlink()
            total -= size
        if wanted > min(LARGEST, shutil.disk_usage(self.path.parent).free // 2):
            raise OSError(f"{wanted / 2**30:.1f} GiB are more than there is room for")


def _digest_of(first: int, last: int, content: bytes) -> bytes:
    state = hashlib.sha256(struct.pack("<qq", first, last))
    state.update(content)
    return state.digest()


def _locked(file: BufferedRandom) -> bool:
    """Tell whether no other process writes this file; the lock ends with it."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
