"""Who may import whom, as a dictionary, and every import of the package against it."""

import ast
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "kreinlearn"
# Every room may import these.
OPEN = {"_typing", "exceptions", "_validation", "_files", "_threads"}
# Only inside the function that needs them.
LAZY = {
    "matplotlib",
    "jinja2",
    "markupsafe",
    "pooch",
    "dask",
    "skops",
    "pandas",
    "pyarrow",
}
BELOW = {
    "kernels",
    "operators",
    "spectrum",
    "losses",
    "problem",
    "solvers",
    "crossval",
}
PUBLIC = BELOW | {"estimators", "features", "persistence", "datasets"}
ANY = {"*"}

# File: (rooms it may import, libraries besides NumPy, SciPy and the standard one).
# The first pattern that fits holds.
MAY_IMPORT = {
    "__init__": (PUBLIC, set()),
    "exceptions": (set(), {"sklearn"}),
    "_typing": (set(), set()),
    "_validation": (set(), set()),
    "_files": (set(), set()),
    "_threads": (set(), {"threadpoolctl"}),
    "crossval": (BELOW - {"crossval", "kernels"}, set()),
    "kernels/__init__": ({"kernels"}, set()),
    "kernels/vector": ({"kernels"}, {"numba"}),
    "kernels/grids": ({"kernels"}, set()),
    "kernels/spd": ({"kernels"}, set()),
    "kernels/series": ({"kernels"}, {"numba"}),
    "kernels/sequences": ({"kernels"}, {"numba"}),
    "kernels/graphs": ({"kernels"}, {"numba"}),
    "kernels/_*": ({"kernels"}, {"numba", "llvmlite"}),
    "operators": ({"kernels"}, set()),
    "spectrum/__init__": ({"spectrum"}, set()),
    "spectrum/lanczos": ({"operators"}, set()),
    "spectrum/decompose": ({"operators", "spectrum.lanczos"}, set()),
    "spectrum/describe": ({"spectrum.decompose"}, set()),
    "spectrum/repair": ({"spectrum.decompose"}, set()),
    "spectrum/modulus": ({"operators", "spectrum.decompose"}, set()),
    "spectrum/nystroem": ({"spectrum.decompose"}, set()),
    "losses": (set(), set()),
    "problem": ({"losses", "operators", "spectrum"}, set()),
    "solvers/__init__": ({"solvers"}, set()),
    "solvers/base": (set(), set()),
    "solvers/cg": ({"solvers.base"}, set()),
    "solvers/way": (set(), set()),
    "solvers/newton": ({"solvers.base", "solvers.cg", "solvers.way"}, set()),
    # Algorithm 1 and its variants are an outer loop composed with an inner solver.
    "solvers/cccp": (
        {"solvers.base", "solvers.gradient", "solvers.sgd"},
        set(),
    ),
    "solvers/gradient": ({"solvers.base"}, set()),
    "solvers/sgd": ({"solvers.base"}, set()),
    "solvers/monitor": ({"solvers.base"}, set()),
    "estimators/__init__": ({"estimators"}, set()),
    "estimators/base": (BELOW | {"estimators.support"}, {"sklearn", "threadpoolctl"}),
    "estimators/support": ({"kernels"}, set()),
    "estimators/nystroem": (BELOW | {"estimators"}, {"sklearn", "dask"}),
    "estimators/*": (BELOW | {"estimators"}, {"sklearn"}),
    "features": (set(), {"sklearn"}),
    # Every type that a saved model may hold.
    "persistence": (
        {"estimators", "solvers", "kernels", "features"},
        {"sklearn", "skops"},
    ),
    "files/*": ({"files"}, {"pandas", "pyarrow"}),
    "pipelines": (set(), {"sklearn", "pandas"}),
    "datasets/*": ({"datasets"}, {"sklearn", "pooch"}),
    "runs/cells": (set(), set()),
    "runs/records": ({"runs.cells"}, set()),
    "runs/workers": ({"runs.cells"}, {"threadpoolctl"}),
    "runs/runner": ({"runs"}, set()),
    "runs/progress": ({"runs.runner"}, {"rich"}),
    "runs/__init__": ({"runs"}, set()),
    "pages/*": ({"pages"}, {"matplotlib", "jinja2", "markupsafe"}),
    "methods": (BELOW | {"estimators", "paper"}, {"sklearn"}),
    "comparison/*": (
        BELOW
        | {"comparison", "methods", "runs", "pages", "estimators", "datasets", "paper"},
        {"sklearn", "joblib"},
    ),
    "inspection/*": (
        BELOW | {"inspection", "runs", "pages", "estimators"},
        {"sklearn"},
    ),
    "paper/*": (
        BELOW | {"paper", "runs", "pages", "datasets", "features", "estimators"},
        {"sklearn", "matplotlib"},
    ),
    "cli": (ANY, ANY),  # a folder: every file in it
    "__main__": (ANY, ANY),
}


