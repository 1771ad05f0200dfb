"""Stored results of the fits, for checkouts without history: one line per case."""

import json
import math
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from tests.golden import fits

PATH = Path(__file__).with_name("stored.json")
MAX_ROWS = 6
"""Rows of outputs that are stored."""
CHOICES = ("kernel_", "norm_", "status_", "regime_", "classes_", "operator_", "error")
"""Text that must be the same on every processor."""
NUMBERS = ("intercept_", "lam_", "predict_proba", "decision_function", "transform")
NUMBERS += ("square", "cross", "mu_min", "X")
"""Numbers that must be close."""
TOL = 2e-5
SEARCH_TOL, UNFINISHED_TOL = 1e-3, 1e-2
"""Largest difference, relative to the largest number of a field where that is above 1.
Searches average models whose weights depend on rounding, and so do published procedures
that stop before they converge."""
QUICK = (
    *("kernel/tl1-*", "kernel/linear-*", "kernel/rbf-krein", "kernel/levenshtein-*"),
    *("kernel/callable-*", "logistic/matrix*", "logistic/distance-*-hilbert"),
    *("logistic/three-*-hilbert", "logistic/balanced-*", "logistic/mean-*"),
    *("published/ccicp-*", "solver/newton*", "search/matrix-*", "search/fixed"),
    *("ksvm/matrix", "ksvm/C-0.1", "dca/matrix", "repair/*-exact", "similarity/*"),
    *("features/uniform", "regions/*", "landmarks/hilbert", "landmarks/parquet"),
    *("pipeline/scaled", "function/monks-1", "function/gram-tl1"),
)
"""Cases of the quick tests: quick to run, and with little to compile."""


def is_quick(case: str) -> bool:
    return any(fnmatch(case, pattern) for pattern in QUICK)


def summarize(results: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a case that are stored, as JSON takes them."""
    found: dict[str, Any] = {}
    for name in CHOICES:
        if name in results:
            found[name] = np.asarray(results[name]).astype(str).tolist()
    for name in NUMBERS:
        value = results.get(name)
        if value is None or np.asarray(value).dtype.kind not in "fiu":
            continue
        flat = np.asarray(value, dtype=float)
        flat = flat[:MAX_ROWS].ravel() if flat.ndim else flat.ravel()
        found[name] = [float(f"{each:.7g}") for each in flat[:30].tolist()]
    return found


def write() -> None:
    """Run new cases with the code that is imported, and store their results.

    Values of known cases stay, since they differ between processors.
    """
    known, lines = read(), []
    with threadpool_limits(1):
        for case in fits.list_cases():
            found = known.get(case) or summarize(fits.run_case(case))
            lines.append(f"{json.dumps(case)}: {json.dumps(found)}")
    PATH.write_text("{\n" + ",\n".join(sorted(lines)) + "\n}\n", encoding="utf-8")


def read() -> dict[str, dict[str, Any]]:
    return json.loads(PATH.read_text(encoding="utf-8"))


def list_differences(case: str, expected: dict, found: dict) -> list[str]:
    """Return one line for each stored field that is not the same or not close."""
    is_search = case in fits.list_fits() and fits.list_fits()[case].is_search
    tol = SEARCH_TOL if is_search else TOL
    if case.startswith("published/") and expected.get("status_") == "max_iter":
        tol = UNFINISHED_TOL
    lines = []
    for name, before in expected.items():
        now = found.get(name)
        if now is None:
            lines.append(f"{case}  {name}: disappeared")
        elif name in CHOICES and now != before:
            lines.append(f"{case}  {name}: expected {before}, got {now}")
        elif name in NUMBERS:
            gap = measure_gap(before, now)
            if not gap <= tol:
                lines.append(f"{case}  {name}: largest difference {gap:.1e}")
    return lines


def measure_gap(before: list[float], now: list[float]) -> float:
    """Return the largest difference, relative to the largest number above 1."""
    a, b = np.array(before), np.array(now)
    if a.shape != b.shape:
        return math.inf
    scale = max(1.0, float(np.abs(a).max(initial=0.0)))
    return float(np.abs(a - b).max(initial=0.0)) / scale
