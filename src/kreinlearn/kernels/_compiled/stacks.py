"""Compiled checks of stacks of matrices: one look at each, while it is in cache.

NumPy makes a temporary stack for each step, which takes several times as long.

Imported when a distance is first asked for: importing numba takes long.
"""

import math

import numpy as np
from numba import njit

from kreinlearn.kernels._compiled.generator import PLAIN

ROOT2 = math.sqrt(2.0)


@njit(cache=not PLAIN, nogil=True)
def symmetrize(out, differences, largest, stack, first, last):
    """Fill matrices first to last - 1 of ``out`` with symmetric parts.

    Parameters
    ----------
    out : ndarray of shape (n, d, d)
        Takes (S + S') / 2, in double precision; exact for symmetric matrices.
    differences, largest : ndarray of shape (n,)
        Take the largest ``|S - S'|`` and the largest ``|S|``, which is NaN if an entry
        is not finite.
    stack : ndarray of shape (n, d, d)
        The matrices.
    first, last : int
        Which of them.
    """
    d = stack.shape[1]
    for i in range(first, last):
        difference, most, spoiled = 0.0, 0.0, 0.0
        for r in range(d):
            for c in range(r + 1):
                one, other = np.float64(stack[i, r, c]), np.float64(stack[i, c, r])
                difference = max(difference, abs(one - other))
                most = max(most, abs(one), abs(other))
                spoiled += (one - one) + (other - other)  # NaN unless both are finite
                mean = 0.5 * one + 0.5 * other
                out[i, r, c] = mean
                out[i, c, r] = mean
        differences[i], largest[i] = difference, most + spoiled


@njit(cache=not PLAIN, nogil=True)
def halves(out, stack, first, last):
    """Fill rows of ``out`` with numbers whose squares sum up to those of a matrix.

    Parameters
    ----------
    out : ndarray of shape (n, d * (d + 1) / 2)
        Takes the lower triangles, entries off the diagonal times the root of 2.
    stack : ndarray of shape (n, d, d)
        Symmetric matrices.
    first, last : int
        Which of them.
    """
    d = stack.shape[1]
    for i in range(first, last):
        at = 0
        for r in range(d):
            for c in range(r):
                out[i, at] = ROOT2 * stack[i, r, c]
                at += 1
            out[i, at] = stack[i, r, r]
            at += 1
