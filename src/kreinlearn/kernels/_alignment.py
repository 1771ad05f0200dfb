"""What the alignments share: substitution matrices, sequences as numbers, threads.

Letters: X (n sequences) and Y (k sequences), S (n, k) their scores, s(x, z) one score.
"""

from functools import cache, partial
from importlib.resources import files
from numbers import Integral
from typing import NamedTuple

import numpy as np

from kreinlearn._memory import check_bytes
from kreinlearn._typing import Array
from kreinlearn._validation import check_choice
from kreinlearn.kernels import threads
from kreinlearn.kernels._work import share_out

MATRICES = (
    *("blosum45", "blosum50", "blosum62", "blosum80", "blosum90"),
    *("pam30", "pam70", "pam120", "pam250", "nuc44"),
)
"""Substitution matrices: `_matrices` has the file of each."""
MOST_COSTLY = 1000
"""Largest cost of a gap; scores of letters are between -17 and 20."""
END = -128
"""Score with what is behind the end of a sequence: no local alignment gains by it."""
UNKNOWN = 255
"""Number of a letter that a matrix does not have."""
SERIAL_CELLS = 2_000_000
"""Entries of alignment tables that are not worth a second thread."""


class Substitution(NamedTuple):
    """Scores of pairs of letters.

    Parameters
    ----------
    letters : str
        The alphabet.
    scores : ndarray of shape (size, size)
        Their scores, symmetric, int8.
    codes : ndarray of shape (256,)
        Number of each byte, in upper and lower case; UNKNOWN if there is none.
    """

    letters: str
    scores: Array
    codes: Array


class Encoded(NamedTuple):
    """Sequences as numbers, the shortest first.

    Parameters
    ----------
    letters : ndarray of uint8
        The letters of all sequences, in the order in which they were given.
    starts, lengths, places : ndarray of shape (n,)
        Where each sequence starts, its length, and which it was.
    """

    letters: Array
    starts: Array
    lengths: Array
    places: Array


@cache
def substitution(name: str) -> Substitution:
    """Return a substitution matrix.

    Parameters
    ----------
    name : str
        One of `MATRICES`.

    Returns
    -------
    Substitution
        Its letters and scores. RNA is read as DNA: U is T in "nuc44".
    """
    check_choice("matrix", name, MATRICES)
    text = (files(__package__) / "_matrices" / f"{name}.txt").read_text("ascii")
    header, *rows = [line.split() for line in text.splitlines() if line[0] != "#"]
    letters = "".join(header)
    scores = np.array([row[1:] for row in rows], dtype=np.int8)
    codes = np.full(256, UNKNOWN, np.uint8)
    for code, letter in enumerate(letters):
        codes[[ord(letter), ord(letter.lower())]] = code
    if name == "nuc44":
        codes[[ord("U"), ord("u")]] = letters.index("T")
    return Substitution(letters, scores, codes)


def check_letters(name: str, X: list[str], matrix: str) -> Array:
    """Return the letters of all sequences as numbers, or raise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    X : list of str
        Sequences.
    matrix : str
        One of `MATRICES`.

    Returns
    -------
    ndarray of uint8
        One after the other.
    """
    codes = substitution(matrix).codes
    # What is not ASCII becomes one byte, which no matrix has.
    raw = "".join(X).encode("latin-1", "replace").replace(b"?", b"\xff")
    letters = codes[np.frombuffer(raw, np.uint8)]
    bad = int(letters.argmax())
    if letters[bad] != UNKNOWN:
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
        f"{place + 1}, and the matrix {matrix!r} knows only "
        f"{substitution(matrix).letters}; {remedy}."
    )


def check_costs(gap_open: int, gap_extend: int) -> tuple[int, int]:
    """Return the costs of the first and of each further letter of a gap, or raise.

    Parameters
    ----------
    gap_open, gap_extend : int
        Costs, 0 or above.

    Returns
    -------
    tuple of int
        The same.
    """
    for name, cost in (("gap_open", gap_open), ("gap_extend", gap_extend)):
        if not isinstance(cost, Integral) or isinstance(cost, bool):
            raise TypeError(f"{name!r} must be a whole number, got {cost!r}.")
        if not 0 <= cost <= MOST_COSTLY:
            raise ValueError(
                f"{name!r} is a cost, a whole number from 0 to {MOST_COSTLY}, got "
                f"{cost!r}."
            )
    if gap_open < gap_extend:
        raise ValueError(
            "The first letter of a gap must cost as much as a further one or more, "
            f"got gap_open={gap_open} and gap_extend={gap_extend}."
        )
    return int(gap_open), int(gap_extend)


def alignment_scores(
    X: list[str],
    Y: list[str] | None,
    matrix: str,
    gaps: tuple[int, int],
    is_local: bool,
    normalized: bool,
) -> Array:
    """Return the scores of all pairs.

    Parameters
    ----------
    X : list of str
        Sequences.
    Y : list of str or None
        Other sequences; None means X.
    matrix : str
        One of `MATRICES`.
    gaps : tuple of int
        Costs of the first and of each further letter of a gap.
    is_local : bool
        Local or global alignments.
    normalized : bool
        Whether to divide s(x, z) by the root of s(x, x) s(z, z).

    Returns
    -------
    ndarray of shape (n, k)
        The scores; exactly symmetric if Y is None.
    """
    xs = _encoded("X", X, matrix)
    ys = xs if Y is None else _encoded("Y", Y, matrix)
    if normalized:  # what cannot be divided is noticed before the long work
        own = _positive("X", X, self_scores(xs, matrix, gaps, is_local))
        others = own
        if Y is not None:
            others = _positive("Y", Y, self_scores(ys, matrix, gaps, is_local))
    S = _raw_scores(xs, ys, matrix, gaps, is_local)
    if normalized:
        for row, score in zip(S, own, strict=True):
            row /= np.sqrt(score * others)
    return S


