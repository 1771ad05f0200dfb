"""Folders of the TU collection: graphs as text files with one line per node or edge.

A folder ``DS`` has ``DS_A.txt`` (edges, two nodes a line, counted from 1 over all
graphs), ``DS_graph_indicator.txt`` (the graph of each node, counted from 1), and if
there are any ``DS_graph_labels.txt``, ``DS_node_labels.txt`` and
``DS_node_attributes.txt``. Files about edges are not used.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.columns import is_count, parse_number
from kreinlearn.io.errors import name_file
from kreinlearn.io.labels import is_missing_label, to_labels
from kreinlearn.io.text import read_lines

EDGE_FILE = "_A.txt"
"""How the name of the file of edges ends; what is before is the name of the set."""


@name_file
def read_tu(
    folder: str | os.PathLike[str],
) -> tuple[list[dict[str, Any]], Array | None]:
    r"""Return the graphs in a folder of the TU collection, and their labels.

    Parameters
    ----------
    folder : path-like
        A folder with two files such as ``MUTAG_A.txt`` and
        ``MUTAG_graph_indicator.txt``, and those of ``MUTAG_graph_labels.txt``,
        ``MUTAG_node_labels.txt`` and ``MUTAG_node_attributes.txt`` that there are.

    Returns
    -------
    graphs : list of dict
        For each graph ``n_nodes``, ``edges`` (both directions are one, nodes counted
        from 0), ``labels`` and ``attributes`` of nodes (None if there is no such
        file), as the functions of `kreinlearn.kernels.graphs` take them.
    y : ndarray of shape (n_graphs,) or None
        Labels of the graphs: whole numbers if all are, numbers if all are, text
        otherwise; None if there is no file of them.

    Raises
    ------
    ValueError, OSError
        With the file and the line at fault.

    Notes
    -----
    Several labels of a node, parted by commas, are one label of text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kreinlearn.io import read_tu
    >>> with TemporaryDirectory() as folder:
    ...     for name, text in {
    ...         "A": "1, 2\n2, 1\n2, 3\n",
    ...         "graph_indicator": "1\n1\n1\n2\n",
    ...         "graph_labels": "-1\n1\n",
    ...     }.items():
    ...         _ = Path(folder, f"DS_{name}.txt").write_text(text)
    ...     graphs, y = read_tu(folder)
    >>> [graph["n_nodes"] for graph in graphs], graphs[0]["edges"].tolist(), y.tolist()
    ([3, 1], [[0, 1], [1, 2]], [-1, 1])
    """
    named = _find_prefix(Path(folder))
    nodes = _read_nodes(Path(f"{named}_graph_indicator.txt"))
    target = Path(f"{named}_graph_labels.txt")
    y = _read_graph_labels(target) if target.is_file() else None
    n_graphs = len(y) if y is not None else int(nodes.graphs.max()) + 1
    _check_graphs(nodes, n_graphs, target if y is not None else None)
    edges = _read_edges(Path(f"{named}{EDGE_FILE}"), nodes, n_graphs)
    labels = _read_node_labels(Path(f"{named}_node_labels.txt"), nodes)
    attributes = _read_node_attributes(Path(f"{named}_node_attributes.txt"), nodes)
    # Nodes of one graph need not be neighbors in the file.
    order = np.argsort(nodes.graphs, kind="stable")
    counts = np.bincount(nodes.graphs, minlength=n_graphs)
    members = np.split(order, np.cumsum(counts)[:-1])
    graphs = [
        {
            "n_nodes": len(own),
            "edges": edges[g],
            "labels": None if labels is None else labels[own],
            "attributes": None if attributes is None else attributes[own],
        }
        for g, own in enumerate(members)
    ]
    return graphs, y


class Nodes(NamedTuple):
    """The graph of each node, counted from 0, and its file."""

    path: Path
    graphs: Array


def _find_prefix(folder: Path) -> str:
    """Return the folder and what the names of its files begin with, or raise."""
    if not folder.is_dir():
        raise NotADirectoryError(
            f"{folder} is not a folder; one with files such as MUTAG_A.txt was "
            "expected."
        )
    found = sorted(path.name for path in folder.glob(f"*{EDGE_FILE}"))
    if len(found) > 1 and f"{folder.name}{EDGE_FILE}" in found:
        found = [f"{folder.name}{EDGE_FILE}"]
    if len(found) != 1:
        listed = ", ".join(found) or "none"
        raise FileNotFoundError(
            f"{folder} must hold one file of edges whose name ends with {EDGE_FILE}, "
            f"such as MUTAG_A.txt, got {listed}."
        )
    return str(folder / found[0].removesuffix(EDGE_FILE))


def _read_cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each line, and its cells; empty lines at the end are none."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}, which TU folders have.")
    empty = 0
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip():
            empty = empty or line
            continue
        if empty:
            raise ValueError(
                f"{path}, line {empty}: the line is empty; every line stands for one "
                "item, hence none may be left out."
            )
        yield line, [cell.strip() for cell in text.split(",")]


def _parse_integers(path: Path, line: int, cells: list[str], n: int) -> list[int]:
    """Return n whole numbers of a line, or raise."""
    values = [int(cell) for cell in cells if is_count(cell.removeprefix("-"))]
    if len(values) != n or len(cells) != n:
        wanted = "one whole number was" if n == 1 else "two whole numbers were"
        raise ValueError(
            f"{path}, line {line}: {wanted} expected, got {', '.join(cells)!r}."
        )
    return values


def _read_nodes(path: Path) -> Nodes:
    """Return the graph of each node."""
    graphs = [
        _parse_integers(path, line, cells, 1)[0] for line, cells in _read_cells(path)
    ]
    if not graphs:
        raise ValueError(f"{path} is empty; the graph of each node was expected.")
    if min(graphs) < 1:
        line = graphs.index(min(graphs)) + 1
        raise ValueError(
            f"{path}, line {line}: graphs are counted from 1, got {min(graphs)}."
        )
    return Nodes(path, np.array(graphs) - 1)


def _read_graph_labels(path: Path) -> Array:
    """Return the labels of graphs."""
    cells = []
    for line, each in _read_cells(path):
        if len(each) != 1:
            raise ValueError(
                f"{path}, line {line}: one label was expected, got {', '.join(each)!r}."
            )
        cells.append(each[0])
    if not cells:
        raise ValueError(f"{path} is empty; the label of each graph was expected.")
    y = to_labels(cells)
    missing = is_missing_label(y)
    if missing.any():
        line = int(missing.argmax()) + 1
        raise ValueError(
            f"{path}, line {line}: a label was expected, got {cells[line - 1]!r}."
        )
    return y


def _check_graphs(nodes: Nodes, n_graphs: int, target: Path | None) -> None:
    """Raise unless every graph has a node, and every node a graph that has a label."""
    beyond = nodes.graphs >= n_graphs
    if beyond.any():
        line = int(beyond.argmax()) + 1
        raise ValueError(
            f"{nodes.path}, line {line}: the node belongs to graph "
            f"{nodes.graphs[line - 1] + 1}, but {target} has labels for {n_graphs} "
            "graphs."
        )
    there = np.unique(nodes.graphs)
    if len(there) < n_graphs:  # what is missing may be more than memory holds
        graph = int(np.append(there != np.arange(len(there)), True).argmax()) + 1
        why = f", but {target}, line {graph} has its label" if target else ""
        raise ValueError(
            f"{nodes.path}: graph {graph} has no nodes{why}; leave the graph out of "
            "all files."
        )


def _read_edges(path: Path, nodes: Nodes, n_graphs: int) -> list[Array]:
    """Return the edges of each graph, with nodes counted from 0 in the graph."""
    pairs = [_parse_integers(path, line, cells, 2) for line, cells in _read_cells(path)]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2) - 1
    n = len(nodes.graphs)
    outside = ((ends < 0) | (ends >= n)).any(axis=1)
    if outside.any():
        line = int(outside.argmax()) + 1
        raise ValueError(
            f"{path}, line {line}: nodes are numbers from 1 to {n}, the number of "
            f"lines in {nodes.path}, got {pairs[line - 1]}."
        )
    owner = nodes.graphs[ends]
    across = owner[:, 0] != owner[:, 1]
    if across.any():
        line = int(across.argmax()) + 1
        one, two = (owner[line - 1] + 1).tolist()
        raise ValueError(
            f"{path}, line {line}: an edge must join two nodes of one graph, got "
            f"{pairs[line - 1]}, which belong to graphs {one} and {two}."
        )
    order = np.argsort(nodes.graphs, kind="stable")
    counts = np.bincount(nodes.graphs, minlength=n_graphs)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    local = np.sort(place[ends], axis=1)
    unique = np.unique(np.column_stack([owner[:, 0], local]), axis=0)
    return np.split(unique[:, 1:], np.searchsorted(unique[:, 0], range(1, n_graphs)))


def _read_node_labels(path: Path, nodes: Nodes) -> Array | None:
    """Return the labels of nodes, integers or text, or None if there is no file."""
    if not path.is_file():
        return None
    cells = [", ".join(each) for _, each in _read_cells(path)]
    _check_length(path, len(cells), nodes)
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(cells, dtype=np.str_)


def _read_node_attributes(path: Path, nodes: Nodes) -> Array | None:
    """Return the attributes of nodes, or None if there is no file."""
    if not path.is_file():
        return None
    rows: list[list[float]] = []
    for line, cells in _read_cells(path):
        row = [value for cell in cells if (value := parse_number(cell)) is not None]
        width = len(rows[0]) if rows else len(cells)
        if len(row) != width or len(cells) != width or not np.isfinite(row).all():
            raise ValueError(
                f"{path}, line {line}: as many finite numbers as in the first line "
                f"were expected, got {', '.join(cells)!r}."
            )
        rows.append(row)
    _check_length(path, len(rows), nodes)
    return np.array(rows)


def _check_length(path: Path, n_lines: int, nodes: Nodes) -> None:
    """Raise unless a file has a line for each node."""
    n = len(nodes.graphs)
    if n_lines != n:
        raise ValueError(
            f"{path} must have one line for each of the {n} nodes in {nodes.path}, got "
            f"{n_lines} lines."
        )
