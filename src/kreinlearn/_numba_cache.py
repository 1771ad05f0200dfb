"""Cache folder of compiled code, errors when numba writes to it, and a notice.

Numba stores compiled code beside our modules, or else in the user's cache. If neither
is writable, as in many containers, it raises an error. Then we use a private folder in
the system's temporary folder. If the disk is full, compiled code runs without being
stored.
"""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

COMPILE_NOTICE = "Compiling for this machine, once: this takes a few seconds."
LOCK_NAME = "kreinlearn.lock"
PACKAGE_CACHE = Path(__file__).parent / "kernels" / "_compiled" / "__pycache__"


def prepare_cache() -> None:
    """Choose a writable cache folder, ignore failed writes, and announce compilation.

    Modules with compiled functions call this before they define one. Functions of other
    packages are not affected, except by the folder if numba would find none.
    """
    from numba.core import config, event
    from numba.core.caching import Cache

    options: Any = config  # its attributes are read from the environment
    if not options.CACHE_DIR:
        options.CACHE_DIR = _find_fallback_folder()
    save = Cache.save_overload
    if getattr(save, "__module__", None) == __name__:  # done before
        return

    class Announcer(event.Listener):
        """Logs a notice when the first of our functions is compiled."""

        is_done = False

        def on_start(self, event: Any) -> None:
            function = getattr(event.data["dispatcher"], "py_func", None)
            module = getattr(function, "__module__", None) or ""
            if not self.is_done and module.startswith("kreinlearn."):
                self.is_done = True
                logging.getLogger("kreinlearn").info(COMPILE_NOTICE)

        def on_end(self, event: Any) -> None:
            """Do nothing."""

    event.register("numba:compile", Announcer())

    def save_overload(self: Any, sig: Any, data: Any) -> None:
        module = getattr(getattr(self, "_py_func", None), "__module__", None) or ""
        if not module.startswith("kreinlearn."):
            return save(self, sig, data)
        with suppress(OSError), lock_folder(self.cache_path):
            save(self, sig, data)

    Cache.save_overload = save_overload  # type: ignore[method-assign]


def compile_variant(function: Any, *constants: int, **options: Any) -> Any:
    """Compile a closure under a name of its own, made of the constants it closes over.

    Numba names machine code by the function and a number that counts per process. Two
    variants of one name, compiled by different processes and read from the cache by a
    third, would have the same name, and one would run in place of the other.

    Parameters
    ----------
    function : callable
        The closure.
    *constants : int
        The integers that it closes over.
    **options : dict
        Options of ``numba.njit``.

    Returns
    -------
    callable
        The compiled function.
    """
    from numba import njit

    name = "_".join([function.__name__, *(str(int(each)) for each in constants)])
    function.__name__ = function.__qualname__ = name
    return njit(**options)(function)


@contextmanager
def lock_folder(folder: str) -> Iterator[None]:
    """Let one process at a time write to a folder; elsewhere than on POSIX, do nothing.

    Numba reads the index of a function, adds an entry with the next free file name, and
    writes it back. Two processes that compile different variants of a function would
    choose the same name, and one variant would run in place of the other.
    """
    try:
        import fcntl
    except ImportError:  # not on this system
        yield
        return
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, LOCK_NAME), "a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _find_fallback_folder() -> str:
    """Return a temporary folder if numba's own choices are read-only, else ``""``."""
    if os.name != "posix":
        return ""
    users = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if _is_writable(PACKAGE_CACHE) or _is_writable(Path(users) / "numba"):
        return ""
    return _make_private_folder() or ""


def _is_writable(folder: Path) -> bool:
    """Return whether a folder is writable, or can be created."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _make_private_folder() -> str | None:
    """Return a temporary folder that only this user can write to, or None.

    Compiled code is executed when it is read. A folder that another user created, or
    can change, is never used.
    """
    import tempfile

    user = os.getuid()
    try:
        folder = os.path.join(tempfile.gettempdir(), f"kreinlearn-numba-{user}")
        with suppress(FileExistsError):  # perhaps created by a parallel process
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == user
        if is_ours and not found.st_mode & 0o077:
            return folder
        return tempfile.mkdtemp(prefix="kreinlearn-numba-")
    except OSError:
        return None
