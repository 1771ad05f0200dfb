import numpy as np
import pytest


@pytest.fixture
def rings(rng):
    """Return samples of two classes that a line cannot part, and a few that are odd."""
    X = rng.uniform(size=(60, 3))
    y = np.where(np.abs(X - 0.5).sum(axis=1) > 0.75, 1, -1)
    y[:4] *= -1
    return X, y
