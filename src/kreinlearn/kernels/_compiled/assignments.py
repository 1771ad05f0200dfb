"""Compiled loops over pairs of graphs: similar nodes, and their best assignment.

Graphs come one after the other, as `_graph_samples.Packed` has them: ``firsts`` are the
first nodes of the graphs, ``starts`` where the neighbors of each node start.

Imported when a measure is first asked for: importing numba takes long.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from kreinlearn.kernels._compiled.generator import PLAIN

_LOOP: dict[str, Any] = {"nogil": True, "cache": not PLAIN}


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
def _compare(array, a, b, size, a_shift, b_shift):
    """Compare two parts of an array, from a and from b on, after subtracting shifts.

    Returns -1, 0 or 1: which of them is the first in order.
    """
    for k in range(size):
        one, other = array[a + k] - a_shift, array[b + k] - b_shift
        if one != other:
            return -1 if one < other else 1
    return 0


@njit(nogil=True)
def _is_before(g, h, firsts, starts, neighbors, labels, attributes):
    """Tell whether graph g comes before h: the smaller one, else by what is in it.

    The same two graphs are then computed in the same order, wherever they stand, and
    rounding is the same.
    """
    g0, g1, h0, h1 = firsts[g], firsts[g + 1], firsts[h], firsts[h + 1]
    n = g1 - g0
    if n != h1 - h0:
        return n < h1 - h0
    order = _compare(labels, g0, h0, n, 0, 0)
    for v in range(n):
        if order == 0:
            row, other = attributes[g0 + v], attributes[h0 + v]
            for f in range(row.size):
                if order == 0 and row[f] != other[f]:
                    order = -1 if row[f] < other[f] else 1
    if order == 0:
        order = _compare(starts, g0, h0, n + 1, starts[g0], starts[h0])
    if order == 0:
        size = starts[g1] - starts[g0]
        order = _compare(neighbors, starts[g0], starts[h0], size, g0, h0)
    return order < 0


@njit(nogil=True)
def _start(level, g0, n, h0, m, labels, attributes, scale):
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
def _assigned(g, h, graphs, rounds, decay, scale, space):
    """Return the assignment score of two graphs."""
    firsts, starts, neighbors, labels, attributes = graphs
    if _is_before(h, g, *graphs):
        g, h = h, g
    g0, h0 = firsts[g], firsts[h]
    n, m = firsts[g + 1] - g0, firsts[h + 1] - h0
    level, half, total = space
    _start(level, g0, n, h0, m, labels, attributes, scale)
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


@njit(**_LOOP)
def assign(out, graphs, settings, first_other, mirror, first, last):
    """Set rows of the output to the scores of optimal assignments.

    Parameters
    ----------
    out : ndarray of shape (n, k)
        The output.
    graphs : tuple of ndarray
        The fields of `Packed`; rows are the first n graphs.
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
            out[i, j] = _assigned(i, other, graphs, rounds, decay, scale, parts)
            if mirror:
                out[j, i] = out[i, j]


@njit(**_LOOP)
def assign_selves(out, graphs, settings, first, last):
    """Set entries of the output to the score of each graph with itself."""
    rounds, decay, scale = settings
    space = _make_space(graphs[0])
    for i in range(first, last):
        parts = space[0], space[1], space[2]
        out[i] = _assigned(i, i, graphs, rounds, decay, scale, parts)
