"""Scores between graphs, compared with GraKeL and a loop over SciPy.

    python benchmarks/bench_graphs.py [--quick] [--repeats N]

See `common` for the rows. All libraries get graphs in their own format. The graphs are
MUTAG from the data folder (``graphs/MUTAG.npz``) or random graphs of the same size.
"""

import os
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from common import (
    OURS,
    check_agreement,
    describe_machine,
    make_rows,
    parse_options,
    print_missing_library,
    print_note,
    print_rows,
    run_script,
    time_functions,
)
from scipy.optimize import linear_sum_assignment

from kreinlearn.kernels.graphs import check_graphs, node_assignment, wl_assignment

try:
    import grakel
except ImportError:
    grakel = None

QUICK_N_GRAPHS = 20


def load_mutag():
    """Return graphs as (n_nodes, edges, labels), and their source."""
    path = Path(os.environ.get("KREINLEARN_DATA", ""), "graphs", "MUTAG.npz")
    if not path.is_file():
        print_note(f"{path.name} is not in the data folder; random graphs are used.")
        return make_graphs(188), "synthetic"
    data = np.load(path)
    owner, A, labels = data["graph_indicator"], data["A"] - 1, data["node_labels"]
    firsts = np.searchsorted(owner, np.arange(1, owner.max() + 2))
    graphs = []
    for g, first in enumerate(firsts[:-1], 1):
        edges = A[owner[A[:, 0]] == g] - first
        own = labels[first : firsts[g]]
        graphs.append((len(own), edges, own))
    return graphs, "MUTAG"


def make_graphs(n):
    rng = np.random.default_rng(0)
    graphs = []
    for size in rng.integers(10, 29, size=n):
        tree = [(i, int(rng.integers(max(0, i - 3), i))) for i in range(1, size)]
        rings = [(i, i - 5) for i in range(5, size, 7)]
        graphs.append((int(size), np.array(tree + rings), rng.integers(0, 7, size)))
    return graphs


def to_grakel(graphs):
    found = []
    for n, edges, labels in graphs:
        around = {v: {} for v in range(n)}
        for i, j in np.asarray(edges).tolist():
            around[i][j] = around[j][i] = 1.0
        found.append(grakel.Graph(around, node_labels=dict(enumerate(labels.tolist()))))
    return found


def compute_by_grakel(graphs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = grakel.WeisfeilerLehmanOptimalAssignment(n_iter=5)
        return oracle.fit_transform(graphs)


def compute_by_scipy(graphs):
    """Return scores of node assignments by the obvious loop over pairs."""
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
    options = parse_options(__doc__, argv)
    machine = describe_machine("grakel")
    graphs, data = load_mutag()
    graphs = graphs[:QUICK_N_GRAPHS] if options.quick else graphs
    checked = check_graphs(graphs)
    works = {
        "WL assignment": {OURS: partial(wl_assignment, checked, normalize=False)},
        "node assignment": {
            OURS: partial(node_assignment, checked, normalize=False),
            "loop over SciPy": partial(compute_by_scipy, checked),
        },
    }
    if grakel is None:
        print_missing_library("GraKeL", "graphs")
    else:
        works["WL assignment"]["grakel"] = partial(compute_by_grakel, to_grakel(graphs))
    sizes = {"n": len(graphs), "m": sum(n for n, _, _ in graphs)}
    for work, functions in works.items():
        check_agreement(work, functions, scaled_atol=1e-12)
        seconds = time_functions(functions, options.repeats)
        found = make_rows("graphs", work, seconds, **sizes, dtype="float64", data=data)
        print_rows(found, machine)


if __name__ == "__main__":
    run_script(main)
