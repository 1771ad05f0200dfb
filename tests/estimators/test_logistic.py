import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kreinlearn import KreinLogisticRegression, SpectrumRepair
from kreinlearn.datasets import make_monks
from kreinlearn.exceptions import DivergenceWarning, IndefiniteKernelWarning
from kreinlearn.kernels import gram
from kreinlearn.solvers import (
    CCCP,
    PUBLISHED,
    SGD,
    DualNewton,
    GradientDescent,
)
from kreinlearn.solvers.base import Result, Status
from tests.conftest import gram_of_signature, scaled


@pytest.fixture
def moons():
    X, y = make_moons(120, noise=0.2, random_state=0)
    return scaled(X), y


@pytest.mark.parametrize("lam", [1e-1, 1e-3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_kernel_is_scikit_learns_logistic_regression(lam, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = scaled(X)[y < n_classes], y[y < n_classes]
    mine = KreinLogisticRegression(kernel="linear", lam=lam, tol=1e-10).fit(X, y)
    theirs = LogisticRegression(
        C=1 / (len(y) * lam), tol=1e-11, max_iter=10_000, solver="newton-cg"
    ).fit(X, y)
    np.testing.assert_allclose(
        mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6
    )
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))
    assert mine.regime_ == "unique" and mine.status_ == "converged"


def test_regimes_on_the_full_monks_problem():
    X, y = make_monks(1)
    X = scaled(X)
    mu_min = np.linalg.eigvalsh(gram(X, kernel="tl1"))[0]
    threshold = -mu_min / (4 * len(y))
    above = KreinLogisticRegression(lam=1.01 * threshold).fit(X, y)
    below = KreinLogisticRegression(lam=0.99 * threshold).fit(X, y)
    assert (above.regime_, below.regime_) == ("unique", "nonconvex")
    assert KreinLogisticRegression(lam=1e-9, kernel="rbf").fit(X, y).regime_ == "unique"
    assert above.status_ == below.status_ == "converged"
    convex = KreinLogisticRegression(lam=1e-6, norm="hilbert").fit(X, y)
    assert convex.regime_ == "unique" and convex.status_ == "converged"


def test_regime_of_large_matrices_agrees_with_all_eigenvalues(rng):
    X = rng.integers(0, 3, size=(700, 6)) / 2.0
    y = (X[:, 0] == X[:, 1]).astype(int)
    mu_min = np.linalg.eigvalsh(gram(X, kernel="tl1"))[0]
    threshold = -mu_min / (4 * 700)
    for factor, regime in ((0.1, "nonconvex"), (0.99, "nonconvex"), (2, "unique")):
        model = KreinLogisticRegression(lam=factor * threshold).fit(X, y)
        assert model.regime_ == regime
        assert mu_min - 1e-9 <= model.mu_min_ < 0


@pytest.mark.slow
def test_regime_where_lanczos_misses_an_isolated_eigenvalue(data_home):
    # guide1-t: one eigenvalue at -0.19 that Ritz values find after 35 steps only
    from reproduction.data import load

    bunch = load("guide1-t", data_home)
    rows = np.random.default_rng(0).permutation(4000)[:2000]
    X, y = scaled(bunch.data)[rows], bunch.target[rows]
    mu_min = np.linalg.eigvalsh(gram(X, kernel="tl1"))[0]
    lam = -0.9 * mu_min / (4 * 2000)
    assert KreinLogisticRegression(lam=lam).fit(X, y).regime_ == "nonconvex"


def test_callable_kernels_take_lists_of_anything():
    def overlap(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)

    words = ["krein", "keen", "rein", "spam", "maps", "amps"]
    labels = ["left", "left", "left", "right", "right", "right"]
    model = KreinLogisticRegression(kernel=overlap, lam=0.1).fit(words, labels)
    assert model.predict(["nerk", "mast"]).tolist() == ["left", "right"]
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(ValueError, match="at least one sample, got none"):
        KreinLogisticRegression(kernel=overlap).fit([], [])


def test_multinomial_stationarity_on_an_indefinite_matrix(rng):
    K = gram_of_signature(40, 20, scale=0.05)
    y = rng.integers(0, 4, 60)
    mu_min = np.linalg.eigvalsh(K)[0]
    lam = 1.01 * -mu_min / (2 * 60)
    model = KreinLogisticRegression(kernel="precomputed", lam=lam, tol=1e-10).fit(K, y)
    assert model.regime_ == "unique" and model.status_ == "converged"
    P = model.predict_proba(K)
    violation = 60 * lam * model.dual_coef_.T - (np.eye(4)[y] - P)
    assert np.abs(violation).max() < 1e-9
    closer = KreinLogisticRegression(kernel="precomputed", lam=0.9 * lam).fit(K, y)
    assert closer.regime_ == "nonconvex"
    tiny = KreinLogisticRegression(kernel="precomputed", lam=1e-6).fit(K, y)
    assert tiny.status_ == "converged" and np.isfinite(tiny.dual_coef_).all()


@pytest.mark.parametrize("solver", ["newton", *PUBLISHED])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_solver_learns(solver):
    X, y = make_monks(3)
    X = scaled(X)
    # Where the loss is summed, steps are n times as long, and lam must be smaller.
    lam = 1e-2 if solver == "newton" or "as-printed" in solver else 1e-2 / len(y)
    model = KreinLogisticRegression(lam=lam, solver=solver, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7
    assert {row["iter"] for row in model.history_} == set(range(model.n_iter_ + 1))
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, again.dual_coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_published_solvers_are_one_versus_rest():
    X, y = load_iris(return_X_y=True)
    X = scaled(X)
    model = KreinLogisticRegression(solver="ccicp-gd", fit_intercept=False).fit(X, y)
    assert model.dual_coef_.shape == (3, 150) and not model.intercept_.any()
    assert {row["problem"] for row in model.history_} == {0, 1, 2}
    with pytest.raises(ValueError, match="for the published solvers.*'multinomial'"):
        clone(model).set_params(multi_class="multinomial").fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_solver_objects_and_summed_loss(moons):
    X, y = moons
    name = KreinLogisticRegression(solver="ccicp-gd").fit(X, y)
    same = KreinLogisticRegression(solver=PUBLISHED["ccicp-gd"]).fit(X, y)
    np.testing.assert_array_equal(name.dual_coef_, same.dual_coef_)
    summed = CCCP(inner=GradientDescent(step="lipschitz"), loss_scale="sum")
    assert KreinLogisticRegression(solver=summed).fit(X, y).score(X, y) > 0.8
    stochastic = CCCP(inner=SGD(batch_size=5), init="uniform")
    assert KreinLogisticRegression(solver=stochastic, random_state=1).fit(X, y)
    exact = KreinLogisticRegression(solver=DualNewton(max_iter=1))
    with pytest.warns(ConvergenceWarning, match="status 'max_iter' after 1 iterations"):
        exact.fit(X, y)


class FixedPoint:
    """A solver of the dual that knows nothing of steps: w is to be the scores."""

    needs = "dual"

    def solve(self, problem, *, tol, callback=None):
        w, k, each = problem.start(), 0, problem.n_problems
        point = problem.point(w)
        while point.residual.max() > tol:
            w, k = problem.feasible((w + point.F + point.c) / 2), k + 1
            point = problem.point(w)
        status = (Status.CONVERGED,) * each
        return Result(w, status, (k,) * each, tuple(point.residual), ())


class QuasiNewton:
    """A solver of the primal, by SciPy."""

    needs = "dc"

    def solve(self, problem, *, tol, callback=None, rng=None):
        found = minimize(
            problem.value,
            np.zeros(problem.dim),
            jac=problem.grad,
            options={"gtol": tol / 10, "maxiter": 5000},
        )
        crit = float(np.abs(found.jac).max())
        status = Status.CONVERGED if crit <= tol else Status.MAX_ITER
        return Result(found.x, (status,), (found.nit,), (crit,), ({"iter": 1},))


def test_a_solver_of_ones_own_that_needs_the_dual(indefinite):
    K, y = indefinite
    three = np.where(K[0] > 1, 2, y)
    for labels, columns in ((y, 1), (three, 3)):
        given = {"kernel": "precomputed", "lam": 1.0, "tol": 1e-9}
        mine = KreinLogisticRegression(solver=FixedPoint(), **given).fit(K, labels)
        newton = KreinLogisticRegression(**given).fit(K, labels)
        assert mine.status_ == "converged" and mine.residual_ <= 1e-9
        assert mine.dual_coef_.shape == (columns, len(y))
        np.testing.assert_allclose(mine.dual_coef_, newton.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(mine.predict_proba(K), newton.predict_proba(K))


def test_a_solver_of_ones_own_that_needs_a_difference_of_convex_functions(moons):
    X, y = moons
    given = {"kernel": "rbf", "lam": 0.1, "tol": 1e-6}
    newton = KreinLogisticRegression(**given).fit(X, y)
    mine = KreinLogisticRegression(solver=QuasiNewton(), **given).fit(X, y)
    assert mine.status_ == "converged"
    np.testing.assert_allclose(
        mine.predict_proba(X), newton.predict_proba(X), atol=1e-3
    )
    three = y + (X[:, 0] > 0.5)
    several = KreinLogisticRegression(solver=QuasiNewton(), **given).fit(X, three)
    assert {row["problem"] for row in several.history_} == {0, 1, 2}
    with pytest.raises(ValueError, match="others that need 'dc'.*got 'multinomial'"):
        several.set_params(multi_class="multinomial").fit(X, three)


@pytest.mark.parametrize(
    "solver", [3, GradientDescent(), type("Odd", (), {"solve": 1, "needs": "luck"})()]
)
def test_what_is_no_solver_is_refused(solver, moons):
    with pytest.raises(TypeError, match="'solver' must be a name, or .* 'dc', .* got"):
        KreinLogisticRegression(solver=solver).fit(*moons)


def test_run_to_accuracy_the_published_procedure_diverges():
    X, y = make_monks(1)
    rows = np.random.default_rng(0).permutation(len(y))[:40]
    safe = GradientDescent(step="lipschitz")
    solver = CCCP(inner=safe, eps=1e-7, outer_iter=1000, split="tight", max_inner=1000)
    model = KreinLogisticRegression(solver=solver, lam=0.1)
    with pytest.warns(DivergenceWarning, match="unbounded below.*solver='newton'"):
        model.fit(scaled(X)[rows], y[rows])
    assert model.status_ == "diverged"
    assert np.isfinite(model.dual_coef_).all() and np.isfinite(model.intercept_).all()
    assert model.history_[-1]["value"] < -1e3


def test_class_weights_are_sample_weights(moons):
    X, y = moons[0][:70], moons[1][:70]
    weights = len(y) / (2 * np.bincount(y))
    by_hand = KreinLogisticRegression(tol=1e-10).fit(X, y, sample_weight=weights[y])
    for given in ("balanced", dict(enumerate(weights))):
        model = KreinLogisticRegression(class_weight=given, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.dual_coef_, by_hand.dual_coef_, atol=1e-6)


def test_precomputed_in_scikit_learns_tools(moons):
    X, y = moons
    K = gram(X, kernel="tl1", ratio=0.5)
    model = KreinLogisticRegression(kernel="precomputed")
    search = GridSearchCV(model, {"lam": [1e-1, 1e-2, 1e-3]}, cv=3).fit(K, y)
    direct = GridSearchCV(
        KreinLogisticRegression(kernel_params={"ratio": 0.5}),
        {"lam": [1e-1, 1e-2, 1e-3]},
        cv=3,
    ).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], direct.cv_results_["mean_test_score"]
    )
    calibrated = CalibratedClassifierCV(model, cv=3, ensemble=False).fit(K, y)
    assert calibrated.score(K, y) > 0.85
    three = y + (X[:, 0] > 0.5)
    rest = OneVsRestClassifier(model).fit(K, three)
    alone = KreinLogisticRegression(kernel="precomputed", multi_class="ovr")
    np.testing.assert_allclose(
        rest.predict_proba(K), alone.fit(K, three).predict_proba(K), atol=1e-6
    )
    pipeline = make_pipeline(MinMaxScaler(), KreinLogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85
    repaired = make_pipeline(SpectrumRepair("clip"), model)
    assert cross_val_score(repaired, K, y, cv=3).mean() > 0.85


def test_verbose_prints_lines(moons, capsys):
    X, y = moons
    KreinLogisticRegression(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[0] == "dense"
    assert lines[2].split() == [
        "iter",
        "problem",
        "lam",
        "value",
        "residual",
        "products",
    ]
    KreinLogisticRegression().fit(X, y)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("factor", [1e6, 1e-6])
def test_wild_scales_are_remarked_on(factor, moons):
    X, y = moons
    what = "diagonal" if factor > 1 else "constant"
    with pytest.warns(IndefiniteKernelWarning, match=f"almost {what}.*MinMaxScaler"):
        KreinLogisticRegression().fit(X * factor, y)


def test_bad_parameters(moons):
    X, y = moons
    for params, error, words in [
        ({"lam": 0}, ValueError, "'lam' must be a positive number, got 0"),
        ({"lam": -0.5}, ValueError, "'lam' must be a positive number, got -0.5"),
        ({"lam": "big"}, TypeError, "'lam' must be a positive number, got 'big'"),
        ({"lam": float("nan")}, ValueError, "'lam' must be a positive number, got nan"),
        ({"tol": 0.0}, ValueError, "'tol' must be a positive number, got 0.0"),
        ({"max_iter": 0}, ValueError, "'max_iter' must be .* whole number, got 0"),
        ({"max_iter": 1.5}, TypeError, "'max_iter' must be .* whole number, got 1.5"),
        ({"norm": "l2"}, ValueError, "'norm' must be one of 'krein', .* got"),
        ({"solver": "smo"}, ValueError, "'newton', 'cccp-gd', .* got 'smo'"),
        ({"multi_class": "all"}, ValueError, "'multi_class' must be .* got 'all'"),
        ({"class_weight": "even"}, ValueError, "'class_weight' must be .* got 'even'"),
        ({"dtype": "int8"}, ValueError, "'dtype' must be None, .* got 'int8'"),
        ({"kernel": "tl2"}, ValueError, "'kernel' must be .*'rbf'.*'tl1'.* got 'tl2'"),
    ]:
        with pytest.raises(error, match=words):
            KreinLogisticRegression(**params).fit(X, y)


def test_bad_samples(moons, monkeypatch):
    X, y = moons
    model = KreinLogisticRegression()
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(holed, y)
    with pytest.raises(ValueError, match="at least two classes.*got 1 class: 1"):
        model.fit(X, np.ones(len(y), dtype=int))
    with pytest.raises(ValueError, match="at least two classes.*got 1 class: 0"):
        model.fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(ValueError, match=r"shape \(120,\).*got shape \(3,\)"):
        model.fit(X, y, sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match=r"must not be negative, got .*-1\.0"):
        model.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="must not be zero for every sample"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))
    model.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but .* expecting 2 feat"):
        model.predict(np.zeros((4, 3)))
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 100_000)
    with pytest.raises(MemoryError, match=r"\(120, 120\).* needs 115,200 bytes"):
        model.fit(X, y)


