"""Scores between graphs: naive twins, GraKeL, forms of graphs, and what is refused."""

import warnings
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from kreinlearn.kernels import graphs as module
from kreinlearn.kernels.graphs import check_graphs, node_assignment, wl_assignment

PATH = (3, [(0, 1), (1, 2)], ["C", "O", "C"])
TRIANGLE = (3, [(0, 1), (1, 2), (2, 0)], ["C", "C", "C"])


def random_graphs(n, seed=0, letters="CNO", d=0):
    """Return graphs of 1 to 12 nodes, sparse and dense ones, and some that are odd."""
    rng = np.random.default_rng(seed)
    found = []
    for size in rng.integers(1, 13, size=n - 5):
        share = rng.uniform(0, 1)
        pairs = [(i, j) for i in range(size) for j in range(i)]
        found.append((size, [pair for pair in pairs if rng.uniform() < share]))
    found += [(1, []), (1, []), (5, []), (4, [(0, 0), (0, 1)])]
    found.append(found[0])  # a copy
    result = []
    for size, edges in found:
        labels = rng.choice(list(letters), size) if letters else None
        attributes = rng.standard_normal((size, d)) if d else None
        result.append((int(size), edges, labels, attributes))
    return [*result[:-1], result[0]]


def list_neighbors(n, edges):
    around = {v: set() for v in range(n)}
    for i, j in edges:
        around[i].add(j)
        around[j].add(i)
    return around


def wl_naive(X, Y, rounds=5):
    """Return the sums of smaller counts, with labels spelled out."""

    def counts(graph):
        n, edges, labels, *_ = graph
        around = list_neighbors(n, edges)
        now = [str(len(around[v]) if labels is None else labels[v]) for v in range(n)]
        found = Counter((0, each) for each in now)
        for r in range(rounds):
            now = [f"({now[v]}|{sorted(now[w] for w in around[v])})" for v in range(n)]
            found.update((r + 1, each) for each in now)
        return found

    X, Y = [counts(x) for x in X], [counts(y) for y in Y]
    return np.array([[sum((x & y).values()) for y in Y] for x in X], float)


def node_naive(x, y, rounds=2, decay=0.5, width=1.0):
    """Return the assignment score of two graphs, from its definition."""
    own, other = list_neighbors(*x[:2]), list_neighbors(*y[:2])

    def start(v, w):
        if x[2] is not None:
            same = x[2][v] == y[2][w]
        else:
            same = x[3] is not None or len(own[v]) == len(other[w])
        gap = 0 if x[3] is None else np.sum((x[3][v] - y[3][w]) ** 2)
        return same * np.exp(-gap / width**2)

    level = np.array([[start(v, w) for w in range(y[0])] for v in range(x[0])])
    total = level.copy()
    for r in range(rounds):
        new = np.zeros_like(level)
        for v in range(x[0]):
            for w in range(y[0]):
                pairs = [level[a, b] for a in own[v] for b in other[w]]
                new[v, w] = np.mean(pairs) if pairs else 0.0
        level = new
        total += decay ** (r + 1) * level
    return total[linear_sum_assignment(total, maximize=True)].sum()


def grakel_graphs(graphs):
    grakel = pytest.importorskip(
        "grakel", reason="GraKeL is the oracle: pip install 'kreinlearn[graphs]'"
    )
    found = []
    for n, edges, labels, *_ in graphs:
        # With weights: from plain lists, GraKeL drops nodes that have no neighbors.
        around = {v: dict.fromkeys(w, 1.0) for v, w in list_neighbors(n, edges).items()}
        labels = {v: str(label) for v, label in enumerate(labels)}
        found.append(grakel.Graph(around, node_labels=labels))
    return grakel.WeisfeilerLehmanOptimalAssignment, found


# -- Weisfeiler-Lehman -----------------------------------------------------------------


@pytest.mark.parametrize("letters", ["CNO", "C", None])
@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_wl_is_its_naive_twin(letters, rounds):
    X, Y = random_graphs(30, 0, letters), random_graphs(40, 1, letters)
    assert np.array_equal(
        wl_assignment(X, Y, rounds=rounds, normalize=False),
        wl_naive(X, Y, rounds=rounds),
    )
    K = wl_assignment(Y, rounds=rounds, normalize=False)
    assert np.array_equal(K, wl_naive(Y, Y, rounds=rounds))
    assert K.diagonal().tolist() == [(rounds + 1) * graph[0] for graph in Y]
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * len(K) * K.max()


