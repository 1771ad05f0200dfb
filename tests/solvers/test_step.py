"""One Newton step: its memory, its shift and its end."""

from types import SimpleNamespace

import numpy as np
import pytest

from kreinlearn.losses import Logistic, Multinomial
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers import newton as step
from kreinlearn.solvers.newton import (
    Directions,
    NewtonStep,
    State,
    conjugate_gradients,
    dot,
    line_search,
)
from tests.conftest import gram_of_signature


def dual(signature=(20, 10), lam=(0.1, 0.02), *, columns=1, intercept=True, seed=0):
    K = gram_of_signature(*signature, scale=0.1, seed=seed)
    n, P = len(K), len(lam)
    rng = np.random.default_rng(seed)
    if columns == 1:
        Y, loss = rng.integers(0, 2, (n, P, 1)).astype(float), Logistic()
    else:
        Y, loss = np.eye(columns)[rng.integers(0, columns, (n, P))], Multinomial()
    weights = np.full((n, P), 1 / n)
    return KreinDual(Dense(K), Y, weights, np.array(lam), loss, intercept)


def test_states_are_new_taken_and_joined():
    state = State.new(np.array([0.0, 2.0]))
    np.testing.assert_array_equal(state.shift, [0, 0])
    np.testing.assert_array_equal(state.curvature, [0, 2])
    np.testing.assert_array_equal(state.best, [np.inf, np.inf])
    np.testing.assert_array_equal(state.flat, [0, 0])
    assert state.flat.dtype.kind == "i"
    other = State(*(np.array([value]) for value in (1.0, 3.0, 0.5, 4)))
    joined = state.concat(other)
    assert [len(array) for array in joined] == [3] * 4
    for array, expected in zip(joined.take([2]), other, strict=True):
        np.testing.assert_array_equal(array, expected)


def remembered(t, gained, residual, state, *, met=0.0, size=1.0):
    """Return the state after a step whose direction and length are given."""
    newton = NewtonStep(1e-6, 10)
    D = np.ones((4, 1, 1))
    newton._direction = lambda *_: (D, size * D, np.array([met]))
    after = SimpleNamespace(residual=np.array([residual]))
    newton._move = lambda *_: (after, np.array([t]), np.array([gained]))
    unbent = []
    model = SimpleNamespace(without_preconditioner=lambda which: unbent.append(which))
    block = SimpleNamespace(model=lambda point, shift: model)
    point = SimpleNamespace(residual=np.array([1.0]))
    _, found = newton.step(block, point, state)
    assert bool(unbent) == bool(state.curvature.any())
    return [array[0] for array in found]


def state(shift=0.0, curvature=0.0, best=1.0, flat=0):
    values = (shift, curvature, best)
    return State(*(np.array([value]) for value in values), np.array([flat]))


def test_a_short_step_is_followed_by_a_cautious_one():
    # By the size of K along the step, where no negative curvature is known.
    assert remembered(0.05, True, 0.9, state(), size=4.0)[0] == 1.5 * 4.0
    assert remembered(0.05, True, 0.9, state(shift=5.0), size=4.0)[0] == 10.0
    # By the curvature, where it is.
    assert remembered(0.05, True, 0.9, state(), met=2.0, size=4.0)[0] == 3.0
    assert remembered(0.05, True, 0.9, state(curvature=6.0), met=2.0)[0] == 9.0
    # Not after a step of a tenth: that is long enough.
    assert remembered(0.1, True, 0.9, state(), size=4.0)[0] == 0.0


def test_shifts_fall_to_a_quarter_and_end():
    assert remembered(1.0, True, 0.9, state(shift=8.0), size=4.0)[0] == 2.0
    assert remembered(1.0, True, 0.9, state(shift=0.0041), size=4.0)[0] > 0.001
    assert remembered(1.0, True, 0.9, state(shift=0.004), size=4.0)[0] == 0.0
    assert remembered(1.0, True, 0.9, state(shift=1.0, curvature=1e4))[0] == 0.0


