"""Measures between sequences of letters: alignment scores and edit distances.

Letters: X (n) and Y (k) are lists of strings, x and z two of them, S (n, k) scores and
D (n, k) distances.

=================== ======== ===========================================================
measure             kind     definition
=================== ======== ===========================================================
`smith_waterman`    score    best alignment of a part of x with a part of z
`needleman_wunsch`  score    best alignment of all of x with all of z
`levenshtein`       distance least number of letters to insert, delete or replace
`jaro_winkler`      score    letters in common at about the same place, 0 to 1
=================== ======== ===========================================================

An alignment writes x and z below each other, with gaps. Its score is the sum of the
substitution scores of the letters that stand below each other, less the costs of the
gaps. **A gap of k letters costs gap_open + (k - 1) gap_extend**: gap_open is the cost
of its first letter. parasail, Opal, Biopython and EMBOSS use the same definition. BLAST
uses existence + k extension: its "11, 1" is gap_open=12, gap_extend=1, the default
here.

Scores are exact: the best alignment is found, in integers. They are divided by the root
of s(x, x) s(z, z) by default, so that a sequence has the score 1 with itself, and long
sequences have no advantage. Neither normalized nor raw scores are positive
definite in general.
"""

from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from kreinlearn._memory import check_bytes
from kreinlearn._typing import Array, SampleSet
from kreinlearn._validation import check_choice
from kreinlearn.kernels import threads
from kreinlearn.kernels._records import make_kernels, make_measure

__all__ = [
    "check_sequences",
    "jaro_winkler",
    "levenshtein",
    "needleman_wunsch",
    "smith_waterman",
]

MATRIX_NAMES = (
    *("blosum45", "blosum50", "blosum62", "blosum80", "blosum90"),
    *("pam30", "pam70", "pam120", "pam250", "nuc44"),
)
"""Substitution matrices, one file each in ``_matrices``."""
MAX_GAP_COST = 1000
"""Largest cost of a gap; scores of letters are between -17 and 20."""
END_SCORE = -128
"""Score of positions behind the end of a sequence: no local alignment gains by it."""
UNKNOWN_CODE = 255
"""Number of a letter that a matrix does not have."""
SERIAL_ENTRIES = 2_000_000
"""Entries of alignment tables that are not worth a second thread."""
STRINGS_AT_ONCE = 128
"""Strings that RapidFuzz compares with all that follow them, in one call."""


def check_sequences(X: SampleSet, matrix: str | None = None) -> list[str]:
    """Return sequences as a list of strings, or raise.

    Parameters
    ----------
    X : sequence of n sequences
        A list, array or Series of str, bytes, or Biopython's Seq and SeqRecord.
    matrix : str, default=None
        A substitution matrix that must have all letters, as `smith_waterman` takes it;
        None allows any letters.

    Returns
    -------
    list of str
        The sequences; in upper case if a matrix is given.

    Raises
    ------
    TypeError, ValueError
        With the position of the first sequence that is empty, is not a sequence, or
        has a letter that the matrix does not have.

    Examples
    --------
    >>> from kreinlearn.kernels import check_sequences
    >>> check_sequences(["acgt", b"ACGU"], matrix="nuc44")
    ['ACGT', 'ACGU']
    """
    return _check_strings("X", X, matrix)


def _check_strings(name: str, X: SampleSet, matrix: str | None = None) -> list[str]:
    """Return sequences as strings, or raise."""
    is_list = hasattr(X, "__len__") and hasattr(X, "__iter__")
    is_list = is_list and not isinstance(X, str | bytes | Mapping)
    if not is_list or getattr(X, "ndim", 1) != 1:
        kind = type(X).__name__
        shape = f" of shape {X.shape}" if hasattr(X, "shape") else ""
        raise TypeError(
            f"{name!r} must be a list of sequences, such as ['MKV', 'MRI'], or a "
            f"one-dimensional array of them, got {kind}{shape}."
        )
    found = [x if type(x) is str else _to_text(name, i, x) for i, x in enumerate(X)]
    if not found:
        raise ValueError(f"{name!r} must have at least one sequence, got none.")
    if "" in found:
        raise ValueError(
            f"Sequence {found.index('')} of {name!r} (counted from 0) is empty; leave "
            "it out."
        )
    if matrix is None:
        return found
    _encode_letters(name, found, matrix)
    return [sequence.upper() for sequence in found]


