"""Threads and processes: the same bits as alone, no hang, and no more threads."""

import multiprocessing
import os
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info, threadpool_limits

from kreinlearn import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    LandmarkLogisticRegression,
)
from kreinlearn.estimators import logistic
from kreinlearn.kernels import _pairwise, gram, threads
from kreinlearn.operators import MAX_SINGLE_THREAD, one_thread

LIMIT = 120
"""Seconds after which a process is taken to hang; it takes one or two."""

needs_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="cannot fork here"
)
pytestmark = pytest.mark.filterwarnings(
    # of Python 3.12, for threads of BLAS that wait
    "ignore:.*use of fork:DeprecationWarning"
)


def rings(n, seed=0):
    X = np.random.default_rng(seed).uniform(size=(n, 3))
    return X, np.where(np.abs(X - 0.5).sum(axis=1) > 0.75, "out", "in")


def curves(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 12)).cumsum(axis=1)
    return X, np.where(X[:, -1] > X[:, 0], "up", "down")


MODELS = {
    "logistic": (KreinLogisticRegression(kernel="tl1"), rings(150)),
    "blocked": (
        KreinLogisticRegression(kernel="tl1", norm="euclidean", operator="blocked"),
        rings(200),
    ),
    "series": (KreinLogisticRegression(kernel="dtw"), curves(60)),
    "cv": (
        KreinLogisticRegressionCV(kernel="tl1", lams=[1.0, 0.1, 0.01], cv=3),
        rings(90),
    ),
    "landmarks": (
        LandmarkLogisticRegression(kernel="tl1", n_landmarks=20, random_state=0),
        rings(600),
    ),
    "more than one thread": (
        KreinLogisticRegression(kernel="tl1", lam=1.0),
        rings(logistic.SINGLE_THREAD_FIT + 20),
    ),
}


def fitted_bits(name, n_threads=1):
    """Return the predictions of a fitted model for its samples, as bytes."""
    model, (X, y) = MODELS[name]
    with threadpool_limits(n_threads):
        return clone(model).fit(X, y).decision_function(X).tobytes()


def all_bits(n_threads=1):
    return {name: fitted_bits(name, n_threads) for name in MODELS}


@pytest.fixture(scope="module")
def alone():
    """Return the bits of each model, fitted one after the other."""
    return all_bits()


@pytest.fixture
def many_threads(monkeypatch):
    """Let kernels start threads for little work, as on a machine of 8 processors."""
    monkeypatch.setattr(_pairwise, "TERMS_PER_THREAD", 1)
    monkeypatch.setattr(threads, "max_threads", lambda: 8)


def blas_threads():
    return {
        pool["filepath"]: pool["num_threads"]
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }


# -- the same bits ---------------------------------------------------------------------


def test_fits_in_threads_do_not_disturb_each_other(alone, many_threads):
    names = [*MODELS] * 3
    with ThreadPoolExecutor(6) as pool:
        bits = list(pool.map(fitted_bits, names))
    assert [
        name for name, each in zip(names, bits, strict=True) if each != alone[name]
    ] == []


def test_one_model_predicts_in_several_threads(many_threads):
    model, (X, y) = MODELS["logistic"]
    model = clone(model).fit(X, y)
    expected = model.decision_function(X).tobytes()
    with ThreadPoolExecutor(6) as pool:
        found = set(pool.map(lambda _: model.decision_function(X).tobytes(), range(20)))
    assert found == {expected}


@pytest.mark.slow
@needs_fork
def test_a_process_forked_after_parallel_work_fits_the_same(alone, many_threads):
    X = rings(1500)[0]
    with threadpool_limits(2):
        gram(X, kernel="tl1") @ gram(X, kernel="rbf")  # threads of kernels and of BLAS
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        for n_threads in (1, 2):
            expected = alone if n_threads == 1 else all_bits(2)
            for bits in pool.map_async(all_bits, [n_threads] * 2).get(LIMIT):
                assert bits == expected


