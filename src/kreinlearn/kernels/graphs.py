"""Scores between graphs: how many nodes of one find a counterpart in the other.

X and Y are lists of graphs of any form that `check_graphs` takes: networkx graphs,
edge lists, or what it returns, which saves time if graphs are used many times. Both
functions give float64 matrices, exactly symmetric with Y left out, and the same bits
for two graphs wherever they stand.

Letters: n and k graphs in X and Y; G and H graphs, v and w nodes of theirs.
"""

from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import check_positive
from kreinlearn.kernels import threads
from kreinlearn.kernels._graph_samples import (
    Graph,
    check_alike,
    check_graphs,
    pack_graphs,
)
from kreinlearn.kernels._records import Measure
from kreinlearn.kernels._work import share_out

__all__ = ["check_graphs", "node_assignment", "wl_assignment"]

THREAD_COUNTS = 2_000_000
"""Counts of labels, times other graphs, that are worth one more thread."""
THREAD_PAIRS = 20_000
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
        What `check_graphs` takes.
    Y : iterable of k graphs, default=None
        Other graphs; None means X.
    rounds : int, default=5
        Rounds after the start, 0 or more.
    normalize : bool, default=True
        Whether to divide by ``sqrt(K(G, G) K(H, H))``, so that the size of graphs does
        not count.

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
    graphs, n, k, is_same = _both(X, Y)
    packed = pack_graphs(graphs, only_labels=True)
    found, n_labels = compiled.refine(
        packed.starts, packed.neighbors, packed.labels, rounds
    )
    begins, which, counts = compiled.count(found, n_labels, packed.firsts)
    first = 0 if is_same else n
    lists = compiled.list_graphs(begins, which, counts, n_labels, first)
    K = np.zeros((n, k))
    fill = partial(compiled.intersect, K, begins, which, counts, *lists, is_same)
    wanted = 1 + int(begins[n]) * k // THREAD_COUNTS
    share_out(fill, n, min(wanted, threads.max_threads()))
    if normalize:
        selves = (rounds + 1.0) * np.diff(packed.firsts)
        _divide(K, selves[:n], selves[first:])
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
    * s_l(v, w) compares what is around them, l edges away: the mean of s_{l-1} over
      all pairs of a neighbor of v and a neighbor of w, and 0 if one has none.

    Indefinite in general: the best assignments of G to H and of H to a third graph
    need not fit together.

    Parameters
    ----------
    X : iterable of n graphs
        What `check_graphs` takes.
    Y : iterable of k graphs, default=None
        Other graphs; None means X.
    rounds : int, default=2
        How many edges away neighborhoods are compared, 0 or more.
    decay : float, default=0.5
        Weight of each edge farther, above 0.
    width : float, default=1.0
        Distance of attributes at which the similarity is 1 / e. Scale attributes to
        comparable ranges before.
    normalize : bool, default=True
        Whether to divide by ``sqrt(K(G, G) K(H, H))``, so that the size of graphs does
        not count.

    Returns
    -------
    ndarray of shape (n, k)
        The scores; entries in [0, 1] if normalized, with 1 on the diagonal.

    Notes
    -----
    Fröhlich et al. assign direct neighbors optimally, too, and take means beyond; here
    they are means throughout. The time of a pair grows with the cube of the number of
    nodes.

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
    from kreinlearn.kernels._compiled import assignments as compiled

    rounds = _check_rounds(rounds)
    decay, width = check_positive("decay", decay), check_positive("width", width)
    settings = rounds, decay, 1.0 / width**2
    graphs, n, k, is_same = _both(X, Y)
    packed = tuple(pack_graphs(graphs))
    first = 0 if is_same else n
    K = np.empty((n, k))
    n_pairs = n * k * (packed[0][-1] // len(graphs)) ** 2
    n_threads = min(1 + int(n_pairs) // THREAD_PAIRS, threads.max_threads())
    assign = partial(compiled.assign, K, packed, settings, first, is_same)
    share_out(assign, n, n_threads)
    if normalize:
        selves = K.diagonal().copy()
        if not is_same:
            selves = np.empty(len(graphs))
            fill = partial(compiled.assign_selves, selves, packed, settings)
            share_out(fill, len(graphs), n_threads)
        _divide(K, selves[:n], selves[first:])
    return K


def _check_rounds(rounds: int) -> int:
    """Return the number of rounds, or raise."""
    if not isinstance(rounds, Integral) or isinstance(rounds, bool):
        raise TypeError(f"'rounds' must be a whole number, got {rounds!r}.")
    if rounds < 0:
        raise ValueError(f"'rounds' must be 0 or more, got {rounds!r}.")
    return int(rounds)


def _both(
    X: Iterable[Any], Y: Iterable[Any] | None
) -> tuple[list[Graph], int, int, bool]:
    """Return all graphs, the numbers of rows and columns, and whether X is Y."""
    graphs = check_graphs(X)
    n = k = len(graphs)
    is_same = Y is None or Y is X
    if Y is not None and not is_same:
        others = check_graphs(Y)
        graphs, k = graphs + others, len(others)
        check_alike(graphs, n)
    check_fits(n, k, float, "The matrix of scores")
    return graphs, n, k, is_same


def _divide(K: Array, own: Array, others: Array) -> None:
    """Divide by the root of both scores of graphs with themselves, in place."""
    K /= np.sqrt(np.multiply.outer(own, others))


def _mean_size(X: Iterable[Any]) -> int:
    """Return the mean number of nodes, rounded up."""
    sizes = [graph["n_nodes"] for graph in check_graphs(X)]
    return -(-sum(sizes) // len(sizes))


def _score(name: str, function: Callable[..., Array], *params: str) -> Measure:
    return Measure(name, function, _mean_size, params, kind="score")


GRAPH_MEASURES = (
    _score("WL optimal assignment", wl_assignment, "rounds", "normalize"),
    _score(
        "optimal assignment of nodes",
        node_assignment,
        *("rounds", "decay", "width", "normalize"),
    ),
)
"""All measures between graphs."""
