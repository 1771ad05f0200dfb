"""Measures between sequences of letters: alignment scores and edit distances.

Letters: X (n) and Y (k) are lists of strings, x and z two of them, S (n, k) scores and
D (n, k) distances.

=================== ======== ===========================================================
measure             kind     what it is
=================== ======== ===========================================================
`smith_waterman`    score    best alignment of a part of x with a part of z
`needleman_wunsch`  score    best alignment of all of x with all of z
`levenshtein`       distance least number of letters to insert, delete or replace
`jaro_winkler`      score    letters in common at about the same place, 0 to 1
=================== ======== ===========================================================

An alignment writes x and z below each other, with gaps. Its score is the sum of the
substitution scores of the letters that stand below each other, less the costs of the
gaps. **A gap of k letters costs gap_open + (k - 1) gap_extend**: gap_open is the cost
of its first letter. That is also what parasail, Opal, Biopython and EMBOSS mean. BLAST
counts in another way, existence + k extension: its "11, 1" is gap_open=12,
gap_extend=1, the default here.

Scores are exact: the best alignment is found, in integers. They are divided by the root
of s(x, x) s(z, z) by default, such that a sequence has the score 1 with itself and long
sequences do not win for being long. Neither normalized nor raw scores are positive
definite in general.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from kreinlearn._memory import check_bytes
from kreinlearn._typing import Array
from kreinlearn.kernels._alignment import alignment_scores, check_costs, check_letters
from kreinlearn.kernels._records import Function, Measure, SampleSet
from kreinlearn.kernels.threads import available

__all__ = [
    "check_sequences",
    "jaro_winkler",
    "levenshtein",
    "needleman_wunsch",
    "smith_waterman",
]

BAND = 128
"""Strings that are compared with all that follow them, in one call."""


def check_sequences(X: SampleSet, matrix: str | None = None) -> list[str]:
    """Return sequences as a list of strings, or raise.

    Parameters
    ----------
    X : sequence of n sequences
        A list, array or Series of str, bytes, or Biopython's Seq and SeqRecord.
    matrix : str, default=None
        A substitution matrix that must know all letters, as `smith_waterman` takes it;
        None allows any letters.

    Returns
    -------
    list of str
        The sequences; in upper case with a matrix, as they are without.

    Raises
    ------
    TypeError, ValueError
        One sentence, with the number of the first sequence that is empty, is no
        sequence, or has a letter that the matrix does not know.

    Examples
    --------
    >>> from kreinlearn.kernels import check_sequences
    >>> check_sequences(["acgt", b"ACGU"], matrix="nuc44")
    ['ACGT', 'ACGU']
    """
    return _checked("X", X, matrix)


def _checked(name: str, X: SampleSet, matrix: str | None = None) -> list[str]:
    """Return sequences as strings, or raise."""
    is_list = hasattr(X, "__len__") and hasattr(X, "__iter__")
    if (
        not is_list
        or isinstance(X, str | bytes | Mapping)
        or getattr(X, "ndim", 1) != 1
    ):
        kind = type(X).__name__
        shape = f" of shape {X.shape}" if hasattr(X, "shape") else ""
        raise TypeError(
            f"{name!r} must be a list of sequences, such as ['MKV', 'MRI'], or a "
            f"one-dimensional array of them, got {kind}{shape}."
        )
    found = [
        item if type(item) is str else _text(name, i, item) for i, item in enumerate(X)
    ]
    if not found:
        raise ValueError(f"{name!r} must have at least one sequence, got none.")
    if "" in found:
        raise ValueError(
            f"Sequence {found.index('')} of {name!r} (counted from 0) is empty; leave "
            "it out."
        )
    if matrix is None:
        return found
    check_letters(name, found, matrix)
    return [sequence.upper() for sequence in found]


def _text(name: str, i: int, item: Any) -> str:
    """Return one sequence as a string, or raise."""
    item = getattr(item, "seq", item)  # of Biopython's SeqRecord
    if isinstance(item, str):
        return str(item)
    try:
        if not hasattr(item, "__bytes__") and not isinstance(item, bytes):
            raise TypeError  # such as None, or a number
        return bytes(item).decode("ascii")
    except (TypeError, ValueError):
        raise TypeError(
            f"Sequence {i} of {name!r} (counted from 0) must be a string, got {item!r} "
            f"of type {type(item).__name__}."
        ) from None


def smith_waterman(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    matrix: str = "blosum62",
    gap_open: int = 12,
    gap_extend: int = 1,
    normalized: bool = True,
) -> Array:
    """Scores of the best local alignments: of any part of x with any part of z.

    Parameters
    ----------
    X : sequence of n sequences
        Letters in upper or lower case, as `check_sequences` takes them.
    Y : sequence of k sequences, default=None
        Others; None means X.
    matrix : str, default="blosum62"
        Substitution scores: "blosum45", "blosum50", "blosum62", "blosum80",
        "blosum90", "pam30", "pam70", "pam120", "pam250" for amino acids, "nuc44" for
        nucleotides (5 for a match, -4 for a mismatch; U is read as T).
    gap_open : int, default=12
        Cost of the first letter of a gap.
    gap_extend : int, default=1
        Cost of each further letter. The defaults are what BLAST calls 11, 1.
    normalized : bool, default=True
        Whether to divide s(x, z) by the root of s(x, x) s(z, z).

    Returns
    -------
    ndarray of shape (n, k)
        Scores, from 0 to 1 if normalized; exactly symmetric if Y is None.

    References
    ----------
    T. F. Smith, M. S. Waterman, "Identification of common molecular subsequences",
    Journal of Molecular Biology 147(1), 1981.

    O. Gotoh, "An improved algorithm for matching biological sequences", Journal of
    Molecular Biology 162(3), 1982.

    Examples
    --------
    >>> from kreinlearn.kernels import smith_waterman
    >>> peptides = ["HEAGAWGHEE", "PAWHEAE", "GAWGHE"]
    >>> smith_waterman(peptides).round(2)
    array([[1.  , 0.33, 0.8 ],
           [0.33, 1.  , 0.38],
           [0.8 , 0.38, 1.  ]])
    >>> smith_waterman(peptides[:1], peptides, normalized=False)
    array([[62., 17., 40.]])
    """
    return _alignments(X, Y, matrix, gap_open, gap_extend, True, normalized)


def needleman_wunsch(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    matrix: str = "blosum62",
    gap_open: int = 12,
    gap_extend: int = 1,
    normalized: bool = True,
) -> Array:
    """Scores of the best global alignments: of all of x with all of z.

    Gaps at the ends cost as much as any other.

    Parameters
    ----------
    X : sequence of n sequences
        Letters in upper or lower case, as `check_sequences` takes them.
    Y : sequence of k sequences, default=None
        Others; None means X.
    matrix : str, default="blosum62"
        Substitution scores, as in `smith_waterman`.
    gap_open : int, default=12
        Cost of the first letter of a gap.
    gap_extend : int, default=1
        Cost of each further letter.
    normalized : bool, default=True
        Whether to divide s(x, z) by the root of s(x, x) s(z, z).

    Returns
    -------
    ndarray of shape (n, k)
        Scores, at most 1 if normalized, and negative for sequences that have little in
        common; exactly symmetric if Y is None.

    References
    ----------
    S. B. Needleman, C. D. Wunsch, "A general method applicable to the search for
    similarities in the amino acid sequence of two proteins", Journal of Molecular
    Biology 48(3), 1970.

    Examples
    --------
    >>> from kreinlearn.kernels import needleman_wunsch
    >>> needleman_wunsch(["GATTACA"], ["GATTACA", "GATACA"], matrix="nuc44").round(3)
    array([[1.   , 0.555]])
    """
    return _alignments(X, Y, matrix, gap_open, gap_extend, False, normalized)


def _alignments(
    X: SampleSet,
    Y: SampleSet | None,
    matrix: str,
    gap_open: int,
    gap_extend: int,
    is_local: bool,
    normalized: bool,
) -> Array:
    """Check what was given, and return the scores."""
    gaps = check_costs(gap_open, gap_extend)
    rows = _checked("X", X)
    others = None if Y is None or Y is X else _checked("Y", Y)
    return alignment_scores(rows, others, matrix, gaps, is_local, normalized)


def levenshtein(X: SampleSet, Y: SampleSet | None = None) -> Array:
    """Edit distances: the least number of letters to insert, delete or replace.

    Needs the extra ``sequences``. Upper and lower case are different letters.

    Parameters
    ----------
    X : sequence of n strings
        Any text, as `check_sequences` takes it.
    Y : sequence of k strings, default=None
        Others; None means X.

    Returns
    -------
    ndarray of shape (n, k)
        Distances, whole numbers; exactly symmetric if Y is None.

    Examples
    --------
    >>> from kreinlearn.kernels import levenshtein
    >>> levenshtein(["kitten", "sitting"], ["kitten", "mitten", "sitting"])
    array([[0., 1., 3.],
           [3., 3., 0.]])
    """
    return _compared(X, Y, "Levenshtein", "distance")


def jaro_winkler(X: SampleSet, Y: SampleSet | None = None) -> Array:
    """Jaro-Winkler similarities, made for names: equal beginnings count more.

    Needs the extra ``sequences``. Upper and lower case are different letters.

    Parameters
    ----------
    X : sequence of n strings
        Any text, as `check_sequences` takes it.
    Y : sequence of k strings, default=None
        Others; None means X.

    Returns
    -------
    ndarray of shape (n, k)
        Similarities from 0 to 1; exactly symmetric if Y is None.

    References
    ----------
    W. E. Winkler, "String comparator metrics and enhanced decision rules in the
    Fellegi-Sunter model of record linkage", Proceedings of the Section on Survey
    Research Methods, American Statistical Association, 1990.

    Examples
    --------
    >>> from kreinlearn.kernels import jaro_winkler
    >>> jaro_winkler(["MARTHA"], ["MARHTA", "MARTA", "JONES"]).round(3)
    array([[0.961, 0.967, 0.   ]])
    """
    return _compared(X, Y, "JaroWinkler", "similarity")


def _compared(X: SampleSet, Y: SampleSet | None, name: str, value: str) -> Array:
    """Return what RapidFuzz finds between all pairs of strings."""
    rows = _checked("X", X)
    others = None if Y is None or Y is X else _checked("Y", Y)
    try:
        from rapidfuzz import distance, process
    except ImportError:
        raise ImportError(
            f"{name} needs RapidFuzz, which is not installed: pip install "
            '"kreinlearn[sequences]".'
        ) from None
    shape = len(rows), len(rows if others is None else others)
    what = f"Values of {shape[0]} by {shape[1]} strings need"
    check_bytes(shape[0] * shape[1] * 8, what, "Use fewer of them.")
    compare = partial(
        process.cdist,
        scorer=getattr(getattr(distance, name), value),
        dtype=np.float64,
        workers=available(),
    )
    if others is not None:
        return compare(rows, others)
    # Bands of the upper half: for short strings the way of RapidFuzz for two lists,
    # many strings in one vector, is more than twice as fast as that for one list.
    out = np.empty(shape)
    for i in range(0, len(rows), BAND):
        j = i + BAND
        band = compare(rows[i:j], rows[i:])
        out[i:j, i:] = band
        out[i:, i:j] = band.T
        corner = np.triu(band[:, :BAND])
        out[i:j, i:j] = corner + np.triu(corner, 1).T
    return out


def _mean_length(X: SampleSet) -> int:
    """Return the mean length of sequences."""
    return round(float(np.mean([len(x) for x in X])))


def _score(function: Function) -> Measure:
    """Return the record of an alignment score."""
    params = ("matrix", "gap_open", "gap_extend", "normalized")
    return Measure(function.__name__, function, _mean_length, params, kind="score")


SEQUENCE_MEASURES = (
    _score(smith_waterman),
    _score(needleman_wunsch),
    Measure("levenshtein", levenshtein, _mean_length),
    Measure("jaro_winkler", jaro_winkler, _mean_length, kind="score"),
)
"""All measures between sequences."""
