"""The objectives: surrogates touch and majorize, Newton's method lowers the dual."""

import numpy as np

from kreinlearn.losses import Logistic, Multinomial
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.solvers import CCCP, DualNewton, GradientDescent, Status
from kreinlearn.spectrum import split
from tests.properties.draws import cases, examples, hypothesis, st

MODES = st.sampled_from(["paper", "tight", "shift"])


def make_risk(case, mode, intercept):
    """Return the problem, its objective F and its surrogate, from their formulas."""
    K, lam, n = case.K, case.lam, case.n
    y = 2.0 * case.y - 1.0
    weights = case.rng.uniform(0.1, 1.0, n)
    weights /= weights.sum()
    parts = split(Dense(K), mode)
    risk = KreinRisk(Dense(K), parts, y, weights, lam, intercept)
    minus = parts.minus(np.eye(n))
    plus = K + minus

    def loss(w):
        f = K @ w[:n] + (w[n] if intercept else 0.0)
        return weights @ np.logaddexp(0.0, -y * f)

    def objective(w):
        return loss(w) + lam / 2 * w[:n] @ K @ w[:n]

    def surrogate(w, base):
        a, b = w[:n], base[:n]
        tangent = b @ minus @ b / 2 + (a - b) @ minus @ b
        return loss(w) + lam / 2 * a @ plus @ a - lam * tangent

    return risk, objective, surrogate


@examples(40)
@hypothesis.given(
    case=cases(), mode=MODES, intercept=st.booleans(), reach=st.integers(-2, 3)
)
def test_a_surrogate_touches_and_majorizes(case, mode, intercept, reach):
    risk, objective, formula = make_risk(case, mode, intercept)
    size = 10.0**reach / (case.lam * case.n)
    base, w = size * case.rng.standard_normal((2, risk.dim))
    surrogate = risk.surrogate(base)
    for point in (base, w):
        slack = 1e-10 * max(1.0, abs(objective(point)), abs(formula(point, base)))
        assert abs(risk.value(point) - objective(point)) <= slack
        assert abs(surrogate.value(point) - formula(point, base)) <= slack
        assert surrogate.value(point) >= objective(point) - slack
    assert abs(surrogate.value(base) - objective(base)) <= slack
    gradient = risk.grad(base)
    slack = 1e-10 * max(np.abs(gradient).max(), np.abs(case.K).max())
    np.testing.assert_allclose(surrogate.grad(base), gradient, rtol=0, atol=slack)


@examples(20)
@hypothesis.given(case=cases(most=15), mode=MODES, intercept=st.booleans())
def test_safe_steps_on_surrogates_never_raise_the_objective(case, mode, intercept):
    risk, objective, _ = make_risk(case, mode, intercept)
    safe = GradientDescent(step="lipschitz")
    solver = CCCP(inner=safe, eps=1e-9, outer_iter=5, max_inner=30)
    result = solver.solve(risk, case.rng.standard_normal(risk.dim), tol=1e-12)
    values = np.array([row["value"] for row in result.history])
    assert (np.diff(values) <= 1e-12 * np.abs(values[:-1]).max()).all()
    assert abs(objective(result.w) - risk.value(result.w)) <= 1e-9 * abs(values).max()


def make_dual(case, intercept, lam=None):
    classes = len(np.unique(case.y))
    Y = (case.y[:, None] == np.arange(classes)).astype(float)
    Y, loss = (Y[:, 1:], Logistic()) if classes == 2 else (Y, Multinomial())
    weights = np.full((case.n, 1), 1 / case.n)
    lam = np.array([case.lam if lam is None else lam])
    return KreinDual(Dense(case.K), Y[:, None], weights, lam, loss, intercept)


def dual_value(case, A, lam):
    """Return J of coefficients A (n, C), from its formula and in long double."""
    A, K = A.astype(np.longdouble), case.K.astype(np.longdouble)
    classes = len(np.unique(case.y))
    Y = (case.y[:, None] == np.arange(classes)).astype(np.longdouble)
    if classes == 2:
        Q = Y[:, 1:] - case.n * np.longdouble(lam) * A
        Q = np.hstack([1 - Q, Q])
    else:
        Q = Y - case.n * np.longdouble(lam) * A
    Q = np.maximum(Q, np.finfo(np.longdouble).tiny)
    return (A * (K @ A)).sum() / 2 + (Q * np.log(Q)).sum() / (case.n * lam)


@examples(30)
@hypothesis.given(
    case=cases(classes=(2, 3)), intercept=st.booleans(), down=st.integers(0, 6)
)
def test_newton_lowers_the_dual_step_by_step(case, intercept, down):
    # Far below the threshold of uniqueness, too, where the dual is not convex.
    lam = case.lam * 10.0**-down
    dual = make_dual(case, intercept, lam)
    result = DualNewton(max_iter=200).solve(dual, tol=1e-8)
    values = [row["value"] for row in result.history if row["lam"] == lam]
    scale = max(1.0, np.abs(values).max())
    assert (np.diff(values) <= 1e-11 * scale).all()
    A = dual.point(result.w, result.F).A[:, 0]
    assert abs(dual_value(case, A, lam) - values[-1]) <= 1e-9 * scale
    assert result.status[0] in (Status.CONVERGED, Status.STALLED)
    assert result.status[0] == Status.CONVERGED or down > 2


@examples(20)
@hypothesis.given(case=cases(classes=(2, 3)), reach=st.integers(-2, 1))
def test_no_other_point_has_a_lower_dual_where_it_is_convex(case, reach):
    dual = make_dual(case, False)
    A = dual.point(DualNewton().solve(dual, tol=1e-10).w).A[:, 0]
    best = dual_value(case, A, case.lam)
    logits = 10.0**reach * case.rng.standard_normal(dual.Y.shape)
    other = dual.coefficients(dual.loss.at(logits))[:, 0]
    for share in (1.0, 1e-2, 1e-4):
        moved = dual_value(case, A + share * (other - A), case.lam)
        assert moved >= best - 1e-14 * max(1.0, abs(best))
