"""Folds: with the proportions of the classes, and with rows that stay together."""

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from kreinlearn._typing import Array
from kreinlearn.search import Fold

DRAWS = 20
"""Draws of folds, at most, until each has all classes."""


def groups_per_class(y: Array, groups: Array) -> dict[str | int | float, int]:
    """Return in how many groups each class is.

    Examples
    --------
    >>> groups_per_class(np.array([0, 0, 1, 1]), np.array(["a", "b", "b", "b"]))
    {0: 2, 1: 1}
    """
    classes = np.unique(y)
    return {
        label: len(np.unique(groups[y == label]))
        for label in classes.tolist()  # in their order
    }


def grouped_folds(y: Array, groups: Array, count: int, seed: int) -> list[Fold]:
    """Return folds that keep groups together, each with samples of all classes.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    groups : ndarray of shape (n,)
        The group of each sample.
    count : int
        Number of folds.
    seed : int
        Of their draw.

    Returns
    -------
    list of (train, test)
        Row numbers; every row is held out once.

    Raises
    ------
    ValueError
        If there are too few groups, or too few with samples of some class.
    """
    n_groups = len(np.unique(groups))
    if n_groups < count:
        many = f"{n_groups} group{'s' * (n_groups > 1)}"
        advice = f"use {n_groups} folds" if n_groups > 1 else "name another column"
        raise ValueError(
            f"Groups are held out as a whole, and {count} folds need at least {count} "
            f"of them, got {many}; {advice}."
        )
    per_class = groups_per_class(y, groups)
    rarest = min(per_class, key=per_class.__getitem__)
    if per_class[rarest] < count:
        raise ValueError(
            f"Each of {count} folds needs a group with samples of each class, but "
            f"class {rarest!r} is in {per_class[rarest]} of {n_groups} groups; use "
            "fewer folds."
        )
    classes = set(np.unique(y).tolist())
    for draw in range(DRAWS):
        splitter = StratifiedGroupKFold(
            count, shuffle=True, random_state=(seed + draw) % 2**32
        )
        folds = list(splitter.split(np.zeros(len(y)), y, groups))
        if all(set(y[part].tolist()) == classes for fold in folds for part in fold):
            return folds
    raise ValueError(
        f"No {count} folds were found that keep the {n_groups} groups together and "
        "have samples of each class; use fewer folds."
    )
