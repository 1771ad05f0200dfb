"""Every vector kernel once more, as a double loop over samples in plain Python.

Each function takes two rows as lists of float and all its parameters; `matrix` does
the rest. Nothing is shared with the package.
"""

import math

import numpy as np


def matrix(kernel, X, Y, **params):
    """Return the matrix of a function of two rows, in float64."""
    rows, others = np.asarray(X, float).tolist(), np.asarray(Y, float).tolist()
    return np.array([[kernel(x, z, **params) for z in others] for x in rows])


def dot(x, z):
    return math.fsum(a * b for a, b in zip(x, z, strict=True))


def manhattan(x, z):
    return math.fsum(abs(a - b) for a, b in zip(x, z, strict=True))


def linear(x, z):
    return dot(x, z)


def rbf(x, z, *, sigma):
    return math.exp(-((math.dist(x, z) / sigma) ** 2))


def laplacian(x, z, *, sigma):
    return math.exp(-manhattan(x, z) / sigma)


def polynomial(x, z, *, degree, gamma, coef0):
    return math.pow(gamma * dot(x, z) + coef0, degree)


def tl1(x, z, *, tau):
    return max(tau - manhattan(x, z), 0.0)


def tanh(x, z, *, gamma, coef0):
    return math.tanh(gamma * dot(x, z) + coef0)


def gaussian_difference(x, z, *, sigma_narrow, sigma_wide, weight):
    return rbf(x, z, sigma=sigma_narrow) - weight * rbf(x, z, sigma=sigma_wide)


def epanechnikov(x, z, *, sigma):
    return max(1.0 - (math.dist(x, z) / sigma) ** 2, 0.0)


def log(x, z, *, degree):
    return -math.log(1.0 + math.dist(x, z) ** degree)


def power(x, z, *, degree):
    return -(math.dist(x, z) ** degree)
