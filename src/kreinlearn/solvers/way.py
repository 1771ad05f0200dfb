"""The way down along lam: which problem starts from which, and by what steps.

A problem with a small lam starts from where one with a larger lam has roughly arrived.
Where the gap is wide, values of lam in between are visited on the way.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kreinlearn._typing import Array

STRIDE = 10.0
"""Factor between the values of lam on the way down to a small one."""


class Node(NamedTuple):
    """A problem with its lam, or with a larger one on the way down to it.

    Attributes
    ----------
    problem : int
        Number of the problem.
    factor : float
        What its lam is multiplied by.
    before : int
        Position of the node to start from; -1 for none.
    """

    problem: int
    factor: float = 1.0
    before: int = -1

    @property
    def is_way(self) -> bool:
        """Whether this is a stop on the way, not the problem itself."""
        return self.factor > 1.0


def ways(
    after: Sequence[int], lam: Array, easy: Sequence[float] | Array
) -> tuple[list[Node], list[int]]:
    """Return all nodes, and the positions of those that start from nothing.

    Parameters
    ----------
    after : sequence of int
        For each problem one that comes before it, to start from; -1 for none.
    lam : ndarray of shape (n_problems,)
        Regularization of each problem.
    easy : sequence of float
        For each problem without another before it, the factor on lam to begin with.

    Returns
    -------
    nodes : list of Node
        Each after the one that it starts from.
    firsts : list of int
        Positions of the first nodes of problems without another before them.

    Examples
    --------
    >>> from kreinlearn.solvers.way import ways
    >>> nodes, firsts = ways([-1, 0], [1.0, 0.01], [1.0])
    >>> [(node.problem, node.factor, node.before) for node in nodes]
    [(0, 1.0, -1), (1, 10.0, 0), (1, 1.0, 1)]
    >>> firsts
    [0]
    """
    nodes: list[Node] = []
    firsts: list[int] = []
    place: dict[int, int] = {}  # of each problem's own node
    for j, before in enumerate(after):
        if before < 0:
            factor, at = float(easy[len(firsts)]), -1
            firsts.append(len(nodes))
        else:
            factor, at = float(lam[before] / lam[j] / STRIDE), place[before]
        while factor > 1.0:
            nodes.append(Node(j, factor, at))
            at = len(nodes) - 1
            factor /= STRIDE
        nodes.append(Node(j, 1.0, at))
        place[j] = len(nodes) - 1
    return nodes, firsts
