"""Complete matrices from scores of pairs: missing, one-way and asymmetric ones.

NaN stands for a missing score.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
from kreinlearn.io.matrices import MatrixContent
from kreinlearn.io.text import AUTO_DIALECT, Dialect

Names = Sequence[str] | Sequence[int]
"""Names of samples, or their numbers, from 1."""


@dataclass(frozen=True)
class PairOptions:
    """Options for pairs of samples, in a list or a matrix.

    Attributes
    ----------
    format : str or None
        Format of the file, if its name and content do not determine it.
    missing : float or None
        Fill value for missing pairs (default: error).
    missing_self : float or None
        Fill value for missing similarities of samples with themselves (default:
        error). Missing distances of samples to themselves are 0.
    repeated : {"mean", "max", "min"} or None
        Aggregate of several scores of a pair in one direction. By default the best
        hit of a search counts, and other scores must agree.
    labels : str or None
        File of the labels, by sample name.
    dialect : Dialect
        Separators of a text file of any format.
    """

    format: str | None = None
    missing: float | None = None
    missing_self: float | None = None
    repeated: str | None = None
    labels: str | None = None
    dialect: Dialect = AUTO_DIALECT

    def __post_init__(self) -> None:
        for name in ("missing", "missing_self"):
            value, option = getattr(self, name), f"--{name.replace('_', '-')}"
            if value is not None and not math.isfinite(value):
                raise ValueError(
                    f"{name!r} ({option}) must be a finite number, got {value}."
                )
        if self.repeated is not None:
            check_choice("repeated", self.repeated, SYMMETRIZERS)

    @property
    def has_fill_values(self) -> bool:
        """Whether an option is given that only pairs and matrices take."""
        gaps = (self.missing, self.missing_self, self.repeated)
        return any(given is not None for given in gaps)


DEFAULT_OPTIONS = PairOptions()


def complete_square(
    path: str,
    names: Names,
    given: Array,
    options: PairOptions,
    holds: MatrixContent | None = None,
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
        Scores from each row to each column, NaN where missing.
    options : PairOptions
        Fill values.
    holds : {"similarities", "distances"}, optional
        Content of the matrix.
    symmetrize : {"mean", "max", "min"}, optional
        Aggregate of two directions that differ.

    Returns
    -------
    K : ndarray of shape (n, n)
        Complete and checked.
    notes : list of str
        Numbers of filled or changed scores.
    """
    is_distance = holds == "distances"
    known = ~np.isnan(given)
    if not known.any():
        raise ValueError(f"{path} holds no scores; a number for each pair is needed.")
    K = np.where(known, given, given.T)
    _fill_diagonal(path, names, K, options.missing_self, is_distance)
    notes = _note_one_way(known)
    gaps = np.isnan(K)
    if gaps.any():
        i, j = divmod(int(gaps.argmax()), len(K))
        counted = f"{int(gaps.sum()) // 2:,} of {_count_pairs(K)} pairs"
        value = _fill_value(path, counted, names[i], names[j], K, options, is_distance)
        K[gaps] = value
        notes.append(f"missing and taken for {value:g}: {counted}")
    notes += _note_asymmetry(path, names, K, is_distance, symmetrize)
    if symmetrize is not None:
        K = symmetrize_matrix(K, symmetrize)
    if is_distance:
        _check_named_distances(path, names, K)
        return check_distances(K, path, first=1), notes
    if holds is None:
        check_similarities(K, path)
    return K, notes


