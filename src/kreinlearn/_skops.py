"""skops, which writes and reads models, without what it need not import.

By itself, skops imports every module of scikit-learn, to list the estimators that it
trusts, and with them torch and others that happen to be installed: that takes longer
than most predictions. Which types a file holds can be told from its schema, so a copy
of skops with short lists reads nearly all files. What it does not trust is for skops as
it is to decide.
"""

import inspect
import json
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np

SCHEMA = "schema.json"
"""Member of the archive in which skops tells the types."""
APART = frozenset({"tests", "externals", "setup", "conftest", "experimental"})
"""Parts of scikit-learn that hold no estimators for users."""
LISTS = "skops.io._trusted_types"
"""Module with the types that skops trusts: it is this that takes long to import."""
_lock = RLock()


class UntrustedTypes(ValueError):
    """A file holds types that are not trusted; `names` are their full names."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = list(names)


def dump(model: Any, file: BinaryIO, compression: int) -> None:
    """Write a model to an open file.

    Parameters
    ----------
    model : object
        What skops can write.
    file : file
        Open for writing, in binary mode.
    compression : int
        One of the constants of ``zipfile``.
    """
    _short().dump(model, file, compression=compression)


def load(file: BinaryIO, trusted: Sequence[str]) -> Any:
    """Return the model in an open file.

    Parameters
    ----------
    file : file
        Open for reading, in binary mode.
    trusted : sequence of str
        Full names of types that it may hold, apart from those that skops trusts.

    Returns
    -------
    object
        The same as ``skops.io.load`` would return.

    Raises
    ------
    UntrustedTypes
        If the file holds other types; nothing is made of them.
    Exception
        Whatever else ``skops.io.load`` raises.
    """
    short = _short()
    if short is not sys.modules.get("skops.io"):
        try:
            return short.load(file, trusted=_trusted_in(_schema(file), trusted))
        except Exception:  # its lists are short: the last word is the other's
            pass
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        return skops.io.load(file, trusted=list(trusted))
    except UntrustedTypesFoundException:
        unknown = set(skops.io.get_untrusted_types(file=file)) - set(trusted)
    raise UntrustedTypes(sorted(unknown))


def unknown(file: BinaryIO, trusted: Sequence[str]) -> list[str]:
    """Return the types in a file that neither skops nor the caller trusts.

    Parameters
    ----------
    file : file
        Open for reading, in binary mode.
    trusted : sequence of str
        Full names of types that are trusted.

    Returns
    -------
    list of str
        Their full names, sorted.
    """
    found = set(_short().get_untrusted_types(file=file)) - set(trusted)
    return sorted(found - {*_trusted_in(_schema(file), trusted)})


def _short() -> ModuleType:
    """Return ``skops.io`` if it was imported before, else a copy with short lists."""
    with _lock:
        return sys.modules.get("skops.io") or _own_copy()


@cache
def _own_copy() -> ModuleType:
    """Import skops with short lists; whoever imports it afterwards gets the whole."""
    before = set(sys.modules)
    sys.modules[LISTS] = _short_lists()
    try:
        return import_module("skops.io")
    finally:
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == "skops":
                del sys.modules[name]


def _short_lists() -> ModuleType:
    """Return a module in place of LISTS: numbers, text and containers, no more."""
    numbers = {f"{t.__module__}.{t.__name__}" for t in np.sctypeDict.values()}
    lists = ModuleType(LISTS)
    vars(lists).update(
        PRIMITIVES_TYPES=[int, float, str, bool],
        PRIMITIVE_TYPE_NAMES=[f"builtins.{t}" for t in ("int", "float", "str", "bool")],
        CONTAINER_TYPE_NAMES=[f"builtins.{t}" for t in ("list", "set", "map", "tuple")],
        NUMPY_DTYPE_TYPE_NAMES=sorted(numbers),
        __getattr__=_empty_list,
    )
    return lists


def _empty_list(name: str) -> list[str]:
    """Return nothing for a list of types, whichever this version of skops has."""
    if not name.isupper():
        raise AttributeError(name)
    return []


def _schema(file: BinaryIO) -> str:
    with ZipFile(file) as members:
        return members.read(SCHEMA).decode()


def _trusted_in(schema: str, trusted: Sequence[str]) -> list[str]:
    """Return the trusted types that a schema may name, scikit-learn's among them.

    skops looks through the whole list for every value in the file: a short one pays.
    """
    types = set()

    def note(value: dict[str, object]) -> None:
        types.add((str(value.get("__module__")), str(value.get("__class__"))))

    json.loads(schema, object_hook=note)
    words = set(re.findall(r'"(\w+)"', schema))
    ours = [name for name in trusted if name.rpartition(".")[2] in words]
    return ours + [f"{m}.{name}" for m, name in types if _is_estimator(m, name)]


def _is_estimator(module: str, name: str) -> bool:
    """Tell whether a type is an estimator that scikit-learn offers to its users."""
    parts = module.split(".")
    if parts[0] != "sklearn" or APART & {*parts} or name.startswith("_"):
        return False
    try:
        found = getattr(import_module(module.partition("._")[0]), name, None)
    except (ImportError, ValueError):  # of another version, or nonsense
        return False
    from sklearn.base import BaseEstimator

    return (
        inspect.isclass(found)
        and issubclass(found, BaseEstimator)
        and found is not BaseEstimator
        and not inspect.isabstract(found)
        and (found.__module__, found.__name__) == (module, name)
    )
