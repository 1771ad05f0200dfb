"""How fast are the distances between positive definite matrices, next to pyRiemann.

    python benchmarks/bench_spd.py [--quick] [--repeats N] [--large]

One JSON line a measurement: median and least of the repeats in seconds, after a first
run that is not counted, and how many times faster we are. The competitors take turns,
so that a busy moment of the machine hits all of them. ``--large`` adds the
affine-invariant kernel of 5,850 descriptors, with the largest memory of the process.
"""

import time
from functools import partial

import numpy as np
import scipy
from common import (
    OURS,
    emit,
    environment,
    measure,
    options_of,
    peak_mb,
    rows,
    start,
    without,
)

from kreinlearn.features import RegionCovariance
from kreinlearn.kernels import spd_affine_invariant, spd_distances

try:
    import pyriemann
except ImportError:
    pyriemann = None
else:
    try:
        from pyriemann.geometry.distance import pairwise_distance
    except ImportError:  # before 0.12
        from pyriemann.utils.distance import pairwise_distance

SIZES = [(640, 9), (200, 22), (100, 64)]
QUICK_SIZES = [(40, 9), (10, 22)]
LARGE = 5850

# Our name -> theirs. They compute Stein distances one by one: too slow to wait for.
METRICS = {
    "affine_invariant": "riemann",
    "log_euclid": "logeuclid",
    "euclid": "euclid",
    "stein": None,
}


def matrices(n, d):
    """Return descriptors of textures for d = 9, else random covariances."""
    rng = np.random.default_rng(0)
    if d == 9:
        widths = rng.uniform(0.5, 3.0, size=(n, 2))
        noise = rng.standard_normal((n, 32, 28))
        images = [
            scipy.ndimage.gaussian_filter(image, width)
            for image, width in zip(noise, widths, strict=True)
        ]
        return RegionCovariance().fit_transform(images)
    A = rng.standard_normal((n, d, 3 * d))
    return A @ A.transpose(0, 2, 1) / (3 * d)


def main(argv=None):
    large = {"action": "store_true", "help": "5,850 descriptors, too"}
    options = options_of(__doc__, argv, large=large)
    machine = environment("pyriemann")
    if pyriemann is None:
        without("pyriemann")
    for n, d in QUICK_SIZES if options.quick else SIZES:
        X = matrices(n, d)
        for ours, theirs in METRICS.items():
            functions = {OURS: partial(spd_distances, X, metric=ours)}
            if pyriemann and theirs:
                functions["pyriemann"] = partial(
                    pairwise_distance, X, metric=theirs, squared=True
                )
            agree(ours, functions)
            seconds = measure(functions, options.repeats)
            emit(rows("spd", ours, seconds, **fields(ours, n, d)), machine)
    if options.large:
        emit(large_kernel(), machine)


def fields(metric, n, d):
    return {"metric": metric, "n": n, "m": d, "d": d, "dtype": "float64"}


def agree(name, functions):
    """Raise unless all competitors compute the same matrix."""
    matrices = [function() for function in functions.values()]
    for other in matrices[1:]:
        # The other library loses digits where matrices are ill-conditioned.
        if not np.allclose(matrices[0], other, rtol=1e-4, atol=1e-8):
            raise RuntimeError(f"{name}: the libraries compute different matrices.")


def large_kernel():
    """Return the row of one large kernel matrix, with the peak of memory."""
    X = matrices(LARGE, 9)
    start = time.perf_counter()
    K = spd_affine_invariant(X)
    seconds = {OURS: [time.perf_counter() - start]}
    shape = fields("affine_invariant", len(K), 9)
    return rows("spd", "affine_invariant kernel", seconds, **shape, peak_mb=peak_mb())


if __name__ == "__main__":
    start(main)
