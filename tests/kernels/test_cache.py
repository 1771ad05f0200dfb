"""Measures block by block: progress, the cache on disk, the same to the last bit."""

import os

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.kernels import KERNELS, _cache, gram, measuring, multiply
from kreinlearn.kernels._cache import compute_measure, digest, iterate_measure_rows

N = 150
DOMAINS = [kernel for kernel in KERNELS.values() if kernel.check is not None]


def make_samples(kernel, n=N, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 12, n)
    if kernel.name == "histogram_wasserstein":
        return rng.dirichlet(np.ones(8), n)
    if kernel.samples == "series":
        return [rng.standard_normal(size) for size in sizes]
    if kernel.samples == "sequences":
        return ["".join(rng.choice(list("ACDEFGHIK"), size)) for size in sizes]
    if kernel.samples == "graphs":
        return [
            (int(k), [(i, int(rng.integers(0, i))) for i in range(1, k)], ["a"] * k)
            for k in sizes
        ]
    return [rng.standard_normal((size, 2)) for size in sizes]


def available(kernel):
    try:
        kernel.function(make_samples(kernel, 2))
    except ImportError as error:
        pytest.skip(str(error))
    return kernel


@pytest.fixture
def worth_it(monkeypatch):
    """Keep whatever is measured, and count the pairs that are."""
    monkeypatch.setattr(_cache, "MIN_CACHED_SECONDS", -1.0)
    calls = []
    measure = KERNELS["dtw"].measure
    function = measure.function

    def counting(X, Y=None, **params):
        calls.append(len(X) * len(X if Y is None else Y))
        return function(X, Y, **params)

    object.__setattr__(measure, "function", counting)
    yield calls
    object.__setattr__(measure, "function", function)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", DOMAINS, ids=lambda kernel: kernel.name)
def test_blocks_give_the_bits_of_the_whole(kernel):
    X = available(kernel).check(make_samples(kernel))
    whole = kernel.function(X, None)
    assert np.array_equal(compute_measure(kernel.measure, X, {}), whole)
    new = kernel.check(make_samples(kernel, seed=1))
    found = np.vstack([D for _, D in iterate_measure_rows(kernel.measure, new, X, {})])
    assert np.array_equal(found, kernel.function(new, X))


def test_gram_and_multiply_of_scores():
    X, Y = (
        make_samples(KERNELS["smith_waterman"]),
        make_samples(KERNELS["smith_waterman"]),
    )
    K = KERNELS["smith_waterman"](X, Y[:70])
    assert np.array_equal(gram(X, Y[:70], "smith_waterman"), K)
    B = np.arange(140.0).reshape(70, 2)
    np.testing.assert_allclose(multiply(X, Y[:70], B, "smith_waterman"), K @ B)
    assert multiply(X, Y[:70], B[:, 0], "smith_waterman").shape == (N,)


def test_a_bad_sample_is_named_by_its_place_among_all():
    X = make_samples(KERNELS["smith_waterman"])
    X[137] = "AC!G"
    with pytest.raises(ValueError, match="137"):
        gram(X, None, "smith_waterman")
    with pytest.raises(ValueError, match="137"):
        multiply(X, X[:5], np.ones(5), "smith_waterman")


def test_progress_is_reported():
    told = []
    X = KERNELS["dtw"].check(make_samples(KERNELS["dtw"]))
    with measuring(progress=lambda *row: told.append(row)):
        compute_measure(KERNELS["dtw"].measure, X, {})
    compute_measure(KERNELS["dtw"].measure, X, {})
    names, shares, left = zip(*told, strict=True)
    assert set(names) == {"dtw"}
    assert shares[0] == pytest.approx(1 - (86 / 150) ** 2)
    assert list(shares) == sorted(shares)
    assert shares[-1] == 1 and left[-1] == 0 and min(left) >= 0


def test_verbose_prints_progress(capsys):
    X = make_samples(KERNELS["dtw"])
    y = np.arange(N) % 2
    KreinLogisticRegression(kernel="dtw", verbose=1).fit(X, y)
    assert "100%" in capsys.readouterr().out


def test_the_second_run_reads(tmp_path, worth_it):
    kernel = KERNELS["dtw"]
    X = kernel.check(make_samples(kernel))
    with measuring(cache=tmp_path / "made"):
        first = compute_measure(kernel.measure, X, {"window": 0.5})
        computed = sum(worth_it)
        again = compute_measure(kernel.measure, X, {"window": 0.5})
        assert sum(worth_it) == computed
        compute_measure(kernel.measure, X, {"window": 0.6})
        assert sum(worth_it) == 2 * computed
        compute_measure(kernel.measure, X[::-1], {"window": 0.5})
        assert sum(worth_it) == 3 * computed
    assert np.array_equal(first, again)
    assert len(list((tmp_path / "made").iterdir())) == 3


