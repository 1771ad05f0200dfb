"""Scores between graphs: how many nodes of one find a counterpart in the other.

X and Y are lists of graphs as `check_graphs` takes them: networkx graphs, edge lists,
or its own output, which saves time if graphs are used many times. Both functions
return float64 matrices, exactly symmetric without Y, and the same bits for two graphs
wherever they stand.

Letters: n and k graphs in X and Y; G and H graphs, v and w nodes of theirs.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import check_positive
from kreinlearn.kernels import threads
from kreinlearn.kernels._records import make_kernels, make_measure

__all__ = ["check_graphs", "node_assignment", "wl_assignment"]

Graph = dict[str, Any]
"""Number of nodes, and arrays of edges, labels and attributes."""
GRAPH_KEYS = ("n_nodes", "edges", "labels", "attributes")
"""Keys of a graph that has been checked; the last two may be None."""
COUNTS_PER_THREAD = 2_000_000
"""Counts of labels, times other graphs, that are worth one more thread."""
PAIRS_PER_THREAD = 20_000
"""Pairs of nodes that are worth one more thread."""


def wl_assignment(
    X: Iterable[Any],
    Y: Iterable[Any] | None = None,
    *,
    rounds: int = 5,
    normalize: bool = True,
) -> Array:
    """Weisfeiler-Lehman optimal assignment kernel.

    In each round, the label of a node is replaced by a new one for its label and the
    labels of its neighbors. Two nodes are as similar as the number of rounds, the
    start included, in which their labels agree, and K(G, H) is the largest sum of
    similarities of an assignment of the nodes of one graph to those of the other. It
    is the sum over all rounds and labels of how often both graphs have the label, that
    is, of the smaller of both counts.

    Positive semidefinite. Without labels, a node starts with its degree. Attributes
    are not used.

    Parameters
    ----------
    X : iterable of n graphs
        As `check_graphs` takes them.
    Y : iterable of k graphs, default=None
        Other graphs; None means X.
    rounds : int, default=5
        Rounds after the start, 0 or more.
    normalize : bool, default=True
        Whether to divide by ``sqrt(K(G, G) K(H, H))``, which removes the effect
        of the size of graphs.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix: entries in [0, 1] with 1 on the diagonal if normalized, else
        whole numbers.

    References
    ----------
    N. M. Kriege, P.-L. Giscard, R. C. Wilson, "On valid optimal assignment kernels and
    applications to graph classification", Advances in Neural Information Processing
    Systems 29, 2016.

    Examples
    --------
    A path of three nodes, and a triangle; labels agree at the start, and at no later
    time:

    >>> from kreinlearn.kernels.graphs import wl_assignment
    >>> path = (3, [(0, 1), (1, 2)], ["C", "O", "C"])
    >>> triangle = (3, [(0, 1), (1, 2), (2, 0)], ["C", "C", "C"])
    >>> wl_assignment([path, triangle], rounds=1, normalize=False)
    array([[6., 2.],
           [2., 6.]])
    """
    from kreinlearn.kernels._compiled import graphs as compiled

    rounds = _check_rounds(rounds)
    graphs, n, k, is_same = _join_sets(X, Y)
    packed = _pack_graphs(graphs, only_labels=True)
    nodes = (packed.starts, packed.neighbors, packed.labels)
    found, n_labels = compiled.refine(*nodes, rounds)
    begins, which, counts = compiled.count(found, n_labels, packed.firsts)
    first = 0 if is_same else n
    lists = compiled.list_graphs(begins, which, counts, n_labels, first)
    K = np.zeros((n, k))
    fill = partial(compiled.intersect, K, begins, which, counts, *lists, is_same)
    n_counts = int(begins[n]) * k
    threads.parallel_for(fill, n, threads.count_threads(n_counts, COUNTS_PER_THREAD))
    if normalize:
        selves = (rounds + 1.0) * np.diff(packed.firsts)
        K /= np.sqrt(np.multiply.outer(selves[:n], selves[first:]))
    return K


def node_assignment(
    X: Iterable[Any],
    Y: Iterable[Any] | None = None,
    *,
    rounds: int = 2,
    decay: float = 0.5,
    width: float = 1.0,
    normalize: bool = True,
) -> Array:
    """Optimal assignment of nodes by their attributes and neighborhoods.

    K(G, H) is the largest sum of s(v, w) over all ways to assign each node v of the
    smaller graph to a node w of the larger one, no two to the same. The similarity of
    two nodes is ``s = s_0 + decay s_1 + decay^2 s_2 + ...``, up to the given number of
    rounds:

    * s_0(v, w) compares the nodes themselves. It is 0 if their labels differ, and
      ``exp(-|a - b|^2 / width^2)`` otherwise, with a and b for their attributes (1
      without attributes). Without labels and attributes, degrees are the labels.
    * s_l(v, w) compares their surroundings, l edges away: the mean of s_{l-1} over
      all pairs of a neighbor of v and a neighbor of w, and 0 if one has none.

    Indefinite in general: the best assignments of G to H and of H to a third graph
    need not fit together.

    Parameters
    ----------
    X : iterable of n graphs
        As `check_graphs` takes them.
    Y : iterable of k graphs, default=None
        Other graphs; None means X.
    rounds : int, default=2
        Largest distance of the neighborhoods that are compared, in edges, 0 or more.
    decay : float, default=0.5
        Weight of each edge farther, above 0.
    width : float, default=1.0
        Distance of attributes at which the similarity is 1 / e. Scale attributes to
        comparable ranges before.
    normalize : bool, default=True
        Whether to divide by ``sqrt(K(G, G) K(H, H))``, which removes the effect
        of the size of graphs.

    Returns
    -------
    ndarray of shape (n, k)
        The scores; entries in [0, 1] if normalized, with 1 on the diagonal.

    Notes
    -----
    Fröhlich et al. assign direct neighbors optimally, too, and take means beyond; here
    all are means. The time of a pair grows with the cube of the number of nodes.

    References
    ----------
    H. Fröhlich, J. K. Wegner, F. Sieker, A. Zell, "Optimal assignment kernels for
    attributed molecular graphs", International Conference on Machine Learning, 2005.

    J.-P. Vert, "The optimal assignment kernel is not positive definite",
    arXiv:0801.4061, 2008.

    Examples
    --------
    >>> from kreinlearn.kernels.graphs import node_assignment
    >>> path = (3, [(0, 1), (1, 2)], ["C", "O", "C"])
    >>> triangle = (3, [(0, 1), (1, 2), (2, 0)], ["C", "C", "C"])
    >>> node_assignment([path, triangle], rounds=1, normalize=False)
    array([[4.5, 2.5],
           [2.5, 4.5]])
    """
    from kreinlearn.kernels._compiled import graphs as compiled

    rounds = _check_rounds(rounds)
    decay, width = check_positive("decay", decay), check_positive("width", width)
    settings = rounds, decay, 1.0 / width**2
    graphs, n, k, is_same = _join_sets(X, Y)
    packed = _pack_graphs(graphs)
    arrays = *packed, _rank_graphs(packed)
    first = 0 if is_same else n
    K = np.empty((n, k))
    n_pairs = n * k * (packed.firsts[-1] // len(graphs)) ** 2
    n_threads = threads.count_threads(int(n_pairs), PAIRS_PER_THREAD)
    fill = partial(compiled.assign, K, arrays, settings, first, is_same)
    threads.parallel_for(fill, n, n_threads)
    if normalize:
        selves = K.diagonal().copy()
        if not is_same:
            selves = np.empty(len(graphs))
            fill = partial(compiled.assign_selves, selves, arrays, settings)
            threads.parallel_for(fill, len(graphs), n_threads)
        K /= np.sqrt(np.multiply.outer(selves[:n], selves[first:]))
    return K


def _check_rounds(rounds: int) -> int:
    """Return the number of rounds, or raise."""
    if not isinstance(rounds, Integral) or isinstance(rounds, bool):
        raise TypeError(f"'rounds' must be a whole number, got {rounds!r}.")
    if rounds < 0:
        raise ValueError(f"'rounds' must be 0 or more, got {rounds!r}.")
    return int(rounds)


def _join_sets(
    X: Iterable[Any], Y: Iterable[Any] | None
) -> tuple[list[Graph], int, int, bool]:
    """Return all graphs, the numbers of rows and columns, and whether X is Y."""
    graphs = check_graphs(X)
    n = k = len(graphs)
    is_same = Y is None or Y is X
    if Y is not None and not is_same:
        others = check_graphs(Y)
        graphs, k = graphs + others, len(others)
        _check_alike(graphs, n)
    check_fits(n, k, float, "The matrix of scores")
    return graphs, n, k, is_same


# -- input -----------------------------------------------------------------------------


def check_graphs(
    X: Iterable[Any],
    *,
    label: str | None = "label",
    attributes: str | Sequence[str] | None = None,
) -> list[Graph]:
    """Return graphs in one form, or raise.

    Graphs are undirected and have at least one node. Edges given twice, or in both
    directions, count once; an edge from a node to itself makes it its own neighbor.
    Labels and weights of edges are not used.

    Parameters
    ----------
    X : iterable of graphs
        Each is a networkx graph, a tuple ``(n_nodes, edges)``, ``(n_nodes, edges,
        labels)`` or ``(n_nodes, edges, labels, attributes)`` with nodes counted from
        0, or a dictionary with these names, as this function returns them.
    label : str or None, default="label"
        Name of the node attribute of networkx graphs that holds the label, a whole
        number or text. None leaves labels out.
    attributes : str or sequence of str, optional
        Names of node attributes of networkx graphs that hold numbers, or vectors of
        them.

    Returns
    -------
    list of dict
        For each graph ``n_nodes`` (int), ``edges`` (integers of shape (m, 2)),
        ``labels`` (integers or text of shape (n,), or None) and ``attributes``
        (numbers of shape (n, d), or None). All of them have labels, or none has, and
        so with attributes.

    Examples
    --------
    >>> from kreinlearn.kernels.graphs import check_graphs
    >>> path = (3, [(0, 1), (1, 2)], ["C", "O", "C"])
    >>> triangle = (3, [(0, 1), (1, 2), (2, 0)], ["C", "C", "C"])
    >>> path, triangle = check_graphs([path, triangle])
    >>> triangle["edges"].tolist(), path["labels"].tolist()
    ([[0, 1], [0, 2], [1, 2]], ['C', 'O', 'C'])
    """
    if isinstance(X, str | Mapping) or hasattr(X, "nodes"):
        raise TypeError(
            "A list of graphs was expected, got a single object of type "
            f"{type(X).__name__}; put a single graph into a list."
        )
    names = [attributes] if isinstance(attributes, str) else list(attributes or ())
    graphs = [_convert_graph(i, graph, label, names) for i, graph in enumerate(X)]
    if not graphs:
        raise ValueError("At least one graph was expected, got an empty list.")
    _check_edges(graphs)
    _check_alike(graphs)
    return graphs


def _check_alike(graphs: list[Graph], n_own: int | None = None) -> None:
    """Raise unless all graphs have the same kind of labels and of attributes.

    The first n_own graphs belong to X, the others, if there are any, to Y.
    """
    first = _describe(graphs[0])
    for i, graph in enumerate(graphs):
        found = _describe(graph)
        if found != first:
            is_other = n_own is not None and i >= n_own
            name = f"graph {i - (n_own or 0)} of Y" if is_other else f"graph {i}"
            raise ValueError(
                f"All graphs must have the same kind of labels and attributes, but "
                f"graph 0 has {first}, and {name} has {found}; make them alike, or "
                "leave labels out by check_graphs(graphs, label=None)."
            )


def _describe(graph: Graph) -> str:
    """Return which labels and attributes the nodes of a graph have."""
    labels, attributes = graph["labels"], graph["attributes"]
    kind = "no labels"
    if labels is not None:
        kind = "labels of text" if labels.dtype.kind == "U" else "whole-number labels"
    number = "no" if attributes is None else attributes.shape[1]
    return f"{kind} and {number} attributes"


def _convert_graph(i: int, graph: Any, label: str | None, names: list[str]) -> Graph:
    """Return one graph; its edges are compared with the number of nodes later."""
    if type(graph) is dict and tuple(graph) == GRAPH_KEYS and graph["n_nodes"] > 0:
        arrays = graph["edges"], graph["labels"], graph["attributes"]
        if all(each is None or isinstance(each, np.ndarray) for each in arrays):
            return graph if label is not None else {**graph, "labels": None}
    if isinstance(graph, Mapping) and "n_nodes" in graph and "edges" in graph:
        parts = [graph.get(key) for key in GRAPH_KEYS]
    elif hasattr(graph, "nodes") and hasattr(graph, "is_directed"):
        parts = _split_networkx(i, graph, label, names)
    elif isinstance(graph, tuple | list | np.ndarray) and 2 <= len(graph) <= 4:
        parts = [*graph, None, None][:4]
    else:
        raise TypeError(
            f"Graph {i} must be a networkx graph or a tuple (n_nodes, edges, labels), "
            f"got an object of type {type(graph).__name__}."
        )
    return _check_parts(i, parts, label is not None)


def _check_parts(i: int, parts: Sequence[Any], with_labels: bool) -> Graph:
    """Return a graph made of its parts, or raise."""
    n_nodes, edges, labels, attributes = parts
    if not isinstance(n_nodes, int | np.integer) or isinstance(n_nodes, bool):
        raise TypeError(
            f"Graph {i}: the number of nodes must come first, got {n_nodes!r}."
        )
    n = int(n_nodes)
    if n < 1:
        raise ValueError(f"Graph {i} has no nodes; leave it out, or give it one.")
    pairs = np.asarray(edges if len(edges) else np.empty((0, 2), int))
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"Graph {i}: edges must be pairs of whole numbers, the nodes counted from "
            f"0, got an array of shape {pairs.shape} and dtype {pairs.dtype}."
        )
    pairs = np.unique(np.sort(pairs.astype(np.int64), axis=1), axis=0)
    own = _check_labels(i, labels, n) if with_labels and labels is not None else None
    numbers = None if attributes is None else _check_attributes(i, attributes, n)
    return dict(zip(GRAPH_KEYS, (n, pairs, own, numbers), strict=True))


def _check_labels(i: int, labels: Any, n: int) -> Array:
    """Return the labels of a graph, integers or text, or raise."""
    given = list(labels)
    if len(given) != n:
        raise ValueError(
            f"Graph {i} has {n} nodes, but {len(given)} labels; each node needs one."
        )
    if all(isinstance(each, str) for each in given):
        return np.array(given, dtype=np.str_)
    for node, each in enumerate(given):
        if not isinstance(each, int | np.integer | np.bool_):
            raise TypeError(
                f"Graph {i}: labels must all be whole numbers, or all be text, got "
                f"{each!r} for node {node}; map labels to text, or leave them out by "
                "check_graphs(graphs, label=None)."
            )
    return np.array(given, dtype=np.int64)


def _check_attributes(i: int, attributes: Any, n: int) -> Array:
    """Return the attributes of a graph as a matrix of finite numbers, or raise."""
    try:
        numbers = np.array(attributes, dtype=float, order="C")
    except (TypeError, ValueError):
        raise ValueError(
            f"Graph {i}: attributes must be numbers, as many for each node."
        ) from None
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    if numbers.ndim != 2 or len(numbers) != n or numbers.shape[1] == 0:
        raise ValueError(
            f"Graph {i} has {n} nodes; attributes must have one row for each, got "
            f"shape {numbers.shape}."
        )
    if not np.isfinite(numbers).all():
        node = int(np.isfinite(numbers).all(axis=1).argmin())
        raise ValueError(
            f"Graph {i}: attributes must be finite, got {numbers[node].tolist()} for "
            f"node {node}; fill in what is missing."
        )
    return numbers


def _split_networkx(
    i: int, graph: Any, label: str | None, names: list[str]
) -> list[Any]:
    """Return number of nodes, edges, labels and attributes of a networkx graph."""
    if graph.is_directed() or graph.is_multigraph():
        remedy = "G.to_undirected()" if graph.is_directed() else "networkx.Graph(G)"
        kind = "directed" if graph.is_directed() else "a multigraph"
        raise ValueError(
            f"Graph {i} is {kind}, and simple undirected graphs were expected; pass "
            f"{remedy} for each G."
        )
    place = {node: k for k, node in enumerate(graph.nodes)}
    edges = [(place[u], place[v]) for u, v in graph.edges]
    labels = attributes = None
    # Without any node attribute a graph has no labels; with others, a misspelled name
    # would be ignored silently.
    if label is not None and any(data for _, data in graph.nodes(data=True)):
        labels = _get_attribute(i, graph, label, "label=None for graphs without labels")
    if names:
        rest = "other names in attributes"
        columns = [_get_attribute(i, graph, name, rest) for name in names]
        nodes = zip(*columns, strict=True)
        attributes = [np.hstack([np.ravel(v) for v in node]) for node in nodes]
    return [len(place), edges, labels, attributes]


def _get_attribute(i: int, graph: Any, name: str, otherwise: str) -> list[Any]:
    """Return an attribute of all nodes, or raise with those that there are."""
    values = []
    for node, data in graph.nodes(data=True):
        if name not in data:
            known = ", ".join(map(repr, data)) or "none"
            raise ValueError(
                f"Graph {i}: node {node!r} has no attribute {name!r}; it has {known}. "
                f"Pass check_graphs(graphs, label='...') with the right name, or "
                f"{otherwise}."
            )
        values.append(data[name])
    return values


def _check_edges(graphs: list[Graph]) -> None:
    """Raise unless all edges lead to nodes, all graphs at once."""
    for i, graph in enumerate(graphs):
        edges, n = graph["edges"], graph["n_nodes"]
        parts = [graph[key] for key in ("labels", "attributes")]
        if (
            edges.ndim != 2
            or edges.shape[1] != 2
            or edges.dtype.kind != "i"
            or any(each is not None and len(each) != n for each in parts)
        ):
            raise ValueError(
                f"Graph {i}: edges must be whole numbers of shape (m, 2), and labels "
                f"and attributes have one entry for each of {n} nodes."
            )
    sizes = [len(graph["edges"]) for graph in graphs]
    ends = np.concatenate([graph["edges"] for graph in graphs])
    n_nodes = np.repeat([graph["n_nodes"] for graph in graphs], sizes)
    bad = ((ends < 0) | (ends >= n_nodes[:, None])).any(axis=1)
    if bad.any():
        edge = int(bad.argmax())
        i = int(np.repeat(np.arange(len(graphs)), sizes)[edge])
        raise ValueError(
            f"Graph {i} has nodes 0 to {n_nodes[edge] - 1}, but an edge "
            f"{tuple(ends[edge].tolist())}; nodes are counted from 0."
        )


class Packed(NamedTuple):
    """Graphs one after the other.

    Attributes
    ----------
    firsts : ndarray of shape (n_graphs + 1,)
        First node of each graph, and N.
    starts : ndarray of shape (N + 1,)
        Where the neighbors of each node start.
    neighbors : ndarray
        Nodes, ascending for each node.
    labels : ndarray of shape (N,)
        Labels, counted from 0 in their order; degrees if there are neither labels nor
        attributes.
    attributes : ndarray of shape (N, d)
        Attributes; d is 0 if there are none.
    """

    firsts: Array
    starts: Array
    neighbors: Array
    labels: Array
    attributes: Array


def _pack_graphs(graphs: list[Graph], only_labels: bool = False) -> Packed:
    """Return checked graphs as arrays; ``only_labels`` ignores attributes."""
    firsts = np.cumsum([0, *(graph["n_nodes"] for graph in graphs)])
    total = int(firsts[-1])
    sizes = [len(graph["edges"]) for graph in graphs]
    edges = np.concatenate([graph["edges"] for graph in graphs])
    edges = edges + np.repeat(firsts[:-1], sizes)[:, None]
    # Both directions of each edge as one number, so that one sort does all.
    directed = np.concatenate([edges @ [total, 1], edges @ [1, total]])
    sources, neighbors = np.divmod(np.unique(directed), total)
    degrees = np.bincount(sources, minlength=total)
    starts = np.concatenate([[0], np.cumsum(degrees)])
    attributes = np.empty((total, 0))
    if graphs[0]["attributes"] is not None and not only_labels:
        attributes = np.concatenate([graph["attributes"] for graph in graphs])
    if graphs[0]["labels"] is not None:
        joined = np.concatenate([graph["labels"] for graph in graphs])
        labels = np.unique(joined, return_inverse=True)[1]
    else:
        labels = np.zeros_like(degrees) if attributes.size else degrees
    return Packed(firsts, starts, neighbors, labels.astype(np.int64), attributes)


def _rank_graphs(packed: Packed) -> Array:
    """Return ranks by size, labels, attributes and edges; equal graphs share a rank.

    Two graphs are then computed in the same order wherever they stand, and rounding is
    the same.
    """
    keys = []
    for begin, end in pairwise(packed.firsts):
        starts = packed.starts[begin : end + 1]
        neighbors = packed.neighbors[starts[0] : starts[-1]] - begin
        nodes = packed.labels[begin:end].tolist(), packed.attributes[begin:end].tolist()
        edges = (starts - starts[0]).tolist(), neighbors.tolist()
        keys.append((int(end - begin), *nodes, *edges))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.cumsum([0, *(keys[i] != keys[j] for i, j in pairwise(order))])
    return ranks


def _compute_mean_size(X: Iterable[Any]) -> int:
    """Return the mean number of nodes, rounded up."""
    sizes = [graph["n_nodes"] for graph in check_graphs(X)]
    return -(-sum(sizes) // len(sizes))


GRAPH_MEASURES = tuple(
    make_measure(name, function, _compute_mean_size, "score")
    for name, function in (
        ("WL optimal assignment", wl_assignment),
        ("optimal assignment of nodes", node_assignment),
    )
)
"""All measures between graphs."""
GRAPH_KERNELS = make_kernels(
    "graphs", check_graphs, GRAPH_MEASURES, wl_assignment="weisfeiler_lehman_assignment"
)
