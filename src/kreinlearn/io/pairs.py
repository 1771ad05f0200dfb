"""Matrices of named samples: from lists of pairs, BLAST hits, csv and PHYLIP.

NaN stands for a missing score.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import (
    SYMMETRIZERS,
    SYMMETRY_TOL,
    check_distances,
    check_similarities,
    symmetrize_matrix,
)
from kreinlearn.io.columns import MISSING_CELLS, parse_number
from kreinlearn.io.errors import quote_names
from kreinlearn.io.matrices import TextMatrix, read_phylip, read_text_matrix
from kreinlearn.io.options import MatrixContent, PairOptions, ReadOptions
from kreinlearn.io.text import (
    AUTO_DIALECT,
    Dialect,
    read_lines,
    read_rows,
)

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


@dataclass(frozen=True)
class PairList:
    """Scores of pairs.

    Attributes
    ----------
    path : str
        The file.
    names : list of str
        All samples, in the order in which they first occur.
    first, second : ndarray of shape (n_lines,)
        The samples of each line, as positions in ``names``.
    scores : ndarray of shape (n_lines,)
        Finite numbers, and NaN where missing.
    lines : ndarray of shape (n_lines,)
        Line numbers.
    is_search : bool
        Whether these are hits: the first sample is a query, the second was found.
    """

    path: str
    names: list[str]
    first: Array
    second: Array
    scores: Array
    lines: Array
    is_search: bool

    def reverse(self) -> "PairList":
        """Return the same pairs in the other direction."""
        return replace(self, first=self.second, second=self.first)

    def to_matrix(
        self, rows: Sequence[str], columns: Sequence[str], repeated: str | None
    ) -> tuple[Array, int]:
        """Return the scores from some samples to others as a matrix.

        Parameters
        ----------
        rows, columns : sequence of str
            The samples; all others are ignored.
        repeated : {"mean", "max", "min"} or None
            Aggregate of several scores of a pair in one direction. Without, the best
            hit of a search counts, and other scores must agree.

        Returns
        -------
        values : ndarray of shape (n_rows, n_columns)
            Scores, NaN where missing.
        n_repeated : int
            Lines that repeat a pair.
        """
        import pandas as pd

        check_fits(len(rows), len(columns), float, self.path)
        names = pd.Index(self.names, dtype=object)
        row, column = (
            pd.Index(side, dtype=object).get_indexer(names) for side in (rows, columns)
        )
        row, column = row[self.first], column[self.second]
        used = np.flatnonzero((row >= 0) & (column >= 0) & ~np.isnan(self.scores))
        cells = row[used].astype(np.int64) * len(columns) + column[used]
        scores = self.scores[used]
        values = np.full(len(rows) * len(columns), np.nan)
        values[cells] = scores
        kept, inverse, counts = np.unique(
            cells, return_inverse=True, return_counts=True
        )
        if len(kept) < len(cells):
            high, low = np.full(len(kept), -np.inf), np.full(len(kept), np.inf)
            np.maximum.at(high, inverse, scores)
            np.minimum.at(low, inverse, scores)
            if repeated is None and not self.is_search:
                self._check_agreement(used, inverse, high > low)
            sums = np.bincount(inverse, weights=scores)
            found = {"mean": sums / counts, "min": low}.get(repeated or "max", high)
            values[kept] = np.where(high > low, found, high)
        return values.reshape(len(rows), len(columns)), len(cells) - len(kept)

    def _check_agreement(self, used: Array, inverse: Array, differ: Array) -> None:
        """Raise if lines about the same pair have different scores."""
        if not differ.any():
            return
        i = int(np.flatnonzero(differ[inverse])[0])
        others = np.flatnonzero(inverse == inverse[i])
        j = next(j for j in others if self.scores[used[j]] != self.scores[used[i]])
        one, other = used[i], used[j]
        raise ValueError(
            f"{self.path}, line {self.lines[other]}: the pair of "
            f"{self.names[self.first[one]]!r} and {self.names[self.second[one]]!r} has "
            f"the score {self.scores[other]:.6g}, but {self.scores[one]:.6g} in line "
            f"{self.lines[one]}, and {int(differ.sum()):,} pairs have several; use "
            "--repeated mean, max or min (repeated='mean', ...)."
        )

    def find_new_names(self, training: Sequence[str]) -> list[str]:
        """Return the samples to predict: those that are not training samples.

        In a search, these are queries; targets only if no query is new. If all samples
        are training samples, all are predicted.
        """
        known = set(training)
        queries, targets = (
            [self.names[i] for i in np.unique(side)]
            for side in (self.first, self.second)
        )
        if known.isdisjoint(self.names):
            raise ValueError(
                f"{self.path} has no pair with a training sample, such as "
                f"{quote_names(training, 3)}; its samples are "
                f"{quote_names(self.names, 3)}."
            )
        for side in [queries, targets] if self.is_search else [self.names]:
            new = [name for name in side if name not in known]
            if new:
                return new
        return queries if self.is_search else self.names

    def note_repeated(self, count: int, repeated: str | None) -> list[str]:
        """Return a note about lines that repeat a pair."""
        if count == 0:
            return []
        kept = f"their {repeated} is taken" if repeated else "the best score is taken"
        if not repeated and not self.is_search:
            kept = "with the same score"
        return [f"pairs repeated, {kept}: {count:,} of {len(self.lines):,} lines"]


def read_pair_list(
    path: Path,
    is_search: bool,
    header: bool | None = None,
    dialect: Dialect = AUTO_DIALECT,
) -> PairList:
    """Return the pairs in a file.

    Parameters
    ----------
    path : Path
        Text with commas, semicolons or tabs.
    is_search : bool
        Whether it is BLAST's outfmt 6, not two names and a score in each line.
    header : bool, optional
        Whether the first line holds titles; by default if its score is not a number.
    dialect : Dialect
        Separators, for other files than BLAST's.
    """
    found = _read_hits(path) if is_search else _read_triples(path, dialect)
    places, first, second = dict[str, int](), array("q"), array("q")
    scores, lines = array("d"), array("q")
    title: PairLine | None = None
    for count, (line, a, b, cell) in enumerate(found):
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
            raise ValueError(_describe_bad_score(path, line, a, b, cell))
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
        # Perhaps a pair with a typing error.
        advice = "correct it, or use --header if the line holds titles"
        raise ValueError(_describe_bad_score(path, *title, advice))
    ends = np.array(first), np.array(second)
    return PairList(
        str(path), list(places), *ends, np.array(scores), np.array(lines), is_search
    )


def _read_triples(path: Path, dialect: Dialect) -> Iterator[PairLine]:
    """Yield the lines of a list of pairs."""
    for line, row in read_rows(path, dialect):
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


def read_square(
    path: Path, format: str, reading: ReadOptions, header: bool | None
) -> tuple[list[str] | None, Array, list[str]]:
    """Return names of training samples, scores of all pairs, and notes.

    Parameters
    ----------
    path : Path
        The file.
    format : {"pairs", "blast", "phylip", "matrix"}
        Its format.
    reading : ReadOptions
        Content of the matrix, fill values and separators.
    header : bool or None
        As in `kreinlearn.io.read`.
    """
    options = reading.pairs
    notes = list[str]()
    names: Sequence[str] | None
    if format in LIST_FORMATS:
        pairs = read_pair_list(path, format == "blast", header, options.dialect)
        names = pairs.names
        given, repeated = pairs.to_matrix(names, names, options.repeated)
        notes += pairs.note_repeated(repeated, options.repeated)
    else:
        if options.repeated is not None:
            raise ValueError(
                f"{path} holds a matrix, in which no pair is repeated: leave out "
                "repeated (--repeated)."
            )
        matrix = _read_matrix(path, format, options, header)
        names, given = matrix.rows, _order_square(matrix)
    n = len(given)
    if n < 2:
        one = f", got {names[0]!r}" if names else ""
        raise ValueError(f"{path} must hold two samples at least{one}.")
    labels = names or range(1, n + 1)
    K, more = complete_square(
        str(path), labels, given, options, reading.holds, reading.symmetrize
    )
    notes += more
    return (
        None if names is None else list(names),
        K,
        [f"{n:,} samples", *notes] if notes else [],
    )


def _read_matrix(
    path: Path, format: str, options: PairOptions, header: bool | None = None
) -> TextMatrix:
    if format == "phylip":
        return read_phylip(path)
    return read_text_matrix(path, options.dialect, header)


def _order_square(matrix: TextMatrix) -> Array:
    """Return the values with columns in the order of the rows, or raise."""
    path, rows, columns = matrix.path, matrix.rows, matrix.columns
    if rows is None or columns is None:
        if matrix.values.shape[0] != matrix.values.shape[1]:
            raise ValueError(
                f"{path} must be square, one row and one column per sample, got shape "
                f"{matrix.values.shape}."
            )
        return matrix.values
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
    return matrix.values[:, find_names(columns, rows)]


def find_names(names: Sequence[str], wanted: Sequence[str]) -> Array:
    """Return the position of each wanted name, -1 if it is missing."""
    import pandas as pd

    index: Array = pd.Index(names, dtype=object).get_indexer(
        pd.Index(wanted, dtype=object)
    )
    return index


def read_new(
    path: Path,
    format: str,
    training: Sequence[str],
    needed: Sequence[str],
    options: PairOptions,
    is_distance: bool,
    symmetrize: str | None,
    header: bool | None,
) -> tuple[list[str], Array, list[str]]:
    """Return names of new samples, their scores with training samples, and notes.

    Parameters
    ----------
    path : Path
        The file.
    format : {"pairs", "blast", "phylip", "matrix"}
        Its format.
    training : sequence of str
        All training samples.
    needed : sequence of str
        Those that are needed, in the order of the columns.
    options : PairOptions
        Fill values and separators.
    is_distance : bool
        Whether scores are distances.
    symmetrize : {"mean", "max", "min"} or None
        Aggregate of both directions in training.
    header : bool or None
        As in `kreinlearn.io.read`.
    """
    notes = list[str]()
    if format in LIST_FORMATS:
        pairs = read_pair_list(path, format == "blast", header, options.dialect)
        names = pairs.find_new_names(training)
        forth, ahead = pairs.to_matrix(names, needed, options.repeated)
        back, behind = pairs.reverse().to_matrix(names, needed, options.repeated)
        notes += pairs.note_repeated(ahead + behind, options.repeated)
    else:
        matrix = _read_matrix(path, format, options, True)
        assert matrix.rows is not None and matrix.columns is not None
        names, columns = matrix.rows, matrix.columns
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
        forth = matrix.values[:, places]
        back = _reverse_scores(matrix.values, names, columns, needed)
    K, more = complete_new(
        str(path),
        names,
        needed,
        forth,
        back,
        options,
        is_distance=is_distance,
        symmetrize=symmetrize,
    )
    notes += more
    return names, K, [f"{len(names):,} new samples", *notes] if notes else []


def _reverse_scores(
    values: Array, rows: Sequence[str], columns: Sequence[str], needed: Sequence[str]
) -> Array:
    """Return the scores from training samples to the rows, NaN where missing."""
    back = np.full((len(rows), len(needed)), np.nan)
    starts, ends = find_names(rows, needed), find_names(columns, rows)
    there, here = np.flatnonzero(starts >= 0), np.flatnonzero(ends >= 0)
    back[np.ix_(here, there)] = values[np.ix_(starts[there], ends[here])].T
    return back


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