def test_wl_with_many_neighbors():
    # Beyond the number of neighbors from which on another sort is used.
    rng = np.random.default_rng(3)
    graphs = []
    for n in (40, 60, 60):
        pairs = [(i, j) for i in range(n) for j in range(i) if rng.uniform() < 0.8]
        graphs.append((n, pairs, rng.choice(list("ab"), n)))
    order = rng.permutation(60)  # the last one again, with its nodes in another order
    place = np.argsort(order)
    n, pairs, labels = graphs[-1]
    graphs.append((n, place[np.array(pairs)], labels[order]))
    K = wl_assignment(graphs, rounds=2, normalize=False)
    assert np.array_equal(K, wl_naive(graphs, graphs, rounds=2))
    assert K[2, 3] == K[2, 2] == 180


@pytest.mark.parametrize("normalize", [False, True])
def test_wl_is_what_grakel_computes(normalize):
    graphs = random_graphs(50, 5)
    Oracle, theirs = grakel_graphs(graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        K = Oracle(n_iter=3, normalize=normalize).fit_transform(theirs)
    ours = wl_assignment(graphs, rounds=3, normalize=normalize)
    assert K.size >= 2500 and np.abs(ours - K).max() <= 1e-12


# -- assignments of nodes --------------------------------------------------------------


@pytest.mark.parametrize(
    ("letters", "d"), [("CNO", 0), ("CN", 2), (None, 0), (None, 1)]
)
def test_node_assignment_is_its_naive_twin(letters, d):
    X, Y = random_graphs(20, 0, letters, d), random_graphs(50, 1, letters, d)
    settings = {"rounds": 3, "decay": 0.7, "width": 1.3}
    S = node_assignment(X, Y, **settings, normalize=False)
    expected = [[node_naive(x, y, **settings) for y in Y] for x in X]
    assert S.shape == (20, 50) and S == pytest.approx(np.array(expected), rel=1e-12)


def test_assignments_are_those_of_scipy(rng):
    from kreinlearn.kernels._compiled.graphs import best_assignment

    for i in range(1000):
        n = int(rng.integers(1, 12))
        m = n + int(rng.integers(0, 5))
        S = rng.standard_normal((n + 2, m + 3))
        if i % 3 == 0:
            S = np.round(S)  # ties
        if i % 50 == 0:
            S[:] = 1.0
        best = S[:n, :m][linear_sum_assignment(S[:n, :m], maximize=True)].sum()
        assert best_assignment(S, n, m) == pytest.approx(best, abs=1e-12)


def test_node_assignment_is_normalized():
    X, Y = random_graphs(20, 0), random_graphs(30, 1)
    S = node_assignment(X, Y)
    selves = [np.array([node_naive(x, x) for x in each]) for each in (X, Y)]
    raw = node_assignment(X, Y, normalize=False)
    assert pytest.approx(raw / np.sqrt(np.outer(*selves)), rel=1e-12) == S
    K = node_assignment(X)
    assert (K.diagonal() == 1).all() and K.min() >= 0 and K.max() <= 1 + 1e-15


# -- both ------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [wl_assignment, node_assignment])
@pytest.mark.parametrize("normalize", [False, True])
def test_bits_do_not_depend_on_blocks_or_threads(function, normalize, monkeypatch):
    X = check_graphs(random_graphs(60, 2, d=2))
    K = function(X, normalize=normalize)
    assert np.array_equal(K, K.T)
    parts = [function(X[i : i + 7], X, normalize=normalize) for i in range(0, 60, 7)]
    assert np.array_equal(np.vstack(parts), K)
    assert np.array_equal(function(X, X, normalize=normalize), K)
    monkeypatch.setattr(module, "COUNTS_PER_THREAD", 1)
    monkeypatch.setattr(module, "PAIRS_PER_THREAD", 1)
    assert np.array_equal(function(X, normalize=normalize), K)
    again = function(X[:7], X, normalize=normalize)
    assert np.array_equal(again, K[:7])


def test_checked_graphs_can_be_saved_without_trust():
    import skops.io

    saved = skops.io.dumps(check_graphs([PATH, TRIANGLE]))
    assert skops.io.get_untrusted_types(data=saved) == []
    assert np.array_equal(
        wl_assignment(skops.io.loads(saved)), wl_assignment([PATH, TRIANGLE])
    )


# -- forms of graphs -------------------------------------------------------------------


def test_networkx_graphs_are_the_same_as_lists():
    networkx = pytest.importorskip("networkx")
    lists = random_graphs(20, 0, d=2)
    theirs = []
    for n, edges, labels, attributes in lists:
        G = networkx.Graph()
        for v in range(n):
            x, y = attributes[v]
            G.add_node(f"node {v}", atom=str(labels[v]), x=x, both=[x, y], y=y)
        G.add_edges_from((f"node {i}", f"node {j}") for i, j in edges)
        theirs.append(G)
    ours = check_graphs(lists)
    for names in (["x", "y"], "both"):
        found = check_graphs(theirs, label="atom", attributes=names)
        assert np.array_equal(node_assignment(found), node_assignment(ours))
    bare = check_graphs(theirs, label=None)
    assert bare[0]["labels"] is None and bare[0]["attributes"] is None
    dropped = check_graphs(lists, label=None)
    assert np.array_equal(wl_assignment(bare), wl_assignment(dropped))
    with pytest.raises(ValueError, match="Graph 0: node 'node 0' has no attribute 'la"):
        wl_assignment(theirs)
    plain = [networkx.path_graph(3), networkx.cycle_graph(3)]
    assert wl_assignment(plain, rounds=0, normalize=False).tolist() == [
        [3, 1],
        [1, 3],
    ]  # degrees


def test_forms_that_mean_the_same():
    twice = (3, np.array([[0, 1], [1, 0], [2, 1]]), np.array(["C", "O", "C"]))
    named = {"edges": [(1, 2), (0, 1)], "n_nodes": 3, "labels": ["C", "O", "C"]}
    first, *others = check_graphs([PATH, twice, named, list(PATH)])
    for other in others:
        for key in ("edges", "labels"):
            assert np.array_equal(first[key], other[key])
    checked = check_graphs(np.array([PATH, TRIANGLE], dtype=object))
    assert check_graphs(checked)[0] is checked[0]  # nothing is done twice
    assert check_graphs([(2, [], [True, False])])[0]["labels"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("graphs", "words"),
    [
        ([], "At least one graph"),
        ("graphs", "A list of graphs was expected"),
        ([PATH, 3], "Graph 1 must be a networkx graph or a tuple"),
        ([PATH, (0, [], [])], "Graph 1 has no nodes"),
        ([PATH, ([(0, 1)], [1, 2])], "Graph 1: the number of nodes must come first"),
        (
            [PATH, (2, [(0, 2)], "CC")],
            r"Graph 1 has nodes 0 to 1, but an edge \(0, 2\)",
        ),
        ([(2, [(0, -1)], "CC")], r"Graph 0 has nodes 0 to 1, but an edge \(-1, 0\)"),
        ([(2, [(0, 0.5)], "CC")], "Graph 0: edges must be pairs of whole numbers"),
        ([(2, [(0, 1, 1)], "CC")], "Graph 0: edges must be pairs of whole numbers"),
        ([(2, [], "C")], "Graph 0 has 2 nodes, but 1 labels"),
        ([(2, [], ["C", 1])], "all be text, got 'C' for node 0"),
        ([(2, [], [0.5, 1])], "all be text, got 0.5 for node 0"),
        ([PATH, (2, [])], "graph 1 has no labels and no attributes"),
        ([PATH, (2, [], [1, 2])], "graph 1 has whole-number labels"),
        ([(1, [], "C", [[1.0, np.nan]])], "Graph 0: attributes must be finite"),
        ([(2, [], "CC", [[1.0], [1.0, 2.0]])], "Graph 0: attributes must be numbers"),
        ([(2, [], "CC", [[1.0]])], "Graph 0 has 2 nodes; attributes must have one row"),
        ([(1, [], "C", [[1.0]]), (1, [], "C", [[1.0, 2.0]])], "graph 1 has .* 2 attr"),
    ],
)
def test_what_is_refused(graphs, words):
    with pytest.raises((ValueError, TypeError), match=words):
        wl_assignment(graphs)


def test_checked_graphs_that_were_changed_are_refused():
    good = check_graphs([PATH, TRIANGLE])
    for key, value in (
        ("edges", np.zeros((1, 3), int)),
        ("labels", np.array(["C"])),
        ("edges", np.array([[0, 3]])),
    ):
        with pytest.raises(ValueError, match="Graph 1"):
            wl_assignment([good[0], {**good[1], key: value}])


def test_two_sets_must_be_alike():
    with pytest.raises(ValueError, match="graph 0 of Y has no labels"):
        wl_assignment([PATH], [(2, []), (2, [])])


def test_networkx_graphs_that_are_refused():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(ValueError, match="Graph 0 is directed"):
        check_graphs([networkx.DiGraph([(0, 1)])])
    with pytest.raises(ValueError, match="Graph 0 is a multigraph"):
        check_graphs([networkx.MultiGraph([(0, 1)])])
    with pytest.raises(ValueError, match="Graph 1 has no nodes"):
        check_graphs([networkx.path_graph(2), networkx.Graph()])
    with pytest.raises(TypeError, match="put a single graph into a list"):
        check_graphs(networkx.path_graph(2))


@pytest.mark.parametrize("function", [wl_assignment, node_assignment])
def test_bad_parameters(function):
    with pytest.raises(ValueError, match="'rounds' must be 0 or more"):
        function([PATH], rounds=-1)
    with pytest.raises(TypeError, match="'rounds' must be a whole number"):
        function([PATH], rounds=1.5)
    for name in ("decay", "width"):
        with pytest.raises(ValueError, match=f"'{name}' must be"):
            node_assignment([PATH], **{name: 0.0})
