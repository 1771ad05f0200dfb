"""Write and read models in the format of skops.

Skops imports every module of scikit-learn, and torch if it is installed, to list the
types that it trusts. That takes longer than most predictions. `load` reads the common
content of a model itself: numbers, text, containers, arrays, estimators and functions.
Files with anything else are read by skops.
"""

import inspect
import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, BinaryIO, TypeAlias
from zipfile import ZipFile

import numpy as np

SKOPS_PROTOCOL = 2
"""Version of the skops format that is read here."""
PRIVATE_PARTS = frozenset({"tests", "externals", "setup", "conftest", "experimental"})
"""Parts of scikit-learn without estimators for users."""
SLICE_PARTS = ("start", "stop", "step")
CONTAINER_TYPES = (dict, list, tuple, set)
CONTAINER_NODES = {f"{t.__name__.capitalize()}Node": t for t in CONTAINER_TYPES}
"""Containers by kind of node; subclasses are left to skops."""
PLAIN_TYPES = {t.__name__: t for t in (int, float, str, bool, list, set, tuple)}
"""Types of the standard library that a file may name."""

RENAMED_MODULES = {
    "kreinlearn.estimators.distances": "kreinlearn.estimators.transformers",
    "kreinlearn.estimators.repair": "kreinlearn.estimators.transformers",
    "kreinlearn.estimators.landmark_features": "kreinlearn.estimators.landmarks",
    "kreinlearn.kernels.vector": "kreinlearn.kernels.rows",
    "kreinlearn.kernels._products": "kreinlearn.kernels.rows",
}
"""Present names of modules that older files name."""

BuiltObject: TypeAlias = Any
SchemaNode = dict[str, Any]
"""An entry of the schema: kind, type and content."""


class UntrustedTypes(ValueError):
    """A file holds types that are not trusted; the argument lists their names."""


def dump(model: BuiltObject, file: BinaryIO, compression: int) -> None:
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
    import skops.io

    skops.io.dump(model, file, compression=compression)


def load(file: BinaryIO, trusted: Sequence[str]) -> BuiltObject:
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
        If the file holds other types; none of them is created.
    Exception
        Whatever else ``skops.io.load`` raises.
    """
    file = rename_modules(file)
    try:
        with ZipFile(file) as archive:
            schema = json.loads(archive.read("schema.json"))
            if schema["protocol"] == SKOPS_PROTOCOL:
                return _Reader(archive, trusted).build(schema)
    except Exception:  # skops decides, and raises if the file is damaged
        pass
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        return skops.io.load(file, trusted=list(trusted))
    except UntrustedTypesFoundException:
        raise UntrustedTypes(find_untrusted_types(file, trusted)) from None


def find_untrusted_types(file: BinaryIO, trusted: Sequence[str]) -> list[str]:
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
    import skops.io

    found = skops.io.get_untrusted_types(file=rename_modules(file))
    return sorted(set(found) - set(trusted))


def rename_modules(file: BinaryIO) -> BinaryIO:
    """Return the file, or a copy in memory if it names modules that have moved."""
    try:
        with ZipFile(file) as archive:
            schema = archive.read("schema.json").decode()
            renamed = schema
            for old, new in RENAMED_MODULES.items():
                renamed = renamed.replace(f'"{old}"', f'"{new}"')
            if renamed == schema:
                return file
            copy = io.BytesIO()
            with ZipFile(copy, "w") as members:
                for name in archive.namelist():
                    is_schema = name == "schema.json"
                    members.writestr(name, renamed if is_schema else archive.read(name))
            return copy
    except Exception:  # skops raises if the file is damaged
        return file


class _Reader:
    """Builds objects from nodes; raises for any kind or type that it does not know.

    A type is imported only if it is trusted.
    """

    def __init__(self, archive: ZipFile, trusted: Sequence[str]) -> None:
        self.archive = archive
        self.trusted = frozenset(trusted)
        self.built: dict[int | None, BuiltObject] = {}
        self.kinds: dict[str, Callable[[SchemaNode], BuiltObject]] = {
            "JsonNode": lambda node: json.loads(node["content"]),
            "SliceNode": lambda node: slice(*map(node["content"].get, SLICE_PARTS)),
            "DTypeNode": lambda node: self.build(node["content"]).dtype,
            "TypeNode": self._find_type,
            "NdArrayNode": self._build_array,
            "FunctionNode": self._import_trusted,
            "ObjectNode": self._build_object,
            **dict.fromkeys(CONTAINER_NODES, self._build_container),
        }

    def build(self, node: SchemaNode) -> BuiltObject:
        """Return the object of a node; nodes of one id are one object."""
        key = node.get("__id__")
        if key is None or key not in self.built:
            self.built[key] = self.kinds[node["__loader__"]](node)
        return self.built[key]

    def _build_container(self, node: SchemaNode) -> BuiltObject:
        kind, content = CONTAINER_NODES[node["__loader__"]], node["content"]
        if (node["__module__"], node["__class__"]) != ("builtins", kind.__name__):
            raise TypeError(node["__class__"])
        if kind is not dict:
            return kind(self.build(each) for each in content)
        types = self.build(node["key_types"])
        pairs = zip(types, content.items(), strict=True)
        return {convert(key): self.build(value) for convert, (key, value) in pairs}

    def _build_array(self, node: SchemaNode) -> BuiltObject:
        if node["type"] != "numpy":  # an array of objects
            shape = self.build(node["shape"])
            if node["__class__"] != "ndarray" or len(shape) != 1:
                raise TypeError(node["__class__"])
            array = np.empty(shape, dtype=object)
            array[:] = [self.build(each) for each in node["content"]]
            return array
        content = io.BytesIO(self.archive.read(node["file"]))
        array = np.load(content, allow_pickle=False)
        is_array = (node["__module__"], node["__class__"]) == ("numpy", "ndarray")
        return array if is_array else self._find_type(node)(array)

    def _build_object(self, node: SchemaNode) -> BuiltObject:
        found = self._import_trusted(node, or_estimator=True)
        instance = found.__new__(found)
        state = self.build(node["content"]) if "content" in node else None
        if state is not None and hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
        elif state is not None:
            instance.__dict__.update(state)
        return instance

    def _find_type(self, node: SchemaNode) -> BuiltObject:
        module, name = node["__module__"], node["__class__"]
        if module == "builtins" and name in PLAIN_TYPES:
            return PLAIN_TYPES[name]
        found = getattr(np, name, None) if module == "numpy" else None
        if inspect.isclass(found) and issubclass(found, np.generic):
            return found
        return self._import_trusted(node)

    def _import_trusted(
        self, node: SchemaNode, or_estimator: bool = False
    ) -> BuiltObject:
        module, name = node["__module__"], node["__class__"]
        is_trusted = f"{module}.{name}" in self.trusted
        if not is_trusted and not (or_estimator and is_public_estimator(module, name)):
            raise TypeError(f"{module}.{name}")
        return getattr(import_module(module), name)


@cache
def is_public_estimator(module: str, name: str) -> bool:
    """Return whether a type is an estimator that scikit-learn offers to its users."""
    parts = module.split(".")
    if parts[0] != "sklearn" or PRIVATE_PARTS & {*parts} or name.startswith("_"):
        return False
    try:
        found = getattr(import_module(module.partition("._")[0]), name, None)
    except (ImportError, ValueError):  # of another version, or not a module's name
        return False
    from sklearn.base import BaseEstimator

    return (
        inspect.isclass(found)
        and issubclass(found, BaseEstimator)
        and found is not BaseEstimator
        and not inspect.isabstract(found)
        and (found.__module__, found.__name__) == (module, name)
    )
