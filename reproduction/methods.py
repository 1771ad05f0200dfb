"""The methods of the paper's tables: names to records, with the paper's own quirks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Required, TypedDict

import numpy as np
from sklearn.multiclass import OneVsRestClassifier

from kreinlearn._typing import Array
from kreinlearn.app.methods import (
    ALL_METHODS,
    Method,
    Path,
    Scores,
    Values,
    krein_regression,
    published,
    worst_status,
)
from kreinlearn.solvers import CCCP, PUBLISHED
from reproduction.published import TABLE5, TABLE5_OURS
from reproduction.splits import TL1_RATIO

GRID = (0.0001, 0.001, 0.01, 0.1, 1.0, 5.0, 10.0)
"""The paper's values of lam, C and sigma."""


class KernelSetting(TypedDict, total=False):
    """A kernel and its parameters, as `kreinlearn.kernels.gram` takes them."""

    kernel: Required[str | Callable[..., Array]]
    ratio: float
    sigma: float


KernelSettings = tuple[KernelSetting, ...]
TL1: KernelSettings = ({"kernel": "tl1", "ratio": TL1_RATIO},)
GAUSSIANS: KernelSettings = tuple({"kernel": "rbf", "sigma": s} for s in reversed(GRID))
"""The widest first: ties go to the smoothest."""

LETTER_SUFFIX = " as printed"
"""Suffix of the name of a procedure that is run to the letter."""
PROCEDURES = {
    name + suffix: PUBLISHED[name.lower() + suffix.replace(" ", "-")]
    for suffix in ("", LETTER_SUFFIX)
    for name in ("CCCP-GD", "CCICP-GD", "CCICP-SGD", "CCICP-SGD-I")
}
"""The published procedures, whose settings a cell may change.

The reading that explains the paper's tables has its names, the letter a suffix.
"""
KREIN_CV = "KreinCV"
"""The recommended estimator, which tunes itself."""


def one_vs_rest(method: Method) -> Method:
    """Return a method for any number of classes, one against the rest.

    Parameters
    ----------
    method : Method
        For two classes.

    Returns
    -------
    Method
        The largest score wins.
    """
    return replace(
        method,
        build=lambda value, seed: OneVsRestClassifier(method.build(value, seed)),
        path=method.path if method.link == "ovr" else _each_class(method.compute_path),
        link=method.link and "ovr",
    )


def _each_class(path: Path) -> Path:
    """Return a path for labels -1 and 1 as one for any labels."""

    def each(K: Array, y: Array, K_new: Array, values: Values, seed: int) -> Scores:
        labels = np.unique(y)
        found = [
            path(K, np.where(y == label, 1, -1), K_new, values, seed)
            for label in (labels[1:] if len(labels) == 2 else labels)
        ]
        return [
            (
                np.hstack([scores for scores, _ in fits]),
                worst_status(s for _, s in fits),
            )
            for fits in zip(*found, strict=True)
        ]

    return each


def procedure(name: str, solver: CCCP) -> Method:
    """Return a published procedure; the grid of lam is that of its own loss."""
    return published(name, solver, summed=solver.loss_scale == "sum")


def _repair(mode: str, out_of_sample: Literal["exact", "none"] = "none") -> Method:
    """Return logistic regression on a repaired training matrix.

    The paper does not repair the test rows.
    """
    return krein_regression(mode, repair=mode, out_of_sample=out_of_sample)


ON_TL1 = {
    "Flip": _repair("flip"),
    "Clip": _repair("clip"),
    "Shift": _repair("shift"),
    **{name: procedure(name, solver) for name, solver in PROCEDURES.items()},
    "Flip exact": _repair("flip", "exact"),
    "Clip exact": _repair("clip", "exact"),
    **{name: ALL_METHODS[name] for name in ("TDCASVM", "KSVM", "SVC raw")},
    # Names of stored records.
    "IKLR krein": replace(ALL_METHODS["Krein norm"], name="IKLR krein"),
    "IKLR hilbert": replace(ALL_METHODS["Hilbert norm"], name="IKLR hilbert"),
}
KLR, SVM = (
    replace(krein_regression("KLR"), definite_only=True),
    ALL_METHODS["SVC raw"],
)
"""Both on a positive definite matrix, as their theory needs it."""

ON_TABLES: dict[str, tuple[Method, KernelSettings]] = {
    "KLR(RBF)": (KLR, GAUSSIANS),
    "SVM(RBF)": (SVM, GAUSSIANS),
    **{name: (method, TL1) for name, method in ON_TL1.items()},
}
"""Columns of the tables of samples with features: method and kernels."""

ON_FACES: dict[str, tuple[Method, str]] = {
    "SVM(Log-E)": (one_vs_rest(SVM), "log_euclid"),
    "KLR(Log-E)": (one_vs_rest(KLR), "log_euclid"),
    **{
        name: (one_vs_rest(ON_TL1[name]), "affine_invariant")
        for name in (*TABLE5, *TABLE5_OURS)
        if name in ON_TL1
    },
    "IKLR krein": (ON_TL1["IKLR krein"], "affine_invariant"),
    "SVM(Log-E) regions": (one_vs_rest(SVM), "log_euclid"),
}
"""Rows of the table of faces: method and distance."""


def with_settings(method: Method, **settings: Any) -> Method:
    """Return a published procedure with other fields of `CCCP`."""
    if not settings:
        return method
    return procedure(method.name, replace(PROCEDURES[method.name], **settings))