def _to_text(name: str, i: int, item: Any) -> str:
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
        Cost of each further letter. BLAST calls the defaults 11, 1.
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
    return _score_pairs(X, Y, matrix, gap_open, gap_extend, True, normalized)


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
        Scores, at most 1 if normalized, and negative for dissimilar sequences; exactly
        symmetric if Y is None.

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
    return _score_pairs(X, Y, matrix, gap_open, gap_extend, False, normalized)


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
    return _compare_strings(X, Y, "Levenshtein", "distance")


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
    return _compare_strings(X, Y, "JaroWinkler", "similarity")


def _compare_strings(X: SampleSet, Y: SampleSet | None, name: str, value: str) -> Array:
    """Return RapidFuzz's value for all pairs of strings."""
    rows = _check_strings("X", X)
    others = None if Y is None or Y is X else _check_strings("Y", Y)
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
        workers=threads.max_threads(),
    )
    if others is not None:
        return compare(rows, others)
    # Bands of the upper half: for short strings, RapidFuzz is more than twice as fast
    # for two lists, with many strings in one vector, as for one list.
    out = np.empty(shape)
    for i in range(0, len(rows), STRINGS_AT_ONCE):
        j = i + STRINGS_AT_ONCE
        band = compare(rows[i:j], rows[i:])
        out[i:j, i:] = band
        out[i:, i:j] = band.T
        corner = np.triu(band[:, :STRINGS_AT_ONCE])
        out[i:j, i:j] = corner + np.triu(corner, 1).T
    return out


# -- alignments ------------------------------------------------------------------------


class Substitution(NamedTuple):
    """Scores of pairs of letters.

    Parameters
    ----------
    letters : str
        The alphabet.
    scores : ndarray of shape (size, size)
        Their scores, symmetric, int8.
    codes : ndarray of shape (256,)
        Number of each byte, in upper and lower case; UNKNOWN_CODE if there is none.
    """

    letters: str
    scores: Array
    codes: Array


class Encoded(NamedTuple):
    """Sequences as numbers, the shortest first.

    Parameters
    ----------
    letters : ndarray of uint8
        The letters of all sequences, in the order of the input.
    starts, lengths, places : ndarray of shape (n,)
        Where each sequence starts, its length, and its position in the input.
    """

    letters: Array
    starts: Array
    lengths: Array
    places: Array


@cache
def load_substitution(name: str) -> Substitution:
    """Return a substitution matrix, one of `MATRIX_NAMES`; U is T in "nuc44"."""
    check_choice("matrix", name, MATRIX_NAMES)
    text = (files(__package__) / "_matrices" / f"{name}.txt").read_text("ascii")
    header, *rows = [line.split() for line in text.splitlines() if line[0] != "#"]
    letters = "".join(header)
    scores = np.array([row[1:] for row in rows], dtype=np.int8)
    codes = np.full(256, UNKNOWN_CODE, np.uint8)
    for code, letter in enumerate(letters):
        codes[[ord(letter), ord(letter.lower())]] = code
    if name == "nuc44":
        codes[[ord("U"), ord("u")]] = letters.index("T")
    return Substitution(letters, scores, codes)


def _encode_letters(name: str, X: list[str], matrix: str) -> Array:
    """Return the letters of all sequences as numbers, one after the other, or raise."""
    known, codes = load_substitution(matrix).letters, load_substitution(matrix).codes
    # Anything beyond ASCII becomes one byte, which no matrix has.
    raw = "".join(X).encode("latin-1", "replace").replace(b"?", b"\xff")
    letters = codes[np.frombuffer(raw, np.uint8)]
    bad = int(letters.argmax())
    if letters[bad] != UNKNOWN_CODE:
        return letters
    ends = np.cumsum([len(x) for x in X])
    item = int(np.searchsorted(ends, bad, side="right"))
    place = bad - int(ends[item]) + len(X[item])
    letter = X[item][place]
    if letter in "-.":
        remedy = f"take gaps out first, as by replace({letter!r}, '')"
    else:
        unknown = "N, any nucleotide," if matrix == "nuc44" else "X, any amino acid,"
        remedy = f"replace it, as by {unknown} or choose another matrix"
    raise ValueError(
        f"Sequence {item} of {name!r} (counted from 0) has {letter!r} as letter "
        f"{place + 1}, and the matrix {matrix!r} knows only {known}; {remedy}."
    )


