"""Inventory of what users can see: names, parameters, kernels, commands, messages."""

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from difflib import unified_diff
from importlib.metadata import distribution
from pathlib import Path
from unittest.mock import patch

import click
from sklearn.base import BaseEstimator

import kreinlearn
from kreinlearn.kernels import KERNELS

ROOT = Path(__file__).parents[2]
PATH = Path(__file__).with_name("inventory.txt")
UNDOCUMENTED = ("kreinlearn.solvers", "kreinlearn.pipelines")
"""Public modules that docs/api.md may describe elsewhere."""
ADVICE = """
If this is intended, accept it with `python -m tests.golden --inventory`, and describe
what changed for users in CHANGELOG.md."""


def write() -> None:
    """Write the inventory of the code that is imported."""
    PATH.write_text("\n".join(list_items()) + "\n", encoding="utf-8")


def compare() -> str:
    """Return a readable difference to the inventory that is kept; empty if none."""
    before = PATH.read_text(encoding="utf-8").splitlines()
    lines = list(unified_diff(before, list_items(), lineterm="", n=0))[2:]
    gone = [line[1:] for line in lines if line.startswith("-")]
    added = [line[1:] for line in lines if line.startswith("+")]
    if not lines:
        return ""
    parts = [f"disappeared: {line}" for line in gone]
    parts += [f"appeared:    {line}" for line in added]
    return "\n".join(["What users can see has changed.", *parts, ADVICE])


def list_items() -> list[str]:
    """Return all items, sorted, each on one line and once."""
    sections = (list_names, list_estimators, list_kernels, list_commands, list_messages)
    return sorted({" ".join(line.split()) for part in sections for line in part()})


def list_names() -> Iterator[str]:
    """Yield public names of the modules that docs/api.md documents."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    modules = {*re.findall(r"module:: (kreinlearn[\w.]*)", text), *UNDOCUMENTED}
    for module in modules:
        try:
            held = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        own = [name for name, each in vars(held).items() if is_own(name, each)]
        for name in getattr(held, "__all__", own):
            yield f"name {module}.{name}"


def is_own(name, value) -> bool:
    """Return whether a public name is the package's, not that of another library."""
    is_module = inspect.ismodule(value)
    module = getattr(value, "__module__", None) or "kreinlearn"
    return (
        not name.startswith("_") and not is_module and module.startswith("kreinlearn")
    )


def list_estimators() -> Iterator[str]:
    """Yield parameters with defaults, public methods and documented attributes."""
    from kreinlearn.features import RegionCovariance

    public = [getattr(kreinlearn, name) for name in kreinlearn.__all__]
    for each in [*public, RegionCovariance]:
        if not (inspect.isclass(each) and issubclass(each, BaseEstimator)):
            continue
        for parameter in list(inspect.signature(each).parameters.values()):
            yield f"parameter {each.__name__}.{parameter.name} = {parameter.default!r}"
        for name in dir(each):
            method = getattr(each, name)
            if inspect.isfunction(method) and is_own(name, method):
                yield f"method {each.__name__}.{name}"
        section = (inspect.getdoc(each) or "").partition("Attributes\n---")[2]
        section = re.split(r"\n\w[\w ]*\n---", section)[0]
        for names in re.findall(r"^(\w+_(?:, \w+_)*)(?= :|$)", section, re.MULTILINE):
            for name in names.split(", "):
                yield f"attribute {each.__name__}.{name}"


def list_kernels() -> Iterator[str]:
    for name, record in KERNELS.items():
        given = ", ".join(f"{key}={each!r}" for key, each in record.parameters.items())
        yield f"kernel {name}({given}) of {record.samples}"


def load_group() -> click.Group:
    """Return the click group behind ``krein``, wherever it is defined."""
    found = []

    def catch(self, *words, **rest):
        found.append(self)
        sys.exit(0)

    entries = distribution("kreinlearn").entry_points
    (entry,) = (each for each in entries if each.name == "krein")
    with patch.object(click.Group, "main", catch), patch.object(sys, "argv", ["krein"]):
        try:
            entry.load()()
        except SystemExit:
            return found[0]
    raise RuntimeError("The command `krein` has not called a click group.")


def list_commands(group: click.Group | None = None, before: str = "krein"):
    """Yield commands and options; the choices of ``--format`` are the file formats."""
    group = load_group() if group is None else group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"command {before} {name}"
        if isinstance(command, click.Group):
            yield from list_commands(command, f"{before} {name}")
        for parameter in command.params:
            words = "/".join([*parameter.opts, *parameter.secondary_opts])
            if isinstance(parameter.type, click.Choice):
                for choice in parameter.type.choices:
                    yield f"choice {before} {name} {words} {choice}"
            default = parameter.to_info_dict().get("default")
            is_set = default not in (None, False, ()) and "UNSET" not in repr(default)
            ending = f" = {default!r}" if is_set else ""
            yield f"option {before} {name} {words}{ending}"


def list_messages() -> Iterator[str]:
    """Yield templates of errors and warnings, without the module that they are in."""
    path = ROOT / "docs" / "messages_table.py"
    spec = importlib.util.spec_from_file_location("messages_table", path)
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    table.find_situation = lambda module: "any"  # modules may move
    for each in [*table.collect_errors(), *table.collect_warnings()]:
        yield f"message {each.kind}: {each.text}"


if __name__ == "__main__":
    print(compare())
