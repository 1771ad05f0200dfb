"""Who may import whom, as a dictionary, and every import of the package against it."""

import ast
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "kreinlearn"
# Every room may import these.
OPEN = {"_typing", "exceptions", "_convergence", "_validation", "_memory", "_files"}
OPEN |= {"_skops", "_numba_cache", "_blas"}
# Only inside the function that needs them.
LAZY = {
    "matplotlib",
    "jinja2",
    "markupsafe",
    "psutil",
    "skops",
    "pandas",
    "pyarrow",
    "rapidfuzz",
    "ot",
    "dask",
    "distributed",
}
MODEL = {"kernels", "operators", "spectrum", "losses", "problem", "solvers", "search"}
LANDMARKS = {"landmarks", "kernels", "operators", "spectrum", "losses"}
ANY = {"*"}
# They import the package, never the reverse.
CHECKOUT_PACKAGES = {"reproduction", "benchmarks"}

# File: (rooms it may import, libraries besides NumPy, SciPy and the standard one).
# The first pattern that fits holds.
MAY_IMPORT = {
    "__init__": ({"estimators", "persistence"}, set()),
    "__main__": ({"cli"}, set()),
    "exceptions": (set(), set()),
    "_convergence": (set(), {"sklearn"}),
    "_memory": (set(), {"psutil"}),
    "_typing": (set(), set()),
    "_validation": (set(), set()),
    "_files": (set(), set()),
    "_numba_cache": (set(), {"numba"}),
    "_skops": (set(), {"sklearn", "skops"}),
    "_blas": (set(), {"threadpoolctl"}),
    # The model, from the bottom to the top.
    "kernels/_compiled/*": ({"kernels"}, {"numba", "llvmlite"}),
    "kernels/sequences": ({"kernels"}, {"rapidfuzz"}),
    "kernels/transport": ({"kernels"}, {"ot"}),
    "kernels/_cache": ({"kernels"}, {"joblib"}),
    "kernels/*": ({"kernels"}, set()),
    "operators": ({"kernels"}, set()),
    "spectrum/*": ({"spectrum", "operators"}, set()),
    "losses": (set(), set()),
    "problem/*": ({"problem", "losses", "operators", "spectrum"}, set()),
    # Solvers know protocols, not each other; Algorithm 1 is an outer loop composed with
    # an inner solver.
    "solvers/__init__": ({"solvers"}, set()),
    "solvers/base": (set(), set()),
    "solvers/newton": ({"solvers.base", "solvers.step"}, set()),
    "solvers/cccp": ({"solvers.base", "solvers.gradient"}, set()),
    "solvers/*": ({"solvers.base"}, set()),
    "search/ridge": ({"search", "kernels.threads", "operators"}, set()),
    "search/*": (
        {"search", "losses", "operators", "spectrum", "problem", "solvers"},
        {"sklearn"},
    ),
    "landmarks/select": ({"landmarks"}, {"sklearn"}),
    "landmarks/sources": ({"landmarks", "files"}, set()),
    "landmarks/cluster": ({"landmarks", "losses"}, {"dask", "distributed"}),
    "landmarks/worker": ({"landmarks", "kernels", "operators"}, {"dask"}),
    "landmarks/*": (LANDMARKS, set()),
    "estimators/_collections": ({"estimators", "landmarks"}, {"sklearn", "dask"}),
    "estimators/*": (MODEL | {"estimators", "landmarks"}, {"sklearn", "joblib"}),
    # What goes in and out of it.
    "features": (set(), {"sklearn"}),
    "datasets": (set(), set()),
    "files/*": ({"files"}, {"pandas", "pyarrow"}),
    "pipelines": ({"files"}, {"sklearn", "pandas", "pyarrow"}),
    # Every type that a saved model may hold.
    "persistence/*": (
        {"persistence", "estimators", "solvers", "kernels", "features"},
        {"sklearn"},
    ),
    # The floor above: one table of methods, and one room for each feature.
    "methods/*": (MODEL - {"kernels"} | {"methods", "estimators"}, {"sklearn"}),
    "runs/workers": ({"runs"}, {"threadpoolctl"}),
    "runs/progress": ({"runs"}, {"rich"}),
    "runs/*": ({"runs"}, set()),
    "pages/*": ({"pages"}, {"matplotlib", "jinja2", "markupsafe"}),
    "comparison/*": (
        {"kernels", "operators", "spectrum", "search", "estimators"}
        | {"comparison", "methods", "runs", "pages"},
        {"sklearn", "joblib"},
    ),
    "inspection/*": (
        {"operators", "spectrum", "losses", "search"}
        | {"inspection", "problem", "methods", "runs", "pages"},
        set(),
    ),
    "cli/*": (ANY, ANY),
}
# What methods of learning may need, whether or not one does today.
SPARE = {"losses", "problem", "solvers", "spectrum"}


