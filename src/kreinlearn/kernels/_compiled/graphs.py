"""Compiled loops over pairs of graphs: common labels, and assignments of nodes.

Graphs come one after the other, as `kernels.graphs.Packed` has them: ``firsts`` are the
first nodes of the graphs, ``starts`` where the neighbors of each node start.
"""

import math

import numpy as np
from numba import njit

from kreinlearn.kernels._compiled.llvm import LOOP_OPTIONS

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF_WORD = np.uint64(32)


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
    """Return whether two nodes have the same label, and their neighbors, too."""
    size = starts[v + 1] - starts[v]
    if labels[u] != labels[v] or starts[u + 1] - starts[u] != size:
        return False
    for k in range(size):
        if around[starts[u] + k] != around[starts[v] + k]:
            return False
    return True


@njit(nogil=True)
def _relabel(starts, around, labels, table, new, first):
    """Assign numbers to pairs of a label and the labels around it; return the next.

    The hash table holds a node for each number. Whole pairs are compared, so that a
    collision of hashes does no harm.
    """
    mask = np.uint64(table.size - 1)
    for place in range(table.size):
        table[place] = -1
    following = first
    for v in range(labels.size):
        key = np.uint64(labels[v]) * _HASH_FACTOR
        for k in range(starts[v], starts[v + 1]):
            key = (key ^ (key >> _HALF_WORD) ^ np.uint64(around[k])) * _HASH_FACTOR
        place = (key ^ (key >> _HALF_WORD)) & mask
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


@njit(**LOOP_OPTIONS)
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


@njit(**LOOP_OPTIONS)
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


@njit(**LOOP_OPTIONS)
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


@njit(**LOOP_OPTIONS)
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


# -- the best assignment of nodes ------------------------------------------------------


@njit(nogil=True)
def _shortest_path(S, row, u, v, owner, before, shortest, left, n_left):
    """Find the cheapest way to give a column to one more row.

    Columns that were visited are moved to the end of ``left``. Returns the free column
    that the way ends at, its length, and how many columns were not visited.
    """
    for k in range(n_left):
        left[k] = k
        shortest[k] = np.inf
    length, i = 0.0, row
    while True:
        chosen, least = -1, np.inf
        for k in range(n_left):
            j = left[k]
            through = length - S[i, j] - u[i] - v[j]
            if through < shortest[j]:
                shortest[j] = through
                before[j] = i
            # Of equals a free one: it ends the search.
            if shortest[j] < least or (shortest[j] == least and owner[j] < 0):
                least = shortest[j]
                chosen = k
        length, j = least, left[chosen]
        n_left -= 1
        left[chosen], left[n_left] = left[n_left], j
        if owner[j] < 0:
            return j, length, n_left
        i = owner[j]


@njit(nogil=True)
def best_assignment(S, n, m):
    """Return the largest sum of n entries of S, no two in a row or column.

    Rows get columns one after the other, each along a shortest path of exchanges
    (Jonker and Volgenant, as in SciPy, whose function cannot be called from here).

    Parameters
    ----------
    S : ndarray of shape (at least n, at least m)
        Similarities; rows and columns beyond are not used.
    n, m : int
        Number of rows and columns, n <= m.

    Returns
    -------
    float
        The sum, in the order of the rows.
    """
    u, v, shortest = np.zeros(n), np.zeros(m), np.empty(m)
    owner, columns = np.full(m, -1, np.int64), np.full(n, -1, np.int64)
    before, left = np.empty(m, np.int64), np.empty(m, np.int64)
    for row in range(n):
        j, length, n_left = _shortest_path(
            S, row, u, v, owner, before, shortest, left, m
        )
        u[row] += length
        for k in range(n_left, m):
            visited = left[k]
            if owner[visited] >= 0:
                u[owner[visited]] += length - shortest[visited]
            v[visited] -= length - shortest[visited]
        while True:
            i = before[j]
            owner[j] = i
            columns[i], j = j, columns[i]
            if i == row:
                break
    total = 0.0
    for i in range(n):
        total += S[i, columns[i]]
    return total


