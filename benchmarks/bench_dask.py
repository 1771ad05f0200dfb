"""Landmarks on a Dask cluster: one worker and two, each a process with one thread.

    python benchmarks/bench_dask.py [--quick] [--repeats N] [--rows N] [--landmarks M]

Each fit has a process and a cluster of its own. Workers read their rows from a file,
and the clock starts after a small fit that loads compiled code on all of them. The
number of passes, the largest memory of a worker and the sum of all coefficients, which
must not depend on the number of workers, are reported with the seconds.
"""

import json
import os
import tempfile
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from common import (
    Fresh,
    emit,
    environment,
    fresh,
    measure,
    options_of,
    peak_mb,
    rows,
    start,
)
from samples import many_rows

SIZE, QUICK = (300_000, 500), (3000, 30)
N_CHUNKS = 24
LAM = 1e-5
ONE, TWO = "one worker", "two workers"


def main(argv=None):
    options = options_of(
        __doc__,
        argv,
        rows={"type": int, "metavar": "N"},
        landmarks={"type": int, "metavar": "M"},
        child={"help": "for internal use"},
    )
    if options.child:
        print(json.dumps(run(**json.loads(options.child))))
        return
    n, M = QUICK if options.quick else SIZE
    n, M = options.rows or n, options.landmarks or M
    with tempfile.TemporaryDirectory() as folder:
        X, y, data = many_rows(n, options.quick)
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        calls = {
            name: Fresh(partial(fresh, __file__, {"M": M, "folder": folder, "k": k}))
            for name, k in ((TWO, 2), (ONE, 1))
        }
        details = {}
        seconds = measure(calls, options.repeats, details=details)
    fields = {"n": n, "m": X.shape[1], "dtype": "float64", "landmarks": M, "data": data}
    found = rows("dask", "fit", seconds, ours=TWO, details=details, **fields)
    emit(found, environment())


def run(M, folder, k):
    """Fit on a cluster of k workers; return seconds, passes and memory."""
    from distributed import Client, LocalCluster

    from kreinlearn import LandmarkLogisticRegression

    shape = {"n_workers": k, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=True, **shape) as cluster, Client(cluster) as client:
        model = LandmarkLogisticRegression(n_landmarks=M, lam=LAM)
        model.fit(*parts(folder, 2 * k, 400 * k))
        client.run(loaded)
        began = time.perf_counter()
        model.fit(*parts(folder, N_CHUNKS))
        seconds = time.perf_counter() - began
        peak = max(client.run(peak_mb).values())
    found = {"seconds": seconds, "passes": model.n_passes_, "status": model.status_}
    return found | {
        "worker_peak_mb": peak,
        "coef_sum": float(np.abs(model.coef_).sum()),
    }


def loaded():
    """Compile on a worker that had no part in the small fit."""
    from kreinlearn.kernels import tl1

    for dtype in (np.float32, np.float64):
        tl1(np.ones((2, 2), dtype), np.ones((2, 2), dtype))
    return os.getpid()


def parts(folder, n_chunks, n=None):
    """Return delayed chunks of rows and labels."""
    from dask import delayed

    files = [os.path.join(folder, name) for name in ("X.npy", "y.npy")]
    n = n or len(np.load(files[1], mmap_mode="r"))
    ends = np.linspace(0, n, n_chunks + 1).astype(int).tolist()
    spans = list(pairwise(ends))
    return [[delayed(part)(file, *span) for span in spans] for file in files]


def part(file, first, last):
    return np.array(np.load(file, mmap_mode="r")[first:last])


if __name__ == "__main__":
    start(main)
