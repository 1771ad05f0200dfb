"""Cost of a fit with landmarks: measured, modeled by counts, and extrapolated.

    KREINLEARN_DATA=... python benchmarks/landmark_costs.py [--quick] [--repeats N]
        [--out docs]

Fits of several sizes count their work: computed similarities (in single and in double
precision), similarities multiplied in a pass, second derivatives, and M x M matrices.
The seconds of each unit are fitted to ``LEARNED_SIZES``. Seconds of ``CHECKED_SIZES``
and peak memory are then predicted and compared. Two worker processes of a Dask cluster
repeat some of them and count the bytes sent.

Rows go to ``OUT/results/landmark-costs.csv``, and the tables of the page to
``OUT/results/landmark-plan.txt``.
"""

import csv
import json
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from bench_dask import load_compiled_code, make_chunks
from common import (
    SelfTimed,
    get_peak_mb,
    parse_options,
    print_note,
    run_in_process,
    run_script,
    time_functions,
)
from landmark_plan import (
    N_CHUNKS,
    WORK_UNITS,
    compute_sums_mb,
    count_tasks,
    format_tables,
    predict_seconds,
    predict_sent_mb,
    predict_worker_mb,
)
from samples import load_rows
from scipy.optimize import nnls

LAM = 1e-5
LEARNED_SIZES = (
    (20_000, 200, None),
    (200_000, 200, 0),
    (200_000, 200, None),
    (50_000, 500, None),
    (200_000, 500, 0),
    (200_000, 500, None),
    (50_000, 1000, None),
    (100_000, 1000, None),
)
CHECKED_SIZES = (
    (300_000, 200, 0),
    (300_000, 500, None),
    (1_000_000, 200, None),
    (300_000, 1000, None),
    (1_000_000, 500, 0),
)
"""Rows, landmarks, and ``memory``: 0 if no similarities are stored."""
WORKER_SIZES = ((50_000, 200), (100_000, 500), (200_000, 200))
CHECKED_WORKER_SIZES = ((300_000, 500), (200_000, 500))
QUICK_SIZES, QUICK_CHECKED_SIZES = (
    ((2000, 20, None), (3000, 30, 0)),
    ((4000, 30, None),),
)
QUICK_WORKER_SIZES = ((2000, 20),)
FIELDS = ("where", "role", "n", "landmarks", "kept", "seconds", "foretold", "passes")
FIELDS += (
    "newton_matrices",
    "peak_mb",
    "peak_foretold_mb",
    "sent_mb",
    "sent_foretold_mb",
    *WORK_UNITS,
)


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        out={"type": Path, "metavar": "FOLDER"},
        child={"help": "for internal use"},
    )
    if options.child:
        print(json.dumps(run_fit(**json.loads(options.child))))
        return
    quick = options.quick
    rows = []
    sizes = (
        (QUICK_SIZES, QUICK_CHECKED_SIZES) if quick else (LEARNED_SIZES, CHECKED_SIZES)
    )
    for role, each in zip(("learned", "checked"), sizes, strict=True):
        rows += [measure_fit(options, role, *size) for size in each]
    seconds = fit_unit_seconds([row for row in rows if row["role"] == "learned"])
    for row in rows:
        row["foretold"] = predict_seconds(seconds, row)
    rows += measure_on_workers(options, seconds, rows)
    for row in rows:
        print_note(
            f"{row['where']:7s} {row['role']:8s} n {row['n']:9,d} M"
            f" {row['landmarks']:5d} kept {row['kept']}: {row['seconds']:6.2f} s, "
            f"foretold {row['foretold']:6.2f}; {row['peak_mb']:5.0f} MB"
        )
    if options.out is not None:
        folder = options.out / "results"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "landmark-costs.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, "", lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {k: shorten_number(v) for k, v in row.items()} for row in rows
            )
        text = format_tables(rows, seconds)
        (folder / "landmark-plan.txt").write_text(text, encoding="utf-8")


def measure_fit(options, role, n, M, memory, workers=0):
    """Return the median of the fits of one size, with their counts."""
    task = {"n": n, "M": M, "memory": memory, "workers": workers}
    task["quick"] = options.quick
    details = {}
    call = {"fit": SelfTimed(partial(run_in_process, __file__, task))}
    times = time_functions(call, options.repeats, details=details)["fit"]
    if not times:
        raise RuntimeError(f"The fit of {n} rows failed: {details['fit']}")
    where = "workers" if workers else "local"
    found = {"where": where, "role": role, "n": n, "landmarks": M}
    found |= {"kept": int(memory is None)} | details["fit"]
    return found | {"seconds": float(np.median(times))}


def run_fit(n, M, memory, workers, quick):
    """Fit in this process or on workers; return seconds and counts."""
    X, y, _ = load_rows(n, quick)
    X = X.astype(np.float32)
    if workers:
        return run_on_workers(X, y, M, workers)
    from kreinlearn import LandmarkLogisticRegression

    model = LandmarkLogisticRegression(n_landmarks=M, lam=LAM, memory=memory)
    model.fit(X[: 2 * M], y[: 2 * M])  # loads compiled code
    counts = count_work()
    began = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - began
    found = {"seconds": seconds, "peak_mb": get_peak_mb(), "passes": model.n_passes_}
    return found | counts