def test_bad_gram_matrices(indefinite):
    K, y = indefinite
    model = KreinLogisticRegression(kernel="precomputed")
    with pytest.raises(ValueError, match=r"must be square, .* of shape \(40, 39\)"):
        model.fit(K[:, 1:], y)
    skewed = K.copy()
    skewed[0, 1] += 0.5
    with pytest.raises(ValueError, match=r"symmetric, .* differ by up to 0\.5"):
        model.fit(skewed, y)
    nearly = K.copy()
    nearly[0, 1] += 1e-7
    with pytest.warns(IndefiniteKernelWarning, match=r"changed it by up to 5\.0e-08"):
        model.fit(nearly, y)
    model.fit(K, y)
    with pytest.raises(ValueError, match="X has 39 features.*one column per training"):
        model.predict(K[:, 1:])


def test_degenerate_matrices_end_well():
    y = np.array([0, 1] * 6)
    for K in (np.zeros((12, 12)), -np.eye(12), np.ones((12, 12))):
        model = KreinLogisticRegression(kernel="precomputed", lam=1e-3).fit(K, y)
        assert model.status_ == "converged" and np.isfinite(model.dual_coef_).all()
        assert np.isfinite(model.predict_proba(K)).all()


def test_the_operator_is_chosen_by_the_bytes_available(moons, monkeypatch, capsys):
    X, y = moons
    for limit, operator in ((len(y), "dense"), (len(y) - 1, "blocked")):
        monkeypatch.setattr(
            "kreinlearn.kernels.registry.fits",
            lambda n, k, dtype, limit=limit: dtype == np.float64 and n == k <= limit,
        )
        model = KreinLogisticRegression(verbose=1).fit(X, y)
        assert model.operator_ == operator
        assert operator in capsys.readouterr().out
    with pytest.raises(MemoryError, match="norm='hilbert' needs the eigenvectors"):
        KreinLogisticRegression(norm="hilbert").fit(X, y)


