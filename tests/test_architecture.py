"""Imports between packages: they point one way, from the application to the base."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "kreinlearn"
# Modules that every package may import.
BASE = {
    *("_convergence", "_files", "_memory", "_numba_cache", "_skops"),
    *("_typing", "_validation", "exceptions"),
}
MODEL = {"kernels", "losses", "operators", "problem", "search", "solvers", "spectrum"}
# Package: packages that it may import besides itself and the base. Bottom to top.
LAYERS = {
    **{module: set[str]() for module in BASE},
    "losses": set(),
    "operators": set(),
    "solvers": set(),
    "features": set(),
    "datasets": set(),
    "plotting": set(),
    "spectrum": {"operators"},
    "kernels": {"operators"},
    "problem": {"losses", "operators", "spectrum"},
    "search": MODEL - {"search"},
    "io": set(),
    "pipelines": {"io"},
    "landmarks": {"io", "kernels", "losses", "operators", "spectrum"},
    "estimators": MODEL | {"landmarks"},
    "persistence": {"estimators", "features", "kernels", "solvers"},
    # compare and inspect_similarity are imported lazily from the application.
    "__init__": {"app", "estimators", "persistence"},
    "app": {"*"},
    "__main__": {"app"},
}
# Library: packages that may import it. NumPy, SciPy and the standard library are free.
LIBRARIES = {
    "sklearn": (
        *("_convergence", "_skops", "kernels", "search", "landmarks", "estimators"),
        *("features", "io", "pipelines", "persistence", "app"),
    ),
    "joblib": ("kernels", "estimators", "app"),
    "numba": ("_numba_cache", "kernels", "app"),
    "llvmlite": ("kernels",),
    "threadpoolctl": ("operators", "app"),
    "skops": ("_skops",),
    "psutil": ("_memory",),
    "pandas": ("io", "pipelines", "estimators", "plotting", "app"),
    "pyarrow": ("io", "pipelines"),
    "rapidfuzz": ("kernels",),
    "ot": ("kernels",),
    "dask": ("landmarks", "estimators"),
    "distributed": ("landmarks",),
    "matplotlib": ("plotting", "app"),
    "jinja2": ("app",),
    "markupsafe": ("app",),
    "rich": ("app",),
    "click": ("app",),
}
# Imported only inside the functions that need them.
LAZY = {
    *("dask", "distributed", "jinja2", "markupsafe", "matplotlib", "ot", "pandas"),
    *("psutil", "pyarrow", "rapidfuzz", "skops"),
}
# They import the package, never the reverse.
CHECKOUT_PACKAGES = {"reproduction", "benchmarks"}
FILES = sorted(
    p.relative_to(ROOT).with_suffix("").as_posix() for p in ROOT.rglob("*.py")
)


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


def find_fault(file, name, is_top):
    """Return what is wrong with one import, or an empty string."""
    package = file.split("/")[0]
    library, _, rest = name.partition(".")
    if not library:
        return f"{file}.py imports {name!r} relatively; use the absolute name."
    if library == "kreinlearn":
        target, *inside = rest.split(".")
        allowed = LAYERS[package] | BASE | {package}
        if target not in allowed and "*" not in allowed:
            return f"{file}.py may not import {name!r}: see LAYERS."
        if target != package and any(part.startswith("_") for part in inside):
            return f"{file}.py imports {name!r}, which is private to its package."
        return ""
    if library in CHECKOUT_PACKAGES:
        return f"{file}.py imports {name!r}, which only a checkout has."
    if library in sys.stdlib_module_names or library in ("numpy", "scipy"):
        return ""
    if package not in LIBRARIES.get(library, ()):
        return f"{file}.py may not import the library {library!r}: see LIBRARIES."
    if library in LAZY and is_top:
        return f"{file}.py must import {library!r} inside the function that needs it."
    if library == "sklearn" and "._" in name:
        return f"{file}.py imports {name!r}, which is private to scikit-learn."
    return ""


def test_every_file_has_a_layer():
    assert {file.split("/")[0] for file in FILES} == set(LAYERS)


@pytest.mark.parametrize("file", FILES)
def test_imports_point_one_way(file):
    faults = [find_fault(file, name, is_top) for name, is_top in imports(file)]
    assert [sentence for sentence in faults if sentence] == []


def test_layers_have_no_cycles():
    order = list(LAYERS)
    for package, targets in LAYERS.items():
        later = order[order.index(package) :]
        is_lazy = package == "__init__" and targets & set(later) == {"app"}
        assert not targets & set(later) or package == "app" or is_lazy, package


def test_every_permission_is_used():
    used = {
        (name.split(".")[0], file.split("/")[0])
        for file in FILES
        for name, _ in imports(file)
    }
    given = {
        (lib, package) for lib, packages in LIBRARIES.items() for package in packages
    }
    assert given - used == set()


@pytest.mark.parametrize(
    ("file", "name", "is_top", "words"),
    [
        ("solvers/newton", "kreinlearn.kernels.gram", True, "may not import"),
        ("solvers/newton", "sklearn.base.clone", True, "library 'sklearn'"),
        ("operators", "kreinlearn.kernels.gram", True, "may not import"),
        ("search/ridge", "kreinlearn.kernels._x.f", True, "private to its package"),
        ("estimators/svm", "sklearn.utils._bunch.Bunch", True, "private to scikit"),
        ("estimators/svm", "kreinlearn.app.runs", False, "may not import"),
        ("app/report/__init__", "matplotlib.pyplot", True, "inside the function"),
        ("losses", ".problem.KreinRisk", True, "relatively"),
        ("app/comparison/run", "reproduction.published", True, "only a checkout has"),
        ("app/report/__init__", "matplotlib.pyplot", False, ""),
        ("app/cli/compare", "kreinlearn.app.runs", False, ""),
        ("app/comparison/run", "kreinlearn._files.replace", True, ""),
    ],
)
def test_the_rules_find_faults(file, name, is_top, words):
    found = find_fault(file, name, is_top)
    assert words in found
    assert bool(found) == bool(words)