@needs_fork
def test_a_process_forked_while_others_work_does_not_hang(alone, many_threads):
    """Locks that other threads hold while a process forks are free in its child."""
    ended = threading.Event()

    def disturb():
        X = rings(60)[0]
        while not ended.is_set():
            with one_thread():
                gram(X, kernel="tl1")

    with ThreadPoolExecutor(2) as pool:
        disturbers = [pool.submit(disturb) for _ in range(2)]
        try:
            context = multiprocessing.get_context("fork")
            for _ in range(5):
                ours, theirs = context.Pipe()
                child = context.Process(target=answer, args=(theirs, "logistic"))
                child.start()
                assert ours.poll(LIMIT), "the forked process hangs"
                assert ours.recv() == (alone["logistic"], 0)
                child.join()
        finally:
            ended.set()
    assert [each.result() for each in disturbers] == [None, None]


def answer(connection, name):
    connection.send((fitted_bits(name), threads._n_busy))


@pytest.mark.slow
def test_a_spawned_process_fits_the_same(alone):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(all_bits).result(LIMIT) == alone
        assert pool.submit(all_bits, 2).result(LIMIT) == all_bits(2)


@pytest.mark.slow
def test_processes_of_joblib_fit_the_same(alone):
    names = [*MODELS] * 2
    bits = Parallel(n_jobs=2)(delayed(fitted_bits)(name) for name in names)
    assert bits == [alone[name] for name in names]


def searched_bits(n_jobs, backend="loky"):
    grid = GridSearchCV(
        KreinLogisticRegression(kernel="tl1"),
        {"lam": [1.0, 0.01], "norm": ["krein", "hilbert"]},
        cv=3,
        scoring="neg_log_loss",
        n_jobs=n_jobs,
    )
    X, y = rings(90)
    with parallel_config(backend):
        grid.fit(X, y)
    scores = [grid.cv_results_[f"split{i}_test_score"].tobytes() for i in range(3)]
    return scores, grid.best_params_, grid.decision_function(X).tobytes()


@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)]
)
def test_a_search_finds_the_same_with_two_jobs(backend, many_threads):
    assert searched_bits(2, backend) == searched_bits(1)


def test_a_search_of_our_own_finds_the_same_with_two_jobs(many_threads):
    X, y = rings(90)
    grid = {"tau": [0.5, 1.0, 2.0]}
    bits = set()
    for n_jobs in (None, 2):
        model = KreinLogisticRegressionCV(
            kernel_grid=grid, lams=[1.0, 0.1], cv=3, n_jobs=n_jobs
        )
        bits.add(model.fit(X, y).decision_function(X).tobytes())
    assert len(bits) == 1


# -- no more threads than processors ---------------------------------------------------


def test_blas_has_its_threads_again_whoever_leaves_last():
    """The first to leave must not free those inside, nor the last keep the limit."""
    with threadpool_limits(2):
        before = blas_threads()
        with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
            first, second = one_thread(), one_thread()
            one.submit(first.__enter__).result()
            other.submit(second.__enter__).result()
            assert set(blas_threads().values()) == {1}
            one.submit(first.__exit__, None, None, None).result()
            assert set(blas_threads().values()) == {1}
            other.submit(second.__exit__, None, None, None).result()
            assert blas_threads() == before


def make_spy(seen):
    """Return a kernel that notes the threads of BLAS."""

    def kernel(X, Y):
        seen.update(blas_threads().values())
        return X @ Y.T

    return kernel


@pytest.mark.parametrize(
    "model",
    [
        KreinLogisticRegression(),
        KreinLogisticRegressionCV(norms=["euclidean"], lams=[1.0], cv=2),
    ],
    ids=["fit", "search"],
)
def test_blas_has_one_thread_beyond_the_size_of_eigendecompositions(model):
    seen = set()
    X, y = rings(MAX_SINGLE_THREAD + 1)
    with threadpool_limits(2):
        model.set_params(kernel=make_spy(seen)).fit(X, y)
    assert seen == {1}