def test_operators_that_cannot_be_had_are_refused(indefinite, moons):
    K, y = indefinite
    with pytest.raises(ValueError, match="'operator' must be 'auto' or 'dense'"):
        KreinLogisticRegression(kernel="precomputed", operator="blocked").fit(K, y)
    with pytest.raises(ValueError, match="'operator' must be one of 'auto'"):
        KreinLogisticRegression(operator="disk").fit(*moons)


def test_single_precision_meets_the_certificate(rng):
    X = rng.uniform(size=(600, 5)).astype(np.float32)
    y = (X[:, 0] + 0.2 * rng.standard_normal(600) > 0.5).astype(int)
    model = KreinLogisticRegression(lam=1e-5).fit(X, y)
    assert model.status_ == "converged" and model.residual_ < 1e-6
    K = gram(X, kernel="tl1").astype(float)
    s, a = 2 * y - 1, model.dual_coef_[0]
    f = K @ a + model.intercept_[0]
    assert np.abs(len(y) * 1e-5 * s * a - expit(-s * f)).max() < 1e-6


def test_regime_is_settled_by_a_factorization_when_asked_for(data_home):
    # The bound by Lanczos steps leaves this open, and the solution is unique.
    table = pd.read_csv(Path(data_home) / "breast-cancer-683x9.csv.gz")
    X, y = scaled(table.iloc[:, :-1].to_numpy(float)), table["y"].to_numpy()
    K = gram(X, kernel="tl1")
    lam = 1.1 * -np.linalg.eigvalsh(K)[0] / (4 * len(y))
    model = KreinLogisticRegression("precomputed", lam=lam).fit(K, y)
    assert model._open is not None
    assert model.regime_ == "unique" and model._open is None
    below = KreinLogisticRegression("precomputed", lam=0.8 / 1.1 * lam).fit(K, y)
    assert below.regime_ == "nonconvex"


