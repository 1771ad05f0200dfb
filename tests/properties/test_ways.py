"""Different ways to one result: stored or not, all at once or one by one, as rows."""

import numpy as np
from sklearn.metrics import log_loss

from kreinlearn import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    LandmarkLogisticRegression,
)
from kreinlearn.kernels import gram
from kreinlearn.losses import Logistic, Multinomial
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers import DualNewton, Status
from tests.properties.draws import cases, examples, hypothesis, st

KERNELS = st.sampled_from(["tl1", "rbf", "laplacian"])
NORMS = st.sampled_from(["krein", "hilbert", "euclidean"])


@st.composite
def tables(draw, least=10, most=30):
    """Draw samples X, their labels, new samples, and a lam for a unique solution."""
    n = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.uniform(size=(n, draw(st.integers(1, 5))))
    if draw(st.booleans()):
        X = np.round(2 * X) / 2  # samples that are equal, matrices that are singular
    k = draw(st.integers(2, 3))
    y = rng.permutation(np.r_[np.arange(k), rng.integers(k, size=n - k)])
    return X, y, rng.uniform(size=(7, X.shape[1])), 0.5


def same(found, expected, atol=1e-6):
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


@examples()
@hypothesis.given(table=tables(), kernel=KERNELS, norm=NORMS)
def test_precomputed_is_direct(table, kernel, norm):
    X, y, new, lam = table
    settings = {"lam": lam, "norm": norm, "tol": 1e-10}
    direct = KreinLogisticRegression(kernel, **settings).fit(X, y)
    given = KreinLogisticRegression("precomputed", **settings)
    given.fit(gram(X, kernel=kernel), y)
    rows = gram(new, X, kernel=kernel)
    same(direct.decision_function(new), given.decision_function(rows), 1e-9)
    same(direct.predict_proba(X), given.predict_proba(gram(X, kernel=kernel)), 1e-9)


@examples()
@hypothesis.given(table=tables(), norm=NORMS, kernel=KERNELS)
def test_dense_is_blocked_is_all_samples_as_landmarks(table, norm, kernel):
    X, y, new, lam = table
    settings = {"kernel": kernel, "norm": norm, "lam": lam, "tol": 1e-10}
    dense = KreinLogisticRegression(operator="dense", **settings).fit(X, y)
    others = [LandmarkLogisticRegression(n_landmarks=len(X), **settings).fit(X, y)]
    assert len(others[0].landmarks_) == len(X)
    if norm != "hilbert":  # which needs the eigenvectors of a stored matrix
        others.append(KreinLogisticRegression(operator="blocked", **settings).fit(X, y))
        assert others[1].operator_ == "blocked"
    mu = np.abs(np.linalg.eigvalsh(gram(X, kernel=kernel)))
    # Landmarks leave out directions in which K is zero: training samples do not see
    # them, new samples might.
    seen = X if mu.min() < 1e-6 * mu.max() else np.vstack([X, new])
    for other in others:
        same(other.predict_log_proba(seen), dense.predict_log_proba(seen))


@examples(20)
@hypothesis.given(
    case=cases(classes=(2, 3)),
    intercept=st.booleans(),
    is_path=st.booleans(),
    data=st.data(),
)
def test_a_block_is_its_problems_one_by_one(case, intercept, is_path, data):
    k, n = len(set(case.y)), case.n
    count = data.draw(st.integers(2, 5))
    Y = (case.y[:, None] == np.arange(k)).astype(float)
    Y, loss = (Y[:, 1:], Logistic()) if k == 2 else (Y, Multinomial())
    Y = np.repeat(Y[:, None], count, axis=1)
    weights = np.ones((n, count))
    if not is_path:  # folds: others are left out in each
        weights = case.rng.integers(1, 3, (n, count)) * 1.0
        for j in range(count):
            held = case.rng.permutation(n)[: n // 4]
            weights[held, j] = 0.0
            weights[[np.flatnonzero(case.y == c)[0] for c in range(k)], j] = 1.0
    weights /= weights.sum(axis=0)
    lam = 3 * case.lam * np.sort(case.rng.uniform(1, 50, count))[::-1]
    block = KreinDual(Dense(case.K), Y, weights, lam, loss, intercept)
    after = [-1, *range(count - 1)] if is_path else None
    together = DualNewton().solve(block, tol=1e-10, after=after)
    assert set(together.status) == {Status.CONVERGED}
    all_points = block.point(together.w, together.F)
    for j in range(count):
        alone = block.take([j])
        point = alone.point(DualNewton().solve(alone, tol=1e-10).w)
        scale = 1 / (lam[j] * n)
        same(all_points.A[:, j] / scale, point.A[:, 0] / scale, 1e-7)
        same(all_points.c[j], point.c[0], 1e-6)


@examples(6)
@hypothesis.given(
    case=cases(least=15, classes=(2, 3)), norm=st.sampled_from(["krein", "hilbert"])
)
def test_a_search_is_its_fits_one_by_one(case, norm):
    K, y = case.K, np.arange(case.n) % len(set(case.y))
    folds = [(np.flatnonzero(part), np.flatnonzero(~part)) for part in _halves(case.n)]
    lams = [9 * case.lam, 3 * case.lam]
    settings = {"kernel_params": {"check": False}, "tol": 1e-10}
    search = KreinLogisticRegressionCV(
        lams=lams,
        norms=[norm],
        kernel="precomputed",
        cv=folds,
        search="full",
        refit=False,
        **settings,
    ).fit(K, y)
    for i, lam in enumerate(lams):
        for j, (train, held) in enumerate(folds):
            single = KreinLogisticRegression("precomputed", lam=lam, norm=norm)
            single.set_params(**settings).fit(K[np.ix_(train, train)], y[train])
            P = single.predict_proba(K[np.ix_(held, train)])
            score = -log_loss(y[held], P, labels=np.unique(y))
            same(search.scores_[0, 0, i, j], score, 1e-4)


def _halves(n):
    """Return two ways to cut samples whose classes take turns in two."""
    first = np.arange(n) < n // 2
    return first, ~first


@examples()
@hypothesis.given(case=cases(classes=(3, 4)), norm=NORMS)
def test_one_versus_rest_is_a_fit_per_class(case, norm):
    settings = {"lam": case.lam, "norm": norm, "tol": 1e-10}
    settings |= {"kernel": "precomputed", "kernel_params": {"check": False}}
    model = KreinLogisticRegression(multi_class="ovr", **settings).fit(case.K, case.y)
    for k in model.classes_:
        one = KreinLogisticRegression(**settings).fit(case.K, case.y == k)
        found = model.decision_function(case.K)[:, k]
        same(found, one.decision_function(case.K))
