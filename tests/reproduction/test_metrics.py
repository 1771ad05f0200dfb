import numpy as np
import pytest

from kreinlearn.app.runs import Cell, make_record
from reproduction.metrics import SEARCHED_METRICS, SIZES, random_stack, search
from reproduction.published import TABLE1


def test_random_stacks_are_positive_definite():
    X = random_stack(20, 5, 3.0, np.random.default_rng(0))
    assert X.shape == (20, 5, 5)
    np.testing.assert_array_equal(X, X.transpose(0, 2, 1))
    logs = np.log(np.linalg.eigvalsh(X))
    assert logs.std() == pytest.approx(3.0, rel=0.2)


@pytest.mark.parametrize("method", SEARCHED_METRICS)
@pytest.mark.parametrize("size", ["2 x 2", "3 x 3"])
def test_the_search_agrees_with_theory(method, size):
    cell = Cell("table1", size, method, 0)
    record = make_record(cell, search(cell))
    assert record["tried"] == 210
    assert record["m"] == SIZES[size]
    is_definite = method in TABLE1 and TABLE1[method].is_definite
    assert (record["indefinite"] == 0) == is_definite
    assert (record["mu_ratio"] > -1e-11) == is_definite
