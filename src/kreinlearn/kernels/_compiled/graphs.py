"""Compiled loops over graphs: labels of neighborhoods, and how often they occur.

Graphs come one after the other, as `_graph_samples.Packed` has them: ``firsts`` are the
first nodes of the graphs, ``starts`` where the neighbors of each node start.

Imported when a measure is first asked for: importing numba takes long.
"""

from typing import Any

import numpy as np
from numba import njit

from kreinlearn.kernels._compiled.generator import PLAIN

_LOOP: dict[str, Any] = {"nogil": True, "cache": not PLAIN}
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@njit(nogil=True)
def _sort(values):
    """Sort in place (Shell 1959): insertion for few values, and quick to compile."""
    gap = 1
    while gap < values.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, values.size):
            value = values[i]
            j = i - gap
            while j >= 0 and values[j] > value:
                values[j + gap] = values[j]
                j -= gap
            values[j + gap] = value
        gap //= 3


@njit(nogil=True)
def _is_same(u, v, labels, around, starts):
    """Tell whether two nodes have the same label and the same around them."""
    size = starts[v + 1] - starts[v]
    if labels[u] != labels[v] or starts[u + 1] - starts[u] != size:
        return False
    for k in range(size):
        if around[starts[u] + k] != around[starts[v] + k]:
            return False
    return True


@njit(nogil=True)
def _relabel(starts, around, labels, table, new, first):
    """Give a number to each pair of a label and labels around it; return the next.

    The table holds a node for each number, at a place that the pair tells. Whole pairs
    are compared, so that two of them are never taken for one.
    """
    mask = np.uint64(table.size - 1)
    for place in range(table.size):
        table[place] = -1
    following = first
    for v in range(labels.size):
        key = np.uint64(labels[v]) * _MULTIPLIER
        for k in range(starts[v], starts[v + 1]):
            key = (key ^ (key >> _HALF) ^ np.uint64(around[k])) * _MULTIPLIER
        place = (key ^ (key >> _HALF)) & mask
        while table[place] >= 0 and not _is_same(
            table[place], v, labels, around, starts
        ):
            place = (place + np.uint64(1)) & mask
        if table[place] < 0:
            table[place] = v
            new[v] = following
            following += 1
        else:
            new[v] = new[table[place]]
    return following


@njit(**_LOOP)
def refine(starts, neighbors, labels, rounds):
    """Return the label of each node after each round, and the number of labels.

    Parameters
    ----------
    starts, neighbors : ndarray
        Neighbors of all nodes.
    labels : ndarray of shape (N,)
        Labels, counted from 0.
    rounds : int
        How often a label is replaced by one for itself and those of its neighbors.

    Returns
    -------
    found : ndarray of shape (rounds + 1, N)
        Labels, different ones in different rounds.
    n_labels : int
        All are below.
    """
    n = labels.size
    found = np.empty((rounds + 1, n), np.int64)
    n_labels = 0
    for v in range(n):
        found[0, v] = labels[v]
        n_labels = max(n_labels, labels[v] + 1)
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.empty(size, np.int64)
    around = np.empty(neighbors.size, np.int64)
    for r in range(rounds):
        for k in range(neighbors.size):
            around[k] = found[r, neighbors[k]]
        for v in range(n):
            _sort(around[starts[v] : starts[v + 1]])
        n_labels = _relabel(starts, around, found[r], table, found[r + 1], n_labels)
    return found, n_labels


@njit(**_LOOP)
def count(found, n_labels, firsts):
    """Return how often each label occurs in each graph.

    Parameters
    ----------
    found : ndarray of shape (rounds + 1, N)
        Labels of nodes.
    n_labels : int
        All labels are below.
    firsts : ndarray of shape (n_graphs + 1,)
        First node of each graph.

    Returns
    -------
    begins : ndarray of shape (n_graphs + 1,)
        Where the labels of each graph begin.
    which, counts : ndarray
        Labels, each once for a graph, and how often they occur.
    """
    n_graphs = firsts.size - 1
    begins = np.zeros(n_graphs + 1, np.int64)
    which = np.empty(found.size, np.int64)
    counts = np.zeros(found.size, np.int64)
    place = np.full(n_labels, -1, np.int64)
    n = 0
    for g in range(n_graphs):
        for r in range(len(found)):
            for v in range(firsts[g], firsts[g + 1]):
                label = found[r, v]
                if place[label] < begins[g]:  # it has not been met in this graph
                    place[label] = n
                    which[n] = label
                    n += 1
                counts[place[label]] += 1
        begins[g + 1] = n
    return begins, which[:n], counts[:n]


@njit(**_LOOP)
def list_graphs(begins, which, counts, n_labels, first):
    """Return for each label the graphs that have it, ascending, and how often.

    Parameters
    ----------
    begins, which, counts : ndarray
        As `count` returns them.
    n_labels : int
        All labels are below.
    first : int
        First graph to list; it is number 0 in the lists.

    Returns
    -------
    ends : ndarray of shape (n_labels + 1,)
        Where the list of each label starts, and where the last ends.
    graphs, times : ndarray
        Graphs, and how often they have the label.
    """
    ends = np.zeros(n_labels + 1, np.int64)
    for k in range(begins[first], which.size):
        ends[which[k] + 1] += 1
    for label in range(n_labels):
        ends[label + 1] += ends[label]
    at = ends.copy()
    graphs = np.empty(ends[-1], np.int64)
    times = np.empty(ends[-1], np.int64)
    for g in range(first, begins.size - 1):
        for k in range(begins[g], begins[g + 1]):
            place = at[which[k]]
            graphs[place] = g - first
            times[place] = counts[k]
            at[which[k]] += 1
    return ends, graphs, times


@njit(**_LOOP)
def intersect(out, begins, which, counts, ends, graphs, times, mirror, first, last):
    """Set rows of the output to the sums of the smaller counts of each label.

    Parameters
    ----------
    out : ndarray of shape (n, k)
        The output, zeros.
    begins, which, counts : ndarray
        Labels of the graphs that belong to rows.
    ends, graphs, times : ndarray
        Graphs that belong to columns, by label.
    mirror : bool
        Whether both are the same: compute the upper half only and copy it.
    first, last : int
        Which rows to set, from first to last - 1.
    """
    for i in range(first, last):
        for k in range(begins[i], begins[i + 1]):
            label, own = which[k], counts[k]
            for place in range(ends[label + 1] - 1, ends[label] - 1, -1):
                j = graphs[place]
                if mirror and j < i:
                    break
                out[i, j] += min(own, times[place])
        if mirror:
            for j in range(i + 1, out.shape[1]):
                out[j, i] = out[i, j]
