"""A folder for compiled code, where numba finds none that it can write to.

Numba keeps compiled code beside ours, or else in the user's cache. Where neither can be
written to, as in many containers, it raises an error. Then a folder of the user's own
in the system's temporary one takes their place. Where the disk is full, code is
compiled and not kept.
"""

import os
import stat
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

VARIABLE = "NUMBA_CACHE_DIR"
BESIDE = Path(__file__).parent / "kernels" / "_compiled" / "__pycache__"


def use_writable_folder() -> None:
    """Tell numba about a folder that can be written to, unless it finds one itself."""
    if os.name != "posix" or os.environ.get(VARIABLE):
        return
    users = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if _is_writable(BESIDE) or _is_writable(Path(users) / "numba"):
        return
    folder = _own_folder()
    if folder is None:
        return
    os.environ[VARIABLE] = folder  # processes that we start need it, too
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = folder


def keep_if_possible() -> None:
    """Let our compiled functions run where there is no room left to keep them.

    Numba raises whatever the system says of its file, from the call of a function that
    has just been compiled and could be run. Modules with compiled functions call this
    when they are imported; functions of others are left alone.
    """
    from numba.core.caching import Cache

    save = Cache.save_overload
    if getattr(save, "__module__", None) == __name__:  # done before
        return

    def save_overload(self: Any, sig: Any, data: Any) -> None:
        module = getattr(getattr(self, "_py_func", None), "__module__", None) or ""
        with suppress(OSError) if module.startswith("kreinlearn.") else nullcontext():
            save(self, sig, data)

    Cache.save_overload = save_overload  # type: ignore[method-assign]


def _is_writable(folder: Path) -> bool:
    """Tell whether a folder can be written to, or else made."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _own_folder() -> str | None:
    """Return a temporary folder that nobody else can write to, or None.

    Compiled code is run when it is read, so a folder that another user has made before
    us, or could change, is not used.
    """
    import tempfile

    user = os.getuid()
    try:
        folder = os.path.join(tempfile.gettempdir(), f"kreinlearn-numba-{user}")
        with suppress(FileExistsError):  # perhaps by a process that starts with us
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == user
        if is_ours and not found.st_mode & 0o077:
            return folder
        return tempfile.mkdtemp(prefix="kreinlearn-numba-")
    except OSError:
        return None