def _encoded(name: str, X: list[str], matrix: str) -> Encoded:
    """Return sequences as numbers, or raise if a letter is unknown."""
    letters = check_letters(name, X, matrix)
    lengths = np.array([len(x) for x in X], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    order = np.argsort(lengths, kind="stable")
    return Encoded(letters, starts[order], lengths[order], order)


def _positive(name: str, X: list[str], scores: Array) -> Array:
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


def _raw_scores(
    xs: Encoded, ys: Encoded, matrix: str, gaps: tuple[int, int], is_local: bool
) -> Array:
    """Return the scores of all pairs, in the order in which sequences were given."""
    from kreinlearn.kernels._compiled import alignments

    n, k = len(xs.starts), len(ys.starts)
    mirror = ys is xs
    if n > k:  # the larger set fills the lanes of more vectors
        return np.ascontiguousarray(_raw_scores(ys, xs, matrix, gaps, is_local).T)
    n_cells = float(xs.lengths.sum()) * float(ys.lengths.sum())
    n_threads = 1 if n_cells < SERIAL_CELLS else threads.max_threads()
    # A thread has scores of all letters with a panel, and two columns of its tables.
    rows = len(substitution(matrix).letters) * int(ys.lengths[-1]) + 2 * xs.lengths[-1]
    needed = n * k * 8 + n_threads * alignments.VECTOR_BYTES * int(rows)
    what = f"Scores of {n} by {k} sequences need"
    check_bytes(needed, what, "Use fewer or shorter sequences.")
    out = np.empty((n, k))
    fill = alignments.make_fill(is_local)
    panels = None
    for dtype in (np.int8, np.int16, np.int32)[0 if is_local else 1 :]:
        lanes = alignments.VECTOR_BYTES // np.dtype(dtype).itemsize
        table = _table(matrix, dtype)
        limits = (int(np.iinfo(dtype).max), int(table.max()))
        if panels is None:
            panels = _all_panels(n, k, lanes, mirror)
        elif np.isnan(out).any():
            panels = _unknown_panels(out, xs, ys, lanes, mirror)
        else:
            break
        about = (tuple(xs), tuple(ys), table, gaps, *limits, mirror, panels)
        share_out(partial(fill, out, *about), len(panels[2]), n_threads)
    if np.isnan(out).any():
        raise ValueError(
            "Scores must be below 2 billion in size; use shorter sequences or gaps "
            "that cost less."
        )
    return out


def _all_panels(n: int, k: int, lanes: int, mirror: bool) -> tuple[Array, ...]:
    """Return panels of all sequences, see ``alignments.make_fill``.

    The shorter of a pair is in the panel: few panels have sequences that are much
    longer than others, and these have few queries.
    """
    starts = np.append(np.arange(0, k, lanes), k)
    first = starts[:-1] if mirror else np.zeros_like(starts[:-1])
    return np.arange(k), starts, first, np.full_like(first, n)


def _unknown_panels(
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


def _table(matrix: str, dtype: type) -> Array:
    """Return the scores as integers of a type, with a row for the end of a sequence."""
    scores = substitution(matrix).scores
    return np.vstack([scores, np.full_like(scores[:1], END)]).astype(dtype)


def self_scores(
    xs: Encoded, matrix: str, gaps: tuple[int, int], is_local: bool
) -> Array:
    """Return the score of each sequence with itself, in the order they were given.

    Parameters
    ----------
    xs : Encoded
        Sequences.
    matrix : str
        One of `MATRICES`.
    gaps : tuple of int
        Costs of the first and of each further letter of a gap.
    is_local : bool
        Local or global alignments.

    Returns
    -------
    ndarray of shape (n,)
        Scores.

    Notes
    -----
    With d(a) = s(a, a), all matrices here have 2 s(a, b) <= d(a) + d(b). Half the sum
    of d over the aligned letters of one copy, and half that over those of the other,
    is therefore no less than the score without gaps. Leaving letters out by a gap
    raises these halves by at most -min(d) / 2 for each letter. If each letter of a gap
    costs that much, no alignment is better than one of each letter with itself, from
    end to end or, if local, over the part with the largest sum of d. Otherwise, which
    takes free gaps and letters such as X and N, the alignment is computed.
    """
    diagonal = substitution(matrix).scores.diagonal().astype(np.int64)
    found = np.empty(len(xs.starts))
    for start, length, place in zip(*xs[1:], strict=True):
        sums = np.cumsum(diagonal[xs.letters[start : start + length]])
        found[place] = sums[-1]
        if is_local:  # the best part, or none
            before = np.minimum.accumulate(np.append(0, sums))
            found[place] = max(0, (sums - before[:-1]).max())
    if 2 * gaps[1] >= -diagonal.min():
        return found
    is_negative = (diagonal < 0)[xs.letters]
    for start, length, place in zip(*xs[1:], strict=True):
        part = slice(start, start + length)
        if is_negative[part].any():
            one = Encoded(xs.letters[part], *np.array([[0], [length], [0]]))
            found[place] = _raw_scores(one, one, matrix, gaps, is_local)[0, 0]
    return found
