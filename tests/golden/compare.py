"""Comparison of results at three levels: equal bits, tolerance, intended changes."""

import math
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

CHANGES = Path(__file__).with_name("changes.toml")
OUTPUT_TOL = 1e-6
"""Largest difference of outputs where code was merged or replaced."""
CHOICES = (
    *("classes_", "kernel_", "kernel_params_", "kernel_settings_", "lam_", "norm_"),
    *("lams_", "weights_", "status_", "regime_", "operator_", "converged_", "support_"),
    *("landmark_indices_", "signs_", "predict", "warnings", "error"),
    *("best_params_", "n_features_in_", "feature_names_in_"),
)
"""Fields of a fit that must stay the same where code was merged or replaced."""
OUTPUTS = ("predict_proba", "decision_function", "transform", "fit_transform")
OUTPUTS += ("square", "cross", "X", "y")
"""Fields of a fit that must stay within the tolerance there."""


@dataclass
class Change:
    """One entry of changes.toml; ``is_used`` is set by a comparison."""

    level: str
    cases: str
    reason: str
    fields: list[str] = field(default_factory=lambda: ["*"])
    tol: float = OUTPUT_TOL
    matches_case: bool = False
    is_used: bool = False


@dataclass
class Difference:
    """One field of one case that is not as before."""

    case: str
    field: str
    text: str
    level: str = "different"


def read_changes(path: Path = CHANGES) -> list[Change]:
    """Return the entries of a file of changes, or raise if one is incomplete."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    found = []
    for level, entries in tables.items():
        if level not in ("merged", "intended"):
            raise ValueError(
                f"{path.name}: expected 'merged' or 'intended', got {level!r}."
            )
        for entry in entries:
            if not entry.get("reason") or not entry.get("cases"):
                raise ValueError(f"{path.name}: {entry} needs 'cases' and 'reason'.")
            found.append(Change(level=level, **entry))
    return found


def measure_difference(a: Any, b: Any) -> float:
    """Return the largest difference of two values; 0 for equal bits, else inf.

    Numbers of arrays with one shape and type, and of equal containers, have a finite
    difference. It is relative for numbers above 1. NaN equals NaN.
    """
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return max((measure_difference(a[key], b[key]) for key in a), default=0.0)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        parts = map(measure_difference, a, b)
        return max(parts, default=0.0)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return _measure_arrays(a, b)
    if isinstance(a, float) and isinstance(b, int | float) and not isinstance(b, bool):
        return _measure_arrays(np.array(a), np.array(float(b)))
    return 0.0 if type(a) is type(b) and a == b else math.inf


def _measure_arrays(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape != b.shape or a.dtype != b.dtype:
        return math.inf
    if a.dtype.kind not in "fc":
        return 0.0 if np.array_equal(a, b) else math.inf
    if a.tobytes() == b.tobytes():
        return 0.0
    is_special = ~(np.isfinite(a) & np.isfinite(b))
    if not np.array_equal(a[is_special], b[is_special], equal_nan=True):
        return math.inf
    a, b = a[~is_special].astype(float), b[~is_special].astype(float)
    gap = np.abs(a - b) / np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    # Differences below the smallest number, such as -0.0, are not equal bits.
    return max(float(gap.max(initial=0.0)), np.finfo(float).tiny)


def compare_cases(
    before: dict[str, dict[str, Any]],
    after: dict[str, dict[str, Any]],
    changes: list[Change],
) -> tuple[list[Difference], dict[str, str]]:
    """Compare results by case and field.

    Returns
    -------
    differences : list of Difference
        Those that no change allows have the level "different".
    levels : dict of str
        Level of each case: "bits", "tolerance", "intended" or "different".
    """
    differences, levels = [], {}
    for case, old in before.items():
        own = [each for each in changes if fnmatch(case, each.cases)]
        for each in own:
            each.matches_case = True
        found = _compare_fields(case, old, after.get(case), own)
        differences += found
        seen = {each.level for each in found}
        order = ("different", "intended", "tolerance")
        levels[case] = next((level for level in order if level in seen), "bits")
    return differences, levels


def _compare_fields(case, old, new, changes):
    """Return the differences of one case, each with its level."""
    if new is None:
        return [Difference(case, "*", "the case was not run")]
    merged = [each for each in changes if each.level == "merged"]
    found = []
    for name, value in old.items():
        gap = measure_difference(value, new[name]) if name in new else None
        if gap == 0.0:
            continue
        text = "disappeared" if gap is None else _describe_gap(value, new[name], gap)
        difference = Difference(case, name, text)
        tol = max((each.tol for each in merged), default=0.0)
        if gap is not None and merged and _is_tolerated(name, old, new, gap, tol):
            difference.level = "tolerance"
            _mark_used(merged)
        for each in changes:
            if each.level == "intended" and any(fnmatch(name, f) for f in each.fields):
                difference.level = "intended"
                _mark_used([each])
        found.append(difference)
    return found


def _mark_used(changes):
    for each in changes:
        each.is_used = True


def _is_tolerated(name, old, new, gap, tol):
    """Return whether merged code may change a field by this much.

    Fields of models that a command writes, such as "m.krein: lam_", are those of fits.
    """
    file, _, field = name.rpartition(": ")
    before = f"{file}: " if file else ""
    if field == "decision_function" and f"{before}predict_proba" in old:
        return True
    if field in CHOICES or field in OUTPUTS or field.endswith(":"):
        return gap <= tol
    if field.endswith("residual_"):
        bound = old.get(f"{before}tol", 0.0)
        return new[name] <= max(bound, old[name] * (1 + OUTPUT_TOL))
    return field not in ("exit code", "files", "one line on stderr", "tol")


def _describe_gap(a, b, gap):
    if math.isfinite(gap):
        return f"largest difference {gap:.1e}"
    shapes = [getattr(each, "shape", None) for each in (a, b)]
    if None not in shapes:
        return f"{a.dtype} {a.shape} before, {b.dtype} {b.shape} now"
    return f"{a!r:.60} before, {b!r:.60} now"


def list_unused(changes: list[Change], ran_everything: bool) -> list[str]:
    """Return one line for each change that matches nothing or allows nothing."""
    lines = []
    for each in changes:
        if not each.matches_case and ran_everything:
            lines.append(f"changes.toml: {each.cases!r} matches no case.")
        elif each.matches_case and not each.is_used:
            lines.append(
                f"changes.toml: {each.cases!r} allows no difference; remove it."
            )
    return lines
