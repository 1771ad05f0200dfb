"""Lists of pairs: ``a,b,score`` in each line, or what BLAST and Foldseek write."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.io.headers import AS_SEEN, Marks
from kreinlearn.io.text import has_tabs, lines_of, rows_of
from kreinlearn.io.values import MISSING, number

HITS = 12
"""Columns of BLAST's outfmt 6, the default of Foldseek and MMseqs2 as well: names of
query and target, eight whole numbers or shares, the E-value, the bit score."""
COUNTS = slice(3, 10)
"""Those that hold whole numbers: lengths, mismatches, gaps and places."""
BITS = ("bits", "bitscore", "bit score")
Line = tuple[int, str, str, str]
"""Its number, two names and a score."""


@dataclass(frozen=True)
class PairList:
    """Scores of pairs, as they stand in a file.

    Attributes
    ----------
    path : str
        The file.
    names : list of str
        All samples, in the order in which they first occur.
    first, second : ndarray of shape (n_lines,)
        The samples of each line, as places in ``names``.
    scores : ndarray of shape (n_lines,)
        Finite numbers, and NaN where nothing is known.
    lines : ndarray of shape (n_lines,)
        Where they stand.
    is_search : bool
        Whether the first sample was looked for, and the second found.
    """

    path: str
    names: list[str]
    first: Array
    second: Array
    scores: Array
    lines: Array
    is_search: bool


def read_list(
    path: Path,
    is_search: bool,
    header: bool | None = None,
    marks: Marks = AS_SEEN,
) -> PairList:
    """Return the pairs in a file.

    Parameters
    ----------
    path : Path
        Text with commas, semicolons or tabs.
    is_search : bool
        Whether it is what BLAST writes, and not two names and a score in each line.
    header : bool, optional
        Whether the first line holds no pair; by default if its score is no number.
    marks : Marks
        What separates cells and decimals, if it is not what BLAST writes.

    Returns
    -------
    PairList
        All of them.
    """
    found = _hits(path) if is_search else _triples(path, marks)
    places, first, second = dict[str, int](), array("q"), array("q")
    scores, lines, title = array("d"), array("q"), None
    for count, (line, a, b, cell) in enumerate(found):
        value = np.nan if cell in MISSING else number(cell)
        if count == 0 and (value is None if header is None else header):
            _check_header(path, is_search, cell)
            title = (line, a, b, cell)
            continue
        if value is None or np.isinf(value):
            raise ValueError(_no_number(path, line, a, b, cell))
        if not a or not b:
            raise ValueError(
                f"{path}, line {line}: the names of two samples were expected, got "
                f"{a!r} and {b!r}; correct or remove the line."
            )
        first.append(places.setdefault(a, len(places)))
        second.append(places.setdefault(b, len(places)))
        scores.append(value)
        lines.append(line)
    if not lines:
        raise ValueError(f"{path} holds no pairs; one in each line was expected.")
    if title is not None and header is None and places.keys() & set(title[1:3]):
        # Perhaps a pair with a slip.
        advice = "correct it, or say --header if the line holds titles"
        raise ValueError(_no_number(path, *title, advice))
    ends, found_scores = (np.array(first), np.array(second)), np.array(scores)
    names = list(places)
    return PairList(str(path), names, *ends, found_scores, np.array(lines), is_search)


def spread(
    pairs: PairList, rows: Sequence[str], columns: Sequence[str], repeated: str | None
) -> tuple[Array, int]:
    """Return the scores from some samples to others as a matrix.

    Parameters
    ----------
    pairs : PairList
        Pairs; those of other samples are left out.
    rows, columns : sequence of str
        The samples.
    repeated : {"mean", "max", "min"} or None
        What to make of several scores of one pair in one direction. Without, several
        hits of a search have the best score, and others must agree.

    Returns
    -------
    values : ndarray of shape (n_rows, n_columns)
        Scores, NaN where there is none.
    n_repeated : int
        Lines that repeat a pair.
    """
    check_fits(len(rows), len(columns), float, pairs.path)
    row = _places(pairs.names, rows)[pairs.first]
    column = _places(pairs.names, columns)[pairs.second]
    used = np.flatnonzero((row >= 0) & (column >= 0) & ~np.isnan(pairs.scores))
    cells = row[used] * len(columns) + column[used]
    scores = pairs.scores[used]
    values = np.full(len(rows) * len(columns), np.nan)
    values[cells] = scores
    kept, inverse, counts = np.unique(cells, return_inverse=True, return_counts=True)
    if len(kept) < len(cells):
        high, low = np.full(len(kept), -np.inf), np.full(len(kept), np.inf)
        np.maximum.at(high, inverse, scores)
        np.minimum.at(low, inverse, scores)
        if repeated is None and not pairs.is_search:
            _check_agree(pairs, used, inverse, high > low)
        sums = np.bincount(inverse, weights=scores)
        ways = {"mean": sums / counts, "min": low}
        values[kept] = np.where(high > low, ways.get(repeated or "max", high), high)
    return values.reshape(len(rows), len(columns)), len(cells) - len(kept)


def turned(pairs: PairList) -> PairList:
    """Return the same pairs, from the second to the first."""
    return replace(pairs, first=pairs.second, second=pairs.first)


def _places(names: Sequence[str], wanted: Sequence[str]) -> Array:
    """Return where each name is among those wanted, -1 if it is not."""
    place = {name: i for i, name in enumerate(wanted)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _check_agree(pairs: PairList, used: Array, inverse: Array, differ: Array) -> None:
    """Raise if lines about the same pair have different scores."""
    if not differ.any():
        return
    i = int(np.flatnonzero(differ[inverse])[0])
    others = np.flatnonzero(inverse == inverse[i])
    j = next(j for j in others if pairs.scores[used[j]] != pairs.scores[used[i]])
    one, other = used[i], used[j]
    raise ValueError(
        f"{pairs.path}, line {pairs.lines[other]}: the pair of "
        f"{pairs.names[pairs.first[one]]!r} and {pairs.names[pairs.second[one]]!r} has "
        f"the score {pairs.scores[other]:.6g}, but {pairs.scores[one]:.6g} in line "
        f"{pairs.lines[one]}, and {int(differ.sum()):,} pairs have several; say "
        "repeated='mean', 'max' or 'min' (--repeated on the command line)."
    )


def _triples(path: Path, marks: Marks) -> Iterator[Line]:
    """Yield the lines of a list of pairs."""
    for line, row in rows_of(path, marks.with_tabs(has_tabs(path))):
        if len(row) != 3:
            raise ValueError(
                f"{path}, line {line}: two names and a score were expected, separated "
                f"by commas or tabs, got {len(row)} cell{'s' * (len(row) != 1)}; keep "
                "these three columns, or say what else the file holds by its format "
                "(--format on the command line)."
            )
        yield line, row[0], row[1], row[2]


def _hits(path: Path) -> Iterator[Line]:
    """Yield the lines of a search; comments, as in outfmt 7, are left out."""
    is_first = True
    for line, text in enumerate(lines_of(path), 1):
        if not text.strip() or text.startswith("#"):
            continue
        row = [cell.strip() for cell in text.rstrip("\r\n").split("\t")]
        if len(row) != HITS:
            raise ValueError(
                f"{path}, line {line}: {HITS} columns separated by tabs were expected, "
                f"as in BLAST's outfmt 6, got {len(row)}; cut others off, or keep "
                "query, target and score and read them as pairs (--format pairs on "
                "the command line)."
            )
        is_hit = number(row[-1]) is not None
        if is_first and is_hit and not all(cell.isdigit() for cell in row[COUNTS]):
            raise ValueError(
                f"{path}, line {line}: whole numbers were expected in columns 4 to 10, "
                f"as in BLAST's outfmt 6, got {', '.join(row[COUNTS])}; if the columns "
                "are others, keep query, target and score and read them as pairs "
                "(--format pairs on the command line)."
            )
        is_first = is_first and not is_hit
        yield line, row[0], row[1], row[-1]


def _no_number(
    path: Path,
    line: int,
    a: str,
    b: str,
    cell: str,
    advice: str = "correct or remove the line",
) -> str:
    return (
        f"{path}, line {line}: a finite number was expected as the score of {a!r} and "
        f"{b!r}, got {cell!r}; {advice}."
    )


def _check_header(path: Path, is_search: bool, name: str) -> None:
    """Raise if the last column of a search is named something else than bits."""
    if is_search and name.lower() not in BITS:
        raise ValueError(
            f"{path}: the bit score was expected in column {HITS}, as in BLAST's "
            f"outfmt 6, got {name!r}; keep query, target and score and read them as "
            "pairs (--format pairs on the command line)."
        )