def test_what_the_intercept_absorbs_is_no_negative_curvature(rng):
    # Negative distances: eigenvalues of both signs, but none below zero among
    # coefficients that sum to zero.
    X = rng.standard_normal((40, 2))
    K = -np.linalg.norm(X[:, None] - X, axis=2)
    y = (X[:, 0] > 0).astype(int)
    with_it = KreinLogisticRegression("precomputed", lam=1e-4).fit(K, y)
    without = KreinLogisticRegression("precomputed", lam=1e-4, fit_intercept=False)
    assert with_it.regime_ == "unique"
    assert without.fit(K, y).regime_ == "nonconvex"


def test_weights_have_a_part_in_the_regime(rng):
    # The largest weight is that of a sample without negative similarities.
    K = np.diag([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])
    y, w = [0, 1, 0, 1, 0, 1], [50.0, 1, 1, 1, 1, 1]
    lam = 2.0 / (4 * 55)  # twice the threshold of the fifth sample
    model = KreinLogisticRegression("precomputed", lam=lam).fit(K, y, sample_weight=w)
    assert model.regime_ == "unique"


def test_regime_of_many_samples_stays_unknown(monkeypatch, rng):
    monkeypatch.setattr("kreinlearn.estimators.logistic.MAX_FACTORED", 20)
    K = gram_of_signature(20, 20)
    model = KreinLogisticRegression("precomputed", lam=1e-5)
    assert model.fit(K, rng.integers(0, 2, 40)).regime_ == "unknown"


def test_regime_survives_copies_and_holds_no_matrix(rng):
    K = gram_of_signature(20, 20)
    model = KreinLogisticRegression("precomputed", lam=1e-5)
    model.fit(K, rng.integers(0, 2, 40))
    assert model._open is not None
    again = pickle.loads(pickle.dumps(model))
    assert again._open is None and again.regime_ == model.regime_ == "nonconvex"
    old = model.__getstate__()
    del old["_open"], old["_regime"]
    for before, now in (("unique", "unique"), ("nonconvex", "unknown")):
        saved = KreinLogisticRegression()
        saved.__setstate__(old | {"regime_": before})
        assert saved.regime_ == now
