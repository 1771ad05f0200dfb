import numpy as np
import pytest
from scipy.special import expit, log_expit, log_softmax, softmax

from kreinlearn.losses import (
    LOG_FLOOR,
    Logistic,
    Multinomial,
    find_link,
    log_probabilities,
    logarithmic_mean,
    loss_for,
)

LOSSES = {"logistic": (Logistic(), 1), "multinomial": (Multinomial(), 4)}


def block(rng, columns, n=30, problems=3):
    F = 3 * rng.standard_normal((n, problems, columns))
    if columns == 1:
        Y = rng.integers(0, 2, F.shape).astype(float)
    else:
        Y = np.eye(columns)[rng.integers(0, columns, (n, problems))]
    return Y, F


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_matches_finite_differences(name, rng):
    loss, columns = LOSSES[name]
    Y, F = block(rng, columns)
    step = 1e-6
    for c in range(columns):
        E = np.zeros(columns)
        E[c] = step
        slope = (loss.value(Y, F + E) - loss.value(Y, F - E)) / (2 * step)
        np.testing.assert_allclose(-loss.error(Y, loss.at(F))[..., c], slope, atol=1e-8)


@pytest.mark.parametrize("name", LOSSES)
def test_hessian_is_the_metric_at_one_point(name, rng):
    loss, columns = LOSSES[name]
    Y, F = block(rng, columns)
    V = rng.standard_normal(F.shape)
    step = 1e-6
    ahead, behind = loss.at(F + step * V), loss.at(F - step * V)
    change = loss.error(Y, ahead) - loss.error(Y, behind)
    metric = loss.metric(loss.at(F), loss.at(F))
    T = loss.root(metric, np.ones(F.shape[:2]))
    product = T.apply(T.apply_t(V))
    np.testing.assert_allclose(product, -change / (2 * step), atol=1e-8)
    assert metric.max() <= 1.0


@pytest.mark.parametrize("name", LOSSES)
def test_metric_is_a_secant(name, rng):
    loss, columns = LOSSES[name]
    _, F = block(rng, columns)
    p, b = loss.at(F + 4 * rng.standard_normal(F.shape)), loss.at(F)
    scale = rng.uniform(size=F.shape[:2])
    T = loss.root(loss.metric(p, b), scale)
    moved = T.apply(T.apply_t(loss.logits(p) - loss.logits(b)))
    np.testing.assert_allclose(moved, scale[..., None] * (p.q - b.q), atol=1e-14)