def test_the_most_negative_curvature_is_remembered():
    assert remembered(1.0, True, 0.9, state(curvature=3.0), met=1.0)[1] == 3.0
    assert remembered(1.0, True, 0.9, state(curvature=3.0), met=5.0)[1] == 5.0


def test_steps_without_gain_are_counted():
    assert remembered(1.0, False, 0.9, state(flat=2))[2:] == [0.9, 3]
    assert remembered(1.0, False, 1.1, state(flat=2))[2:] == [1.0, 3]
    assert remembered(1.0, True, 1.1, state(flat=2))[2:] == [1.0, 0]
    assert remembered(1.0, False, 0.5, state(flat=2))[2:] == [0.5, 3]
    assert remembered(1.0, False, 0.49, state(flat=2))[2:] == [0.49, 0]


class Scripted:
    """A model that knows how it was changed."""

    def __init__(self, which=None, shift=None):
        self.which, self.shift = which, shift

    def take(self, which):
        return Scripted(which)

    def with_shift(self, shift):
        return Scripted(self.which, shift)


def directed(answers, residual, shift=None, tol=1e-6):
    """Return a direction, and how conjugate gradients were asked for it."""
    newton, asked = NewtonStep(tol, 10), []
    shift = np.zeros(len(residual)) if shift is None else shift

    def cg(model, rtol):
        asked.append((model.which, model.shift, rtol))
        negative = np.array(answers[min(len(asked), len(answers)) - 1])
        D = np.full((2, len(negative), 1), float(len(asked)))
        return Directions(D, 10 * D, negative)

    newton._cg = cg
    return newton._direction(Scripted(), np.array(residual), shift), asked


def test_the_accuracy_of_a_direction_follows_the_residual():
    (_, _, met), asked = directed([[0.0] * 3], [0.9, 1e-2, 1.0001e-6], tol=1e-6)
    (_, _, rtol), *others = asked
    assert not others and not met.any()
    # At most a quarter; the power of 3/4; and no better than the end asks for.
    np.testing.assert_allclose(rtol, [0.25, 1e-2**0.75, 0.1 / 1.0001], rtol=1e-4)


def test_problems_with_negative_curvature_are_solved_again_with_a_shift():
    answers = [[0.0, 2.0, 1.0], [0.0, 0.5], [0.0]]
    start = np.array([0.0, 0.0, 10.0])
    (D, KD, met), asked = directed(answers, [0.1] * 3, start)
    np.testing.assert_array_equal(met, [0, 2, 1])
    np.testing.assert_array_equal(D[0, :, 0], [1, 2, 3])
    np.testing.assert_array_equal(KD, 10 * D)
    np.testing.assert_array_equal(asked[1][0], [1, 2])
    # Half as much again as the curvature, or twice the shift; then four times.
    np.testing.assert_array_equal(asked[1][1], [3.0, 20.0])
    np.testing.assert_array_equal(asked[2][0], [2])
    np.testing.assert_array_equal(asked[2][1], [80.0])
    np.testing.assert_array_equal(asked[1][2], [1e-2, 1e-2])
    np.testing.assert_array_equal(start, [0, 0, 10])  # is left alone


def test_shifts_come_to_an_end():
    _, asked = directed([[1.0]], [0.1])
    assert len(asked) == 1 + step.MAX_SHIFTS
    shifts = np.array([shift[0] for _, shift, _ in asked[1:]])
    np.testing.assert_allclose(shifts[:3], [1.5, 6.0, 48.0])


class Parabola:
    """J(t) - J(0) = slope t + bend t^2 along any step; a bound at ``bound``."""

    def __init__(self, slope, bend, bound=np.inf):
        self.slopes, self.bend = np.array(slope), np.array(bend)
        self.bound, self.asked = np.atleast_2d(bound), []

    def slope(self, point, D):
        return self.slopes

    def largest_step(self, point, D):
        return np.broadcast_to(self.bound, (3, len(self.slopes)))

    def change(self, point, D, KD, t):
        self.asked.append(t.copy())
        return self.slopes * t + self.bend * t**2


def searched(*args, value=1.0):
    block = Parabola(*args)
    point = SimpleNamespace(value=np.full(len(block.slopes), value))
    return *line_search(block, point, None, None), block.asked