def _check_costs(gap_open: int, gap_extend: int) -> tuple[int, int]:
    """Return the costs of the first and of each further letter of a gap, or raise."""
    for name, cost in (("gap_open", gap_open), ("gap_extend", gap_extend)):
        if not isinstance(cost, Integral) or isinstance(cost, bool):
            raise TypeError(f"{name!r} must be a whole number, got {cost!r}.")
        if not 0 <= cost <= MAX_GAP_COST:
            raise ValueError(
                f"{name!r} is a cost, a whole number from 0 to {MAX_GAP_COST}, got "
                f"{cost!r}."
            )
    if gap_open < gap_extend:
        raise ValueError(
            "The first letter of a gap must cost as much as a further one or more, "
            f"got gap_open={gap_open} and gap_extend={gap_extend}."
        )
    return int(gap_open), int(gap_extend)


class _Alignment(NamedTuple):
    """Parameters of an alignment: gap costs are those of `_check_costs`."""

    matrix: str
    gaps: tuple[int, int]
    is_local: bool


def _score_pairs(
    X: SampleSet,
    Y: SampleSet | None,
    matrix: str,
    gap_open: int,
    gap_extend: int,
    is_local: bool,
    normalized: bool,
) -> Array:
    """Return the scores of all pairs; exactly symmetric if Y is None."""
    rule = _Alignment(matrix, _check_costs(gap_open, gap_extend), is_local)
    rows = _check_strings("X", X)
    others = None if Y is None or Y is X else _check_strings("Y", Y)
    xs = _encode("X", rows, matrix)
    ys = xs if others is None else _encode("Y", others, matrix)
    if normalized:  # scores of 0 are an error before the long work
        own = _check_positive("X", rows, _compute_self_scores(xs, rule))
        theirs = own
        if others is not None:
            theirs = _check_positive("Y", others, _compute_self_scores(ys, rule))
    S = _align(xs, ys, rule)
    if normalized:
        for row, score in zip(S, own, strict=True):
            row /= np.sqrt(score * theirs)
    return S