def within(name, allowed):
    """Tell whether a dotted name is one of the allowed names or below one."""
    return "*" in allowed or any(f"{name}.".startswith(f"{a}.") for a in allowed)


def rule(file):
    """Return the entry that fits a file, or None if there is none."""
    for pattern, entry in MAY_IMPORT.items():
        if fnmatch(file, pattern):
            return entry
    return None


def imports(file):
    """Yield every (dotted name, is at the top level) that a module imports."""
    tree = ast.parse((ROOT / f"{file}.py").read_text(encoding="utf-8"))
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
        is_own = names[0] == file.split("/")[0]
        inside = names[1:] if names[0] in OPEN else names
        if not is_own and any(part.startswith("_") for part in inside):
            return f"{file}.py imports {name!r}, which is private to its room."
        return ""
    if library in CHECKOUT_PACKAGES:
        return f"{file}.py imports {name!r}, which only a checkout has."
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
    assert rule(file) is not None, (
        f"{file}.py is in no room: add it to MAY_IMPORT, or move it."
    )
    faults = [fault(file, name, is_top) for name, is_top in imports(file)]
    assert [sentence for sentence in faults if sentence] == []


@pytest.mark.parametrize("pattern", MAY_IMPORT)
def test_every_rule_has_a_file(pattern):
    assert [file for file in FILES if rule(file) is MAY_IMPORT[pattern]]


@pytest.mark.parametrize("pattern", MAY_IMPORT)
def test_every_permission_is_used(pattern):
    rooms, libraries = MAY_IMPORT[pattern]
    files = [file for file in FILES if rule(file) is MAY_IMPORT[pattern]]
    names = {name for file in files for name, _ in imports(file)}
    if pattern == "methods/*":
        rooms = rooms - SPARE
    given = {f"kreinlearn.{room}" for room in rooms - ANY} | libraries - ANY
    assert [each for each in given if not any(within(n, {each}) for n in names)] == []


@pytest.mark.parametrize(
    ("file", "name", "is_top", "words"),
    [
        ("solvers/newton", "kreinlearn.kernels.gram", True, "may not import"),
        ("solvers/newton", "kreinlearn.losses.Logistic", True, "may not import"),
        ("solvers/newton", "sklearn.base.clone", True, "library 'sklearn'"),
        ("solvers/newton", "kreinlearn.KreinSVC", True, "may not import"),
        ("solvers/base", "kreinlearn.solvers.cccp.CCCP", True, "may not import"),
        ("operators", "kreinlearn.kernels._pairwise.f", True, "private to its room"),
        ("estimators/svm", "sklearn.utils._bunch.Bunch", True, "private to scikit"),
        ("estimators/svm", "kreinlearn.runs.runner", False, "may not import"),
        ("pages/figures", "matplotlib.pyplot", True, "inside the function"),
        ("pages/tables", "kreinlearn.runs.runner", True, "may not import"),
        ("losses", ".problem.KreinRisk", True, "relatively"),
        ("pages/figures", "matplotlib.pyplot", False, ""),
        ("pages/page", "kreinlearn.comparison.fold", True, "may not import"),
        ("comparison/fold", "reproduction.published", True, "only a checkout has"),
        ("cli/compare", "reproduction.run", False, "only a checkout has"),
        ("cli/info", "benchmarks.common", False, "only a checkout has"),
        ("inspection/verdict", "kreinlearn.estimators._solve", True, "may not import"),
        (
            "comparison/fold",
            "kreinlearn.estimators._solve.f",
            True,
            "private to its room",
        ),
        ("comparison/fold", "kreinlearn.estimators._solve", True, "private to its"),
        ("comparison/fold", "kreinlearn.runs.records._x", True, "private to its room"),
        ("comparison/fold", "kreinlearn._files._x", True, "private to its room"),
        ("comparison/fold", "kreinlearn._files.replace", True, ""),
        ("cli/compare", "kreinlearn.runs.runner", False, ""),
        ("operators", "kreinlearn.kernels.gram", True, ""),
        ("_convergence", "sklearn.exceptions.ConvergenceWarning", True, ""),
    ],
)
def test_the_rules_bite(file, name, is_top, words):
    said = fault(file, name, is_top)
    assert words in said
    assert bool(said) == bool(words)
