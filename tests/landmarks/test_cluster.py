"""Fits on a real cluster of two processes, and the same ones without it."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial

import numpy as np
import pandas as pd
import pytest

from kreinlearn import LandmarkLogisticRegression
from kreinlearn.kernels import resolve_kernel
from kreinlearn.landmarks import engine as engines
from kreinlearn.landmarks.engine import DaskExecutor, Engine, ThreadExecutor
from kreinlearn.landmarks.passes import PassContext, Point, SamplingPlan, fit_columns
from kreinlearn.landmarks.sources import Chunk, MemorySource

dask = pytest.importorskip("dask", reason="needs the extra dask")
distributed = pytest.importorskip("distributed", reason="needs the extra dask")
da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")

from tests.memory import peak  # noqa: E402

SLOW = pytest.mark.slow

N, M = 3000, 60
LOCAL = {"threads_per_worker": 1, "dashboard_address": ":0"}


@contextmanager
def cluster_of_two(**given):
    """Give a client of two processes that is not the current one."""
    with (
        distributed.LocalCluster(processes=True, n_workers=2, **LOCAL, **given) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def processes():
    with cluster_of_two() as client:
        yield client


@pytest.fixture
def client(processes):
    with processes.as_current():
        yield processes


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 5))
    f = np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(N)
    y = np.array(["a", "b", "c"])[np.digitize(f, [0.6, 1.4])]
    return X, y, np.where(np.arange(N) < 300, 0.0, rng.uniform(0.5, 2.0, N))


def make_model(**given):
    return LandmarkLogisticRegression(**{"n_landmarks": M, "lam": 1e-3} | given)


def assert_same(found, expected):
    scale = np.abs(expected.coef_).max()
    assert np.abs(found.coef_ - expected.coef_).max() < 1e-8 * scale
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-8 * scale)
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    np.testing.assert_array_equal(found.landmarks_, expected.landmarks_)
    assert found.n_passes_ == expected.n_passes_


def cut(array, n_parts):
    """Return delayed pieces of an array; one in the middle holds nothing."""
    pieces = np.array_split(array, n_parts)
    pieces.insert(1, array[:0])
    return [dask.delayed(piece) for piece in pieces]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"dtype": "float32"}, marks=SLOW),
        pytest.param({}, marks=SLOW),
        pytest.param({"norm": "krein", "lam": 1e-2, "multi_class": "ovr"}, marks=SLOW),
        pytest.param(
            {"cv": 2, "lams": [1e-2, 1e-3], "class_weight": "balanced"}, marks=SLOW
        ),
        pytest.param(
            {
                "kernel_grid": {"tau": [2.0, 3.0]},
                "lams": [1e-3],
                "landmarks": "leverage",
            },
            marks=SLOW,
        ),
    ],
)
def test_coefficients_are_those_of_a_fit_in_memory(client, data, given):
    X, y, w = data
    rows = da.from_array(X, chunks=(1100, 2))
    found = make_model(**given).fit(rows, y, w)
    assert_same(found, make_model(**given).fit(X, y, w))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chunks", "memory"),
    [(170, 300_000), ((5, 2995), 0), ((0, 1500, 0, 1500), 300_000)],
)
def test_chunks_and_memory_have_no_influence(client, data, chunks, memory):
    X, y, _ = data
    rows = da.from_array(X, chunks=(chunks, 5))
    labels = da.from_array(y, chunks=700)
    assert_same(make_model(memory=memory).fit(rows, labels), make_model().fit(X, y))


@pytest.mark.slow
def test_frames_are_fitted_and_predicted(client, data):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    numbered = frame.assign(label=y, number=np.arange(N))
    table = dd.from_pandas(numbered, npartitions=4)
    some = table[table["number"] < 1200]  # leaves partitions without rows
    model = make_model().fit(some[list("abcde")], some["label"])
    expected = make_model().fit(frame[:1200], y[:1200])
    assert_same(model, expected)
    assert model.feature_names_in_.tolist() == list("abcde")
    lazy = model.predict(table[list("abcde")])
    np.testing.assert_array_equal(lazy.compute(), expected.predict(frame))
    few = model.decision_function(some[list("abcde")]).compute()
    np.testing.assert_allclose(few, expected.decision_function(frame[:1200]))


@pytest.mark.slow
def test_lists_of_delayed_chunks_and_of_futures(client, data):
    X, y, w = data
    expected = make_model().fit(X, y, w)
    parts = [cut(each, 5) for each in data]
    assert_same(make_model().fit(*parts), expected)
    futures = [client.compute(each) for each in parts]
    assert_same(make_model().fit(*futures), expected)


def common_letters(words, others):
    return np.array([[len(set(a) & set(b)) for b in others] for a in words], float)


@pytest.mark.slow
def test_samples_that_are_no_rows(client):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 5)) for _ in range(80)]
    y = np.array(["a" in word for word in words])
    parts = [dask.delayed(words[i : i + 30]) for i in (0, 30, 60)]
    labels = [dask.delayed(y[i : i + 30]) for i in (0, 30, 60)]
    given = {"kernel": common_letters, "n_landmarks": 10}
    found, expected = make_model(**given).fit(parts, labels), make_model(**given)
    assert_same(found, expected.fit(words, y))
    lazy = found.predict_proba(parts).compute()
    np.testing.assert_allclose(lazy, expected.predict_proba(words), rtol=1e-6)


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_predictions_are_lazy(data, labels):
    X, y, _ = data
    kept = np.isin(y, labels)
    model = make_model().fit(X[kept], y[kept])
    rows = da.from_array(X, chunks=(700, 2))
    for name in ("decision_function", "predict", "predict_proba", "predict_log_proba"):
        lazy, expected = getattr(model, name)(rows), getattr(model, name)(X)
        assert lazy.shape == expected.shape and lazy.dtype == expected.dtype
        found = lazy.compute(scheduler="sync")
        if name == "predict":
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0, 30_000, None])
@pytest.mark.parametrize("dtype", [None, np.float32])
def test_engines_give_the_same_sums(client, data, memory, dtype):
    X, y, w = data
    plan = SamplingPlan(3, 100, 5)
    chunks = [Chunk(X[i : i + 700], y[i : i + 700], w[i : i + 700]) for i in STARTS]
    executor = ThreadExecutor(MemorySource(X, y, w, 1000), 10**8, n_threads=1)
    local = Engine(executor, dtype)
    parts = [dask.delayed(_find_chunk)(*chunk) for chunk in chunks]
    remote = Engine(DaskExecutor(parts, None, memory, client), dtype)
    both = [remote, local]
    summaries = [engine.summarize(plan) for engine in both]
    for name in vars(summaries[0]):
        values = [getattr(summary, name) for summary in summaries]
        if np.asarray(values[0]).dtype.kind == "f":
            np.testing.assert_allclose(*values, rtol=1e-12)
        else:
            np.testing.assert_array_equal(*values)
    columns = fit_columns(resolve_kernel("tl1"), X[:7])
    context = PassContext(
        columns, summaries[0].labels, np.array([1.0, 2.0, 3.0]), False, plan
    )
    for engine in both:
        engine.prepare(context)
    rng = np.random.default_rng(1)
    fold = np.repeat([-1, 0, 2], 3)
    point = Point(rng.standard_normal((8, 9, 1)), np.tile(np.arange(3), 3), fold)
    groups = [np.array([0, 1]), np.array([4])]
    for fraction in (1.0, 0.3):
        each = [
            (
                engine.sums(point, fraction).gradient,
                engine.sums(point, fraction, "double").gradient,
                engine.hessians(point, groups, fraction),
                engine.held_out_losses(point, "ovr", fraction),
            )
            for engine in both
        ]
        rough = 1e-12 if dtype is None else 1e-6
        for found, expected, close in zip(*each, (*[1e-12] * 3, rough), strict=True):
            gap = np.abs(found - expected).max() / np.abs(expected).max()
            assert gap < close
    np.testing.assert_allclose(remote.weights(0.3), local.weights(0.3), rtol=1e-12)
    np.testing.assert_allclose(remote.weights(1.0), summaries[1].weights, rtol=1e-12)
    assert remote.is_exact == local.is_exact
    assert remote.n_passes == local.n_passes
    assert (remote.executor.cached_fraction == 1.0) == (memory is None)


STARTS = range(0, N, 700)


def _find_chunk(*given):
    return Chunk(*given)


@pytest.mark.slow
def test_second_derivatives_of_a_subsample_are_the_same_to_the_bit(
    client, data, monkeypatch
):
    X, y, w = data
    monkeypatch.setattr(engines, "SUBSAMPLE_ROWS", 600)  # more than a block
    plan = SamplingPlan(1, 10, 5)
    context = PassContext(
        fit_columns(resolve_kernel("tl1"), X[:M]), np.unique(y), np.ones(3), False, plan
    )
    point = Point(np.ones((M + 1, 1, 1)), np.array([1]), np.array([-1]))
    found = []
    for size in (190, 700, None):
        executor = ThreadExecutor(MemorySource(X, y, w, 900), 10**8, n_threads=1)
        if size is not None:
            cuts = [slice(i, i + size) for i in range(0, N, size)]
            parts = [dask.delayed(_find_chunk)(X[c], y[c], w[c]) for c in cuts]
            executor = DaskExecutor(parts, client=client)
        engine = Engine(executor)
        engine.summarize(plan)
        engine.prepare(context)
        engine.block = 600
        found.append(engine.hessians(point, [np.array([0])], 0.7))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], found[2], rtol=1e-14)


@pytest.mark.slow
def test_large_hessians_are_made_one_by_one(client, data, monkeypatch):
    X, y, _ = data
    monkeypatch.setattr(DaskExecutor, "max_result_bytes", 1000)
    rows = da.from_array(X, chunks=(500, 5))
    assert_same(make_model().fit(rows, y), make_model().fit(X, y))


def test_what_workers_may_keep():
    GiB = 2**30
    executor = DaskExecutor([], [], None, client="none")
    limit = engines.PROCESS_BYTES + 4 * GiB
    assert executor.cache_bytes(limit) == GiB
    assert executor.cache_bytes(0) == engines.UNLIMITED_CACHE_BYTES
    assert executor.cache_bytes(engines.PROCESS_BYTES) == 0
    executor.memory = GiB // 2
    assert executor.cache_bytes(limit) == executor.cache_bytes(0) == GiB // 2
    executor.memory = 100 * GiB
    assert executor.cache_bytes(limit) == 2 * GiB
    check = partial(engines._check_worker, purpose="to do this", advice="less of it")
    check([0, limit], 3 * GiB)
    with pytest.raises(MemoryError, match=r"bytes to do this, .*; use less of it\."):
        check([limit, 0], 6 * GiB)


def test_bad_collections_are_one_sentence(client, data):
    X, y, w = data
    rows = da.from_array(X, chunks=(1000, 5))
    parts, labels = cut(X, 3), cut(y, 3)
    wide = [*parts[:-1], dask.delayed(np.ones((1000, 6)))]
    holes = [*parts[:-1], dask.delayed(np.full((1000, 5), np.nan))]
    bad = [
        (rows, da.from_array(y[:-1], chunks=500), "must have the 3000 rows of X"),
        (rows, y[:-1], "must be a Dask collection with the 3 partitions"),
        (parts, labels[:-1], "must have the 4 partitions of X, got 3; repart"),
        (parts, y, "must be a Dask collection with the 4 partitions"),
        (wide, labels, "X has 6 features, but .* is expecting 5 features"),
        (holes, labels, "contains NaN"),
        (parts[1:2], labels[1:2], "at least one sample, got none"),
        (parts[:1], [dask.delayed(y[:7])], "inconsistent numbers of samples"),
    ]
    for given, targets, words in bad:
        with pytest.raises(ValueError, match=words):
            make_model().fit(given, targets)
    with pytest.raises(ValueError, match="must not be negative"):
        make_model().fit(rows, y, -w)
    with pytest.raises(ValueError, match="must be a matrix in memory"):
        make_model(kernel="precomputed").fit(rows, y)
    with pytest.raises(ValueError, match="must be a number of folds"):
        make_model(cv=[(np.arange(9), np.arange(9))]).fit(rows, y)


def test_no_client_is_one_sentence(data):
    rows = da.from_array(data[0], chunks=(1000, 5))
    with pytest.raises(ValueError, match=r"needs a cluster, and there is no client of"):
        make_model().fit(rows, data[1])


@pytest.mark.slow
def test_what_a_cluster_raises_is_one_sentence(client):
    killed = distributed.KilledWorker("sums", None, 3)
    with pytest.raises(MemoryError, match=r"most likely for lack of memory"):
        with engines.explain_errors(client):
            raise killed
    with pytest.raises(RuntimeError, match=r"lost with a worker cannot be made again"):
        with engines.explain_errors(client):
            raise CancelledError("sums")
    with pytest.raises(KeyError, match="kernel"):
        with engines.explain_errors(client):
            raise KeyError("kernel")


def in_last_stage(n, act):
    """Return a callback that acts when the n-th step over all rows is done."""
    steps = []

    def watch(row):
        steps.append(row["rows"] == 1.0)
        if steps[-1] and sum(steps) == n:
            act()

    return watch


def large(n=20_000):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 5))
    f = np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, (f > 0.6).astype(int)


def assert_it_goes_on(tmp_path, client, start, stop):
    """End a scheduler in the middle of a fit, and go on with another."""
    X, y = large()
    given = {"checkpoint": tmp_path / "state", "lam": 1e-5}
    rows = da.from_array(X, chunks=(2500, 5))
    with start() as lost, lost.as_current():
        watch = in_last_stage(2, stop)
        with pytest.raises(ConnectionError, match=r"has gone away in the middle of"):
            make_model(verbose=watch, **given).fit(rows, y)
    with client.as_current():
        model = make_model(**given).fit(rows, y)
    expected = make_model(lam=1e-5).fit(X, y)
    scale = np.abs(expected.coef_).max()
    assert np.abs(model.coef_ - expected.coef_).max() < 1e-8 * scale
    assert model.n_passes_ < expected.n_passes_


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what a lost cluster leaves behind
def test_a_scheduler_that_goes_away_is_one_sentence(tmp_path, processes):
    made = distributed.LocalCluster(processes=False, n_workers=1, **LOCAL)

    def start():
        return distributed.Client(made, set_as_default=False)

    assert_it_goes_on(tmp_path, processes, start, made.close)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_killed_is_one_sentence(tmp_path, processes):
    file = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    call = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0"]
    quiet = {"stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*call, "--host", "127.0.0.1", *common], **quiet)
    while not file.exists():
        assert scheduler.poll() is None, "the scheduler ended"
        time.sleep(0.1)
    call = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
    folder = ["--local-directory", str(tmp_path), "--death-timeout", "120"]
    worker = subprocess.Popen([*call, *common, *folder], **quiet)

    def start():
        return distributed.Client(scheduler_file=str(file), set_as_default=False)

    try:
        assert_it_goes_on(tmp_path, processes, start, scheduler.kill)
    finally:
        for process in (worker, scheduler):
            process.terminate()
            process.wait(30)


def read(X, folder, number):
    """Return some rows, and leave a letter in a file for each time they are read."""
    with open(folder / str(number), "a", encoding="ascii") as log:
        log.write("r")
    return X


@pytest.mark.slow
@pytest.mark.parametrize(("step", "delay"), [(2, 0.05)])
def test_a_killed_worker_changes_nothing(tmp_path, step, delay):
    X, y = large()
    given = {"n_landmarks": 200, "lam": 1e-5}
    pieces = enumerate(np.array_split(X, 20))
    parts = [dask.delayed(read)(piece, tmp_path, i) for i, piece in pieces]
    labels = [dask.delayed(piece) for piece in np.array_split(y, 20)]
    killers = []

    def kill():
        pid = next(iter(client.run(os.getpid).values()))
        killers.append(threading.Timer(delay, os.kill, [pid, signal.SIGKILL]))
        killers[0].start()

    watch = in_last_stage(step, kill)
    with cluster_of_two() as client, client.as_current():
        model = make_model(verbose=watch, **given).fit(parts, labels)
        killers[0].join()
    assert_same(model, make_model(**given).fit(X, y))
    reads = [len((tmp_path / str(i)).read_text("ascii")) for i in range(20)]
    # Each chunk is read to be counted and then to be cached, the first once more for
    # its columns. Chunks of the lost worker are read again, and no others.
    assert 2 * 20 + 1 < sum(reads) < 3 * 20 + 1


def pid_and_peak():
    return os.getpid(), peak()


@pytest.mark.slow
@pytest.mark.skipif(peak() is None, reason="the system does not report the peak")
def test_limits_of_memory_are_kept():
    limit = 600 * 10**6
    with cluster_of_two(memory_limit=limit) as client, client.as_current():
        rows = da.random.RandomState(0).uniform(size=(400_000, 10), chunks=(50_000, 10))
        labels = (da.sin(6 * rows[:, 0]) + rows[:, 1] > 0.6).astype(int)
        before = client.run(pid_and_peak)
        model = make_model(n_landmarks=300).fit(rows, labels)
        after = client.run(pid_and_peak)
    assert model.converged_
    assert {pid for pid, _ in before.values()} == {pid for pid, _ in after.values()}
    assert max(most for _, most in after.values()) < 0.9 * limit