def _encode(name: str, X: list[str], matrix: str) -> Encoded:
    """Return sequences as numbers, or raise if a letter is unknown."""
    letters = _encode_letters(name, X, matrix)
    lengths = np.array([len(x) for x in X], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    order = np.argsort(lengths, kind="stable")
    return Encoded(letters, starts[order], lengths[order], order)


def _check_positive(name: str, X: list[str], scores: Array) -> Array:
    """Return scores of sequences with themselves, all above 0, or raise."""
    item = int(scores.argmin())
    if scores[item] > 0:
        return scores
    begin = X[item] if len(X[item]) <= 20 else f"{X[item][:17]}..."
    raise ValueError(
        f"Sequence {item} of {name!r} (counted from 0), {begin!r}, has the score "
        f"{scores[item]:g} with itself, and a score cannot be divided by that: leave "
        "it out, or pass normalized=False."
    )


def _align(xs: Encoded, ys: Encoded, rule: _Alignment) -> Array:
    """Return the scores of all pairs, in the order of the input."""
    from kreinlearn.kernels._compiled import sequences as compiled

    n, k = len(xs.starts), len(ys.starts)
    mirror = ys is xs
    if n > k:  # the larger set fills the lanes of more vectors
        return np.ascontiguousarray(_align(ys, xs, rule).T)
    n_cells = float(xs.lengths.sum()) * float(ys.lengths.sum())
    n_threads = 1 if n_cells < SERIAL_ENTRIES else threads.max_threads()
    # A thread has scores of all letters with a panel, and two columns of its tables.
    alphabet = load_substitution(rule.matrix)
    rows = len(alphabet.letters) * int(ys.lengths[-1]) + 2 * int(xs.lengths[-1])
    needed = n * k * 8 + n_threads * compiled.INTEGER_VECTOR_BYTES * rows
    what = f"Scores of {n} by {k} sequences need"
    check_bytes(needed, what, "Use fewer or shorter sequences.")
    out = np.empty((n, k))
    fill = compiled.make_fill(rule.is_local)
    end_row = np.full_like(alphabet.scores[:1], END_SCORE)
    panels = None
    for dtype in (np.int8, np.int16, np.int32)[0 if rule.is_local else 1 :]:
        lanes = compiled.INTEGER_VECTOR_BYTES // np.dtype(dtype).itemsize
        table = np.vstack([alphabet.scores, end_row]).astype(dtype)
        limits = (int(np.iinfo(dtype).max), int(table.max()))
        if panels is None:
            panels = _list_panels(n, k, lanes, mirror)
        elif np.isnan(out).any():
            panels = _list_unknown_panels(out, xs, ys, lanes, mirror)
        else:
            break
        about = (tuple(xs), tuple(ys), table, rule.gaps, *limits, mirror, panels)
        threads.parallel_for(partial(fill, out, *about), len(panels[2]), n_threads)
    if np.isnan(out).any():
        raise ValueError(
            "Scores must be below 2 billion in size; use shorter sequences or gaps "
            "that cost less."
        )
    return out


def _list_panels(n: int, k: int, lanes: int, mirror: bool) -> tuple[Array, ...]:
    """Return panels of all sequences, as ``make_fill`` of the compiled code explains.

    The shorter of a pair is in the panel: few panels have sequences that are much
    longer than others, and these have few queries.
    """
    starts = np.append(np.arange(0, k, lanes), k)
    first = starts[:-1] if mirror else np.zeros_like(starts[:-1])
    return np.arange(k), starts, first, np.full_like(first, n)


def _list_unknown_panels(
    out: Array, xs: Encoded, ys: Encoded, lanes: int, mirror: bool
) -> tuple[Array, ...]:
    """Return panels of the pairs whose score is NaN, each with one query."""
    members, queries = [], []
    for i in np.flatnonzero(np.isnan(out[xs.places]).any(axis=1)):
        unknown = np.flatnonzero(np.isnan(out[xs.places[i]][ys.places]))
        if mirror:
            unknown = unknown[unknown <= i]
        parts = [unknown[j : j + lanes] for j in range(0, len(unknown), lanes)]
        members += parts
        queries += [i] * len(parts)
    starts = np.cumsum([0, *map(len, members)])
    first = np.array(queries)
    return np.concatenate(members), starts, first, first + 1


def _compute_self_scores(xs: Encoded, rule: _Alignment) -> Array:
    """Return the score of each sequence with itself, in the order of the input.

    With d(a) = s(a, a), all matrices here have 2 s(a, b) <= d(a) + d(b). Half the sum
    of d over the aligned letters of one copy, and half that over those of the other,
    is therefore no less than the score without gaps. Leaving letters out by a gap
    raises these halves by at most -min(d) / 2 for each letter. If each letter of a gap
    costs that much, no alignment is better than one of each letter with itself, from
    end to end or, if local, over the part with the largest sum of d. Otherwise, which
    takes free gaps and letters such as X and N, the alignment is computed.
    """
    diagonal = load_substitution(rule.matrix).scores.diagonal().astype(np.int64)
    is_bounded = 2 * rule.gaps[1] >= -diagonal.min()
    scores = np.empty(len(xs.starts))
    for start, length, place in zip(*xs[1:], strict=True):
        letters = xs.letters[start : start + length]
        own = diagonal[letters]
        sums = np.cumsum(own)
        scores[place] = sums[-1]
        if rule.is_local:  # the best part, or none
            before = np.minimum.accumulate(np.append(0, sums))
            scores[place] = max(0, (sums - before[:-1]).max())
        if not is_bounded and own.min() < 0:
            one = Encoded(letters, *np.array([[0], [length], [0]]))
            scores[place] = _align(one, one, rule)[0, 0]
    return scores


# -- records ---------------------------------------------------------------------------


def _compute_mean_length(X: SampleSet) -> int:
    return round(float(np.mean([len(x) for x in X])))


SEQUENCE_MEASURES = (
    make_measure("smith_waterman", smith_waterman, _compute_mean_length, "score"),
    make_measure("needleman_wunsch", needleman_wunsch, _compute_mean_length, "score"),
    make_measure("levenshtein", levenshtein, _compute_mean_length),
    make_measure("jaro_winkler", jaro_winkler, _compute_mean_length, "score"),
)
"""All measures between sequences."""
SEQUENCE_KERNELS = make_kernels("sequences", check_sequences, SEQUENCE_MEASURES)
