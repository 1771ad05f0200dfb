"""How fast are the distances between positive definite matrices, next to pyRiemann.

    python benchmarks/bench_spd.py [--quick] [--repeats N] [--large]

One JSON line a measurement: median and least of the repeats in seconds, after a first
run that is not counted, and how many times faster we are. The competitors take turns,
so that a busy moment of the machine hits all of them. ``--large`` adds the
affine-invariant kernel of 5,850 descriptors, with the largest memory of the process.
"""

import argparse
import json
import platform
import resource
import statistics
import sys
import time
from functools import partial

import numba
import numpy as np
import scipy

import kreinlearn
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


def measure(functions, repeats):
    """Return seconds of each repeat by name; the names take turns."""
    seconds = {name: [] for name in functions}
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            result = function()
            elapsed = time.perf_counter() - start
            del result  # outside the clock, and before the next one needs the memory
            if repeat > 0:
                seconds[name].append(elapsed)
    return seconds


def environment():
    """Return versions and thread count."""
    return {
        "versions": {
            "kreinlearn": kreinlearn.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
            "pyriemann": pyriemann and pyriemann.__version__,
        },
        "threads": numba.get_num_threads(),
        "cpu": numba.config.CPU_NAME or platform.machine(),
    }


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="5,850 descriptors, too")
    options = parser.parse_args(argv)
    repeats = 1 if options.quick else options.repeats
    surroundings = environment()

    for n, d in QUICK_SIZES if options.quick else SIZES:
        X = matrices(n, d)
        for ours, theirs in METRICS.items():
            functions = {"kreinlearn": partial(spd_distances, X, metric=ours)}
            if pyriemann and theirs:
                functions["pyriemann"] = partial(
                    pairwise_distance, X, metric=theirs, squared=True
                )
            agree(ours, functions)
            seconds = measure(functions, repeats)
            least = statistics.median(seconds["kreinlearn"])
            for library, times in seconds.items():
                row = {
                    "bench": "spd",
                    "metric": ours,
                    "library": library,
                    "n": n,
                    "d": d,
                    "median_s": round(statistics.median(times), 6),
                    "min_s": round(min(times), 6),
                    "repeats": repeats,
                    "ours_faster": round(statistics.median(times) / least, 2),
                }
                print(json.dumps(row | surroundings), flush=True)
    if options.large:
        print(json.dumps(large() | surroundings), flush=True)


def agree(name, functions):
    """Raise unless all competitors compute the same matrix."""
    matrices = [function() for function in functions.values()]
    for other in matrices[1:]:
        # The other library loses digits where matrices are ill-conditioned.
        if not np.allclose(matrices[0], other, rtol=1e-4, atol=1e-8):
            raise RuntimeError(f"{name}: the libraries compute different matrices.")


def large():
    """Return seconds and peak memory of one large kernel matrix."""
    X = matrices(LARGE, 9)
    start = time.perf_counter()
    K = spd_affine_invariant(X)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "bench": "spd",
        "metric": "affine_invariant",
        "library": "kreinlearn",
        "n": len(K),
        "d": 9,
        "median_s": round(seconds, 3),
        "peak_mb": round(peak / (2**20 if sys.platform == "darwin" else 2**10)),
    }


if __name__ == "__main__":
    main()