def count_work():
    """Return a dict in which later fits count their work."""
    from kreinlearn.landmarks.engine import Engine
    from kreinlearn.landmarks.objective import Objective
    from kreinlearn.landmarks.passes import Columns

    counts = {unit: 0 for unit in WORK_UNITS} | {"newton_matrices": 0, "fits": 1}
    similarities, sums = Columns.__call__, Engine.sums
    hessians, curvatures = Engine.hessians, Objective.curvatures

    def count_similarities(self, X, dtype=np.float64):
        kind = "single" if np.dtype(dtype) == np.float32 else "double"
        counts[kind] += len(X) * len(self)
        return similarities(self, X, dtype)

    def count_products(self, point, fraction=1.0, *more):
        counts["products"] += int(fraction * self.n_rows) * len(point.B)
        return sums(self, point, fraction, *more)

    def count_curvature(self, point, groups, fraction):
        rows = int(fraction * self.n_rows)
        counts["curvature"] += rows * len(point.B) ** 2 * len(groups)
        return hessians(self, point, groups, fraction)

    def count_matrices(self, u, which, fraction):
        found = curvatures(self, u, which, fraction)
        counts["newton_matrices"] += len(found)
        counts["matrices"] += len(found) * len(u) ** 3
        return found

    Columns.__call__, Engine.sums = count_similarities, count_products
    Engine.hessians, Objective.curvatures = count_curvature, count_matrices
    return counts


def run_on_workers(X, y, M, workers):
    """Fit on a cluster; return seconds, bytes sent, and the memory of a worker."""
    import psutil
    from distributed import Client, LocalCluster

    from kreinlearn import LandmarkLogisticRegression

    shape = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(processes=True, **shape) as cluster,
        Client(cluster) as client,
    ):
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        model = LandmarkLogisticRegression(n_landmarks=M, lam=LAM)
        model.fit(*make_chunks(folder, 2 * workers, 4 * M))
        client.run(load_compiled_code)
        before = psutil.net_io_counters(pernic=True)["lo"].bytes_sent
        began = time.perf_counter()
        model.fit(*make_chunks(folder, N_CHUNKS))
        seconds = time.perf_counter() - began
        sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - before
        peak = max(client.run(get_peak_mb).values())
    found = {"seconds": seconds, "passes": model.n_passes_, "sent_mb": sent / 1e6}
    return found | {"peak_mb": peak}


def fit_unit_seconds(rows):
    """Return the seconds of each unit, by least squares of relative errors."""
    A = np.array([[row[unit] / row["seconds"] for unit in WORK_UNITS] for row in rows])
    scale = A.max(axis=0)
    used = scale > 0
    found = np.zeros(len(WORK_UNITS))
    found[used] = nnls(A[:, used] / scale[used], np.ones(len(A)))[0] / scale[used]
    return dict(zip(WORK_UNITS, found.tolist(), strict=True))


def measure_on_workers(options, seconds, local):
    """Measure fits of two workers with one thread each, and predict their seconds.

    Their work is that of the same fit in one process. The overhead is modeled by a
    factor of the work and by seconds per task.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        print_note("distributed is not installed; fits on workers are left out.")
        return []
    sizes = (
        (QUICK_WORKER_SIZES, ())
        if options.quick
        else (WORKER_SIZES, CHECKED_WORKER_SIZES)
    )
    known = {(row["n"], row["landmarks"]): row for row in local if row["kept"]}
    rows = []
    for role, each in zip(("learned", "checked"), sizes, strict=True):
        for n, M in each:
            same = known.get((n, M)) or measure_fit(options, role, n, M, None)
            row = measure_fit(options, role, n, M, None, workers=2)
            row |= {key: same[key] for key in (*WORK_UNITS, "newton_matrices")}
            row["alone"] = predict_seconds(seconds, row)
            rows.append(row)
    first = [row for row in rows if row["role"] == "learned"]
    A = np.array(
        [[r["alone"] / r["seconds"], count_tasks(r) / r["seconds"]] for r in first]
    )
    factor = max(1.0, nnls(A, np.ones(len(A)))[0][0])
    each = max(0.0, A[:, 1] @ (1 - factor * A[:, 0]) / (A[:, 1] @ A[:, 1]))
    for row in rows:
        row["foretold"] = factor * row.pop("alone") + each * count_tasks(row)
        row["peak_foretold_mb"] = predict_worker_mb(row["n"] / 2, row["landmarks"])
    A = np.array(
        [
            [compute_sums_mb(r) / r["sent_mb"], count_tasks(r) / r["sent_mb"]]
            for r in first
        ]
    )
    seconds["sums"], seconds["message"] = nnls(A, np.ones(len(A)))[0].tolist()
    for row in rows:
        row["sent_foretold_mb"] = predict_sent_mb(seconds, row)
    seconds["factor"], seconds["task"] = float(factor), float(each)
    return rows


def shorten_number(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


if __name__ == "__main__":
    run_script(main)
