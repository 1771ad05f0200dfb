import numpy as np
import pytest

from kreinlearn.kernels import gram, resolve_kernel
from kreinlearn.landmarks.engine import Engine, ThreadExecutor
from kreinlearn.landmarks.passes import (
    PassContext,
    Point,
    SamplingPlan,
    class_pairs,
    encode_rows,
    fit_columns,
    sum_held_out_losses,
    sum_hessians,
    sum_losses,
)
from kreinlearn.landmarks.sources import (
    LANDMARK_STREAM,
    SUBSAMPLE_STREAM,
    Chunk,
    MemorySource,
    draw_folds,
    draw_uniform,
)
from kreinlearn.losses import log_probabilities

N, M = 90, 7
PLAN = SamplingPlan(3, 10, 5)


def local_engine(source, memory, dtype=None, n_threads=None):
    return Engine(ThreadExecutor(source, memory, n_threads), dtype)


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(N, 4))
    y = np.array(["a", "b", "c"])[rng.integers(3, size=N)]
    return X, y, rng.uniform(0.5, 2.0, N)


def make_context(X, multinomial, classes=("a", "b", "c")):
    factors = np.linspace(1.0, 2.0, len(classes))
    columns = fit_columns(resolve_kernel("tl1"), X[:M])
    return PassContext(columns, np.array(classes), factors, multinomial, PLAN)


def make_point(rng, multinomial):
    """Two folds and none, and one-versus-rest problems of each class."""
    P, C = (3, 3) if multinomial else (9, 1)
    fold = np.array([-1, 0, 2]) if multinomial else np.repeat([-1, 0, 2], 3)
    positive = np.tile(np.arange(3), 3)[:P]
    return Point(rng.standard_normal((M + 1, P, C)), positive, fold)


def loss_naive(B, X, y, w, context, point, p):
    """Sum of weighted losses of a problem, row by row."""
    folds = draw_folds(np.arange(len(X)), 3, 5)
    total = 0.0
    for x, label, weight, fold in zip(X, y, w, folds, strict=True):
        if fold == point.fold[p]:
            continue
        c = list(context.classes).index(label)
        f = np.append(gram(x[None], X[:M])[0], 1.0) @ B
        if context.multinomial:
            loss = np.log(np.exp(f).sum()) - f[c]
        else:
            sign = 1 if c == point.positive[p] else -1
            loss = np.log1p(np.exp(-sign * f[0]))
        total += weight * context.factors[c] * loss
    return total


def make_block(X, y, w, context):
    A = np.column_stack([context.columns(X), np.ones(len(X))])
    return A, encode_rows(Chunk(X, y, w), 0, context)


@pytest.mark.parametrize("multinomial", [False, True])
def test_sums_are_those_of_plain_loops(data, rng, multinomial):
    context, point = make_context(data[0], multinomial), make_point(rng, multinomial)
    sums = sum_losses(*make_block(*data, context), context, point)
    for p in range(len(point.fold)):
        B = point.B[:, p]
        naive = loss_naive(B, *data, context, point, p)
        np.testing.assert_allclose(sums.value[p], naive, rtol=1e-12)
        for i, c in [(0, 0), (3, B.shape[1] - 1), (M, 0)]:
            step = np.zeros_like(B)
            step[i, c] = 1e-5
            ends = [loss_naive(B + s * step, *data, context, point, p) for s in (1, -1)]
            slope = (ends[0] - ends[1]) / 2e-5
            np.testing.assert_allclose(sums.gradient[i, p, c], slope, rtol=1e-6)


@pytest.mark.parametrize("multinomial", [False, True])
def test_hessians_are_differences_of_gradients(data, rng, multinomial):
    context, point = make_context(data[0], multinomial), make_point(rng, multinomial)
    A, rows = make_block(*data, context)
    C = point.B.shape[2]
    groups = [np.array([p]) for p in range(len(point.fold))] + [np.array([0, 1])]
    found = sum_hessians(A, rows, context, point, groups)
    for g, group in enumerate(groups):
        for b, (c, d) in enumerate(class_pairs(C)):
            for j in (0, M):
                step = np.zeros_like(point.B)
                step[j, :, d] = 1e-5
                ends = [
                    sum_losses(
                        A, rows, context, Point(point.B + s * step, *rest(point))
                    )
                    for s in (1, -1)
                ]
                slope = (ends[0].gradient - ends[1].gradient)[:, group, c] / 2e-5
                expected = slope.mean(axis=1)
                np.testing.assert_allclose(found[g, b, :, j], expected, atol=1e-5)


