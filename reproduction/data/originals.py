"""The published formats: delimited text, arff, and sparse LIBSVM text.

``X`` has shape (n_samples, n_features), ``y`` shape (n_samples,) and values -1, +1.
"""

from collections.abc import Iterator

import numpy as np

from reproduction.data.entries import Format
from reproduction.data.tables import Labeled


def parse(
    text: str, layout: Format, n_features: int, labels: str | None = None
) -> Labeled:
    r"""Return features and labels of a published file.

    Parameters
    ----------
    text : str
        Content of the file.
    layout : Format
        How it is written.
    n_features : int
        How many features a line must give.
    labels : str, optional
        Content of the file of labels, if they are separate.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features, float64.
    y : ndarray of shape (n_samples,)
        Labels, int, -1 or +1.

    Raises
    ------
    ValueError
        If a line does not fit; the message gives its number.

    Examples
    --------
    >>> X, y = parse("5,3,g\n4,2,b\n", Format(positive="g", negative="b"), 2)
    >>> X.tolist(), y.tolist()
    ([[5.0, 3.0], [4.0, 2.0]], [1, -1])
    """
    read = _parse_sparse_line if layout.kind == "libsvm" else _parse_dense_line
    rows, tokens = [], []
    for order, (number, line) in enumerate(_iterate_lines(text, layout)):
        try:
            row, token = read(line, layout, n_features)
        except ValueError as error:
            if order == 0 and _is_head(line, layout):
                continue
            raise ValueError(f"line {number}: {error}") from error
        rows.append(row)
        tokens.append(token)
    if not rows:
        raise ValueError("it has no samples")
    if labels is not None:
        tokens = labels.split()
    if len(tokens) != len(rows):
        raise ValueError(f"it has {len(rows)} samples but {len(tokens)} labels")
    X = np.array(rows, dtype=np.float64)
    if not np.isfinite(X).all():
        raise ValueError("it has values that are not finite")
    return X, np.array([_parse_label(token, layout) for token in tokens], dtype=int)


def _iterate_lines(text: str, layout: Format) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines that may hold a sample."""
    in_data = layout.kind != "arff"
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not in_data:
            in_data = line.lower().startswith("@data")
        elif line and not (layout.kind == "arff" and line.startswith("%")):
            yield number, line


def _is_head(line: str, layout: Format) -> bool:
    """Return whether a line names columns: most of its fields are not numbers."""
    if layout.kind != "delimited":
        return False
    fields = line.split(layout.delimiter)
    return 2 * sum(not _is_number(field) for field in fields) > len(fields)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _parse_dense_line(
    line: str, layout: Format, n_features: int
) -> tuple[list[float], str]:
    """Return features and label of a line of delimited fields."""
    fields = [field.strip() for field in line.split(layout.delimiter)]
    n_fields = n_features + len(layout.drop) + (layout.label is not None)
    if len(fields) != n_fields:
        raise ValueError(f"expected {n_fields} fields, got {len(fields)}")
    token = "" if layout.label is None else fields[layout.label]
    skipped = set(layout.drop)
    if layout.label is not None:
        skipped.add(layout.label % n_fields)
    kept = [field for index, field in enumerate(fields) if index not in skipped]
    row = [0.0 if field == layout.missing else float(field) for field in kept]
    return row, token


def _parse_sparse_line(
    line: str, layout: Format, n_features: int
) -> tuple[list[float], str]:
    """Return features and label of a line ``label index:value ...``, from index 1."""
    token, *pairs = line.split()
    row = [0.0] * n_features
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if not colon or not 1 <= int(index) <= n_features:
            raise ValueError(
                f"expected index:value with index 1 to {n_features}, got {pair!r}"
            )
        row[int(index) - 1] = float(value)
    return row, token


def _parse_label(token: str, layout: Format) -> int:
    """Return +1 or -1; numbers may carry a sign or decimals."""
    plain = f"{float(token):g}" if _is_number(token) else token
    if plain not in (layout.positive, layout.negative):
        raise ValueError(
            f"expected the label {layout.positive!r} or {layout.negative!r}, "
            f"got {token!r}"
        )
    return 1 if plain == layout.positive else -1
