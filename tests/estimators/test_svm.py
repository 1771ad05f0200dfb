import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
)

from kreinlearn import DCASVC, KreinSVC
from kreinlearn.estimators.svm import (
    dual_violation,
    solve_dca,
    solve_tilted,
)
from kreinlearn.kernels import gram
from kreinlearn.spectrum.norms import negative_part
from tests.conftest import gram_of_signature, scaled

BOTH = pytest.mark.parametrize("Machine", [KreinSVC, DCASVC])
TIGHT = {KreinSVC: 1e-9, DCASVC: 1e-10}  # LIBSVM gets ten times the latter


@pytest.fixture
def moons():
    X, y = make_moons(120, noise=0.2, random_state=0)
    return scaled(X), y


def signed(y):
    return np.where(y == y.max(), 1.0, -1.0)


# --- the subproblem ---------------------------------------------------------------


def box(y, bounds):
    return [(0, c) if s > 0 else (-c, 0) for s, c in zip(y, bounds, strict=True)]


def tilted_by_slsqp(K, y, t, bounds):
    """Solve min 1/2 a'Ka - t'a over the box and sum a = 0, without LIBSVM."""
    answer = minimize(
        lambda a: a @ K @ a / 2 - t @ a,
        np.zeros(len(y)),
        jac=lambda a: K @ a - t,
        bounds=box(y, bounds),
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    assert answer.status in (0, 8)  # 8: no step goes further down
    return answer.x, answer.fun


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
def test_subproblem_with_any_linear_term_is_solved_exactly(seed, C):
    rng = np.random.default_rng(seed)
    n = 14
    K = gram_of_signature(n, 0, seed=seed)
    y = np.where(np.arange(n) % 3 > 0, 1.0, -1.0)
    # Terms of either sign, also against the label, and larger than any ordinary one.
    t = y + 3 * rng.standard_normal(n)
    bounds = C * rng.uniform(0.5, 2, n)
    column = solve_tilted(K, y, t, bounds, tol=1e-9)
    a, value = tilted_by_slsqp(K, y, t, bounds)
    assert (y * column.a).min() >= 0 and (y * column.a - bounds).max() <= 0
    assert column.a.sum() == pytest.approx(0, abs=1e-9)
    mine = column.a @ K @ column.a / 2 - t @ column.a
    assert mine == pytest.approx(value, rel=1e-6, abs=1e-9)
    # 1e-5: what single precision in LIBSVM and SLSQP's own accuracy leave.
    np.testing.assert_allclose(column.a, a, atol=1e-5 * max(1, np.abs(a).max()))
    free = (y * column.a > 1e-7) & (y * column.a < bounds - 1e-7)
    np.testing.assert_allclose((K @ column.a + column.b - t)[free], 0, atol=1e-5)


# --- positive semidefinite kernels: scikit-learn's own machine --------------------


@BOTH
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_positive_definite_kernels_give_the_ordinary_machine(Machine, C, kernel, moons):
    X, y = moons
    K = gram(X, kernel=kernel)
    mine = Machine(C=C, kernel=kernel, tol=TIGHT[Machine]).fit(X, y)
    theirs = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
    np.testing.assert_allclose(
        mine.decision_function(X), theirs.decision_function(K), atol=1e-6
    )
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(K))
    assert mine.status_ == "converged"
    if Machine is DCASVC:
        assert mine.n_iter_ == 1 and len(mine.objective_[0]) == 1


@BOTH
def test_many_classes_are_one_against_the_rest(Machine):
    X, y = load_iris(return_X_y=True)
    X = scaled(X)
    mine = Machine(kernel="rbf", tol=TIGHT[Machine]).fit(X, y)
    rbf = SVC(kernel=lambda A, B: gram(A, B, "rbf"), tol=1e-8)
    theirs = OneVsRestClassifier(rbf).fit(X, y)
    assert mine.decision_function(X).shape == (150, 3)
    assert mine.dual_coef_.shape == (3, 150) and mine.intercept_.shape == (3,)
    np.testing.assert_allclose(
        mine.decision_function(X), theirs.decision_function(X), atol=1e-6
    )


# --- indefinite ones --------------------------------------------------------------


