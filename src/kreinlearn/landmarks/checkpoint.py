"""Checkpoints: the state of a fit in a file that is replaced atomically."""

import hashlib
import io
import os
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

import numpy as np

from kreinlearn._files import check_free, replace
from kreinlearn._memory import check_bytes

StateT = TypeVar("StateT")


class Checkpoint:
    """File with the state of a fit after its last step.

    Parameters
    ----------
    path : path-like
        The file.
    key : str
        Digest of data and parameters; reading a file with another key raises.
    """

    def __init__(self, path: str | os.PathLike[str], key: str) -> None:
        self.path, self.key = check_free(path, force=True), key

    def write(self, state: object) -> None:
        """Replace the file by the current state, a dataclass of arrays and numbers."""
        content = io.BytesIO()
        np.savez(content, key=np.array(self.key), **vars(state))
        replace(self.path, content.getvalue())

    def read(self, like: StateT) -> StateT | None:
        """Return the state in the file, or None if there is no file."""
        if not Path(self.path).is_file():
            return None
        try:
            with open(self.path, "rb") as file:  # NumPy does not close a bad one
                found = np.load(file, allow_pickle=False)
                size = sum(member.file_size for member in found.zip.infolist())
                check_bytes(size, "it needs", "It holds more than a state does.")
                held = {name: found[name] for name in found.files}
            key = str(held.pop("key"))
            names = {each.name for each in fields(like)}  # type: ignore[arg-type]
            if set(held) != names:
                raise ValueError("it lacks what a state has")
            made = type(like)(**held)
            for name, value in vars(like).items():
                if not isinstance(value, np.ndarray):
                    setattr(made, name, type(value)(held[name]))
        except Exception as error:  # a bad archive can be wrong in many ways
            lines = str(error).splitlines() or [type(error).__name__]
            reason = "".join(c if c.isprintable() else "?" for c in lines[0])[:200]
            reason = reason.rstrip(".")
            raise ValueError(
                f"The checkpoint {self.path} could not be read ({reason}); remove it "
                "to start again."
            ) from None
        if key != self.key:
            raise self.mismatch("its data or parameters are others")
        return made

    def mismatch(self, why: str) -> ValueError:
        """Return the error about a file of another fit."""
        return ValueError(
            f"The checkpoint {self.path} belongs to another fit, since {why}; remove "
            "it, or name another file."
        )


def digest(parts: Iterable[object]) -> str:
    """Return a checksum of arrays, and of the ``repr`` of other objects."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            total.update(repr((part.shape, part.dtype.str)).encode())
            total.update(np.ascontiguousarray(part).tobytes())
        else:
            total.update(repr(part).encode())
    return total.hexdigest()
