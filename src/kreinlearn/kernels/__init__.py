"""Kernels: from samples of any kind to a matrix of similarities.

A kernel is a function ``f(X, Y=None, **params)`` of two sets of samples that gives a
matrix with one row per sample of X and one column per sample of Y. ``KERNELS`` maps
names to records, each of which holds such a function and what is known about it. A new
kernel is one more record.
"""

from kreinlearn.kernels._cache import measuring
from kreinlearn.kernels._records import Grid, Kernel, Measure
from kreinlearn.kernels.registry import (
    KERNELS,
    ResolvedKernel,
    Similarities,
    gram,
    multiply,
    resolve,
    resolve_kernel,
)
from kreinlearn.kernels.rows import (
    epanechnikov,
    gaussian_difference,
    laplacian,
    linear,
    log,
    polynomial,
    power,
    rbf,
    tanh,
    tl1,
)
from kreinlearn.kernels.sequences import (
    check_sequences,
    jaro_winkler,
    levenshtein,
    needleman_wunsch,
    smith_waterman,
)
from kreinlearn.kernels.series import adtw, check_series, dtw, erp, lcss, msm, twe, wdtw
from kreinlearn.kernels.spd import (
    spd_affine_invariant,
    spd_distances,
    spd_euclid,
    spd_log_euclid,
    spd_stein,
    spd_widths,
)

__all__ = [
    "KERNELS",
    "Grid",
    "Kernel",
    "Measure",
    "ResolvedKernel",
    "Similarities",
    "adtw",
    "check_sequences",
    "check_series",
    "dtw",
    "epanechnikov",
    "erp",
    "gaussian_difference",
    "gram",
    "jaro_winkler",
    "laplacian",
    "lcss",
    "levenshtein",
    "linear",
    "log",
    "measuring",
    "msm",
    "multiply",
    "needleman_wunsch",
    "polynomial",
    "power",
    "rbf",
    "resolve",
    "resolve_kernel",
    "smith_waterman",
    "spd_affine_invariant",
    "spd_distances",
    "spd_euclid",
    "spd_log_euclid",
    "spd_stein",
    "spd_widths",
    "tanh",
    "tl1",
    "twe",
    "wdtw",
]
