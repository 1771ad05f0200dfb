"""Compiled loops for optimal transport on a line, where sorting solves it.

Distributions come one after the other: ``firsts`` are the first points of each. Sorted
points have ``heights``: the weight of all points up to and with them, 1 at the last.
"""

from numba import njit

from kreinlearn.kernels._compiled.llvm import LOOP_OPTIONS


@njit(**LOOP_OPTIONS)
def _between(x, x_heights, y, y_heights, p):
    """Return the cost of the transport between two sorted distributions.

    Both are split wherever one of them has a step, and points at the same height are
    paired. No step prefers one side, so rounding is the same both ways.
    """
    i = j = 0
    below = total = 0.0
    while i < x.size and j < y.size:
        height = min(x_heights[i], y_heights[j])
        gap = abs(x[i] - y[j])
        if p == 2.0:
            gap *= gap
        elif p != 1.0:
            gap **= p
        total += (height - below) * gap
        below = height
        is_step = x_heights[i] == height
        if y_heights[j] == height:
            j += 1
        if is_step:
            i += 1
    return total


@njit(**LOOP_OPTIONS)
def add_lines(out, values, heights, firsts, p, first_other, mirror, first, last):
    """Add the costs between distributions to rows of the output.

    Parameters
    ----------
    out : ndarray of shape (n, k)
        The output.
    values, heights : ndarray of shape (n_lines, total)
        Sorted points and heights; the first n distributions belong to the rows.
    firsts : ndarray
        First point of each.
    p : float
        Power of the distance that is the cost.
    first_other : int
        Distribution that belongs to the first column.
    mirror : bool
        Whether both are the same: add to the upper half only.
    first, last : int
        Which rows to do, from first to last - 1.
    """
    for i in range(first, last):
        x = slice(firsts[i], firsts[i + 1])
        for j in range(i + 1 if mirror else 0, out.shape[1]):
            y = slice(firsts[first_other + j], firsts[first_other + j + 1])
            for line in range(len(values)):
                own, upto = values[line], heights[line]
                out[i, j] += _between(own[x], upto[x], own[y], upto[y], p)
