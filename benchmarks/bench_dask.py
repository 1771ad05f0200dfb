"""Landmarks on a Dask cluster: one worker and two, each a process with one thread.

    python benchmarks/bench_dask.py [--quick] [--repeats N] [--rows N] [--landmarks M]

Each fit has its own process and cluster. Workers read their rows from a file. A small,
untimed fit loads compiled code on all workers. Rows have the number of passes, the peak
memory of a worker, and the sum of all coefficients, which must not depend on the number
of workers.
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
    SelfTimed,
    describe_machine,
    get_peak_mb,
    make_rows,
    parse_options,
    print_rows,
    run_in_process,
    run_script,
    time_functions,
)
from samples import load_rows

FULL_SIZE, QUICK_SIZE = (300_000, 500), (3000, 30)
N_CHUNKS = 24
LAM = 1e-5
ONE_WORKER, TWO_WORKERS = "one worker", "two workers"


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        rows={"type": int, "metavar": "N"},
        landmarks={"type": int, "metavar": "M"},
        child={"help": "for internal use"},
    )
    if options.child:
        print(json.dumps(fit_on_cluster(**json.loads(options.child))))
        return
    n, M = QUICK_SIZE if options.quick else FULL_SIZE
    n, M = options.rows or n, options.landmarks or M
    with tempfile.TemporaryDirectory() as folder:
        X, y, data = load_rows(n, options.quick)
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        calls = {
            name: SelfTimed(
                partial(run_in_process, __file__, {"M": M, "folder": folder, "k": k})
            )
            for name, k in ((TWO_WORKERS, 2), (ONE_WORKER, 1))
        }
        details = {}
        seconds = time_functions(calls, options.repeats, details=details)
    fields = {"n": n, "m": X.shape[1], "dtype": "float64", "landmarks": M, "data": data}
    found = make_rows(
        "dask", "fit", seconds, ours=TWO_WORKERS, details=details, **fields
    )
    print_rows(found, describe_machine())


def fit_on_cluster(M, folder, k):
    """Fit on a cluster of k workers; return seconds, passes and memory."""
    from distributed import Client, LocalCluster

    from kreinlearn import LandmarkLogisticRegression

    shape = {"n_workers": k, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=True, **shape) as cluster, Client(cluster) as client:
        model = LandmarkLogisticRegression(n_landmarks=M, lam=LAM)
        model.fit(*make_chunks(folder, 2 * k, 400 * k))
        client.run(load_compiled_code)
        began = time.perf_counter()
        model.fit(*make_chunks(folder, N_CHUNKS))
        seconds = time.perf_counter() - began
        peak = max(client.run(get_peak_mb).values())
    found = {"seconds": seconds, "passes": model.n_passes_, "status": model.status_}
    return found | {
        "worker_peak_mb": peak,
        "coef_sum": float(np.abs(model.coef_).sum()),
    }


def load_compiled_code():
    """Load compiled code on a worker that may have had no part in the small fit."""
    from kreinlearn.kernels import tl1

    for dtype in (np.float32, np.float64):
        tl1(np.ones((2, 2), dtype), np.ones((2, 2), dtype))
    return os.getpid()


def make_chunks(folder, n_chunks, n=None):
    """Return delayed chunks of rows and labels."""
    from dask import delayed

    files = [os.path.join(folder, name) for name in ("X.npy", "y.npy")]
    n = n or len(np.load(files[1], mmap_mode="r"))
    ends = np.linspace(0, n, n_chunks + 1).astype(int).tolist()
    spans = list(pairwise(ends))
    return [[delayed(load_slice)(file, *span) for span in spans] for file in files]


def load_slice(file, first, last):
    return np.array(np.load(file, mmap_mode="r")[first:last])


if __name__ == "__main__":
    run_script(main)