@njit(nogil=True)
def _compare_nodes(level, g0, n, h0, m, labels, attributes, scale):
    """Set the similarity of each two nodes by their own labels and attributes."""
    for i in range(n):
        for j in range(m):
            if labels[g0 + i] != labels[h0 + j]:
                level[i, j] = 0.0
                continue
            square = 0.0
            for f in range(attributes.shape[1]):
                gap = attributes[g0 + i, f] - attributes[h0 + j, f]
                square += gap * gap
            level[i, j] = math.exp(-square * scale) if square > 0 else 1.0


@njit(nogil=True)
def _mean_rows(target, level, n, m, starts, neighbors, first):
    """Set each row of a transposed target to the mean of those of its neighbors.

    Rows and columns of the similarities change places: twice done, both have been.
    ``first`` is the first node of the graph.
    """
    for i in range(n):
        begin, end = starts[first + i], starts[first + i + 1]
        share = 1.0 / max(end - begin, 1)
        for j in range(m):
            target[j, i] = 0.0
        for k in range(begin, end):
            row = level[neighbors[k] - first]
            for j in range(m):
                target[j, i] += row[j]
        for j in range(m):
            target[j, i] *= share


@njit(nogil=True)
def _score_assignment(g, h, graphs, rounds, decay, scale, space):
    """Return the assignment score of two graphs."""
    firsts, starts, neighbors, labels, attributes, ranks = graphs
    if ranks[h] < ranks[g]:
        g, h = h, g
    g0, h0 = firsts[g], firsts[h]
    n, m = firsts[g + 1] - g0, firsts[h + 1] - h0
    level, half, total = space
    _compare_nodes(level, g0, n, h0, m, labels, attributes, scale)
    for i in range(n):
        for j in range(m):
            total[i, j] = level[i, j]
    weight = 1.0
    for _ in range(rounds):
        weight *= decay
        _mean_rows(half, level, n, m, starts, neighbors, g0)
        _mean_rows(level, half, m, n, starts, neighbors, h0)
        for i in range(n):
            for j in range(m):
                total[i, j] += weight * level[i, j]
    return best_assignment(total, n, m)


@njit(nogil=True)
def _make_space(firsts):
    """Return memory for three matrices as large as the largest graph."""
    largest = 0
    for g in range(firsts.size - 1):
        largest = max(largest, firsts[g + 1] - firsts[g])
    return np.empty((3, largest, largest))


@njit(**LOOP_OPTIONS)
def assign(out, graphs, settings, first_other, mirror, first, last):
    """Set rows of the output to the scores of optimal assignments.

    Parameters
    ----------
    out : ndarray of shape (n, k)
        The output.
    graphs : tuple of ndarray
        The fields of `Packed`, and the ranks of the graphs, which decide which of two
        comes first; rows are the first n graphs.
    settings : tuple of int, float and float
        Rounds, decay, and the inverse of the squared width.
    first_other : int
        Graph that belongs to the first column.
    mirror : bool
        Whether both are the same: compute the upper half only and copy it.
    first, last : int
        Which rows to set, from first to last - 1.
    """
    rounds, decay, scale = settings
    space = _make_space(graphs[0])
    for i in range(first, last):
        for j in range(i if mirror else 0, out.shape[1]):
            parts = space[0], space[1], space[2]
            other = first_other + j
            out[i, j] = _score_assignment(i, other, graphs, rounds, decay, scale, parts)
            if mirror:
                out[j, i] = out[i, j]


@njit(**LOOP_OPTIONS)
def assign_selves(out, graphs, settings, first, last):
    """Set entries of the output to the score of each graph with itself."""
    rounds, decay, scale = settings
    space = _make_space(graphs[0])
    for i in range(first, last):
        parts = space[0], space[1], space[2]
        out[i] = _score_assignment(i, i, graphs, rounds, decay, scale, parts)
