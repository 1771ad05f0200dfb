"""Every sentence that the package warns or refuses with, read from its source.

The page "Messages" lists them by situation. What varies is shown as "…".
"""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import kreinlearn

MARK = re.compile(r"<!-- messages: (.+) -->")
"""What the list of a situation takes the place of on a page."""
SOURCE = Path(kreinlearn.__file__).parent
SITUATIONS = {
    "Parameters and matrices": [
        "_validation",
        "solvers",
        "datasets",
        "plotting",
        "losses",
        "kernels",
        "spectrum",
        "app/inspection",
    ],
    "Fits and searches": ["estimators", "problem", "search", "app/methods"],
    "Memory and time": ["_memory", "operators", "estimators/_fit"],
    "Many rows, landmarks, clusters": [
        "landmarks",
        "estimators/landmarks",
    ],
    "Time series": ["kernels/series"],
    "Sequences": ["kernels/sequences"],
    "Graphs": ["kernels/graphs"],
    "Sets and histograms": ["kernels/transport"],
    "Covariance matrices and images": ["kernels/spd", "features"],
    "Files": ["io", "_files", "pipelines"],
    "Lists of pairs and matrices with names": [
        "io/pair",
        "io/matrices",
        "io/labels",
    ],
    "Saving and loading": ["persistence", "_skops"],
    "The command line": ["app", "kernels/_cache"],
}
"""Situations, and the beginnings of the modules that belong to each. The longest
beginning wins."""

WARNERS = ("warnings.warn", "warn_caller", "_warn")
"""What functions call to warn."""


class Message(NamedTuple):
    """One sentence: where it is, what it is raised or warned as, its text."""

    module: str
    kind: str
    text: str


def situation(module: str) -> str | None:
    """Return the situation that a module belongs to; None for no situation."""
    found = [
        (len(start), name)
        for name, starts in SITUATIONS.items()
        for start in starts
        if module.startswith(start)
    ]
    return max(found)[1] if found else None


@cache
def errors() -> list[Message]:
    """Return all sentences of exceptions."""
    found = []
    for module, tree in _modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                text = _text(node.exc.args[0]) if node.exc.args else ""
                kind = ast.unparse(node.exc.func).rpartition(".")[2]
                kind = kind if kind.isidentifier() and kind[0].isupper() else "error"
                if _is_sentence(text) and situation(module):
                    found.append(Message(module, kind, text))
    return found


@cache
def raising() -> set[str]:
    """Return the names of all modules that raise something."""
    return {
        module
        for module, tree in _modules()
        if any(isinstance(node, ast.Raise) for node in ast.walk(tree))
    }


@cache
def warned() -> list[Message]:
    """Return all sentences in functions that warn, parts of which are put together."""
    found = []
    for module, tree in _modules():
        if module == "exceptions":
            continue
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and _warns(function):
                strings = {text: None for text in _strings(function)}
                found += [Message(module, "warning", text) for text in strings]
    return found


def listed(name: str) -> str:
    """Return the list of a situation in Markdown, warnings first."""
    own = {
        (each.kind, each.text)
        for each in [*warned(), *errors()]
        if situation(each.module) == name
    }
    first = sorted(own, key=lambda each: (each[0] != "warning", each[1]))
    return "\n".join(f"* {kind}: `` {text} ``" for kind, text in first)


@cache
def _modules() -> list[tuple[str, ast.Module]]:
    """Return the names of all modules, with slashes, and their trees."""
    paths = sorted(SOURCE.rglob("*.py"))
    names = [path.relative_to(SOURCE).with_suffix("").as_posix() for path in paths]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    return list(zip(names, trees, strict=True))


def _warns(function: ast.FunctionDef) -> bool:
    """Return whether a function itself warns, by whatever name."""
    calls = (node for node in _own(function) if isinstance(node, ast.Call))
    return any(ast.unparse(call.func) in WARNERS for call in calls)


def _strings(function: ast.FunctionDef) -> Iterator[str]:
    """Yield what looks like a sentence in a function, but no docstring or error."""
    skipped = set()
    if ast.get_docstring(function):
        skipped.add(function.body[0].value)
    for node in _own(function):
        if node in skipped or isinstance(node, ast.Raise):
            skipped.update(ast.walk(node))
        elif isinstance(node, ast.JoinedStr | ast.Constant):
            text = _text(node)
            if isinstance(node, ast.JoinedStr):
                skipped.update(ast.walk(node))
            if _is_sentence(text):
                yield text


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function, but not those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Raise):
            waiting += ast.iter_child_nodes(node)


def _is_sentence(text: str) -> bool:
    return len([word for word in text.split() if word.isalpha()]) >= 4


def _text(node: ast.expr) -> str:
    """Return the text of a string, with "…" for what varies."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = [
            _text(part) if isinstance(part, ast.Constant) else "…"
            for part in node.values
        ]
        return inspect.cleandoc("".join(parts))
    return ""
