"""Fits: certificates that are true, and what must not make a difference."""

import warnings

import numpy as np
from scipy.linalg import eigh

from kreinlearn import KreinLogisticRegression
from kreinlearn.exceptions import ConvergenceWarning
from tests.properties.draws import cases, examples, hypothesis, st

NORMS = st.sampled_from(["krein", "hilbert", "euclidean"])


def fitted(K, y, lam, weights=None, **settings):
    model = KreinLogisticRegression(
        "precomputed", kernel_params={"check": False}, lam=lam
    )
    return model.set_params(**({"tol": 1e-10} | settings)).fit(K, y, weights)


def scores(model, K):
    return model.decision_function(K)


def same(found, expected, atol=1e-6):
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def softmax(F):
    odds = np.exp(F - F.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def violation(model, K, y, w=None, dual=None):
    """Return the largest violation of stationarity, in long double.

    Of ``lam d_i / w_i = Y_i - P_i``, with the coefficients ``dual`` of the dual, or
    those of the model itself; and how far they are from summing to zero.
    """
    K, n = K.astype(np.longdouble), len(y)
    w = np.ones(n) if w is None else w
    w = w.astype(np.longdouble) / w.sum()
    A = model.dual_coef_.T.astype(np.longdouble)
    F = K @ A + model.intercept_
    Y = (y[:, None] == model.classes_).astype(np.longdouble)
    P = softmax(F) if F.shape[1] > 1 else softmax(np.hstack([0 * F, F]))[:, 1:]
    Y = Y if F.shape[1] > 1 else Y[:, 1:]
    d = A if dual is None else dual.astype(np.longdouble)
    used = w > 0
    gap = model.lam * d[used] / w[used, None] - (Y - P)[used]
    return float(np.abs(gap).max()), float(np.abs(model.lam * d.sum(axis=0)).max())


@examples(40)
@hypothesis.given(
    case=cases(classes=(2, 3, 4)),
    intercept=st.booleans(),
    down=st.integers(0, 5),
    max_iter=st.sampled_from([1, 2, 5, 200]),
    single=st.booleans(),
    weighted=st.booleans(),
)
def test_the_certificate_is_true(case, intercept, down, max_iter, single, weighted):
    # Whatever lam, precision and number of steps.
    K = case.K.astype(np.float32) if single else case.K
    w = np.ones(case.n)
    if weighted:
        w[len(set(case.y)) :] = case.rng.integers(0, 4, case.n - len(set(case.y)))
        w[[np.flatnonzero(case.y == k)[0] for k in set(case.y)]] = 1
    lam = case.lam * 10.0**-down
    settings = {"max_iter": max_iter, "fit_intercept": intercept, "tol": 1e-8}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(K, case.y, lam, w, **settings)
    truth, total = violation(model, K, case.y, w)
    size = np.abs(model.dual_coef_).max() * np.abs(K).max()
    slack = 1e-13 * (1 + case.n * size)  # the rounding of a product with K
    assert abs(model.residual_ - truth) <= slack + 1e-6 * truth
    assert (model.status_ == "converged") == (model.residual_ < 1e-8)
    if model.status_ == "converged":
        assert truth <= 1e-8 + slack
        assert not intercept or total <= 1e-8 + slack
        assert (model.dual_coef_[:, w == 0] == 0).all()


@examples(20)
@hypothesis.given(
    case=cases(singular=False, classes=(2, 3)),
    norm=st.sampled_from(["hilbert", "euclidean"]),
    intercept=st.booleans(),
)
def test_the_certificate_of_convex_norms_is_true(case, norm, intercept):
    model = fitted(case.K, case.y, case.lam, norm=norm, fit_intercept=intercept)
    mu, V = eigh(case.K)
    a = V.T @ model.dual_coef_.T
    # K a = |K| d, or a = K d / s
    factors = np.sign(mu) if norm == "hilbert" else np.abs(mu).mean() / mu
    truth, total = violation(model, case.K, case.y, dual=V @ (factors[:, None] * a))
    assert model.status_ == "converged" and model.regime_ == "unique"
    assert truth <= 1e-9
    assert not intercept or total <= 1e-9


@examples()
@hypothesis.given(case=cases(classes=(2, 3)), norm=NORMS, down=st.integers(0, 2))
def test_the_order_of_samples_does_not_matter(case, norm, down):
    lam = case.lam if norm == "krein" else case.lam * 10.0**-down
    f = scores(fitted(case.K, case.y, lam, norm=norm), case.K)
    order = case.rng.permutation(case.n)
    moved = case.K[np.ix_(order, order)]
    same(scores(fitted(moved, case.y[order], lam, norm=norm), moved), f[order])


@examples()
@hypothesis.given(case=cases(classes=(2, 3, 4)), norm=NORMS, intercept=st.booleans())
def test_names_of_classes_do_not_matter(case, norm, intercept):
    settings = {"norm": norm, "fit_intercept": intercept}
    model = fitted(case.K, case.y, case.lam, **settings)
    k = len(model.classes_)
    order = case.rng.permutation(k)
    names = np.array(["a", "b", "c", "d"])
    other = fitted(case.K, names[order[case.y]], case.lam, **settings)
    P, Q = model.predict_proba(case.K), other.predict_proba(case.K)
    same(Q[:, order], P)
    if k == 2:  # two classes swapped
        swapped = fitted(case.K, 1 - case.y, case.lam, **settings)
        same(scores(swapped, case.K), -scores(model, case.K))


@examples()
@hypothesis.given(
    case=cases(classes=(2, 3)), norm=NORMS, factor=st.sampled_from([1e-6, 0.3, 7, 1e5])
)
def test_the_scale_of_similarities_is_that_of_lam(case, norm, factor):
    # With a / factor, the scores are the same and all three penalties are divided by
    # factor: a'Ka and a'|K|a, and s a'a, whose s is multiplied by it.
    f = scores(fitted(case.K, case.y, case.lam, norm=norm), case.K)
    larger = fitted(factor * case.K, case.y, factor * case.lam, norm=norm)
    same(scores(larger, factor * case.K), f)


@examples(20)
@hypothesis.given(
    case=cases(most=12, classes=(2, 3)), norm=NORMS, intercept=st.booleans()
)
def test_weights_are_rows_repeated(case, norm, intercept):
    counts = case.rng.integers(1, 4, case.n)
    rows = np.repeat(np.arange(case.n), counts)
    settings = {"norm": norm, "fit_intercept": intercept}
    one = fitted(case.K, case.y, 3 * case.lam, counts.astype(float), **settings)
    repeated = case.K[np.ix_(rows, rows)]
    two = fitted(repeated, case.y[rows], 3 * case.lam, **settings)
    same(scores(one, case.K), scores(two, case.K[:, rows]))


@examples()
@hypothesis.given(case=cases(most=12, classes=(2, 3)), norm=NORMS)
def test_a_weight_of_zero_is_a_row_left_out(case, norm):
    weights = np.ones(case.n)
    first = [np.flatnonzero(case.y == k)[0] for k in set(case.y)]
    weights[case.rng.uniform(size=case.n) < 0.4] = 0.0
    weights[first] = 1.0
    rows = np.flatnonzero(weights)
    lam = case.lam * case.n / len(rows)
    one = fitted(case.K, case.y, lam, weights, norm=norm)
    two = fitted(case.K[np.ix_(rows, rows)], case.y[rows], lam, norm=norm)
    same(scores(one, case.K), scores(two, case.K[:, rows]))


@examples()
@hypothesis.given(
    case=cases(signs=("positive",), classes=(2, 3)), down=st.integers(0, 3)
)
def test_norms_agree_where_nothing_is_negative(case, down):
    lam = case.lam * 10.0**-down
    f = scores(fitted(case.K, case.y, lam, norm="krein"), case.K)
    same(scores(fitted(case.K, case.y, lam, norm="hilbert"), case.K), f, 1e-5)


@examples()
@hypothesis.given(case=cases(classes=(2, 3)), norm=NORMS)
def test_single_precision_is_the_fit_to_the_rounded_matrix(case, norm):
    rounded = case.K.astype(np.float32)
    one = fitted(rounded, case.y, case.lam, norm=norm, tol=1e-7)
    two = fitted(rounded.astype(float), case.y, case.lam, norm=norm)
    # The solver ends in double precision, |K| is stored in single.
    same(scores(one, rounded), scores(two, rounded.astype(float)), 2e-5)
    same(
        scores(one, rounded),
        scores(fitted(case.K, case.y, case.lam, norm=norm), case.K),
        1e-4,
    )