@pytest.mark.parametrize("name", LOSSES)
def test_outer_sums_the_metric(name, rng):
    loss, columns = LOSSES[name]
    Y, F = block(rng, columns)
    scale = rng.uniform(size=F.shape[:2])
    metric = loss.metric(loss.at(F), loss.at(F))
    outer = loss.outer(metric, scale)
    T = loss.root(metric, scale)
    for d in range(columns):
        e = np.zeros(F.shape)
        e[..., d] = 1.0
        column = T.apply(T.apply_t(e)).sum(0)
        np.testing.assert_allclose(outer[..., d], column, atol=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_moves_stay_inside_and_are_exact(name, rng):
    loss, columns = LOSSES[name]
    _, Z = block(rng, columns)
    dQ = rng.standard_normal(Z.shape)
    if columns > 1:
        dQ -= dQ.mean(axis=-1, keepdims=True)
    p = loss.at(Z)
    largest = loss.largest_step(p, dQ)
    moved = loss.move(p, dQ, 0.99 * largest)
    expected = p.q + 0.99 * largest[..., None] * dQ
    np.testing.assert_allclose(moved.q, expected, atol=1e-12)
    np.testing.assert_allclose(moved.log_q, np.log(expected), atol=1e-9)
    np.testing.assert_allclose(loss.at(loss.logits(moved)).q, expected, atol=1e-12)
    beyond = p.q + 1.01 * largest[..., None] * dQ
    assert np.all((beyond < 0).any(axis=-1) | (beyond > 1).any(axis=-1))


@pytest.mark.parametrize("name", LOSSES)
def test_entropy_is_that_of_the_probabilities(name, rng):
    loss, columns = LOSSES[name]
    _, Z = block(rng, columns)
    Q = loss.at(Z).q
    if columns == 1:
        naive = (Q * np.log(Q) + (1 - Q) * np.log(1 - Q))[..., 0]
    else:
        naive = (Q * np.log(Q)).sum(axis=-1)
    np.testing.assert_allclose(loss.entropy(loss.at(Z)), naive, atol=1e-12)


def test_probabilities_are_the_usual_ones(rng):
    Z = rng.standard_normal((5, 2, 3))
    many, two = Multinomial().at(Z), Logistic().at(Z[..., :1])
    np.testing.assert_allclose(many.q, softmax(Z, axis=-1))
    np.testing.assert_allclose(many.log_q, log_softmax(Z, axis=-1))
    np.testing.assert_allclose(two.q, expit(Z[..., :1]))
    np.testing.assert_allclose(two.r, expit(-Z[..., :1]))
    np.testing.assert_allclose(two.log_q, log_expit(Z[..., :1]))
    np.testing.assert_allclose(two.log_r, log_expit(-Z[..., :1]))


@pytest.mark.parametrize("name", LOSSES)
def test_problems_are_taken_and_concatenated(name, rng):
    loss, columns = LOSSES[name]
    p = loss.at(block(rng, columns)[1])
    again = p.take([2]).concat(p.take([0, 1]))
    for array, expected in zip(again, p.take([2, 0, 1]), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_extreme_logits_stay_finite():
    Z = np.array([-700.0, 700.0, 0.0])[:, None, None]
    F = np.array([-1e6, -1e6, 1e6])[:, None, None]
    loss = Logistic()
    p, b, Y = loss.at(Z), loss.at(F), np.ones_like(Z)
    gap = loss.logits(p) - loss.logits(b)
    for array in (loss.metric(p, b), loss.entropy(p), loss.error(Y, b), gap):
        assert np.isfinite(array).all()
    bound = loss.move(p, -p.q, np.ones((3, 1)))
    assert loss.logits(bound).min() >= LOG_FLOOR


def test_logarithmic_mean_lies_between():
    p, q = np.array([1e-8, 0.3, 0.5]), np.array([1e-2, 0.3, 0.5 + 1e-12])
    mean = logarithmic_mean(p, q, np.log(p), np.log(q))
    assert np.all(mean >= p * (1 - 1e-12)) and np.all(mean <= q * (1 + 1e-12))
    assert mean[0] == pytest.approx((p[0] - q[0]) / np.log(p[0] / q[0]))


def test_one_versus_rest_of_huge_scores_sums_to_one():
    scores = np.array([[0.0, -7.6e15, -1.0], [-5e14, -5e14 - 2, -1e15], [-3e15] * 3])
    P = np.exp(log_probabilities(scores, "ovr"))
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(P[1], expit([2, -2, -np.inf]), atol=1e-12)


@pytest.mark.parametrize("ratio", [1e-6, 0.9e-3, 0.9999e-3, 1.0001e-3, 0.1, 5.0])
def test_logarithmic_mean_keeps_its_digits(ratio):
    q = np.array([1e-3, 0.2, 0.7], dtype=np.longdouble)
    for sign in (1, -1):
        delta = np.longdouble(sign * ratio)
        p = q * np.exp(delta)
        true = q * np.expm1(delta) / delta
        double = (
            np.array(x, dtype=float) for x in (p, q, np.log(q) + delta, np.log(q))
        )
        # What is left is the rounding of the logarithms, divided by their difference.
        error = max(3e-15 / ratio, 1e-15) if ratio > 1e-3 else 1e-13
        np.testing.assert_allclose(
            logarithmic_mean(*double), np.array(true, dtype=float), rtol=error
        )


@pytest.mark.parametrize("name", LOSSES)
def test_no_step_is_too_long_where_nothing_moves(name):
    loss, columns = LOSSES[name]
    p = loss.at(np.zeros((3, 1, columns)))
    still = loss.largest_step(p, np.zeros((3, 1, columns)))
    tiny = loss.largest_step(p, np.full((3, 1, columns), -1e-310))
    assert (still == np.inf).all() and (tiny == np.inf).all()
    # One that does not move keeps logarithms that its probability has lost, and has no
    # bound: neither at zero nor, with two classes, at one.
    for score in (-2000.0, 2000.0):
        far = loss.at(np.array([score] + [0.0] * (columns - 1))[None, None])
        lost, log_lost = (np.concatenate(pair, -1) for pair in (far[::2], far[1::2]))
        assert lost.min() == 0 and log_lost.min() <= -1999
        kept = loss.move(far, np.zeros(far.q.shape), np.ones((1, 1)))
        for array, expected in zip(kept, far, strict=True):
            np.testing.assert_array_equal(array, expected)
        assert loss.largest_step(far, np.zeros(far.q.shape)) == np.inf


def test_steps_beyond_the_walls_have_no_logarithms_below_the_floor():
    loss = Logistic()
    p = loss.at(np.zeros((2, 1, 1)))
    step = np.array([0.5, -0.5])[:, None, None]
    on_walls = loss.move(p, step, np.ones((2, 1)))
    assert on_walls.log_q[1, 0, 0] == on_walls.log_r[0, 0, 0] == LOG_FLOOR
    many = Multinomial()
    p = many.at(np.zeros((1, 1, 2)))
    bound = many.move(p, np.array([[[0.5, -0.5]]]), np.ones((1, 1)))
    np.testing.assert_allclose(bound.log_q[0, 0], [0.0, LOG_FLOOR])
    # Beyond them there are none, without a warning: line searches shorten the step.
    outside = loss.move(loss.at(np.zeros((2, 1, 1))), step, np.full((2, 1), 2.0))
    assert np.isnan(outside.log_q[1]).all() and np.isnan(outside.log_r[0]).all()
    outside = many.move(p, np.array([[[0.5, -0.5]]]), np.full((1, 1), 2.0))
    np.testing.assert_allclose(outside.log_q[0, 0], [np.log(1.5), np.nan])


def test_links_and_their_probabilities(rng):
    assert (find_link(2, True), find_link(2, False)) == ("logistic", "logistic")
    assert (find_link(3, True), find_link(3, False)) == ("multinomial", "ovr")
    assert isinstance(loss_for(True), Multinomial)
    assert isinstance(loss_for(False), Logistic)
    f, F = rng.standard_normal((5, 1)), rng.standard_normal((5, 3))
    two = np.exp(log_probabilities(f, "logistic"))
    np.testing.assert_allclose(two, np.hstack([expit(-f), expit(f)]))
    many = np.exp(log_probabilities(F, "multinomial"))
    np.testing.assert_allclose(many, softmax(F, axis=1))
    rest = np.exp(log_probabilities(F, "ovr"))
    np.testing.assert_allclose(rest, expit(F) / expit(F).sum(axis=1, keepdims=True))
    # Classes are the last axis, however many there are before it.
    for scores, link in ((f, "logistic"), (F, "multinomial"), (F, "ovr")):
        found = log_probabilities(np.stack([scores, -scores]), link)
        each = [log_probabilities(part, link) for part in (scores, -scores)]
        np.testing.assert_array_equal(found, np.stack(each))


def test_values_are_logarithms_of_probabilities(rng):
    for loss, columns in LOSSES.values():
        Y, F = block(rng, columns)
        p = loss.at(F)
        own = (Y * p.log_q + (1 - Y) * p.log_r) if columns == 1 else Y * p.log_q
        np.testing.assert_allclose(loss.value(Y, F), -own.sum(axis=-1))