def test_lengths_are_halved_until_the_dual_decreases_enough():
    t, fine, gained, asked = searched([-1.0, -1.0, -1.0], [0.5, 3.0, 100.0])
    np.testing.assert_array_equal(t, [1.0, 0.25, 2.0**-7])
    assert fine.all() and gained.all() and len(asked) == 8


def test_enough_is_a_share_of_the_slope():
    # A decrease by less than a ten-thousandth of what the slope promises is too little.
    t, *_ = searched([-1.0, -1.0], [1 - 0.5e-4, 1 - 2e-4])
    np.testing.assert_array_equal(t, [0.5, 1.0])


def test_walls_are_not_reached():
    t, *_ = searched([-1.0, -1.0, -1.0], [0.0] * 3, [0.5, 1.0, 2.0])
    np.testing.assert_allclose(t, [0.995 * 0.5, 0.995, 1.0])


def test_no_step_uphill():
    t, fine, gained, asked = searched([1.0, 0.0], [-5.0, -5.0])
    assert not (t.any() or fine.any() or gained.any())
    assert len(asked) == 1


def test_what_never_decreases_is_given_up():
    t, fine, gained, asked = searched([-1e-30], [1.0], value=0.0)
    assert not (t.any() or fine.any() or gained.any())
    assert len(asked) == step.MAX_HALVINGS


def test_changes_within_rounding_are_accepted_but_gain_nothing():
    t, fine, gained, _ = searched([-1e-20], [0.9e-14], value=-1.0)
    assert fine.all() and not gained.any() and t[0] == 1.0
    t, fine, gained, _ = searched([-1e-14], [0.0], value=-1.0)
    assert fine.all() and not gained.any()
    t, fine, gained, _ = searched([-3e-14], [0.0], value=-1.0)
    assert fine.all() and gained.all()


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sketched", [False, True])
def test_conjugate_gradients_solve_the_system(columns, intercept, sketched):
    block = dual((30, 0), (0.1, 0.02), columns=columns, intercept=intercept)
    block = block.with_preconditioner() if sketched else block
    model = block.model(block.point(block.start()), np.zeros(2))
    found = conjugate_gradients(model, np.array([1e-10, 1e-4]), 500)
    assert not found.negative.any()
    np.testing.assert_allclose(found.KD, block.product(found.D), atol=1e-9)
    # D = T X, and X + T'K D = rhs: apply T to it.
    left = found.D + model.root.apply(model.project(model.root.apply_t(found.KD)))
    right = model.root.apply(model.rhs)
    error = np.sqrt(dot(left - right, left - right) / dot(right, right))
    assert error[0] < 1e-8 and error[1] < 1e-2
    if sketched:  # from all of its columns: it is the inverse
        assert found.products < 10
    else:  # the second problem was done earlier, and left
        assert error[1] > 1e-8
        assert columns * found.products < found.columns < 2 * columns * found.products


def test_conjugate_gradients_stop_on_request():
    block = dual((30, 0), (0.1,))
    model = block.model(block.point(block.start()), np.zeros(1))
    for most in (1, 3):
        found = conjugate_gradients(model, np.array([1e-12]), most)
        assert (found.products, found.columns) == (most, most)


def test_what_is_solved_exactly_has_ended():
    # Without K the first step is all; another would have no direction, and look bent.
    block = dual((0, 0, 30))
    model = block.model(block.point(3 * block.Y), np.zeros(2))
    found = conjugate_gradients(model, np.zeros(2), 500)
    assert found.products == 1 and not found.negative.any()
    np.testing.assert_allclose(found.D, model.root.apply(model.rhs))
    assert found.D.any()


def test_nothing_to_solve_takes_no_product():
    block = dual()
    model = block.model(block.point(block.start()), np.zeros(2))
    nothing = SimpleNamespace(
        rhs=0 * model.rhs, precondition=model.precondition, apply=None
    )
    found = conjugate_gradients(nothing, np.full(2, 0.1), 10)
    assert found.products == 0 and not found.D.any()


