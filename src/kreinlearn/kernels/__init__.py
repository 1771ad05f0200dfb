"""Kernels: from samples of any kind to a matrix of similarities.

A kernel is a function ``f(X, Y=None, **params)`` of two sets of samples that gives a
matrix with one row per sample of X and one column per sample of Y. ``KERNELS`` maps
names to records, each of which holds such a function and what is known about it. A new
kernel is one more record.
"""

from kreinlearn.kernels._cache import iterate_measure_rows, measuring
from kreinlearn.kernels._products import linear, polynomial, tanh
from kreinlearn.kernels._records import Grid, Kernel, Measure
from kreinlearn.kernels._similarities import Similarities
from kreinlearn.kernels._table import KERNELS, gram, resolve
from kreinlearn.kernels.products import multiply
from kreinlearn.kernels.sequences import (
    check_sequences,
    jaro_winkler,
    levenshtein,
    needleman_wunsch,
    smith_waterman,
)
from kreinlearn.kernels.series import check_series, dtw, erp, lcss, msm, twe, wdtw
from kreinlearn.kernels.spd import (
    spd_affine_invariant,
    spd_distances,
    spd_euclid,
    spd_log_euclid,
    spd_stein,
    spd_widths,
)
from kreinlearn.kernels.vector import (
    epanechnikov,
    gaussian_difference,
    laplacian,
    log,
    power,
    rbf,
    tl1,
)

measured_rows = iterate_measure_rows  # former name

__all__ = [
    "KERNELS",
    "Grid",
    "Kernel",
    "Measure",
    "Similarities",
    "check_sequences",
    "check_series",
    "dtw",
    "epanechnikov",
    "erp",
    "gaussian_difference",
    "gram",
    "iterate_measure_rows",
    "jaro_winkler",
    "laplacian",
    "lcss",
    "levenshtein",
    "linear",
    "log",
    "measured_rows",
    "measuring",
    "msm",
    "multiply",
    "needleman_wunsch",
    "polynomial",
    "power",
    "rbf",
    "resolve",
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
