"""Batched Newton-CG against one dense Newton iteration per problem."""

import numpy as np
import pytest
from scipy.special import softmax

from kreinlearn.search import newton
from kreinlearn.search.newton import RidgeProblems, solve

S, P, N, Q = 3, 4, 40, 9


def make_problems(n_classes, dtype=float, seed=0, n=N):
    """Return problems with an intercept, one padded feature and padded samples."""
    rng = np.random.default_rng(seed)
    E = rng.standard_normal((S, n, Q)) * np.geomspace(3, 0.01, Q)
    E[..., -1] = 1
    E[1, :, -2] = 0
    weights = rng.uniform(0.5, 2, (S, n))
    weights[0, -4:] = 0
    weights /= weights.sum(axis=1, keepdims=True)
    labels = rng.integers(0, max(n_classes, 2), (S, P, n))
    if n_classes == 1:
        Y = labels[:, :, None]
    else:
        Y = np.moveaxis(labels[..., None] == np.arange(n_classes), 3, 2)
    penalty = np.geomspace(1, 1e-4, P)[None, :, None, None] * rng.uniform(
        0.5, 2, (S, P, 1, Q)
    )
    penalty[1, ..., -2] = 1
    penalty[..., -1] = 0
    return RidgeProblems(
        *(a.astype(dtype) for a in (E, Y, weights[:, None, None], penalty))
    )


def solve_one(E, Y, w, D, x):
    """Minimize one problem by Newton's method with the full Hessian; x is (C, q)."""
    C, q = x.shape

    def evaluate(x):
        F = E @ x.T
        if C == 1:
            loss = np.logaddexp(0, F[:, 0]) - Y[0] * F[:, 0]
        else:
            loss = np.logaddexp.reduce(F, axis=1) - (Y.T * F).sum(axis=1)
        return w @ loss + (D * x**2).sum() / 2

    for _ in range(100):
        F = E @ x.T
        prob = 1 / (1 + np.exp(-F)) if C == 1 else softmax(F, axis=1)
        G = ((prob - Y.T) * w[:, None]).T @ E + D * x
        H = np.zeros((C, q, C, q))
        for i in range(len(E)):
            p = prob[i]
            B = np.diag(p * (1 - p)) if C == 1 else np.diag(p) - np.outer(p, p)
            H += w[i] * np.einsum("cd,j,k->cjdk", B, E[i], E[i])
        H = H.reshape(C * q, C * q) + np.diag(np.tile(D, C))
        step = np.linalg.lstsq(H, G.ravel(), rcond=1e-13)[0].reshape(C, q)
        size = 1.0
        while evaluate(x - size * step) > evaluate(x) and size > 1e-8:
            size /= 2
        x = x - size * step
    return x


@pytest.mark.parametrize("n_classes", [1, 3])
def test_minima_are_those_of_dense_newton(n_classes):
    problems = make_problems(n_classes)
    x, errors = solve(problems, np.zeros((S, P, n_classes, Q)), 1e-9, 100)
    assert (errors <= 1e-9).all()
    for s in range(S):
        for p in range(P):
            expected = solve_one(
                problems.E[s],
                problems.Y[s, p],
                problems.weights[s, 0, 0],
                problems.penalty[s, p, 0],
                np.zeros((n_classes, Q)),
            )
            np.testing.assert_allclose(x[s, p], expected, atol=1e-6)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_hessian_product_and_leading_inverse_are_those_of_differences(n_classes):
    problems = make_problems(n_classes)
    rng = np.random.default_rng(2)
    x, v = rng.standard_normal((2, S, P, n_classes, Q)) / 3

    def compute_gradient(x):
        _, prob = problems.compute_loss(problems.compute_scores(x))
        return problems.sum_features((prob - problems.Y) * problems.weights)

    _, prob = problems.compute_loss(problems.compute_scores(x))
    curvature = problems.weights * prob * (1 - prob)
    V = problems.compute_scores(v)
    product = problems.sum_features(problems.apply_curvature(V, prob, curvature))
    h = 1e-6
    difference = (compute_gradient(x + h * v) - compute_gradient(x - h * v)) / (2 * h)
    np.testing.assert_allclose(product, difference, atol=1e-8)
    inverse = newton._invert_leading(problems, curvature)
    k = inverse.shape[-1]
    assert k == N // newton.SAMPLES_PER_LEADING
    for s, p, c in np.ndindex(S, P, n_classes):
        E = problems.E[s][:, :k]
        H = (E.T * curvature[s, p, c]) @ E + np.diag(problems.penalty[s, p, 0, :k])
        np.testing.assert_allclose(inverse[s, p, c] @ H, np.eye(k), atol=1e-9)


@pytest.mark.parametrize("size", [1, 31, 191, 192, 200, 224, 230])
def test_products_with_panels_are_those_with_matrices(size):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 3, 4, 50)), rng.standard_normal((2, 50, size))
    panels = newton._make_panels(B)
    assert (panels.shape[1] > 1) == (size >= newton.MIN_PANELS * newton.PANEL)
    expected = np.einsum("spci,sij->spcj", A, B)
    np.testing.assert_allclose(newton._multiply(A, panels, size), expected, atol=1e-12)


def test_loss_is_stable_for_large_scores():
    problems = make_problems(1)
    F = np.full((S, P, 1, N), 800.0)
    F[:, ::2] *= -1
    loss, prob = problems.compute_loss(F)
    assert np.isfinite(loss).all() and np.isin(prob, [0.0, 1.0]).all()
    naive = problems.weights * np.where(F > 0, F * (1 - problems.Y), -F * problems.Y)
    np.testing.assert_allclose(loss, naive.sum(axis=(2, 3)))
