"""Scores of all pairs: those that are missing, known one way, or different both ways.

A score that is not known is NaN here, and nowhere else.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import (
    SYMMETRIZERS,
    SYMMETRY_TOL,
    check_choice,
    check_distances,
    check_similarities,
    symmetrize_matrix,
)
from kreinlearn.io.headers import AS_SEEN, Marks

Holds = Literal["similarities", "distances"]
"""What a matrix is said to hold. If nothing is said, it must be similarities that do
not look like distances."""
Names = Sequence[str] | Sequence[int]
"""Of samples; or their numbers, from 1."""


@dataclass(frozen=True)
class PairOptions:
    """What is said of pairs, and what to make of those that are missing or repeated.

    Attributes
    ----------
    format : str or None
        What the file holds, if its name and content do not tell.
    missing : float or None
        What stands for the score of a pair that is missing; refused without.
    missing_self : float or None
        What stands for the similarity of a sample with itself; refused without. The
        distance of a sample to itself is 0, if it is missing.
    repeated : {"mean", "max", "min"} or None
        What to make of several scores of a pair in one direction. Without, hits of a
        search have the best score, and others are refused if they differ.
    labels : str or None
        File of the labels, by name of the sample.
    marks : Marks
        What separates cells and decimals, in a text of any format.
    """

    format: str | None = None
    missing: float | None = None
    missing_self: float | None = None
    repeated: str | None = None
    labels: str | None = None
    marks: Marks = AS_SEEN

    def __post_init__(self) -> None:
        for name, option in (("missing", "--missing"), ("missing_self", SELF)):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise ValueError(
                    f"{name!r} ({option}) must be a finite number, got {value}."
                )
        if self.repeated is not None:
            check_choice("repeated", self.repeated, SYMMETRIZERS)

    @property
    def are_of_pairs(self) -> bool:
        """Whether something was said that goes with pairs and matrices alone."""
        gaps = (self.missing, self.missing_self, self.repeated)
        return any(given is not None for given in gaps)


SELF = "--missing-self"
NOTHING_SAID = PairOptions()


def completed(
    path: str,
    names: Names,
    given: Array,
    options: PairOptions,
    holds: Holds | None = None,
    symmetrize: str | None = None,
) -> tuple[Array, list[str]]:
    """Return the matrix of training samples without gaps, or raise.

    Parameters
    ----------
    path : str
        The file, for messages.
    names : sequence of str or int
        The samples.
    given : ndarray of shape (n, n)
        Scores from each row to each column; NaN where there is none.
    options : PairOptions
        What to make of missing ones.
    holds : {"similarities", "distances"}, optional
        What they are.
    symmetrize : {"mean", "max", "min"}, optional
        What to make of two directions that differ.

    Returns
    -------
    K : ndarray of shape (n, n)
        Complete, and checked to hold what it should.
    remarks : list of str
        What was done, with counts.
    """
    is_distance = holds == "distances"
    known = ~np.isnan(given)
    if not known.any():
        raise ValueError(f"{path} holds no scores; a number for each pair is needed.")
    K = np.where(known, given, given.T)
    _fill_diagonal(path, names, K, options.missing_self, is_distance)
    remarks = _one_way(known)
    gaps = np.isnan(K)
    if gaps.any():
        i, j = divmod(int(gaps.argmax()), len(K))
        n, count = len(K), int(gaps.sum()) // 2
        counted = f"{count:,} of {n * (n - 1) // 2:,} pairs"
        value = _stand_in(path, counted, (names[i], names[j]), K, options, is_distance)
        K[gaps] = value
        remarks.append(f"missing and taken for {value:g}: {counted}")
    remarks += _both_ways(path, names, K, is_distance, symmetrize)
    if symmetrize is not None:
        K = symmetrize_matrix(K, symmetrize)
    if is_distance:
        _check_named_distances(path, names, K)
        return check_distances(K, path, first=1), remarks
    if holds is None:
        check_similarities(K, path)
    return K, remarks


def completed_new(
    path: str,
    rows: Names,
    columns: Names,
    forth: Array,
    back: Array,
    options: PairOptions,
    *,
    is_distance: bool = False,
    symmetrize: str | None = None,
) -> tuple[Array, list[str]]:
    """Return the scores of new samples with those of training, or raise.

    Parameters
    ----------
    path : str
        The file, for messages.
    rows, columns : sequence of str
        New samples, and those of training.
    forth, back : ndarray of shape (n_rows, n_columns)
        Scores from new to training samples, and from these to the new; NaN where
        there is none.
    options : PairOptions
        What to make of missing ones.
    is_distance : bool
        Whether they are distances.
    symmetrize : {"mean", "max", "min"}, optional
        What was made of two directions in training.

    Returns
    -------
    K : ndarray of shape (n_rows, n_columns)
        Complete.
    remarks : list of str
        What was done, with counts.
    """
    known, remarks = ~np.isnan(forth), list[str]()
    K = np.where(known, forth, back)
    both = known & ~np.isnan(back)
    if symmetrize is not None:
        K[both] = SYMMETRIZERS[symmetrize](forth[both], back[both])
    itself = 0.0 if is_distance else options.missing_self
    if itself is not None:  # a training sample, predicted once more
        column = {name: j for j, name in enumerate(columns)}
        for i, j in enumerate(column.get(name, -1) for name in rows):
            if j >= 0 and np.isnan(K[i, j]):
                K[i, j] = itself
    gaps = np.isnan(K)
    if gaps.any():
        i, j = divmod(int(gaps.argmax()), K.shape[1])
        counted = f"{int(gaps.sum()):,} of {K.size:,} pairs with training samples"
        value = _stand_in(path, counted, (rows[i], columns[j]), K, options, is_distance)
        K[gaps] = value
        remarks.append(f"missing and taken for {value:g}: {counted}")
    if is_distance and K.min() < 0:
        i, j = divmod(int(K.argmin()), K.shape[1])
        raise ValueError(_negative(path, rows[i], columns[j], K[i, j]))
    return K, remarks


def said(path: str, remarks: Sequence[str]) -> str:
    """Return what was done to a file as one sentence; empty if nothing was."""
    return f"{path}: {'; '.join(remarks)}." if remarks else ""


def _fill_diagonal(
    path: str, names: Names, K: Array, value: float | None, is_distance: bool
) -> None:
    """Write what stands for a sample and itself where nothing is known of it."""
    if is_distance and value is not None:
        raise ValueError(
            "The distance of a sample to itself is 0: leave out missing_self "
            f"({SELF}), which is for similarities."
        )
    unknown = np.isnan(K.diagonal())
    if not unknown.any():
        return
    if is_distance:
        value = 0.0
    if value is None:
        count, all_of = int(unknown.sum()), len(K)
        many = "all" if count == all_of else f"{count:,} of {all_of:,}"
        raise ValueError(
            f"{path} lacks the similarity of samples with themselves for {many}, first "
            f"that of {names[int(unknown.argmax())]!r}; give it, say what stands for "
            f"it by missing_self ({SELF} on the command line), such as {SELF} "
            f"{np.nanmax(K):.6g}, the largest of all, or, if these are distances, say "
            "so (--distance)."
        )
    np.fill_diagonal(K, np.where(unknown, value, K.diagonal()))


def _stand_in(
    path: str,
    counted: str,
    pair: tuple[str | int, str | int],
    K: Array,
    options: PairOptions,
    is_distance: bool,
) -> float:
    """Return what stands for missing scores, or raise."""
    if options.missing is None:
        low, high = float(np.nanmin(K)), float(np.nanmax(K))
        example = "--missing 0" if low >= 0 else f"--missing {low:.6g}, the smallest"
        if is_distance:
            example = f"--missing {high:.6g}, the largest distance"
        raise ValueError(
            f"{path} lacks {counted}, first that of {pair[0]!r} and {pair[1]!r}; add "
            "them, or say what stands for them by missing (--missing on the command "
            f"line), such as {example}."
        )
    if is_distance and options.missing < 0:
        raise ValueError(
            f"'missing' (--missing) must not be negative for distances, got "
            f"{options.missing:g}."
        )
    return options.missing


def _one_way(known: Array) -> list[str]:
    """Return a remark if some pairs, but not all, are known in one direction only."""
    single = int((known & ~known.T).sum())
    double = (int((known & known.T).sum()) - int(known.diagonal().sum())) // 2
    if single == 0 or double == 0:
        return []
    counted = f"{single:,} of {single + double:,} pairs"
    return [f"known one way only, which is taken for both: {counted}"]


def _both_ways(
    path: str, names: Names, K: Array, is_distance: bool, symmetrize: str | None
) -> list[str]:
    """Return a remark if scores differ on the way back, or raise for distances."""
    gaps = np.abs(K - K.T)
    differ = int((gaps > SYMMETRY_TOL * np.abs(K).max()).sum()) // 2
    if differ == 0:
        return []
    i, j = divmod(int(gaps.argmax()), len(K))
    n = len(K)
    counted = f"{differ:,} of {n * (n - 1) // 2:,} pairs"
    most = f"by up to {gaps[i, j]:.4g}"
    if symmetrize is not None:
        return [f"different both ways, {most}, and made the {symmetrize}: {counted}"]
    if is_distance:
        raise ValueError(
            f"{path}: distances must be the same both ways, but differ for {counted}, "
            f"most from {names[i]!r} to {names[j]!r}, {K[i, j]:.4g}, and back, "
            f"{K[j, i]:.4g}; symmetrize='mean' (--symmetrize mean on the command "
            "line) takes the mean of both."
        )
    return [f"different both ways, {most} (--symmetrize makes them one): {counted}"]


def _check_named_distances(path: str, names: Names, K: Array) -> None:
    """Raise if distances are negative or not zero on the diagonal, and name the worst.

    What looks like similarities is left to `check_distances`, which says so.
    """
    zero, ends = SYMMETRY_TOL * float(np.abs(K).max()), K.diagonal()
    if ends.min() > zero and (ends >= K.max(axis=1)).all():
        return
    if K.min() < -zero:
        i, j = divmod(int(K.argmin()), K.shape[1])
        raise ValueError(_negative(path, names[i], names[j], K[i, j]))
    worst = int(np.abs(ends).argmax())
    if abs(ends[worst]) > zero:
        raise ValueError(
            f"{path}: the distance of a sample to itself must be 0, got "
            f"{ends[worst]:.4g} for {names[worst]!r}; correct it, or leave out "
            "--distance if these are similarities."
        )


def _negative(path: str, a: str | int, b: str | int, value: float) -> str:
    return (
        f"{path}: distances must not be negative, got {value:.4g} between {a!r} and "
        f"{b!r}; correct it, or leave out --distance if these are similarities."
    )
