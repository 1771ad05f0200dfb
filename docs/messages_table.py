"""Messages of all warnings and errors of the package, read from its source.

The page "Messages" lists them by situation. Variable parts are shown as "…".
"""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import kreinlearn

PLACEHOLDER = re.compile(r"<!-- messages: (.+) -->")
"""Comment on a page that is replaced by the messages of a situation."""
SOURCE_FOLDER = Path(kreinlearn.__file__).parent
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

WARNING_FUNCTIONS = ("warnings.warn", "warn_caller", "_warn")
"""Functions that issue warnings."""


class Message(NamedTuple):
    """One message: its module, its category and its text."""

    module: str
    kind: str
    text: str


def find_situation(module: str) -> str | None:
    """Return the situation that a module belongs to; None for no situation."""
    found = [
        (len(start), name)
        for name, starts in SITUATIONS.items()
        for start in starts
        if module.startswith(start)
    ]
    return max(found)[1] if found else None


@cache
def collect_errors() -> list[Message]:
    """Return the messages of all exceptions."""
    found = []
    for module, tree in _parse_modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                text = _extract_text(node.exc.args[0]) if node.exc.args else ""
                kind = ast.unparse(node.exc.func).rpartition(".")[2]
                kind = kind if kind.isidentifier() and kind[0].isupper() else "error"
                if _is_sentence(text) and find_situation(module):
                    found.append(Message(module, kind, text))
    return found


@cache
def list_raising_modules() -> set[str]:
    """Return the names of all modules that raise something."""
    return {
        module
        for module, tree in _parse_modules()
        if any(isinstance(node, ast.Raise) for node in ast.walk(tree))
    }


@cache
def collect_warnings() -> list[Message]:
    """Return the messages in functions that warn."""
    found = []
    for module, tree in _parse_modules():
        if module == "exceptions":
            continue
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and _warns(function):
                strings = {text: None for text in _collect_sentences(function)}
                found += [Message(module, "warning", text) for text in strings]
    return found


def format_messages(name: str) -> str:
    """Return the list of a situation in Markdown, warnings first."""
    own = {
        (each.kind, each.text)
        for each in [*collect_warnings(), *collect_errors()]
        if find_situation(each.module) == name
    }
    first = sorted(own, key=lambda each: (each[0] != "warning", each[1]))
    return "\n".join(f"* {kind}: `` {text} ``" for kind, text in first)


@cache
def _parse_modules() -> list[tuple[str, ast.Module]]:
    """Return the names of all modules, with slashes, and their trees."""
    paths = sorted(SOURCE_FOLDER.rglob("*.py"))
    names = [
        path.relative_to(SOURCE_FOLDER).with_suffix("").as_posix() for path in paths
    ]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    return list(zip(names, trees, strict=True))


def _warns(function: ast.FunctionDef) -> bool:
    """Return whether a function calls one of `WARNING_FUNCTIONS` directly."""
    calls = (node for node in _walk_own_nodes(function) if isinstance(node, ast.Call))
    return any(ast.unparse(call.func) in WARNING_FUNCTIONS for call in calls)


def _collect_sentences(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the sentences in a function, without docstring and errors."""
    skipped = set()
    if ast.get_docstring(function):
        skipped.add(function.body[0].value)
    for node in _walk_own_nodes(function):
        if node in skipped or isinstance(node, ast.Raise):
            skipped.update(ast.walk(node))
        elif isinstance(node, ast.JoinedStr | ast.Constant):
            text = _extract_text(node)
            if isinstance(node, ast.JoinedStr):
                skipped.update(ast.walk(node))
            if _is_sentence(text):
                yield text


def _walk_own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function, but not those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Raise):
            waiting += ast.iter_child_nodes(node)


def _is_sentence(text: str) -> bool:
    return len([word for word in text.split() if word.isalpha()]) >= 4


def _extract_text(node: ast.expr) -> str:
    """Return the text of a string, with "…" for variable parts."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = [
            _extract_text(part) if isinstance(part, ast.Constant) else "…"
            for part in node.values
        ]
        return inspect.cleandoc("".join(parts))
    return ""