def rest(point):
    return point.positive, point.fold


@pytest.mark.parametrize(
    ("multinomial", "link"), [(True, "multinomial"), (False, "ovr")]
)
def test_held_out_losses_are_those_of_probabilities(data, rng, multinomial, link):
    X, y, w = data
    context, point = make_context(X, multinomial), make_point(rng, multinomial)
    A, rows = make_block(X, y, w, context)
    found = sum_held_out_losses(A, rows, context, point, link)
    F = (A @ point.B.reshape(M + 1, -1)).reshape(N, 3, 3)
    folds = draw_folds(np.arange(N), 3, 5)
    for model, fold in enumerate([-1, 0, 2]):
        logs = log_probabilities(F[:, model], link)[np.arange(N), rows.classes]
        expected = -(w * logs)[folds == fold].sum()
        np.testing.assert_allclose(found[model], expected, rtol=1e-12)


@pytest.mark.parametrize("multinomial", [False, True])
@pytest.mark.parametrize("chunk_size", [1, 13, 90])
@pytest.mark.parametrize("memory", [0, 2000, 10**6])
def test_engines_give_the_sums_of_all_rows(data, rng, multinomial, chunk_size, memory):
    X, y, w = data
    context, point = make_context(X, multinomial), make_point(rng, multinomial)
    A, rows = make_block(X, y, w, context)
    engine = local_engine(MemorySource(X, y, w, chunk_size), memory, n_threads=2)
    engine.summarize(PLAN)
    engine.prepare(context)
    engine.block = 8
    for fraction in (1.0, 0.4):
        some = draw_uniform(np.arange(N), 5, SUBSAMPLE_STREAM) < fraction
        part = A[some], rows.take(some), context, point
        expected = sum_losses(*part)
        for precision in ("cached", "double", "cached"):
            found = engine.sums(point, fraction, precision)
            np.testing.assert_allclose(found.value, expected.value, rtol=1e-12)
            scale = np.abs(expected.gradient).max()
            gap = np.abs(found.gradient - expected.gradient).max()
            assert gap < 1e-12 * scale
        groups = [np.array([0, 1])]
        H = engine.hessians(point, groups, fraction)
        np.testing.assert_allclose(H, sum_hessians(*part, groups), rtol=1e-10)
        total = engine.weights(fraction)
        assert total.shape == (3, 3)
        np.testing.assert_allclose(total.sum(), w[some].sum())
    n_cached = sum(map(len, engine.executor.cached))
    assert (n_cached == N) == (memory == 10**6)
    assert (n_cached == 0) == (memory == 0 or chunk_size == 90 > memory / 56)


@pytest.mark.parametrize("chunk_size", [1, 13, 90])
def test_the_first_pass_does_not_depend_on_chunks(data, chunk_size):
    X, y, w = data
    w = np.where(np.arange(N) % 4 == 0, 0.0, w)
    y = np.where(np.arange(N) == N - 1, "z", y)  # first seen in the last chunk
    found = local_engine(MemorySource(X, y, w, chunk_size), 0).summarize(PLAN)
    assert found.labels.tolist() == ["a", "b", "c", "z"]
    assert (found.n_rows, found.n_used) == (N, (w > 0).sum())
    folds = draw_folds(np.arange(N), 3, 5)
    for i, label in enumerate(found.labels):
        for f in range(3):
            mask = (y == label) & (folds == f)
            assert found.counts[i, f] == mask.sum()
            np.testing.assert_allclose(found.weights[i, f], w[mask].sum())
    used = np.flatnonzero(w > 0)
    smallest = used[np.argsort(draw_uniform(used, 5, LANDMARK_STREAM))[:10]]
    np.testing.assert_array_equal(found.row, np.sort(smallest))
    np.testing.assert_array_equal(found.samples, X[found.row])
    np.testing.assert_array_equal(found.label, y[found.row])
    np.testing.assert_array_equal(found.weight, w[found.row])


def test_a_label_that_was_not_there_is_one_sentence(data):
    X, y, w = data
    context = make_context(X, True, classes=("a", "b"))
    with pytest.raises(ValueError, match=r"the same rows in every pass"):
        encode_rows(Chunk(X, y, w), 0, context)
