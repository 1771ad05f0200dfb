"""Landmarks on many rows, compared with Nystroem features and logistic regression.

    python benchmarks/bench_landmarks.py [--quick] [--repeats N] [--large]

Each fit runs in a separate process, which reports its peak memory. The peer is
``Nystroem`` (RBF) of scikit-learn with ``LogisticRegression`` at its default tolerance,
on the same rows in single precision and with the same lam. Both report the log-loss of
new rows. ``search`` chooses among ten values of lam with three folds, and is compared
with one fit. ``parquet`` reads rows from a folder of files in each pass that needs
them. ``recomputed`` stores no similarities, for several n. ``series`` are random walks
of length 64, half of them with a wave, compared by DTW.
"""

import json
import time
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np
from common import (
    OURS,
    SelfTimed,
    describe_machine,
    fit_exponent,
    get_peak_mb,
    make_rows,
    parse_options,
    print_note,
    print_rows,
    run_in_process,
    run_script,
    select_larger_half,
    time_functions,
)
from samples import load_rows

PEER_LIBRARY = "scikit-learn"
FULL_SIZE, LARGE_SIZE, QUICK_SIZE = (300_000, 500), (1_000_000, 1000), (2000, 30)
GROWTH_SIZES, QUICK_GROWTH_SIZES = (
    (10_000, 30_000, 100_000, 300_000, 1_000_000),
    (500, 1000),
)
N_HELD_OUT = 20_000
SERIES_SIZES, QUICK_SERIES_SIZES, SERIES_LENGTH = (
    ((25_000, 200), (100_000, 200)),
    ((200, 20),),
    64,
)
LAM = 1e-5
N_FILES, LABEL_COLUMN = 8, "label"


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        large={"action": "store_true", "help": "one fit of a million rows"},
        child={"help": "for internal use"},
    )
    if options.child:
        print(json.dumps(run_task(**json.loads(options.child))))
        return
    machine = describe_machine()
    n, M = QUICK_SIZE if options.quick else LARGE_SIZE if options.large else FULL_SIZE
    shared = {"n": n, "M": M, "quick": options.quick}
    compare_tasks("fit", {OURS: "fit", PEER_LIBRARY: "peer"}, shared, options, machine)
    if options.large:
        return
    compare_tasks(
        "search", {OURS: "search", "one fit": "fit"}, shared, options, machine
    )
    from_files = {OURS: "parquet", "from memory": "fit"}
    compare_tasks("parquet", from_files, shared, options, machine)
    measure_growth(options, machine)
    for n, M in QUICK_SERIES_SIZES if options.quick else SERIES_SIZES:
        task = {"n": n, "M": M, "quick": options.quick, "task": "series"}
        call, details = {OURS: SelfTimed(partial(run_in_process, __file__, task))}, {}
        seconds = time_functions(call, 1, details=details)
        fields = {"n": n, "m": SERIES_LENGTH, "dtype": "float64", "landmarks": M}
        print_rows(
            make_rows("landmarks", "series", seconds, details=details, **fields),
            machine,
        )


def compare_tasks(work, tasks, shared, options, machine):
    """Measure the tasks of one piece of work and print their rows."""
    calls = {
        name: SelfTimed(partial(run_in_process, __file__, {**shared, "task": task}))
        for name, task in tasks.items()
    }
    details = {}
    seconds = time_functions(calls, options.repeats, details=details)
    fields = {"n": shared["n"], "m": 22, "dtype": "float32", "landmarks": shared["M"]}
    print_rows(
        make_rows("landmarks", work, seconds, details=details, **fields), machine
    )


def measure_growth(options, machine):
    """Print times with similarities recomputed in each pass, and their exponent."""
    found, sizes = [], QUICK_GROWTH_SIZES if options.quick else GROWTH_SIZES
    M = QUICK_SIZE[1] if options.quick else 200
    for n in sizes:
        task = {"n": n, "M": M, "quick": options.quick, "task": "recomputed"}
        details = {}
        call = {OURS: SelfTimed(partial(run_in_process, __file__, task))}
        seconds = time_functions(call, 1, details=details)
        fields = {"n": n, "m": 22, "dtype": "float32", "landmarks": M}
        work = "recomputed"
        print_rows(
            make_rows("landmarks", work, seconds, details=details, **fields), machine
        )
        if seconds[OURS]:
            # The number of passes depends on the data; a pass should be linear in n.
            found.append((n, seconds[OURS][0] / details[OURS]["passes"]))
    points = select_larger_half(found)
    print_note(
        f"seconds of a pass grow as n^{fit_exponent(*zip(*points, strict=True)):.2f}"
    )


def run_task(task, n, M, quick):
    """Fit in this process, and return seconds, memory and log-loss."""
    if task == "series":
        X, y, data = make_waves(n + min(n, N_HELD_OUT))
    else:
        X, y, data = load_rows(n + min(n, N_HELD_OUT), quick)
        X = X.astype(np.float32)
    new, X = (X[n:], y[n:]), X[:n]
    before = get_peak_mb()
    model = build_peer(M, n) if task == "peer" else build_ours(task, M)
    few = slice(0, max(200, 2 * M))
    model.fit(X[few], y[few])  # loads compiled code
    with TemporaryDirectory() as folder:
        given = (X, y[:n])
        if task == "parquet":
            given, new = (
                (write_files(*given, folder), LABEL_COLUMN),
                (name_columns(new[0]), new[1]),
            )
        began = time.perf_counter()
        model.fit(*given)
        seconds = time.perf_counter() - began
    found = {
        "seconds": seconds,
        "peak_mb": get_peak_mb(),
        "data_mb": before,
        "data": data,
    }
    found["log_loss"] = round(compute_log_loss(model, *new), 5)
    if task != "peer":
        found |= {"status": model.status_, "residual": float(f"{model.residual_:.3g}")}
        found |= {"passes": model.n_passes_, "lam": model.lam_}
    return found


def write_files(X, y, folder):
    """Write rows to files, and return their folder."""
    for i in range(N_FILES):
        table = name_columns(X[i::N_FILES]).assign(**{LABEL_COLUMN: y[i::N_FILES]})
        table.to_parquet(f"{folder}/{i}.parquet")
    return folder


def name_columns(X):
    """Return rows as a data frame with column names."""
    import pandas as pd

    return pd.DataFrame(X).rename(columns=str)


def make_waves(n):
    """Return random walks, half of them with a wave, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    wave = 3 * np.sin(np.linspace(0, 12, SERIES_LENGTH))
    walks = rng.standard_normal((n, SERIES_LENGTH)).cumsum(axis=1)
    return walks + y[:, None] * wave, y, "generated"


def build_ours(task, M):
    from kreinlearn import LandmarkLogisticRegression

    if task == "series":
        return LandmarkLogisticRegression("dtw", n_landmarks=M, lam=LAM)

    settings = {"search": {"cv": 3}, "recomputed": {"memory": 0}}.get(task, {})
    return LandmarkLogisticRegression(n_landmarks=M, lam=LAM, **settings)


def build_peer(M, n):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    features = Nystroem(n_components=M, random_state=0)
    return make_pipeline(features, LogisticRegression(C=1 / (n * LAM)))


def compute_log_loss(model, X, y):
    """Return the mean log-loss of new rows."""
    p = model.predict_proba(X)[:, 1]
    p = np.clip(np.where(y == y.max(), p, 1 - p), 1e-15, 1)
    return float(-np.log(p).mean())


if __name__ == "__main__":
    run_script(main)