@pytest.mark.parametrize("columns", [1, 3])
def test_negative_curvature_is_that_of_the_matrix(columns):
    block = dual((10, 20), (1e-3, 10.0), columns=columns, intercept=False)
    model = block.model(block.point(block.start()), np.zeros(2))
    found = conjugate_gradients(model, np.full(2, 1e-8), 500)
    lowest = -np.linalg.eigvalsh(block.K.K)[0]
    assert 0 < found.negative[0] <= lowest * (1 + 1e-9)
    assert found.negative[1] == 0  # where lam is large, nothing is bent
    shifted = model.with_shift(np.array([1.1 * lowest, 0.0]))
    assert not conjugate_gradients(shifted, np.full(2, 1e-8), 500).negative.any()


def test_the_first_bent_direction_gives_its_curvature():
    block = dual((0, 12), (1e-4,), intercept=False)
    model = block.model(block.point(block.start()), np.zeros(1))
    found = conjugate_gradients(model, np.array([1e-8]), 500)
    TP, KTP = model.apply(model.rhs)
    assert found.products == 1 and not found.D.any()
    np.testing.assert_allclose(found.negative, -dot(TP, KTP) / dot(TP, TP))


def crowded():
    """Return a block, a point, and a step that takes many samples out of bounds."""
    block = dual((30, 0), (0.03,))
    start = 3 * np.random.default_rng(1).standard_normal(block.Y.shape)
    point = block.point(block.feasible(start))
    model = block.model(point, np.zeros(1))
    found = conjugate_gradients(model, np.array([1e-10]), 500)
    D, KD = 4 * found.D, 4 * found.KD
    largest = block.largest_step(point, D)
    assert largest.min() < step.BOUND_FRACTION
    return block, point, D, KD, largest


def test_samples_near_a_wall_are_scaled_one_by_one():
    block, point, D, KD, largest = crowded()
    newton = NewtonStep(1e-6, 500)
    after, t, gained = newton._move(block, point, D, KD)
    assert newton.products == 1 and gained.all() and t[0] > 0.1
    # Others go further than the nearest bound would let the whole step go.
    moved = np.abs(after.A - point.A) / np.abs(D)
    assert moved.max() > 0.995 * largest.min() and after.value < point.value
    fresh = block.K.matmat(after.A[:, 0])[:, None]
    np.testing.assert_allclose(after.F, fresh, atol=1e-9)
    np.testing.assert_allclose(after.A.sum(axis=0), 0, atol=1e-9)


def test_a_step_far_from_walls_is_taken_whole():
    block = dual((30, 0), (10.0,))
    point = block.point(block.start())
    model = block.model(point, np.zeros(1))
    found = conjugate_gradients(model, np.array([1e-10]), 500)
    newton = NewtonStep(1e-6, 500)
    after, t, gained = newton._move(block, point, found.D, found.KD)
    assert newton.products == 0 and t[0] == 1 and gained.all()
    np.testing.assert_allclose(after.A, point.A + found.D, atol=1e-12)


def test_where_scaling_spoils_the_descent_the_whole_step_is_shortened(monkeypatch):
    block, point, D, KD, largest = crowded()
    uphill = lambda self, point, D, scale: -1e-3 * D  # noqa: E731
    monkeypatch.setattr(KreinDual, "project_step", uphill)
    after, t, gained = NewtonStep(1e-6, 500)._move(block, point, D, KD)
    assert gained.all() and 0 < t[0] <= 0.995 * largest.min()
    np.testing.assert_allclose(after.A, point.A + t[0] * D, atol=1e-12)


def test_only_problems_that_were_bent_go_without_preconditioner():
    block = dual()
    model, seen = block.model(block.point(block.start()), np.zeros(2)), []
    spy = SimpleNamespace(
        without_preconditioner=lambda which: seen.append(which) or model
    )
    newton = NewtonStep(1e-6, 50)
    around = SimpleNamespace(
        model=lambda point, shift: spy,
        largest_step=block.largest_step,
        take=block.take,
        slope=block.slope,
        change=block.change,
        advance=block.advance,
    )
    newton.step(around, block.point(block.start()), State.new(np.array([0.0, 1e-3])))
    np.testing.assert_array_equal(seen, [[False, True]])
