"""Atomic writes, overwrite protection, and checks before reading."""

import gzip
import io
import os
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from shutil import copymode
from typing import Protocol

PathName = str | os.PathLike[str]
"""Path of a file or a folder."""
WRITABLE_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
"""Endings of the tables that can be written."""


class Frame(Protocol):
    """The methods of a DataFrame that write it."""

    def to_csv(self, *, index: bool, sep: str, lineterminator: str) -> str:
        """Return the table as text."""

    def to_parquet(self, path: io.BytesIO, *, index: bool) -> None:
        """Write the table to a stream."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error without its period, or its type."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


def user_cache() -> Path:
    """Return our folder in the user's cache, without creating it.

    Returns
    -------
    Path
        ``kreinlearn`` in ``$XDG_CACHE_HOME`` or ``~/.cache``.
    """
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # the XDG rule: ignore what is not absolute
        cache = os.path.join("~", ".cache")
    return Path(cache).expanduser() / "kreinlearn"


def check_regular(path: PathName) -> None:
    """Raise for devices and pipes, which may never end and cannot be read twice.

    Parameters
    ----------
    path : path-like
        The file to be read; links are followed.

    Raises
    ------
    OSError
        If it is a device, a pipe or a socket.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:  # opening the file raises a better message
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(
            f"{path} is a device or a pipe, which may never end; a file was expected: "
            "save what comes from there first."
        )


def check_free(path: PathName, force: bool = False) -> Path:
    """Return where a file may be written, or raise.

    Call this before long work.

    Parameters
    ----------
    path : path-like
        The file to be written.
    force : bool
        Whether a file that exists may be replaced.

    Returns
    -------
    Path
        The same.

    Raises
    ------
    IsADirectoryError, FileNotFoundError, NotADirectoryError, FileExistsError
        If it is a folder, its folder is missing or none, or it exists and may not be
        replaced.
    """
    target = Path(path)
    parent = target.parent
    if target.is_dir():
        raise IsADirectoryError(
            f"{target} is a folder; give the name of a file to write."
        )
    if not parent.exists():
        raise FileNotFoundError(
            f"The folder {parent} does not exist; make it first, or write elsewhere."
        )
    if not parent.is_dir():
        raise NotADirectoryError(f"{parent} is not a folder; write elsewhere.")
    if target.is_file() and not force:
        raise FileExistsError(
            f"{target} exists already; choose another name, or replace it with "
            "overwrite=True (--force on the command line)."
        )
    return target


def replace(path: PathName, content: bytes) -> None:
    """Write a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file; replaced if it exists.
    content : bytes
        The content.

    Raises
    ------
    OSError
        If it cannot be written; a file that was there is still the same.
    """
    # Behind a symbolic link, the file that it points to is replaced, not the link.
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name[:100]}.{token_hex(8)}.partial")
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # such as /dev/stdout
            Path(path).write_bytes(content)
            return
        with open(partial, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            copymode(target, partial)
        os.replace(partial, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise type(error)(f"{path} could not be written: {reason}.") from None
    finally:
        with suppress(OSError):
            partial.unlink()


def check_table_name(path: str) -> None:
    """Raise unless the ending of a name is that of a table."""
    if not path.lower().endswith(WRITABLE_ENDINGS):
        raise ValueError(
            "The name of a table to write must end with "
            f"{', '.join(WRITABLE_ENDINGS)}, got {path!r}."
        )


def encode_table(frame: Frame, path: str) -> bytes:
    """Return a table in the format of its file name, without the index."""
    name = path.lower()
    if name.endswith(".parquet"):
        buffer = io.BytesIO()
        try:
            frame.to_parquet(buffer, index=False)
        except ImportError:
            raise ValueError(
                f"Writing {path} needs pyarrow: pip install 'kreinlearn[parquet]', or "
                "choose csv."
            ) from None
        return buffer.getvalue()
    delimiter = "\t" if ".tsv" in Path(name).suffixes[-2:] else ","
    text = frame.to_csv(index=False, sep=delimiter, lineterminator="\n").encode()
    return gzip.compress(text, mtime=0) if name.endswith(".gz") else text
