"""Scores of pairs: lists, BLAST hits, csv and PHYLIP become complete matrices.

NaN stands for a missing score.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import (
    SYMMETRIZERS,
    SYMMETRY_TOL,
    check_distances,
    check_similarities,
)
from kreinlearn.io.dataset import MatrixContent, ReadOptions
from kreinlearn.io.matrices import TextMatrix, read_phylip, read_text_matrix
from kreinlearn.io.text import (
    MISSING_CELLS,
    parse_number,
    quote_names,
    read_lines,
    read_rows,
)

if TYPE_CHECKING:
    import pandas as pd

LIST_FORMATS = ("pairs", "blast")
BLAST_COLUMNS = 12
"""Columns of BLAST's outfmt 6, the default of Foldseek and MMseqs2 as well: names of
query and target, eight numbers, the E-value, the bit score."""
BLAST_COUNTS = slice(3, 10)
"""Columns of integers: lengths, mismatches, gaps and positions."""
BIT_SCORE_TITLES = ("bits", "bitscore", "bit score")
Names = Sequence[str] | Sequence[int]
"""Names of samples, or their numbers, from 1."""
PairLine = tuple[int, str, str, str]
"""Line number, two names and a score."""


def read_pair_list(
    path: Path,
    options: ReadOptions,
    is_search: bool = False,
    lines: Iterable[str] | None = None,
) -> "pd.DataFrame":
    """Return the pairs in a file.

    Parameters
    ----------
    path : Path
        Text with commas, semicolons or tabs.
    options : ReadOptions
        Separators, for other files than BLAST's; and whether the first line holds
        titles, by default if its score is not a number.
    is_search : bool
        Whether it is BLAST's outfmt 6, not two names and a score in each line.
    lines : iterable of str, optional
        Lines of the file, if it is open.

    Returns
    -------
    DataFrame of shape (n_lines, 4)
        Columns "first" and "second" with names, "score" with finite numbers and NaN
        where missing, and "line".
    """
    import pandas as pd

    rows = _read_hits(path) if is_search else _read_triples(path, options, lines)
    names, first, second = dict[str, str](), list[str](), list[str]()
    scores, numbers = array("d"), array("q")
    title, header = None, options.header
    for count, (line, a, b, cell) in enumerate(rows):
        value = np.nan if cell in MISSING_CELLS else parse_number(cell)
        if count == 0 and (value is None if header is None else header):
            if is_search and cell.lower() not in BIT_SCORE_TITLES:
                raise ValueError(
                    f"{path}: the bit score was expected in column {BLAST_COLUMNS}, as "
                    f"in BLAST's outfmt 6, got {cell!r}; keep query, target and score, "
                    "and use --format pairs."
                )
            title = (line, a, b, cell)
            continue
        if value is None or np.isinf(value):
            raise ValueError(_describe_bad_score(path, (line, a, b, cell)))
        if not a or not b:
            raise ValueError(
                f"{path}, line {line}: the names of two samples were expected, got "
                f"{a!r} and {b!r}; correct or remove the line."
            )
        first.append(names.setdefault(a, a))
        second.append(names.setdefault(b, b))
        scores.append(value)
        numbers.append(line)
    if not numbers:
        raise ValueError(f"{path} holds no pairs; one in each line was expected.")
    if title is not None and header is None and names.keys() & set(title[1:3]):
        # Perhaps a pair with a typing error.
        advice = "correct it, or use --header if the line holds titles"
        raise ValueError(_describe_bad_score(path, title, advice))
    return pd.DataFrame(
        {
            "first": pd.Series(first, dtype=object),
            "second": pd.Series(second, dtype=object),
            "score": np.array(scores),
            "line": np.array(numbers),
        }
    )


def pivot_pairs(
    path: Path,
    pairs: "pd.DataFrame",
    rows: Sequence[str],
    columns: Sequence[str],
    how: str | None,
) -> tuple[Array, int]:
    """Return the scores from some samples to others, and the number of repeated lines.

    Parameters
    ----------
    path : Path
        The file, for messages.
    pairs : DataFrame
        As `read_pair_list` returns it.
    rows, columns : sequence of str
        The samples; all others are ignored.
    how : {"mean", "max", "min"} or None
        Aggregate of several scores of a pair in one direction; None if they must agree.
    """
    check_fits(len(rows), len(columns), float, str(path))
    places = find_names(rows, pairs["first"]) * np.int64(len(columns))
    seconds = find_names(columns, pairs["second"])
    is_used = (places >= 0) & (seconds >= 0) & pairs["score"].notna()
    used = pairs.assign(cell=places + seconds)[is_used]
    grouped = used.groupby("cell")["score"]
    low, high = grouped.min(), grouped.max()
    differ = low.index[low < high]
    if how is None and len(differ):
        one = used[used["cell"].isin(differ)].iloc[0]
        others = used[(used["cell"] == one["cell"]) & (used["score"] != one["score"])]
        other = others.iloc[0]
        raise ValueError(
            f"{path}, line {other['line']}: the pair of {one['first']!r} and "
            f"{one['second']!r} has the score {other['score']:.6g}, but "
            f"{one['score']:.6g} in line {one['line']}, and {len(differ):,} pairs have "
            "several; use --repeated mean, max or min (repeated='mean', ...)."
        )
    values = np.full(len(rows) * len(columns), np.nan)
    values[high.index] = high
    values[differ] = grouped.agg(how or "max")[differ]
    return values.reshape(len(rows), len(columns)), len(used) - len(high)


def _find_new_names(
    path: Path, pairs: "pd.DataFrame", training: Sequence[str], is_search: bool
) -> list[str]:
    """Return the samples to predict: those that are not training samples.

    In a search, these are queries; targets only if no query is new. If all samples
    are training samples, all are predicted.
    """
    known, names = set(training), list_names(pairs)
    if known.isdisjoint(names):
        raise ValueError(
            f"{path} has no pair with a training sample, such as "
            f"{quote_names(training, 3)}; its samples are {quote_names(names, 3)}."
        )
    sides = [set(pairs["first"]), set(pairs["second"])] if is_search else [set(names)]
    for side in sides:
        if new := [name for name in names if name in side and name not in known]:
            return new
    return [name for name in names if name in sides[0]]


def list_names(pairs: "pd.DataFrame") -> list[str]:
    """Return all samples, in the order in which they first occur."""
    both = pairs[["first", "second"]].to_numpy().reshape(-1)
    return list(dict.fromkeys(both.tolist()))


def _read_triples(
    path: Path, options: ReadOptions, lines: Iterable[str] | None
) -> Iterator[PairLine]:
    """Yield the lines of a list of pairs."""
    for line, row in read_rows(path, options.sep, options.decimal, lines=lines):
        if len(row) != 3:
            raise ValueError(
                f"{path}, line {line}: two names and a score were expected, separated "
                f"by commas or tabs, got {len(row)} cell{'s' * (len(row) != 1)}; keep "
                "these three columns, or name another format by --format."
            )
        yield line, row[0], row[1], row[2]


def _read_hits(path: Path) -> Iterator[PairLine]:
    """Yield the lines of a search; comments, as in outfmt 7, are skipped."""
    is_first = True
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip() or text.startswith("#"):
            continue
        row = [cell.strip() for cell in text.rstrip("\r\n").split("\t")]
        if len(row) != BLAST_COLUMNS:
            raise ValueError(
                f"{path}, line {line}: {BLAST_COLUMNS} columns separated by tabs were "
                f"expected, as in BLAST's outfmt 6, got {len(row)}; remove others, or "
                "keep query, target and score, and use --format pairs."
            )
        is_hit = parse_number(row[-1]) is not None
        counts = row[BLAST_COUNTS]
        if is_first and is_hit and not all(cell.isdigit() for cell in counts):
            raise ValueError(
                f"{path}, line {line}: integers were expected in columns 4 to 10, as "
                f"in BLAST's outfmt 6, got {', '.join(counts)}; keep query, target and "
                "score, and use --format pairs."
            )
        is_first = is_first and not is_hit
        yield line, row[0], row[1], row[-1]


def _describe_bad_score(
    path: Path, pair: PairLine, advice: str = "correct or remove the line"
) -> str:
    line, a, b, cell = pair
    return (
        f"{path}, line {line}: a finite number was expected as the score of {a!r} and "
        f"{b!r}, got {cell!r}; {advice}."
    )


def read_scores(
    path: Path,
    format: str,
    options: ReadOptions,
    lines: Iterable[str] | None = None,
    training: Sequence[str] | None = None,
    needed: Sequence[str] = (),
) -> tuple[list[str] | None, Array, str]:
    """Return names of samples, scores of all pairs, and a note.

    Parameters
    ----------
    path : Path
        The file.
    format : {"pairs", "blast", "phylip", "matrix"}
        Its format.
    options : ReadOptions
        Content of the matrix, fill values, separators and header.
    lines : iterable of str, optional
        Lines of the file, if it is open.
    training : sequence of str, optional
        All training samples, if the file holds scores of new samples with these.
    needed : sequence of str
        Those that are needed, in the order of the columns; all by default.
    """
    notes, known = list[str](), () if training is None else training
    columns = list(needed) or list(known)
    rows: Sequence[str] | None
    if format in LIST_FORMATS:
        is_search, how = format == "blast", options.repeated
        pairs = read_pair_list(path, options, is_search, lines)
        rows = list_names(pairs)
        if training is not None:
            rows = _find_new_names(path, pairs, training, is_search)
        columns = columns or list(rows)
        best = "max" if is_search else None
        forth, count = pivot_pairs(path, pairs, rows, columns, how or best)
        back = forth.T
        if training is not None:
            reverse = pairs.rename(columns={"first": "second", "second": "first"})
            back, more = pivot_pairs(path, reverse, rows, columns, how or best)
            count += more
        if count:
            kept = "the best score is taken" if is_search else "with the same score"
            kept = f"their {how} is taken" if how else kept
            notes.append(f"pairs repeated, {kept}: {count:,} of {len(pairs):,} lines")
    else:
        header = options.header if training is None else True
        if format == "phylip":
            matrix = read_phylip(path)
        else:
            matrix = read_text_matrix(path, options, header, lines)
        rows = matrix.rows
        if training is None:
            forth = _order_square(path, matrix)
            back = forth.T
        else:
            forth, back = _find_scores(path, matrix, training, columns)
    if training is None and len(forth) < 2:
        one = f", got {rows[0]!r}" if rows else ""
        raise ValueError(f"{path} must hold two samples at least{one}.")
    labels = rows or range(1, len(forth) + 1)
    table = ScoreTable(str(path), labels, columns or labels, options, training is None)
    K, more_notes = table.complete(forth, back)
    notes += more_notes
    new = "new " * (training is not None)
    note = f"{path}: {len(K):,} {new}samples; {'; '.join(notes)}." if notes else ""
    return None if rows is None else list(rows), K, note


def _order_square(path: Path, matrix: TextMatrix) -> Array:
    """Return the values with columns in the order of the rows, or raise."""
    rows, columns, values = matrix
    if rows is None or columns is None:
        if values.shape[0] != values.shape[1]:
            raise ValueError(
                f"{path} must be square, one row and one column per sample, got shape "
                f"{values.shape}."
            )
        return values
    without_row = [name for name in columns if name not in set(rows)]
    without_column = [name for name in rows if name not in set(columns)]
    if without_row or without_column:
        shared = len(columns) - len(without_row)
        most = max(len(rows), len(columns))
        side, other, left = "column", "row", without_row
        if without_column:
            side, other, left = "row", "column", without_column
        raise ValueError(
            f"{path}: rows and columns must be the same samples; {shared:,} of "
            f"{most:,} names agree, but {side} {left[0]!r} has no {other}. For a list "
            "of pairs, use --format pairs."
        )
    return values[:, find_names(columns, rows)]


def find_names(names: Names, wanted: "Names | pd.Series[str]") -> Array:
    """Return the position of each wanted name, -1 if it is missing."""
    import pandas as pd

    known, sought = (pd.Index(each, dtype=object) for each in (names, wanted))
    return np.asarray(known.get_indexer(sought))


def _find_scores(
    path: Path, matrix: TextMatrix, training: Sequence[str], needed: Sequence[str]
) -> tuple[Array, Array]:
    """Return the scores from new to training samples, and back, NaN where missing."""
    names, columns, values = matrix
    assert names is not None and columns is not None
    known = set(training)
    if known.isdisjoint(columns) and known.issubset(names):
        raise ValueError(
            f"{path} must have a row for each new sample and a column for each "
            "training sample, but its rows are the training samples; transpose it."
        )
    places = find_names(columns, needed)
    if (places < 0).any():
        missing = [needed[i] for i in np.flatnonzero(places < 0).tolist()]
        raise ValueError(
            f"{path} lacks {len(missing):,} of {len(needed):,} training samples, "
            f"first {missing[0]!r}; add a column for each, or use --format pairs "
            "for a list of pairs."
        )
    back = np.full((len(names), len(needed)), np.nan)
    starts, ends = find_names(names, needed), find_names(columns, names)
    there, here = np.flatnonzero(starts >= 0), np.flatnonzero(ends >= 0)
    back[np.ix_(here, there)] = values[np.ix_(starts[there], ends[here])].T
    return values[:, places], back


@dataclass(frozen=True)
class ScoreTable:
    """Scores between samples, whose gaps are filled and which are checked.

    Attributes
    ----------
    path : str
        The file, for messages.
    rows, columns : sequence of str or int
        The samples; the same ones for training, else new and training samples.
    options : ReadOptions
        Content of the matrix, fill values, and the aggregate of both directions.
    is_training : bool
        Whether these are training samples.
    """

    path: str
    rows: Names
    columns: Names
    options: ReadOptions
    is_training: bool

    def complete(self, forth: Array, back: Array) -> tuple[Array, list[str]]:
        """Return scores without gaps, and notes about filled or changed ones.

        Parameters
        ----------
        forth, back : ndarray of shape (n_rows, n_columns)
            Scores from rows to columns and in the other direction, NaN where missing.
        """
        holds, symmetrize = self.options.holds, self.options.symmetrize
        known, notes = ~np.isnan(forth), list[str]()
        if self.is_training and not known.any():
            raise ValueError(
                f"{self.path} holds no scores; a number for each pair is needed."
            )
        K = np.where(known, forth, back)
        both = known & ~np.isnan(back)
        places = find_names(self.columns, self.rows)
        own = np.flatnonzero(places >= 0), places[places >= 0]
        self._fill_own_scores(K, own)
        if self.is_training:
            notes += _note_one_way(known)
        notes += self._fill_gaps(K)
        if self.is_training:
            notes += self._note_asymmetry(K)
        if symmetrize is not None:
            K[both] = SYMMETRIZERS[symmetrize](forth[both], back[both])
        if holds == "distances":
            self._check_distances(K)
        if not self.is_training:
            check_own_scores(self.path, K, own, holds)
        elif holds == "distances":
            K = check_distances(K, self.path, first=1)
        elif holds is None:
            check_similarities(K, self.path)
        return K, notes

    def _fill_own_scores(self, K: Array, own: tuple[Array, Array]) -> None:
        """Fill missing scores of samples with themselves, or raise."""
        is_distance = self.options.holds == "distances"
        value, unknown = self.options.missing_self, np.isnan(K[own])
        if self.is_training and is_distance and value is not None:
            raise ValueError(
                "The distance of a sample to itself is 0: leave out missing_self "
                "(--missing-self), which is for similarities."
            )
        value = 0.0 if is_distance else value
        if value is not None:
            K[own] = np.where(unknown, value, K[own])
        elif self.is_training and unknown.any():
            count, n = int(unknown.sum()), len(K)
            many = "all" if count == n else f"{count:,} of {n:,}"
            raise ValueError(
                f"{self.path} lacks the similarity of samples with themselves for "
                f"{many}, first that of {self.rows[int(unknown.argmax())]!r}; add it, "
                f"or fill it by --missing-self {np.nanmax(K):.6g}, the largest of all. "
                "Use --distance if these are distances."
            )

    def _fill_gaps(self, K: Array) -> list[str]:
        """Fill missing scores and return a note, or raise."""
        gaps, value = np.isnan(K), self.options.missing
        if not gaps.any():
            return []
        counted = f"{int(gaps.sum()):,} of {K.size:,} pairs with training samples"
        if self.is_training:
            counted = f"{int(gaps.sum()) // 2:,} of {_count_pairs(K)} pairs"
        is_distance = self.options.holds == "distances"
        if value is None:
            i, j = divmod(int(gaps.argmax()), K.shape[1])
            low, high = float(np.nanmin(K)), float(np.nanmax(K))
            example = "0" if low >= 0 else f"{low:.6g}, the smallest"
            example = f"{high:.6g}, the largest distance" if is_distance else example
            raise ValueError(
                f"{self.path} lacks {counted}, first that of {self.rows[i]!r} and "
                f"{self.columns[j]!r}; add them, or fill them by --missing {example}."
            )
        K[gaps] = value
        return [f"missing and taken for {value:g}: {counted}"]

    def _note_asymmetry(self, K: Array) -> list[str]:
        """Return a note if the two directions differ, or raise for distances."""
        gaps, how = np.abs(K - K.T), self.options.symmetrize
        differ = int((gaps > SYMMETRY_TOL * np.abs(K).max()).sum()) // 2
        if differ == 0:
            return []
        i, j = divmod(int(gaps.argmax()), len(K))
        counted, most = f"{differ:,} of {_count_pairs(K)} pairs", f"{gaps[i, j]:.4g}"
        if how is None and self.options.holds == "distances":
            raise ValueError(
                f"{self.path}: distances must be the same both ways, but differ for "
                f"{counted}, most from {self.rows[i]!r} to {self.rows[j]!r}, "
                f"{K[i, j]:.4g}, and back, {K[j, i]:.4g}; take the mean of both by "
                "--symmetrize mean (symmetrize='mean')."
            )
        made = f", and made the {how}" if how else " (--symmetrize makes them one)"
        return [f"different both ways, by up to {most}{made}: {counted}"]

    def _check_distances(self, K: Array) -> None:
        """Raise if distances are negative or not zero on the diagonal, with the worst.

        `check_distances` has a message about matrices that look like similarities.
        """
        remedy = "correct it, or leave out --distance if these are similarities"
        zero = SYMMETRY_TOL * float(np.abs(K).max()) if self.is_training else 0.0
        ends = K.diagonal()
        if self.is_training and ends.min() > zero and (ends >= K.max(axis=1)).all():
            return
        if K.min() < -zero:
            i, j = divmod(int(K.argmin()), K.shape[1])
            raise ValueError(
                f"{self.path}: distances must not be negative, got {K[i, j]:.4g} "
                f"between {self.rows[i]!r} and {self.columns[j]!r}; {remedy}."
            )
        worst = int(np.abs(ends).argmax())
        if self.is_training and abs(ends[worst]) > zero:
            raise ValueError(
                f"{self.path}: the distance of a sample to itself must be 0, got "
                f"{ends[worst]:.4g} for {self.rows[worst]!r}; {remedy}."
            )


def check_own_scores(
    path: str, K: Array, own: tuple[Array, Array], holds: MatrixContent | None
) -> None:
    """Raise if training samples among new ones show that scores are of another kind.

    Parameters
    ----------
    path : str
        The file, for the message.
    K : ndarray of shape (n_rows, n_columns)
        Scores of new samples with training samples.
    own : tuple of ndarray
        Positions of the scores of samples with themselves.
    holds : {"similarities", "distances"} or None
        Scores of the training samples; similarities that may look like distances, or
        None.
    """
    values = K[own]
    if len(values) < 2 or K.max() <= 0:
        return
    is_largest = values.min() > 0 and (values >= K[own[0]].max(axis=1)).all()
    is_zero = K.min() >= 0 and values.max() <= SYMMETRY_TOL * K.max()
    if holds == "distances" and is_largest:
        expected, got, score = "distances", "similarities", "largest"
    elif holds is None and is_zero:
        expected, got, score = "similarities", "distances", "zero"
    else:
        return
    raise ValueError(
        f"{path}: the model was trained on {expected}, and these look like {got}: the "
        f"score of a training sample with itself is {score}; give {expected}, or train "
        f"on {got}."
    )


def _count_pairs(K: Array) -> str:
    return f"{len(K) * (len(K) - 1) // 2:,}"


def _note_one_way(known: Array) -> list[str]:
    """Return a note if some pairs, but not all, are known in one direction only."""
    single = int((known & ~known.T).sum())
    double = (int((known & known.T).sum()) - int(known.diagonal().sum())) // 2
    if single == 0 or double == 0:
        return []
    counted = f"{single:,} of {single + double:,} pairs"
    return [f"known one way only, which is taken for both: {counted}"]