def complete_new(
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
    """Return the scores of new samples with training samples, or raise.

    Parameters
    ----------
    path : str
        The file, for messages.
    rows, columns : sequence of str
        New samples and training samples.
    forth, back : ndarray of shape (n_rows, n_columns)
        Scores from new to training samples and in the other direction, NaN where
        missing.
    options : PairOptions
        Fill values.
    is_distance : bool
        Whether scores are distances.
    symmetrize : {"mean", "max", "min"}, optional
        Aggregate of both directions in training.

    Returns
    -------
    K : ndarray of shape (n_rows, n_columns)
        Complete.
    notes : list of str
        Numbers of filled scores.
    """
    known, notes = ~np.isnan(forth), list[str]()
    K = np.where(known, forth, back)
    both = known & ~np.isnan(back)
    if symmetrize is not None:
        K[both] = SYMMETRIZERS[symmetrize](forth[both], back[both])
    itself = 0.0 if is_distance else options.missing_self
    if itself is not None:  # training samples that are predicted again
        column = {name: j for j, name in enumerate(columns)}
        for i, name in enumerate(rows):
            j = column.get(name, -1)
            if j >= 0 and np.isnan(K[i, j]):
                K[i, j] = itself
    gaps = np.isnan(K)
    if gaps.any():
        i, j = divmod(int(gaps.argmax()), K.shape[1])
        counted = f"{int(gaps.sum()):,} of {K.size:,} pairs with training samples"
        value = _fill_value(path, counted, rows[i], columns[j], K, options, is_distance)
        K[gaps] = value
        notes.append(f"missing and taken for {value:g}: {counted}")
    if is_distance and K.min() < 0:
        i, j = divmod(int(K.argmin()), K.shape[1])
        raise ValueError(_describe_negative(path, rows[i], columns[j], K[i, j]))
    return K, notes


def join_notes(path: str, notes: Sequence[str]) -> str:
    """Return notes about a file as one sentence, empty without notes."""
    return f"{path}: {'; '.join(notes)}." if notes else ""


def _count_pairs(K: Array) -> str:
    return f"{len(K) * (len(K) - 1) // 2:,}"


def _fill_diagonal(
    path: str, names: Names, K: Array, value: float | None, is_distance: bool
) -> None:
    """Fill missing scores of samples with themselves, or raise."""
    if is_distance and value is not None:
        raise ValueError(
            "The distance of a sample to itself is 0: leave out missing_self "
            "(--missing-self), which is for similarities."
        )
    unknown = np.isnan(K.diagonal())
    if not unknown.any():
        return
    value = 0.0 if is_distance else value
    if value is None:
        count, n = int(unknown.sum()), len(K)
        many = "all" if count == n else f"{count:,} of {n:,}"
        raise ValueError(
            f"{path} lacks the similarity of samples with themselves for {many}, first "
            f"that of {names[int(unknown.argmax())]!r}; add it, or fill it by "
            f"--missing-self {np.nanmax(K):.6g}, the largest of all. Use --distance if "
            "these are distances."
        )
    np.fill_diagonal(K, np.where(unknown, value, K.diagonal()))


def _fill_value(
    path: str,
    counted: str,
    one: str | int,
    other: str | int,
    K: Array,
    options: PairOptions,
    is_distance: bool,
) -> float:
    """Return the fill value of missing scores, or raise."""
    if options.missing is None:
        low, high = float(np.nanmin(K)), float(np.nanmax(K))
        example = "--missing 0" if low >= 0 else f"--missing {low:.6g}, the smallest"
        if is_distance:
            example = f"--missing {high:.6g}, the largest distance"
        raise ValueError(
            f"{path} lacks {counted}, first that of {one!r} and {other!r}; add them, "
            f"or fill them by {example}."
        )
    if is_distance and options.missing < 0:
        raise ValueError(
            f"'missing' (--missing) must not be negative for distances, got "
            f"{options.missing:g}."
        )
    return options.missing


def _note_one_way(known: Array) -> list[str]:
    """Return a note if some pairs, but not all, are known in one direction only."""
    single = int((known & ~known.T).sum())
    double = (int((known & known.T).sum()) - int(known.diagonal().sum())) // 2
    if single == 0 or double == 0:
        return []
    counted = f"{single:,} of {single + double:,} pairs"
    return [f"known one way only, which is taken for both: {counted}"]


def _note_asymmetry(
    path: str, names: Names, K: Array, is_distance: bool, symmetrize: str | None
) -> list[str]:
    """Return a note if the two directions differ, or raise for distances."""
    gaps = np.abs(K - K.T)
    differ = int((gaps > SYMMETRY_TOL * np.abs(K).max()).sum()) // 2
    if differ == 0:
        return []
    i, j = divmod(int(gaps.argmax()), len(K))
    counted = f"{differ:,} of {_count_pairs(K)} pairs"
    most = f"by up to {gaps[i, j]:.4g}"
    if symmetrize is not None:
        return [f"different both ways, {most}, and made the {symmetrize}: {counted}"]
    if is_distance:
        raise ValueError(
            f"{path}: distances must be the same both ways, but differ for {counted}, "
            f"most from {names[i]!r} to {names[j]!r}, {K[i, j]:.4g}, and back, "
            f"{K[j, i]:.4g}; take the mean of both by --symmetrize mean "
            "(symmetrize='mean')."
        )
    return [f"different both ways, {most} (--symmetrize makes them one): {counted}"]


def _check_named_distances(path: str, names: Names, K: Array) -> None:
    """Raise if distances are negative or not zero on the diagonal, with the worst.

    `check_distances` has a message about matrices that look like similarities.
    """
    zero, ends = SYMMETRY_TOL * float(np.abs(K).max()), K.diagonal()
    if ends.min() > zero and (ends >= K.max(axis=1)).all():
        return
    if K.min() < -zero:
        i, j = divmod(int(K.argmin()), K.shape[1])
        raise ValueError(_describe_negative(path, names[i], names[j], K[i, j]))
    worst = int(np.abs(ends).argmax())
    if abs(ends[worst]) > zero:
        raise ValueError(
            f"{path}: the distance of a sample to itself must be 0, got "
            f"{ends[worst]:.4g} for {names[worst]!r}; correct it, or leave out "
            "--distance if these are similarities."
        )


def _describe_negative(path: str, a: str | int, b: str | int, value: float) -> str:
    return (
        f"{path}: distances must not be negative, got {value:.4g} between {a!r} and "
        f"{b!r}; correct it, or leave out --distance if these are similarities."
    )