def test_fits_above_the_limit_keep_the_threads_of_blas(monkeypatch):
    seen = set()
    monkeypatch.setattr(logistic, "SINGLE_THREAD_FIT", 30)
    with threadpool_limits(2):
        before = set(blas_threads().values())
        KreinLogisticRegression(kernel=make_spy(seen)).fit(*rings(40))
    assert seen == before


def test_small_fits_in_threads_have_one_thread_of_blas():
    seen = set()

    def fit(seed):
        X, y = rings(40, seed)
        KreinLogisticRegression(kernel=make_spy(seen)).fit(X, y)

    with threadpool_limits(2):
        before = blas_threads()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(fit, range(12)))
        assert blas_threads() == before
    assert seen == {1}


def most_at_once(n_callers, n_threads):
    """Return how many threads work at once where several share out their work."""
    change, running, most = threading.Condition(), 0, 0

    def work(first, last):
        nonlocal running, most
        with change:
            running += 1
            most = max(most, running)
            change.notify_all()
            # as many as there should be, however long a busy machine takes for them
            change.wait_for(lambda: most >= n_threads, LIMIT)
        time.sleep(0.001)
        with change:
            running -= 1

    with ThreadPoolExecutor(n_callers) as pool:
        calls = [
            pool.submit(threads.parallel_for, work, 200, n_threads)
            for _ in range(n_callers)
        ]
        for call in calls:
            call.result()
    return most


def test_callers_share_their_helpers(many_threads):
    assert most_at_once(1, 8) == 8
    # Eight callers and seven helpers, and not eight times eight.
    assert 8 <= most_at_once(8, 8) <= 15
    assert threads._n_busy == 0


def test_helpers_that_wait_are_lent(many_threads):
    with threads.thread_budget(7) as outer:
        with threads.thread_budget(7) as inner:
            assert (outer, inner, threads._n_busy) == (7, 7, 7)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(granted, 7).result() == 0
    with threads.thread_budget(3):
        with threads.thread_budget(5) as inner:
            assert (inner, threads._n_busy) == (5, 5)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(granted, 7).result() == 4
    assert threads._n_busy == 0


def granted(wanted):
    with threads.thread_budget(wanted) as count:
        return count


def test_helpers_are_given_back_after_an_error(many_threads):
    def fail(first, last):
        raise ValueError("no")

    for call in (
        lambda: threads.parallel_for(fail, 100, 4),
        lambda: threads.ordered_parallel(fail, fail, range(9), [0, 1], 4),
    ):
        with pytest.raises(ValueError, match="no"):
            call()
        assert threads._n_busy == 0


def tasks():
    """Return the threads of this process, Python's and others, as Linux names them."""
    return set(os.listdir("/proc/self/task"))


@pytest.mark.skipif(sys.platform != "linux", reason="lists threads as Linux does")
def test_no_thread_outlives_a_fit(many_threads):
    with threadpool_limits(2):  # BLAS starts what it had before a process was forked
        before, of_python = tasks(), set(threading.enumerate())
    for name in MODELS:
        fitted_bits(name)
    assert set(threading.enumerate()) <= of_python
    # Linux lists a thread for some milliseconds after Python has joined it.
    end = time.monotonic() + LIMIT
    while tasks() - before and time.monotonic() < end:
        time.sleep(0.001)
    assert tasks() <= before


def threads_here():
    """Return how many threads libraries and our own code have in this process."""
    fitted_bits("logistic")
    pools = [pool["num_threads"] for pool in threadpool_info()]
    return max([*pools, threads.max_threads()])


@pytest.mark.slow
def test_processes_of_joblib_share_the_processors():
    n_processors = len(os.sched_getaffinity(0))
    counts = Parallel(n_jobs=2)(delayed(threads_here)() for _ in range(4))
    assert max(counts) <= max(1, n_processors // 2)
