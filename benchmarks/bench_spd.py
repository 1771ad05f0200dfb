"""Distances between positive definite matrices, compared with pyRiemann.

    python benchmarks/bench_spd.py [--quick] [--repeats N] [--large]

See `common` for the rows. ``--large`` adds the affine-invariant kernel of 5,850
descriptors, with the peak memory of the process.
"""

import time
from functools import partial

import numpy as np
import scipy
from common import (
    OURS,
    check_agreement,
    describe_machine,
    get_peak_mb,
    make_rows,
    parse_options,
    print_missing_library,
    print_rows,
    run_script,
    time_functions,
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
N_LARGE = 5850

# Our name -> theirs. They compute Stein distances one by one, which is too slow.
PEER_METRICS = {
    "affine_invariant": "riemann",
    "log_euclid": "logeuclid",
    "euclid": "euclid",
    "stein": None,
}


def make_matrices(n, d):
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
    options = parse_options(__doc__, argv, large=large)
    machine = describe_machine("pyriemann")
    if pyriemann is None:
        print_missing_library("pyriemann")
    for n, d in QUICK_SIZES if options.quick else SIZES:
        X = make_matrices(n, d)
        for ours, theirs in PEER_METRICS.items():
            functions = {OURS: partial(spd_distances, X, metric=ours)}
            if pyriemann and theirs:
                functions["pyriemann"] = partial(
                    pairwise_distance, X, metric=theirs, squared=True
                )
            # pyRiemann loses digits if matrices are ill-conditioned.
            check_agreement(ours, functions, rtol=1e-4, atol=1e-8)
            seconds = time_functions(functions, options.repeats)
            print_rows(
                make_rows("spd", ours, seconds, **make_fields(ours, n, d)), machine
            )
    if options.large:
        print_rows(measure_large_kernel(), machine)


def make_fields(metric, n, d):
    return {"metric": metric, "n": n, "m": d, "d": d, "dtype": "float64"}


def measure_large_kernel():
    """Return the row of one large kernel matrix, with the peak memory."""
    X = make_matrices(N_LARGE, 9)
    start = time.perf_counter()
    K = spd_affine_invariant(X)
    seconds = {OURS: [time.perf_counter() - start]}
    shape = make_fields("affine_invariant", len(K), 9)
    return make_rows(
        "spd", "affine_invariant kernel", seconds, **shape, peak_mb=get_peak_mb()
    )


if __name__ == "__main__":
    run_script(main)