@pytest.mark.parametrize("signature", [(25, 15), (20, 12, 5), (0, 30)])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_krein_machine_is_the_machine_of_the_modulus(signature, C):
    K = gram_of_signature(*signature)
    y = np.where(np.random.default_rng(1).standard_normal(len(K)) > 0, "b", "a")
    mu, V = np.linalg.eigh(K)
    svc = SVC(C=C, kernel="precomputed", tol=1e-8).fit((V * np.abs(mu)) @ V.T, y)
    full = np.zeros(len(K))
    full[svc.support_] = svc.dual_coef_[0]
    machine = KreinSVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
    f = (V * np.abs(mu)) @ V.T @ full + svc.intercept_
    np.testing.assert_allclose(machine.decision_function(K), f, atol=1e-6)
    # New rows, naively: a = V sign(L) V' a~ on what K can see.
    rows = np.random.default_rng(2).standard_normal((5, len(K))) @ K
    a = V @ (np.sign(np.where(np.abs(mu) > 1e-9, mu, 0)) * (V.T @ full))
    np.testing.assert_allclose(
        machine.decision_function(rows), rows @ a + svc.intercept_, rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("signature", [(25, 15), (20, 12, 5), (0, 30)])
@pytest.mark.parametrize("C", [0.003, 0.1, 3.0])
def test_dc_steps_go_down_to_a_stationary_point(signature, C):
    K = gram_of_signature(*signature)
    y = np.where(np.random.default_rng(1).standard_normal(len(K)) > 0, 1, 0)
    machine = DCASVC(C=C, kernel="precomputed", tol=1e-9, max_iter=2000).fit(K, y)
    (objective,) = machine.objective_
    assert machine.status_ == "converged"
    assert objective[0] < 0 and np.all(np.diff(objective) <= 0)
    s, a = signed(y), machine.dual_coef_[0]
    assert objective[-1] == pytest.approx(a @ K @ a / 2 - s @ a)
    assert (s * a).min() >= 0 and (s * a).max() <= C
    assert a.sum() == pytest.approx(0, abs=1e-9 * max(1, C))
    # The objective is flat: its changes of 1e-9 are violations of about 1e-4.
    assert machine.residual_ < 1e-3 * max(1, np.abs(K @ a).max())
    f = machine.decision_function(K)
    tolerance = 2 * machine.residual_ + 1e-6
    assert np.all(s[a == 0] * f[a == 0] >= 1 - tolerance)
    assert np.all(s[s * a == C] * f[s * a == C] <= 1 + tolerance)


def test_each_dc_step_is_the_convex_problem_at_the_last_point():
    K = gram_of_signature(8, 6)
    y = np.where(np.arange(14) % 3 > 0, 1.0, -1.0)
    bounds = np.full(14, 0.5)
    negative = negative_part(K, np.ones(14))
    mu, V = np.linalg.eigh(K)
    minus = (V * np.maximum(-mu, 0)) @ V.T
    np.testing.assert_allclose(negative.matrix(), minus, atol=1e-12)
    a, expected = np.zeros(14), []
    for _ in range(4):
        a, _ = tilted_by_slsqp(K + minus, y, y + minus @ a, bounds)
        expected.append(a @ K @ a / 2 - y @ a)
    column = solve_dca(K, K + minus, negative, y, bounds, tol=1e-12, max_iter=4)
    assert not column.converged and column.n_iter == 4
    np.testing.assert_allclose(column.objective, expected, rtol=1e-5)


def test_no_direction_leads_down_from_a_stationary_point():
    K = gram_of_signature(8, 6)
    y = np.where(np.arange(14) % 3 > 0, 1.0, -1.0)
    machine = DCASVC(C=0.5, kernel="precomputed", tol=1e-12, max_iter=1000).fit(K, y)
    a, bounds = machine.dual_coef_[0], np.full(14, 0.5)
    gradient = K @ a - y
    best = linprog(
        gradient, A_eq=np.ones((1, 14)), b_eq=[0], bounds=box(y, bounds)
    )  # the lowest point of the linear model in the box
    assert best.fun == pytest.approx(gradient @ a, abs=1e-5)
    assert dual_violation(K, y, a, bounds) == machine.residual_
    assert dual_violation(K, y, np.zeros(14), bounds) == 2


def test_max_iter_is_a_status_and_a_warning(indefinite):
    K, y = indefinite
    machine = DCASVC(kernel="precomputed", max_iter=2, tol=1e-12)
    with pytest.warns(
        ConvergenceWarning,
        match=r"DCASVC stopped with status 'max_iter' after 2 iterations "
        r"\(max_iter 2, tol 1\.0e-12\)\. Raise max_iter",
    ):
        machine.fit(K, y)
    assert machine.status_ == "max_iter" and machine.n_iter_ == 2
    machine = KreinSVC(kernel="precomputed", max_iter=3)
    with pytest.warns(ConvergenceWarning, match="KreinSVC stopped .* 3 iterations"):
        machine.fit(K, y)
    assert machine.status_ == "max_iter" and machine.n_iter_ == 3


# --- weights ----------------------------------------------------------------------


@BOTH
def test_a_weight_of_two_is_a_row_repeated_also_if_indefinite(Machine, indefinite):
    K, y = indefinite
    weights = np.arange(40) % 3
    rows = np.repeat(np.arange(40), weights)
    settings = {"C": 0.1, "kernel": "precomputed", "tol": 1e-9}
    weighted = Machine(**settings).fit(K, y, sample_weight=weights)
    repeated = Machine(**settings).fit(K[np.ix_(rows, rows)], y[rows])
    assert np.all(weighted.dual_coef_[:, weights == 0] == 0)
    np.testing.assert_allclose(
        weighted.decision_function(K),
        repeated.decision_function(K[:, rows]),
        atol=1e-4,  # flat objective: see the stationarity test
    )


@BOTH
@pytest.mark.filterwarnings("ignore::kreinlearn.exceptions.IndefiniteKernelWarning")
def test_weights_in_scikit_learns_own_words(Machine):
    check_sample_weight_equivalence_on_dense_data(
        Machine.__name__, Machine(tol=TIGHT[Machine])
    )


@BOTH
def test_class_weight_is_sample_weight(Machine, indefinite):
    K, y = indefinite
    by_class = Machine(kernel="precomputed", C=0.1, class_weight={-1: 1, 1: 3})
    by_sample = Machine(kernel="precomputed", C=0.1)
    np.testing.assert_array_equal(
        by_class.fit(K, y).dual_coef_,
        by_sample.fit(K, y, sample_weight=np.where(y > 0, 3, 1)).dual_coef_,
    )


@BOTH
def test_a_class_without_weight_never_wins(Machine):
    X, y = load_iris(return_X_y=True)
    X = scaled(X)
    machine = Machine().fit(X, y, sample_weight=(y != 1).astype(float))
    scores = machine.decision_function(X)
    np.testing.assert_array_equal(scores[:, 1], -1)
    assert set(machine.predict(X)) == {0, 2}
    with pytest.raises(ValueError, match="two classes with positive weight, got 1"):
        Machine(class_weight={0: 0, 1: 0, 2: 1}).fit(X, y)


# --- the estimators in use --------------------------------------------------------


@BOTH
def test_single_precision(Machine, moons):
    X, y = moons
    single = Machine(dtype="float32").fit(X, y)
    assert single.X_fit_.dtype == np.float32
    np.testing.assert_array_equal(single.predict(X), Machine().fit(X, y).predict(X))


@BOTH
def test_zero_matrix_predicts_the_intercept(Machine):
    machine = Machine(kernel="precomputed").fit(np.zeros((6, 6)), [0, 0, 0, 0, 1, 1])
    assert np.ptp(machine.decision_function(np.zeros((2, 6)))) == 0
    assert machine.status_ == "converged"


@BOTH
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"C": 0}, "'C' must be a positive number, got 0"),
        ({"tol": -1.0}, r"'tol' must be a positive number, got -1\.0"),
        ({"max_iter": 0}, "'max_iter' must be a positive whole number, got 0"),
        ({"dtype": "int8"}, "'dtype' must be None, 'float32' or 'float64', got 'int8'"),
        ({"kernel": "nope"}, "'kernel' must be one of .* got 'nope'"),
        ({"class_weight": "even"}, "'class_weight' must be one of 'balanced', got"),
    ],
)
def test_messages(Machine, params, words, moons):
    with pytest.raises(ValueError, match=words):
        Machine(**params).fit(*moons)


@BOTH
def test_matrices_that_are_refused(Machine, indefinite):
    K, y = indefinite
    machine = Machine(kernel="precomputed")
    with pytest.raises(ValueError, match=r"must be square.*of shape \(40, 39\)"):
        machine.fit(K[:, :39], y)
    skewed = K.copy()
    skewed[0, 1] += 1
    with pytest.raises(ValueError, match="must be symmetric"):
        machine.fit(skewed, y)
    with pytest.raises(ValueError, match="two classes with positive weight, got 1"):
        machine.fit(K, np.ones(40))
    with pytest.raises(ValueError, match="39 features.*expecting 40"):
        machine.fit(K, y).predict(K[:, :39])
