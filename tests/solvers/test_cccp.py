import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from kreinlearn.operators import Dense
from kreinlearn.problem import KreinRisk
from kreinlearn.solvers import (
    AS_PRINTED,
    CCCP,
    PUBLISHED,
    SGD,
    GradientDescent,
    Status,
)
from kreinlearn.solvers.cccp import MAX_INNER_STEPS, _as_read
from kreinlearn.solvers.gradient import InnerResult
from kreinlearn.solvers.monitor import Printer, callback_for
from kreinlearn.spectrum import split
from tests.conftest import gram_of_signature

SAFE = GradientDescent(step="lipschitz")
INNER_STEPS = pytest.mark.parametrize(
    "inner_steps",
    [1000, pytest.param(MAX_INNER_STEPS, marks=pytest.mark.slow)],
)
"""Where an inner problem has no minimum, all steps that are allowed are taken."""


def risk(K, y, lam, mode="paper", **settings):
    n = len(y)
    parts = split(Dense(K), mode)
    return KreinRisk(
        Dense(K), parts, y.astype(float), np.full(n, 1 / n), lam, **settings
    )


def small(signature=(20, 10), seed=0):
    K = gram_of_signature(*signature, scale=0.02, seed=seed)
    f = K @ np.random.default_rng(1).standard_normal(len(K))
    return K, np.where(f > np.median(f), 1, -1)


def algorithm_one(
    K,
    y,
    lam,
    eps,
    rng=None,
    a=None,
    *,
    shrink="step",
    loss="mean",
    stop="mean",
    max_inner=10**9,
    tau_margin=1.01,
):
    """Algorithm 1 of the paper, with a full eigendecomposition.

    By default to the letter; ``lam`` is always that of the mean loss.
    """
    n = len(y)
    mu, V = np.linalg.eigh(K)
    tau = tau_margin * max(0.0, -mu[0])
    K_plus = (V * (np.maximum(mu, 0) + tau)) @ V.T
    K_minus = (V * (np.maximum(-mu, 0) + tau)) @ V.T
    a = np.zeros(n) if a is None else a
    total = n if loss == "sum" else 1
    unit = {"mean": 1, "sum": n}[stop]
    eta, rho, k_max = 0.02, 0.8, 20
    for _ in range(k_max):
        grad_h = lam * K_minus @ a
        base = a

        def surrogate(a, grad_h=grad_h, base=base):
            h = lam / 2 * base @ K_minus @ base + grad_h @ (a - base)
            mean_loss = np.log1p(np.exp(-y * (K @ a))).mean()
            return lam / 2 * a @ K_plus @ a + mean_loss - h

        value = surrogate(a)
        for _ in range(max_inner):
            beta = 1 / (1 + np.exp(y * (K @ a)))
            if rng is None:
                push = K @ (y * beta) / n
            else:
                j = rng.integers(n, size=1)[0]
                push = y[j] * K[:, j] * beta[j]
            a = a - eta * total * (lam * K_plus @ a - push - grad_h)
            new = surrogate(a)
            if shrink == "step" or (shrink == "increase" and new > value):
                eta = rho * eta
            if unit * abs(new - value) <= eps:
                break
            value = new
        if shrink == "outer":
            eta = rho * eta
    return a


