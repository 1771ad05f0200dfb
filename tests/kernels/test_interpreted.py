"""Compiled code run as Python: the same numbers, to rounding.

What a compiler assumes and Python does not, such as indices within their bounds, shows
here; and a tool that counts which lines are run sees those of compiled functions.
"""

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.kernels import KERNELS, gram
from tests.kernels.test_cache import make_samples
from tests.kernels.test_plain import assert_same_without_compiler

WRAP = "ignore:overflow encountered:RuntimeWarning"
"""Ignore overflow warnings of NumPy: hashes of labels wrap on purpose."""

OTHERS = ("wasserstein", "levenshtein", "jaro_winkler")
"""What POT and RapidFuzz compute."""

MORE = {
    "dtw": [{"window": 0.3}],
    "erp": [{"g": 0.5}, {"window": 0.5}],
    "lcss": [{"window": 0.5}],
    "smith_waterman": [{"gap_open": 3, "gap_extend": 3}, {"normalized": False}],
    "needleman_wunsch": [{"gap_open": 4, "gap_extend": 4}, {"normalized": False}],
    "sliced_wasserstein": [{"n_projections": 3, "p": p} for p in (2.0, 3.0)],
    "node_assignment": [{"rounds": 0}, {"normalize": False}],
    "weisfeiler_lehman_assignment": [{"normalize": False}],
}
"""Other branches of the same code."""


def matrices(n, d, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, d, d + 2))
    return A @ A.transpose(0, 2, 1)


def measures(found):
    """Add the kernels of series, sequences, graphs, sets and matrices."""
    for kernel in KERNELS.values():
        if kernel.samples == "rows" or kernel.name in OTHERS:
            continue  # rows are in test_plain.py
        for number, params in enumerate([{}, *MORE.get(kernel.name, [])]):
            for d in (2, 3, 5) if kernel.samples == "matrices" else (0,):
                X = matrices(5, d) if d else make_samples(kernel, 5)
                Y = matrices(3, d, 1) if d else make_samples(kernel, 3, seed=1)
                key = f"{kernel.name} {number} {d}"
                found[f"{key} symmetric"] = kernel.function(X, **params)
                found[f"{key} cross"] = kernel.function(X, Y, **params)


def wide_rows(found):
    """Add kernels of rows so wide that sums over their features are left to BLAS."""
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(9, 130)), rng.uniform(size=(6, 130))
    for name, params in (
        ("rbf", {}),
        ("tanh", {}),
        ("polynomial", {"degree": 2}),
        ("polynomial", {"degree": 3}),
        ("polynomial", {"degree": 5}),
        ("power", {"degree": 1.5}),
        ("linear", {}),
    ):
        key = f"{name} {params}"
        found[f"{key} symmetric"] = gram(X, kernel=name, **params)
        found[f"{key} cross"] = gram(X, Y, name, **params)


def rich_graphs(found):
    """Add graphs whose nodes differ in labels and attributes, one a large star."""
    rng = np.random.default_rng(0)
    graphs = [
        (n, [(0, i) for i in range(1, n)], list("ab" * n)[:n], rng.normal(size=(n, 2)))
        for n in (30, 5, 8, 6)
    ]
    for name in ("node_assignment", "weisfeiler_lehman_assignment"):
        found[f"{name} rich"] = KERNELS[name].function(graphs)


def searches(found):
    """Add what a search over convex problems predicts, which is compiled as a whole."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(24, 2))
    for n_classes in (2, 3):
        y = (n_classes * X[:, 0]).astype(int)
        for norm in ("hilbert", "euclidean"):
            model = KreinLogisticRegressionCV(
                kernel="tl1", norms=[norm], lams=[1.0, 0.1], cv=2, tol=1e-8
            )
            model.fit(X, y)
            found[f"search {n_classes} {norm}"] = model.held_out_proba_


def compute_results():
    found = {}
    measures(found)
    wide_rows(found)
    rich_graphs(found)
    searches(found)
    return found


@pytest.mark.slow
def test_python_gives_the_same_numbers(tmp_path):
    assert_same_without_compiler(
        __name__,
        tmp_path,
        lambda key: 1e-5 if key.startswith("search") else 1e-10,
        options=("-W", WRAP),
    )
