"""Available memory, and checks that an array fits in it.

The available memory is the smallest of three limits: free memory of the machine, the
control group of a container, and the address space of the process. Unknown limits are
skipped.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import DTypeLike

BYTES_RESERVED = 0.8
"""Fraction of the available memory that a matrix, a table or a model may take."""
REFRESH_SECONDS = 0.25
"""Time after which the limits are read again."""
SYSTEM_ROOT = Path("/")
"""Root of the file system."""
GROUP_FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""By controller in /proc/self/cgroup (version 2 has none): the files with the limit and
the use, and the entry of memory.stat with cached files, which are part of the use but
released on demand."""
STAT_FILE = "memory.stat"
NO_LIMIT = 2**60
"""Version 1 of control groups writes a larger number for unlimited, version 2 "max"."""


def available_bytes() -> int | None:
    """Return the bytes that this process can still allocate, or None if unknown.

    The limits are read at most once in a quarter of a second.
    """
    return _find_available(SYSTEM_ROOT, int(monotonic() / REFRESH_SECONDS))


@lru_cache(maxsize=1)
def _find_available(root: Path, moment: int) -> int | None:
    found = [_find_free_memory(), *_find_group_memory(), _find_process_memory()]
    known = [free for free in found if free is not None]
    return max(0, min(known)) if known else None


def fits(n_rows: int, n_cols: int, dtype: DTypeLike) -> bool:
    """Return whether a dense matrix fits in memory; true if the limit is unknown."""
    free = available_bytes()
    return free is None or _count_bytes(n_rows, n_cols, dtype) <= BYTES_RESERVED * free


def check_fits(n_rows: int, n_cols: int, dtype: DTypeLike, what: str) -> None:
    """Raise MemoryError if a dense matrix, which ``what`` names, would not fit."""
    check_bytes(
        _count_bytes(n_rows, n_cols, dtype),
        f"{what} of shape ({n_rows}, {n_cols}) in {np.dtype(dtype).name} needs",
        "Use fewer samples or dtype='float32'.",
    )


def check_bytes(needed: int, what: str, advice: str, free: int | None = None) -> None:
    """Raise MemoryError if more bytes are needed than may be taken.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        Begin of the message, up to the verb before the number of bytes.
    advice : str
        Its end, a sentence.
    free : int, optional
        Bytes that were available, if some of those needed have been taken since.
    """
    free = available_bytes() if free is None else free
    if free is not None and needed > BYTES_RESERVED * free:
        raise MemoryError(
            f"{what} {needed:,} bytes ({needed / 2**30:.1f} GiB), but only {free:,} "
            f"bytes ({free / 2**30:.1f} GiB) are available. {advice}"
        )


def _count_bytes(n_rows: int, n_cols: int, dtype: DTypeLike) -> int:
    return n_rows * n_cols * np.dtype(dtype).itemsize


def _find_free_memory() -> int | None:
    """Return the free memory of the machine, from Linux or psutil."""
    kibibytes = _entry(SYSTEM_ROOT / "proc/meminfo", "MemAvailable:")
    if kibibytes is not None:
        return kibibytes * 1024
    try:
        import psutil
    except ImportError:
        return None
    return int(psutil.virtual_memory().available)


def _find_group_memory() -> list[int]:
    """Return the remaining memory of each control group of the process."""
    return [
        limit
        - int(_read_text(use) or 0)
        + (_entry(use.parent / STAT_FILE, cached) or 0)
        for limit, use, cached in _limited_groups(SYSTEM_ROOT)
    ]


@cache  # slower than a Gram matrix of few samples
def _limited_groups(root: Path) -> list[tuple[int, Path, str]]:
    """Return limit, file with the use, and entry for cached files of each group."""
    found = []
    for line in _read_text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in GROUP_FILES.keys() & controllers.split(","):
            limit, use, cached = GROUP_FILES[controller]
            top = root / "sys/fs/cgroup" / controller
            group = top / path.lstrip("/")
            # A limit on any group above holds as well. In a container the path may
            # be that of the host, and only the top may exist.
            for folder in (group, *group.parents):
                most = _read_text(folder / limit).strip()
                if most.isdigit() and int(most) < NO_LIMIT:
                    found.append((int(most), folder / use, cached))
                if folder == top:
                    break
    return found


def _find_process_memory() -> int | None:
    """Return the remaining address space of the process."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    pages = _read_text(SYSTEM_ROOT / "proc/self/statm").split() or ["0"]
    return limit - int(pages[0]) * resource.getpagesize()


def _entry(path: Path, name: str) -> int | None:
    """Return the number that follows a name at the start of a line."""
    for line in _read_text(path).splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    return None


def _read_text(path: Path) -> str:
    """Return the text of a file, empty if it cannot be read."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


BYTE_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
BYTE_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "B": 1}
"""Bytes by unit."""


def parse_bytes(name: str, size: int | float | str) -> int:
    """Return the number of bytes for a number or a text such as "2GB".

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    size : int or str
        Bytes, or a number with a unit: KB, MB, GB, TB, or KiB and so on.

    Returns
    -------
    int
        Bytes, not negative.
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", str(size))
    try:
        if found is None or isinstance(size, bool):
            raise ValueError
        return int(float(found[1]) * BYTE_UNITS[found[2].upper()])
    except (KeyError, ValueError):
        raise ValueError(
            f"{name!r} must be a number of bytes, or text such as '2GB', got {size!r}."
        ) from None