@pytest.mark.parametrize("name", ["cccp-gd", "ccicp-gd"])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0])
def test_gd_variants_are_algorithm_one(name, lam):
    K, y = small()
    solver = AS_PRINTED[name]
    assert solver.outer_iter == 20 and solver.inner == GradientDescent(
        "paper", 0.02, 0.8
    )
    assert solver.eps == {"cccp-gd": 1e-4, "ccicp-gd": 1.0}[name]
    result = solver.solve(risk(K, y, lam, fit_intercept=False), tol=1e-12)
    expected = algorithm_one(K, y, lam, solver.eps)
    np.testing.assert_allclose(result.w, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", ["ccicp-sgd", "ccicp-sgd-i"])
def test_sgd_variants_are_algorithm_one(name):
    K, y = small()
    solver, problem = AS_PRINTED[name], risk(K, y, 0.1, fit_intercept=False)
    assert PUBLISHED[f"{name}-as-printed"] is solver
    result = solver.solve(problem, tol=1e-12, rng=np.random.default_rng(5))
    expected = algorithm_one(K, y, 0.1, solver.eps, np.random.default_rng(5))
    np.testing.assert_allclose(result.w, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("shrink", ["step", "outer", "increase"])
@pytest.mark.parametrize("loss", ["mean", "sum"])
@pytest.mark.parametrize("stop", ["mean", "sum"])
@pytest.mark.parametrize("max_inner", [1, 40])
@pytest.mark.parametrize("stochastic", [False, True])
def test_readings_are_algorithm_one_with_other_data(
    shrink, loss, stop, max_inner, stochastic
):
    K, y = small()
    n, lam = len(y), 0.05
    kind = SGD if stochastic else GradientDescent
    solver = CCCP(
        inner=kind(shrink=shrink),
        eps=1e-3,
        loss_scale=loss,
        stop_on=stop,
        max_inner=max_inner,
    )
    scale = float(n) if loss == "sum" else 1.0
    problem = risk(K, y, lam, fit_intercept=False, scale=scale)
    result = solver.solve(problem, tol=1e-14, rng=np.random.default_rng(5))
    rng = np.random.default_rng(5) if stochastic else None
    reading = {"shrink": shrink, "loss": loss, "stop": stop, "max_inner": max_inner}
    expected = algorithm_one(K, y, lam, 1e-3, rng, **reading)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(result.w, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_block_is_its_problems_one_by_one(name):
    K, y = small()
    n, solver = len(y), PUBLISHED[name]
    scale = float(n) if solver.loss_scale == "sum" else 1.0
    labels = np.column_stack([y, -y, np.roll(y, 1), y, y]).astype(float)
    lams = np.array([0.1, 1e-3, 0.02, 5.0, 1e-4])
    block = risk(K, labels, lams, scale=scale)
    rngs = [np.random.default_rng(j) for j in range(5)]
    together = solver.solve(block, tol=1e-12, rng=rngs)
    for j in range(5):
        one = solver.solve(block.take(j), tol=1e-12, rng=np.random.default_rng(j))
        np.testing.assert_allclose(together.w[:, j], one.w, rtol=1e-8, atol=1e-10)
        assert together.status[j] == one.status[0]
        assert together.n_iter[j] == one.n_iter[0]


def test_the_reading_differs_from_the_letter_in_data_only():
    for name, letter in AS_PRINTED.items():
        reading = PUBLISHED[name]
        assert type(reading.inner) is type(letter.inner)
        assert (reading.eps, reading.outer_iter) == (letter.eps, letter.outer_iter)
        assert (letter.inner.shrink, reading.inner.shrink) == ("step", "outer")
        kind, loss = (SGD, "mean") if "sgd" in name else (GradientDescent, "sum")
        expected = CCCP(
            kind(shrink="outer"),
            letter.eps,
            loss_scale=loss,
            stop_on="mean",
            max_inner=100,
        )
        assert reading == expected == _as_read(letter)
    rates = [
        row["rate"]
        for row in PUBLISHED["ccicp-gd"].solve(risk(*small(), 0.1), tol=1e-12).history
    ]
    np.testing.assert_allclose(rates[1:], 0.02 * 0.8 ** np.arange(1, 21))


def test_settings_with_a_wrong_word_are_refused():
    problem = risk(*small(), 0.1)
    for solver, said in [
        (CCCP(stop_on="change"), "'stop_on' must be one of 'mean', 'sum'"),
        (CCCP(loss_scale="n"), "'loss_scale' must be one of"),
        (CCCP(inner=GradientDescent(shrink="never")), "'shrink' must be one of"),
    ]:
        with pytest.raises(ValueError, match=said):
            solver.solve(problem, tol=1e-6)


@pytest.mark.parametrize(
    ("init", "expected"), [("zeros", 0.0), ("ones", 1.0), ("minus-ones", -1.0)]
)
def test_constant_starts(init, expected):
    K, y = small()
    problem = risk(K, y, 0.1)
    start = CCCP(init=init).start(problem, np.random.default_rng(0))
    assert np.all(start[:-1] == expected) and start[-1] == 0


def test_random_and_given_starts():
    K, y = small()
    problem = risk(K, y, 0.1, fit_intercept=False)
    start = CCCP(init="uniform").start(problem, np.random.default_rng(0))
    assert 0 < start.min() < start.max() < 1 and start.shape == (30,)
    given = CCCP(init=np.full(30, 0.5)).start(problem, np.random.default_rng(0))
    assert np.all(given == 0.5)
    with pytest.raises(ValueError, match=r"shape \(30,\), got shape \(2,\)"):
        CCCP(init=np.zeros(2)).start(problem, np.random.default_rng(0))
    with pytest.raises(ValueError, match="'minus-ones', 'uniform'.*got 'random'"):
        CCCP(init="random").start(problem, np.random.default_rng(0))


@INNER_STEPS
@pytest.mark.parametrize("mode", ["paper", "tight", "shift"])
def test_accurate_inner_solves_never_increase_the_objective(mode, inner_steps):
    K, y = small()
    solver = CCCP(inner=SAFE, eps=1e-7, outer_iter=6, max_inner=inner_steps)
    result = solver.solve(risk(K, y, 0.05, mode), tol=1e-12)
    values = [row["value"] for row in result.history]
    assert values == sorted(values, reverse=True)
    assert not any(row["increased"] for row in result.history)


def test_an_overshooting_rate_is_seen():
    K, y = small()
    solver = CCCP(inner=GradientDescent(eta=5.0), outer_iter=3)
    result = solver.solve(risk(K, y, 1.0), tol=1e-12)
    assert any(row["increased"] for row in result.history)


@pytest.mark.parametrize("mode", ["paper", "tight", "shift"])
def test_all_inner_solvers_agree_where_the_minimum_is_unique(mode):
    K, y = small((30, 0))
    lam, problem = 0.3, risk(*small((30, 0)), 0.3, mode)

    def primal(w):
        f = K @ w[:30] + w[30]
        return np.logaddexp(0, -y * f).mean() + lam / 2 * w[:30] @ K @ w[:30]

    oracle = minimize(primal, np.zeros(31), method="BFGS", tol=1e-9)
    gd = CCCP(inner=SAFE, eps=1e-14, outer_iter=200).solve(problem, tol=1e-7)
    sgd = CCCP(inner=SGD(batch_size=30, step="lipschitz"), eps=1e-14, outer_iter=200)
    noisy = sgd.solve(problem, gd.w, tol=1e-2, rng=np.random.default_rng(0))
    assert gd.status == (Status.CONVERGED,)
    expected = K @ oracle.x[:30] + oracle.x[30]
    for w in (gd.w, noisy.w):
        np.testing.assert_allclose(K @ w[:30] + w[30], expected, atol=1e-3)


@INNER_STEPS
def test_run_to_accuracy_it_diverges_and_keeps_the_best(inner_steps):
    K, y = small()
    problem = risk(K, y, 0.1, "tight")
    solver = CCCP(inner=SAFE, eps=1e-6, outer_iter=10_000, max_inner=inner_steps)
    result = solver.solve(problem, tol=1e-12)
    assert result.status == (Status.DIVERGED,)
    assert np.isfinite(result.w).all() and np.isfinite(result.crit[0])
    values = [row["value"] for row in result.history]
    assert values[-1] < -1e3
    best = min(value for value in values if value >= 0)
    assert problem.value(result.w) == pytest.approx(best)


@dataclass(frozen=True)
class Visits:
    """An inner solver that visits given points, and then diverges."""

    points: Iterator[np.ndarray]

    def first_rate(self, surrogate):
        return np.ones(())

    def run(self, surrogate, w, *, rate, **_):
        point = next(self.points, None)
        status = Status.DIVERGED if point is None else Status.CONVERGED
        w = w if point is None else point[:, None]
        return InnerResult(w, rate, np.ones(1, dtype=int), [status])


@pytest.mark.parametrize(
    "visited, best",
    [((), 0), ((0.5,), 0), ((0.5, 0.0), 2), ((0.01, 0.0), 1), ((0.0, 0.01), 2)],
)
def test_a_negative_start_is_the_best_only_without_another(visited, best):
    K, y = small()
    problem = risk(K, y, 1.0)
    direction = np.append(100 * np.linalg.eigh(K)[1][:, 0], 0.0)
    points = [size * direction for size in (1.0, *visited)]
    values = [problem.value(point) for point in points]
    assert [value < 0 for value in values] == [abs(point).max() > 1 for point in points]
    result = CCCP(inner=Visits(iter(points[1:]))).solve(problem, points[0], tol=1e-12)
    assert result.status == (Status.DIVERGED,)
    np.testing.assert_array_equal(result.w, points[best])


def test_overflow_is_named_before_it_happens():
    K, y = small()
    rising = CCCP(inner=GradientDescent(eta=1e3, decay=1.0), eps=1e-9)
    result = rising.solve(risk(K, y, 10.0), tol=1e-12)
    assert result.status == (Status.DIVERGED,) and np.isfinite(result.w).all()
    wild = CCCP(inner=GradientDescent(eta=1e300, decay=1.0), eps=1e-9)
    result = wild.solve(risk(K, y, 10.0), tol=1e-12)
    assert result.status == (Status.NONFINITE,) and np.isfinite(result.w).all()


def test_vanishing_rate_is_stalled():
    K, y = small()
    solver = CCCP(inner=GradientDescent(eta=1e-300), outer_iter=5)
    assert solver.solve(risk(K, y, 0.1), np.ones(31), tol=1e-12).status == ("stalled",)


def test_the_rate_of_the_letter_goes_on_shrinking():
    K, y = small()
    problem = risk(K, y, 0.1)
    rates = [row["rate"] for row in CCCP().solve(problem, tol=1e-12).history[1:]]
    np.testing.assert_allclose(rates, 0.02 * 0.8 ** np.arange(1, 21))


def test_summed_loss_scales_everything_by_n():
    K, y = small()
    mean, summed = risk(K, y, 0.1), risk(K, y, 0.1, scale=30.0)
    w = np.random.default_rng(0).standard_normal(31)
    assert summed.value(w) == pytest.approx(30 * mean.value(w))
    np.testing.assert_allclose(summed.grad(w), 30 * mean.grad(w))
    assert summed.lipschitz == pytest.approx(30 * mean.lipschitz)
    # the same eps means one inner step on a mean loss, more on a summed one
    once = CCCP(inner=SAFE, eps=1e-2, outer_iter=1)
    steps = [once.solve(p, tol=1e-12).history[1]["inner"] for p in (mean, summed)]
    assert steps[0] == 1 < steps[1]


def test_residual_is_that_of_the_dual():
    K, y = small()
    problem = risk(K, y, 0.1)
    w = np.random.default_rng(0).standard_normal(31)
    f = K @ w[:30] + w[30]
    expected = np.abs(30 * 0.1 * y * w[:30] - expit(-y * f)).max()
    assert problem.residual(w) == pytest.approx(expected)


def test_callback_stops():
    K, y = small()
    result = CCCP().solve(risk(K, y, 0.1), tol=1e-12, callback=lambda r: r["iter"] == 3)
    assert result.n_iter == (3,)


def test_printer_writes_fixed_width_lines():
    out = io.StringIO()
    K, y = small()
    CCCP(outer_iter=2).solve(risk(K, y, 0.1), tol=1e-12, callback=Printer(out))
    lines = out.getvalue().splitlines()
    assert len(lines) == 4 and len({len(line) for line in lines}) == 1
    assert lines[0].split()[:3] == ["iter", "inner", "value"]
    assert lines[2].split()[0] == "1" and lines[2].split()[-1] == "False"
    assert callback_for(0) is None and isinstance(callback_for(1), Printer)