def test_estimators_use_the_folder_that_the_environment_names(
    tmp_path, monkeypatch, worth_it
):
    X, y = make_samples(KERNELS["dtw"]), np.arange(N) % 2
    monkeypatch.setenv("KREINLEARN_CACHE", str(tmp_path))
    KreinLogisticRegression(kernel="dtw").fit(X, y)
    computed = sum(worth_it)
    search = KreinLogisticRegressionCV(kernel="dtw", lams=[1e-2], cv=2, average=False)
    search.fit(X, y)
    assert sum(worth_it) == computed
    monkeypatch.setenv("KREINLEARN_CACHE", "off")
    KreinLogisticRegression(kernel="dtw").fit(X, y)
    assert sum(worth_it) == 2 * computed


def test_quick_measures_are_not_kept(tmp_path):
    X = KERNELS["dtw"].check(make_samples(KERNELS["dtw"]))
    with measuring(cache=tmp_path):
        compute_measure(KERNELS["dtw"].measure, X, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "grow", "removed", "folder"])
def test_damaged_blocks_are_computed_again(tmp_path, worth_it, damage):
    kernel = KERNELS["dtw"]
    X = kernel.check(make_samples(kernel))
    with measuring(cache=tmp_path):
        whole = compute_measure(kernel.measure, X, {})
        (folder,) = tmp_path.iterdir()
        path = folder / "64-128.f8"
        content = path.read_bytes()
        if damage == "cut":
            path.write_bytes(content[: len(content) // 2])
        elif damage == "empty":
            path.write_bytes(b"")
        elif damage == "grow":
            path.write_bytes(content + b"half a block")
        else:
            path.unlink()
        if damage == "folder":
            path.mkdir()
            with pytest.warns(UserWarning, match="could not be kept"):
                assert np.array_equal(compute_measure(kernel.measure, X, {}), whole)
            return
        worth_it.clear()
        assert np.array_equal(compute_measure(kernel.measure, X, {}), whole)
        assert 0 < sum(worth_it) < N * N
        worth_it.clear()
        assert np.array_equal(compute_measure(kernel.measure, X, {}), whole)
        assert sum(worth_it) == 0


def test_a_read_only_folder_warns_once(tmp_path, worth_it):
    (tmp_path / "file").write_text("no folder")
    X = KERNELS["dtw"].check(make_samples(KERNELS["dtw"]))
    with measuring(cache=tmp_path / "file"), pytest.warns(UserWarning) as said:
        D = compute_measure(KERNELS["dtw"].measure, X, {})
    assert len(said) == 1 and "could not be kept" in str(said[0].message)
    assert np.array_equal(D, KERNELS["dtw"](X))


def test_old_files_make_room(tmp_path, worth_it, monkeypatch):
    size = 8 * (N * N + 64 * 64) // 2
    monkeypatch.setattr(_cache, "MAX_CACHE_BYTES", 3 * size)
    kernel = KERNELS["dtw"]
    X = kernel.check(make_samples(kernel))
    with measuring(cache=tmp_path):
        for k, window in enumerate([0.2, 0.4, 0.6]):
            compute_measure(kernel.measure, X, {"window": window})
            for path in tmp_path.iterdir():
                os.utime(path, (k, k)) if path.stat().st_mtime > 10 else None
        assert len(list(tmp_path.iterdir())) == 2
        worth_it.clear()
        compute_measure(kernel.measure, X, {"window": 0.6})
        assert sum(worth_it) == 0
        monkeypatch.setattr(_cache, "MAX_CACHE_BYTES", 100)
        with pytest.warns(UserWarning, match="more than there is room for"):
            compute_measure(kernel.measure, X, {"window": 0.8})


def test_content_decides():
    a = np.arange(3.0)
    assert digest([a, "x", None, 1]) == digest([a.copy(), "x", None, 1])
    different = [
        [a],
        [a, a],
        [[a, a]],
        [a.astype("f4")],
        [a[:, None]],
        ["ab", "c"],
        ["a", "bc"],
        [1],
        [1.0],
        ["1"],
        {"a": 1},
        {"b": 1},
    ]
    assert len({digest(each) for each in different}) == len(different)
    assert digest([lambda: None]) is None


def test_content_that_cannot_be_pickled_is_not_stored(tmp_path, worth_it):
    class Odd(float):
        pass

    X = KERNELS["dtw"].check(make_samples(KERNELS["dtw"], 70))
    with measuring(cache=tmp_path):
        compute_measure(KERNELS["dtw"].measure, X, {"window": Odd(0.2)})
        compute_measure(KERNELS["dtw"].measure, X, {"window": Odd(0.9)})
    assert list(tmp_path.iterdir()) == []


def test_a_search_measures_new_samples_once(monkeypatch):
    X = make_samples(KERNELS["dtw"], 60)
    y = np.arange(60) % 2
    model = KreinLogisticRegressionCV(kernel="dtw", lams=[1e-2], cv=2).fit(X, y)
    assert len(model.estimators_) > 1
    measure = KERNELS["dtw"].measure
    function, pairs = measure.function, []

    def counting(X, Y=None, **params):
        pairs.append(len(X) * len(Y))
        return function(X, Y, **params)

    each = [one.decision_function(X[:7]) for one in model.estimators_]
    object.__setattr__(measure, "function", counting)
    try:
        scores = model.decision_function(X[:7])
    finally:
        object.__setattr__(measure, "function", function)
    assert sum(pairs) == 7 * 60
    np.testing.assert_allclose(scores, model.weights_ @ each, rtol=1e-12)