def within(name, allowed):
    """Tell whether a dotted name is one of the allowed names or below one."""
    return "*" in allowed or any(f"{name}.".startswith(f"{a}.") for a in allowed)


def rule(file):
    """Return the entry that fits a file, or a false value if there is none.

    A room that was a file and has become a folder keeps its entry.
    """
    for pattern, entry in MAY_IMPORT.items():
        if fnmatch(file, pattern):
            return entry
    room = file.split("/")[0]
    rooms, libraries = MAY_IMPORT.get(room, (None, None))
    return rooms is not None and (rooms | {room}, libraries)


def imports(tree):
    """Yield every (dotted name, is at the top level) that a module imports."""
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in top
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            for alias in node.names:
                yield f"{dots}{node.module or ''}.{alias.name}", id(node) in top


def fault(file, name, is_top):
    """Return the sentence about one import, or an empty string if it is allowed."""
    rooms, libraries = rule(file)
    library, _, rest = name.partition(".")
    if not library:
        return f"{file}.py imports {name!r} relatively; use the absolute name."
    if library == "kreinlearn":
        names = rest.split(".")
        if not within(rest, rooms | OPEN):
            return f"{file}.py may not import {name!r}: see MAY_IMPORT."
        is_own = names[0] == file.split("/")[0] or names[0] in OPEN
        if not is_own and any(part.startswith("_") for part in names[:-1]):
            return f"{file}.py imports {name!r}, which is private to its room."
        return ""
    if library in sys.stdlib_module_names or library in ("numpy", "scipy"):
        return ""
    if not within(library, libraries):
        return f"{file}.py may not import the library {library!r}: see MAY_IMPORT."
    if library in LAZY and is_top:
        return f"{file}.py must import {library!r} inside the function that needs it."
    if library == "sklearn" and any(part.startswith("_") for part in name.split(".")):
        return f"{file}.py imports {name!r}, which is private to scikit-learn."
    return ""


FILES = sorted(
    p.relative_to(ROOT).with_suffix("").as_posix() for p in ROOT.rglob("*.py")
)


@pytest.mark.parametrize("file", FILES)
def test_imports(file):
    assert rule(file), f"{file}.py is in no room: add it to MAY_IMPORT, or move it."
    tree = ast.parse((ROOT / f"{file}.py").read_text(encoding="utf-8"))
    faults = [fault(file, name, is_top) for name, is_top in imports(tree)]
    assert [sentence for sentence in faults if sentence] == []


@pytest.mark.parametrize(
    ("file", "name", "is_top", "words"),
    [
        ("solvers/newton", "kreinlearn.kernels.gram", True, "may not import"),
        ("solvers/newton", "kreinlearn.losses.Logistic", True, "may not import"),
        ("solvers/newton", "sklearn.base.clone", True, "library 'sklearn'"),
        ("solvers/newton", "kreinlearn.KreinSVC", True, "may not import"),
        ("solvers/base", "kreinlearn.solvers.cccp.CCCP", True, "may not import"),
        ("operators", "kreinlearn.kernels._pairs.f", True, "private to its room"),
        ("estimators/svm", "sklearn.utils._bunch.Bunch", True, "private to scikit"),
        ("estimators/svm", "kreinlearn.runs.runner", False, "may not import"),
        ("datasets/download", "pooch", True, "inside the function"),
        ("pages/tables", "kreinlearn.runs.runner", True, "may not import"),
        ("losses", ".problem.KreinRisk", True, "relatively"),
        ("pages/figures", "matplotlib.pyplot", False, ""),
        ("cli", "kreinlearn.runs.runner", False, ""),
        ("operators", "kreinlearn.kernels.gram", True, ""),
        ("exceptions", "sklearn.exceptions.ConvergenceWarning", True, ""),
    ],
)
def test_the_rules_bite(file, name, is_top, words):
    said = fault(file, name, is_top)
    assert words in said
    assert bool(said) == bool(words)
