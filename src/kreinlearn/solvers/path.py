"""Continuation in lam: which problem starts from which, and through which values.

A problem with a small lam starts from where one with a larger lam has roughly arrived.
Where the gap is wide, the path leads through values of lam in between.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kreinlearn._typing import Array

STRIDE = 10.0
"""Factor between the values of lam along a path."""


@dataclass(frozen=True, eq=False)
class Node:
    """A problem with its own lam, or with a larger one on the path to it.

    Attributes
    ----------
    problem : int
        Number of the problem.
    factor : float
        What its lam is multiplied by.
    before : Node or None
        The node to start from.
    """

    problem: int
    factor: float = 1.0
    before: "Node | None" = None

    @property
    def is_final(self) -> bool:
        """Whether this is the problem itself, not a value of lam on the path."""
        return self.factor <= 1.0


def continuation(
    after: Sequence[int], lam: Sequence[float] | Array, easy: Sequence[float] | Array
) -> list[Node]:
    """Return the nodes of all paths, each after the one that it starts from.

    Parameters
    ----------
    after : sequence of int
        For each problem an earlier one to start from; -1 for none.
    lam : sequence of float
        Regularization of each problem.
    easy : sequence of float
        For each problem without another before it, the factor on lam to begin with.

    Returns
    -------
    list of Node
        Those without a node before them start from the class frequencies.

    Examples
    --------
    >>> from kreinlearn.solvers.path import continuation
    >>> nodes = continuation([-1, 0], [1.0, 0.01], [1.0])
    >>> [(node.problem, node.factor) for node in nodes]
    [(0, 1.0), (1, 10.0), (1, 1.0)]
    >>> [nodes.index(node.before) for node in nodes[1:]]
    [0, 1]
    """
    nodes: list[Node] = []
    final: list[Node] = []  # of each problem
    factors = iter(easy)
    for j, earlier in enumerate(after):
        before = None if earlier < 0 else final[earlier]
        factor = float(next(factors) if earlier < 0 else lam[earlier] / lam[j] / STRIDE)
        while factor > 1.0:
            before = Node(j, factor, before)
            nodes.append(before)
            factor /= STRIDE
        final.append(Node(j, 1.0, before))
        nodes.append(final[j])
    return nodes
