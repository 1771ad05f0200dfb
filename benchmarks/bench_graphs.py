"""How fast are the scores between graphs, next to GraKeL and to a loop over SciPy.

    python benchmarks/bench_graphs.py [--quick] [--repeats N]

One JSON line a measurement: median and least of the repeats in seconds, after a first
run that is not counted, and how many times faster we are. All libraries get graphs in
the form that they work with. With MUTAG from the data folder (``graphs/MUTAG.npz``),
else with random graphs of the same size.
"""

import os
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from common import OURS, emit, environment, measure, options_of, rows, say, start
from scipy.optimize import linear_sum_assignment

from kreinlearn.kernels.graphs import check_graphs, node_assignment, wl_assignment

try:
    import grakel
except ImportError:
    grakel = None

QUICK = 20


def mutag():
    """Return graphs as (n_nodes, edges, labels), and where they come from."""
    path = Path(os.environ.get("KREINLEARN_DATA", ""), "graphs", "MUTAG.npz")
    if not path.is_file():
        say(f"{path.name} is not in the data folder; random graphs take its place.")
        return made(188), "synthetic"
    data = np.load(path)
    owner, A, labels = data["graph_indicator"], data["A"] - 1, data["node_labels"]
    firsts = np.searchsorted(owner, np.arange(1, owner.max() + 2))
    graphs = []
    for g, first in enumerate(firsts[:-1], 1):
        edges = A[owner[A[:, 0]] == g] - first
        own = labels[first : firsts[g]]
        graphs.append((len(own), edges, own))
    return graphs, "MUTAG"


def made(n):
    rng = np.random.default_rng(0)
    graphs = []
    for size in rng.integers(10, 29, size=n):
        tree = [(i, int(rng.integers(max(0, i - 3), i))) for i in range(1, size)]
        rings = [(i, i - 5) for i in range(5, size, 7)]
        graphs.append((int(size), np.array(tree + rings), rng.integers(0, 7, size)))
    return graphs


def grakel_form(graphs):
    found = []
    for n, edges, labels in graphs:
        around = {v: {} for v in range(n)}
        for i, j in np.asarray(edges).tolist():
            around[i][j] = around[j][i] = 1.0
        found.append(grakel.Graph(around, node_labels=dict(enumerate(labels.tolist()))))
    return found


def by_grakel(graphs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = grakel.WeisfeilerLehmanOptimalAssignment(n_iter=5)
        return oracle.fit_transform(graphs)


def by_scipy(graphs):
    """Return scores of node assignments, pair by pair: what one would write first."""
    prepared = []
    for graph in graphs:
        A = np.zeros((graph["n_nodes"],) * 2)
        A[tuple(graph["edges"].T)] = A[tuple(graph["edges"][:, ::-1].T)] = 1.0
        prepared.append((A / np.maximum(A.sum(axis=1), 1)[:, None], graph["labels"]))
    K = np.empty((len(graphs),) * 2)
    for i, (P, own) in enumerate(prepared):
        for j, (Q, other) in enumerate(prepared[: i + 1]):
            level = np.equal.outer(own, other).astype(float)
            total = level.copy()
            for weight in (0.5, 0.25):
                level = P @ level @ Q.T
                total += weight * level
            found = linear_sum_assignment(total, maximize=True)
            K[i, j] = K[j, i] = total[found].sum()
    return K


def main(argv=None):
    options = options_of(__doc__, argv)
    machine = environment("grakel")
    graphs, data = mutag()
    graphs = graphs[:QUICK] if options.quick else graphs
    checked = check_graphs(graphs)
    works = {
        "WL assignment": {OURS: partial(wl_assignment, checked, normalize=False)},
        "node assignment": {
            OURS: partial(node_assignment, checked, normalize=False),
            "loop over SciPy": partial(by_scipy, checked),
        },
    }
    if grakel is None:
        say('GraKeL is not installed and left out: pip install "kreinlearn[graphs]"')
    else:
        works["WL assignment"]["grakel"] = partial(by_grakel, grakel_form(graphs))
    sizes = {"n": len(graphs), "m": sum(n for n, _, _ in graphs)}
    for work, functions in works.items():
        first, *others = [function() for function in functions.values()]
        for other in others:
            if np.abs(first - other).max() > 1e-12 * np.abs(first).max():
                raise RuntimeError(f"{work}: the libraries compute different scores.")
        seconds = measure(functions, options.repeats)
        found = rows("graphs", work, seconds, **sizes, dtype="float64", data=data)
        emit(found, machine)


if __name__ == "__main__":
    start(main)
