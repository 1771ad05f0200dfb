"""Landmarks on many rows, next to Nystroem features and logistic regression.

    python benchmarks/bench_landmarks.py [--quick] [--repeats N] [--large]

Each fit runs in a process of its own, which reports its largest memory. The peer is
scikit-learn's ``Nystroem`` (RBF) with ``LogisticRegression`` at its default tolerance,
on the same rows in single precision and with the same lam; both report log-loss on rows
that they have not seen. ``search`` chooses among ten values of lam with three folds,
and is compared with one fit. ``parquet`` reads rows from a folder of files, again in
each pass that needs them. ``recomputed`` keeps no similarities, for several n.
``series`` are random walks of length 64, half of them with a wave, compared by DTW.
"""

import json
import time
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np
from common import (
    OURS,
    Fresh,
    emit,
    environment,
    fresh,
    larger_half,
    measure,
    options_of,
    peak_mb,
    rows,
    say,
    slope,
    start,
)
from samples import many_rows

PEER = "scikit-learn"
SIZE, LARGE, QUICK = (300_000, 500), (1_000_000, 1000), (2000, 30)
GROWING, QUICK_GROWING = (10_000, 30_000, 100_000, 300_000, 1_000_000), (500, 1000)
HELD_OUT = 20_000
SERIES, QUICK_SERIES, LENGTH = ((25_000, 200), (100_000, 200)), ((200, 20),), 64
LAM = 1e-5
FILES, LABEL = 8, "label"


def main(argv=None):
    options = options_of(
        __doc__,
        argv,
        large={"action": "store_true", "help": "a million rows, 1,000 landmarks"},
        child={"help": "for internal use"},
    )
    if options.child:
        print(json.dumps(run(**json.loads(options.child))))
        return
    machine = environment()
    n, M = QUICK if options.quick else LARGE if options.large else SIZE
    shared = {"n": n, "M": M, "quick": options.quick}
    compare("fit", {OURS: "fit", PEER: "peer"}, shared, options, machine)
    compare("search", {OURS: "search", "one fit": "fit"}, shared, options, machine)
    from_files = {OURS: "parquet", "from memory": "fit"}
    compare("parquet", from_files, shared, options, machine)
    growing(options, machine)
    for n, M in QUICK_SERIES if options.quick else SERIES:
        task = {"n": n, "M": M, "quick": options.quick, "task": "series"}
        call, details = {OURS: Fresh(partial(fresh, __file__, task))}, {}
        seconds = measure(call, 1, details=details)
        fields = {"n": n, "m": LENGTH, "dtype": "float64", "landmarks": M}
        emit(rows("landmarks", "series", seconds, details=details, **fields), machine)


def compare(work, tasks, shared, options, machine):
    """Emit the rows of one piece of work."""
    calls = {
        name: Fresh(partial(fresh, __file__, {**shared, "task": task}))
        for name, task in tasks.items()
    }
    details = {}
    seconds = measure(calls, options.repeats, details=details)
    fields = {"n": shared["n"], "m": 22, "dtype": "float32", "landmarks": shared["M"]}
    emit(rows("landmarks", work, seconds, details=details, **fields), machine)


def growing(options, machine):
    """Emit times with similarities computed anew in each pass, and their exponent."""
    found, sizes = [], QUICK_GROWING if options.quick else GROWING
    M = QUICK[1] if options.quick else 200
    for n in sizes:
        task = {"n": n, "M": M, "quick": options.quick, "task": "recomputed"}
        details = {}
        call = {OURS: Fresh(partial(fresh, __file__, task))}
        seconds = measure(call, 1, details=details)
        fields = {"n": n, "m": 22, "dtype": "float32", "landmarks": M}
        work = "recomputed"
        emit(rows("landmarks", work, seconds, details=details, **fields), machine)
        if seconds[OURS]:
            # The number of passes is the data's own; time of one should be linear.
            found.append((n, seconds[OURS][0] / details[OURS]["passes"]))
    points = larger_half(found)
    say(f"seconds of a pass grow as n^{slope(*zip(*points, strict=True)):.2f}")


def run(task, n, M, quick):
    """Fit in this process, and return seconds, memory and quality."""
    if task == "series":
        X, y, data = waves(n + min(n, HELD_OUT))
    else:
        X, y, data = many_rows(n + min(n, HELD_OUT), quick)
        X = X.astype(np.float32)
    new, X = (X[n:], y[n:]), X[:n]
    before = peak_mb()
    model = peer(M, n) if task == "peer" else ours(task, M)
    few = slice(0, max(200, 2 * M))
    model.fit(X[few], y[few])  # compiled code is loaded outside the clock
    with TemporaryDirectory() as folder:
        given = (X, y[:n])
        if task == "parquet":
            given, new = (write_files(*given, folder), LABEL), (named(new[0]), new[1])
        began = time.perf_counter()
        model.fit(*given)
        seconds = time.perf_counter() - began
    found = {"seconds": seconds, "peak_mb": peak_mb(), "data_mb": before, "data": data}
    found["log_loss"] = round(log_loss(model, *new), 5)
    if task != "peer":
        found |= {"status": model.status_, "residual": float(f"{model.residual_:.3g}")}
        found |= {"passes": model.n_passes_, "lam": model.lam_}
    return found


def write_files(X, y, folder):
    """Write rows to files, and return their folder."""
    for i in range(FILES):
        table = named(X[i::FILES]).assign(**{LABEL: y[i::FILES]})
        table.to_parquet(f"{folder}/{i}.parquet")
    return folder


def named(X):
    """Return rows as a table whose columns have names."""
    import pandas as pd

    return pd.DataFrame(X).rename(columns=str)


def waves(n):
    """Return random walks, half of them with a wave, and which ones."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    wave = 3 * np.sin(np.linspace(0, 12, LENGTH))
    walks = rng.standard_normal((n, LENGTH)).cumsum(axis=1)
    return walks + y[:, None] * wave, y, "generated"


def ours(task, M):
    from kreinlearn import LandmarkLogisticRegression

    if task == "series":
        return LandmarkLogisticRegression("dtw", n_landmarks=M, lam=LAM)

    settings = {"search": {"cv": 3}, "recomputed": {"memory": 0}}.get(task, {})
    return LandmarkLogisticRegression(n_landmarks=M, lam=LAM, **settings)


def peer(M, n):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    features = Nystroem(n_components=M, random_state=0)
    return make_pipeline(features, LogisticRegression(C=1 / (n * LAM)))


def log_loss(model, X, y):
    """Return the mean log-loss of new rows."""
    p = model.predict_proba(X)[:, 1]
    p = np.clip(np.where(y == y.max(), p, 1 - p), 1e-15, 1)
    return float(-np.log(p).mean())


if __name__ == "__main__":
    start(main)
