"""Graphs as people have them become graphs as compiled code takes them.

Letters: n nodes and m edges in a graph; N nodes in all graphs of a set together.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kreinlearn._typing import Array

KEYS = ("n_nodes", "edges", "labels", "attributes")
"""Keys of a graph that has been checked; the last two may be None."""
Graph = dict[str, Any]
"""Number of nodes, and arrays of edges, labels and attributes."""


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
        number or text. None leaves labels out, whatever the graphs.
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
    graphs = [_one_graph(i, graph, label, names) for i, graph in enumerate(X)]
    if not graphs:
        raise ValueError("At least one graph was expected, got an empty list.")
    _check_edges(graphs)
    check_alike(graphs)
    return graphs


def check_alike(graphs: list[Graph], n_own: int | None = None) -> None:
    """Raise unless all graphs have labels of one kind, or none, and so with attributes.

    Parameters
    ----------
    graphs : list of dict
        Graphs of one set, or of two sets one after the other.
    n_own : int, optional
        How many belong to X, if the others belong to Y.
    """
    first = _contents(graphs[0])
    for i, graph in enumerate(graphs):
        found = _contents(graph)
        if found != first:
            is_other = n_own is not None and i >= n_own
            name = f"graph {i - (n_own or 0)} of Y" if is_other else f"graph {i}"
            raise ValueError(
                f"All graphs must have the same kind of labels and attributes, but "
                f"graph 0 has {first}, and {name} has {found}; make them alike, or "
                "leave labels out by check_graphs(graphs, label=None)."
            )


def _contents(graph: Graph) -> str:
    """Say what the nodes of a graph have."""
    labels, attributes = graph["labels"], graph["attributes"]
    said = "no labels"
    if labels is not None:
        said = "labels of text" if labels.dtype.kind == "U" else "whole-number labels"
    if attributes is None:
        return f"{said} and no attributes"
    return f"{said} and {attributes.shape[1]} attributes"


def _one_graph(i: int, graph: Any, label: str | None, names: list[str]) -> Graph:
    """Return one graph; its edges are compared with the number of nodes later."""
    if type(graph) is dict and tuple(graph) == KEYS and graph["n_nodes"] > 0:
        arrays = graph["edges"], graph["labels"], graph["attributes"]
        if all(each is None or isinstance(each, np.ndarray) for each in arrays):
            return graph if label is not None else {**graph, "labels": None}
    if isinstance(graph, Mapping) and "n_nodes" in graph and "edges" in graph:
        parts = [graph.get(key) for key in KEYS]
    elif hasattr(graph, "nodes") and hasattr(graph, "is_directed"):
        parts = _networkx_parts(i, graph, label, names)
    elif isinstance(graph, tuple | list | np.ndarray) and 2 <= len(graph) <= 4:
        parts = [*graph, None, None][:4]
    else:
        raise TypeError(
            f"Graph {i} must be a networkx graph or a tuple (n_nodes, edges, labels), "
            f"got an object of type {type(graph).__name__}."
        )
    return _from_parts(i, parts, label is not None)


def _from_parts(i: int, parts: Sequence[Any], with_labels: bool) -> Graph:
    """Return a graph made of what a user gave for its parts, or raise."""
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
    own = _labels(i, labels, n) if with_labels and labels is not None else None
    numbers = None if attributes is None else _attributes(i, attributes, n)
    return dict(zip(KEYS, (n, pairs, own, numbers), strict=True))


def _labels(i: int, labels: Any, n: int) -> Array:
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


def _attributes(i: int, attributes: Any, n: int) -> Array:
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


def _networkx_parts(
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
    held = [data for _, data in graph.nodes(data=True)]
    labels = None
    # Without any node attribute a graph has no labels; with others, a misspelled name
    # would be left out in silence.
    if label is not None and any(held):
        labels = _column(i, graph, label, "label=None for graphs without labels")
    columns = [_column(i, graph, name, "other names in attributes") for name in names]
    attributes = None
    if columns:
        nodes = zip(*columns, strict=True)
        attributes = [np.hstack([np.ravel(v) for v in node]) for node in nodes]
    return [len(place), edges, labels, attributes]


def _column(i: int, graph: Any, name: str, otherwise: str) -> list[Any]:
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


def pack_graphs(graphs: list[Graph], only_labels: bool = False) -> Packed:
    """Return graphs that were checked as arrays.

    Parameters
    ----------
    graphs : list of dict
        Graphs, all of which have labels, or none; so with attributes.
    only_labels : bool
        Whether nodes without labels are labelled by degrees, though they have
        attributes.

    Returns
    -------
    Packed
        All of them.
    """
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
