"""What the properties are tested on: similarities, labels and weights, drawn.

``KREINLEARN_EXAMPLES=500 python -m pytest tests/properties`` draws more examples, and
others: without it the few that are drawn are the same each time.
"""

import os
from typing import NamedTuple

import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

FEW = 12
"""Examples of each property in the quick tests, which are to take seconds."""


def examples(few=FEW):
    """Return the settings of a property; ``few`` if an example takes long."""
    asked = os.environ.get("KREINLEARN_EXAMPLES")
    return hypothesis.settings(
        derandomize=asked is None,
        max_examples=max(1, int(asked) * few // FEW) if asked else few,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )


class Case(NamedTuple):
    """Similarities K (n, n), labels y, and a lam above the threshold of uniqueness."""

    K: np.ndarray
    y: np.ndarray
    lam: float
    rng: np.random.Generator

    @property
    def n(self):
        return len(self.y)


@st.composite
def matrices(draw, least=2, most=25, signs=("any",), singular=True):
    """Draw a symmetric matrix of any signature, scale and condition.

    ``signs`` are "any", "positive" or both; with ``singular`` false no eigenvalue is
    below a hundredth of the largest.
    """
    n = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    moduli = np.exp(rng.uniform(np.log(0.01), 0.0, n))
    if singular:
        moduli[: draw(st.integers(0, n // 2))] = 0.0
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    if draw(st.sampled_from(signs)) == "any":
        moduli = np.where(rng.uniform(size=n) < share, -moduli, moduli)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    K = (Q * moduli) @ Q.T * 10.0 ** draw(st.integers(-3, 3))
    return (K + K.T) / 2


@st.composite
def cases(draw, least=6, most=25, classes=(2,), **settings):
    """Draw a matrix with labels; lam is what keeps the solution unique, or more."""
    K = draw(matrices(least, most, **settings))
    n = len(K)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    k = draw(st.sampled_from(classes))
    y = rng.permutation(np.r_[np.arange(k), rng.integers(k, size=n - k)])
    largest = np.abs(np.linalg.eigvalsh(K)).max()
    lam = draw(st.sampled_from([1.0, 3.0, 30.0])) * (largest or 1.0) / n
    return Case(K, y, float(lam), rng)
