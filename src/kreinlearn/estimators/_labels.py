"""Matrices with names: columns of a DataFrame put in order by their labels.

A DataFrame that pandas numbered 0, 1, ... has names, too, as long as they say
something: 0, 2, 1 is an order, while 0, 1, 2 next to other labels is none.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kreinlearn._typing import Array
from kreinlearn.exceptions import warn_caller

Labels = list[Hashable]


def match_training(
    K: Any, **beside: ArrayLike | None
) -> tuple[ArrayLike, Labels | Array | None]:
    """Return K with its columns in the order of its rows, and labels to keep.

    Raises if labels do not match, or if those of what is given beside K, such as y,
    are in another order. Validation will keep strings in ``feature_names_in_``; other
    labels belong in ``_labels`` of the estimator, and have a form that can be saved.
    """
    columns, rows = _columns(K), _rows(K)
    if columns is None:
        return K, None
    _check_once(columns, "column")
    if rows is not None and _are_comparable(rows, columns):
        _check_once(rows, "row")
        _check_squared(rows, columns)
        K, columns = _select(K, columns, rows), rows
    for labels, where in ((rows, "index"), (columns, "columns")):
        if labels is not None:
            _check_beside(labels, where, beside)
    if _is_named(K):
        return K, None
    is_whole = all(type(label) is int for label in columns)
    return _nameless(K), np.array(columns) if is_whole else columns


def match_new(estimator: BaseEstimator, K: Any) -> ArrayLike:
    """Return similarities of new samples with their columns in the order of training.

    Columns are all training samples, or those of ``support_``. Without labels here or
    there, K is returned as it is, with the warning that scikit-learn gives.
    """
    learned, columns = _learned(estimator), _columns(K)
    if learned is None:
        return K
    if columns is None:
        return _unlabelled(estimator, K)
    _check_not_transposed(learned, columns, _rows(K))
    support = getattr(estimator, "support_", None)
    wanted = learned
    if support is not None and len(columns) == len(support):
        wanted = [learned[i] for i in support]
    if _is_numbering(columns):
        is_labelled = set(columns) == set(wanted)
    else:
        # Samples numbered 0, 1, ... in training may come in another order, but were
        # not called by names.
        is_whole = all(type(label) is int for label in columns)
        is_labelled = is_whole or not _is_numbering(learned)
    if not is_labelled:
        return _unlabelled(estimator, K)
    _check_once(columns, "column")
    _check_complete(columns, wanted)
    return _nameless(_select(K, columns, wanted))


@contextmanager
def about_training_samples(estimator: BaseEstimator, K: ArrayLike) -> Iterator[None]:
    """Add to what scikit-learn says of features that they are training samples here."""
    try:
        yield
    except ValueError as error:
        if "features" not in str(error):
            raise
        is_distance = getattr(estimator, "kernel", None) in ("distance", ("distance",))
        values = "distances" if is_distance else "similarities"
        advice = (
            f"Pass the {values} between new and training samples, one column per "
            "training sample."
        )
        if np.shape(K)[0] == getattr(estimator, "n_features_in_", None):
            advice = (
                "It has one row per training sample, but should have one column per "
                "training sample: pass its transpose, K.T."
            )
        raise ValueError(f"{error} {advice}") from None


def _columns(K: Any) -> Labels | None:
    """Return the labels of the columns, or None if K is not a DataFrame."""
    found = getattr(K, "columns", None)
    if found is None or callable(found):
        return None
    is_frame = hasattr(K, "iloc") or _is_named(K)  # columns of pyarrow are arrays
    return [_key(label) for label in found] if is_frame else None


def _rows(values: Any) -> Labels | None:
    """Return the labels of the rows, or None if there are none, as in polars."""
    found = getattr(values, "index", None)
    if found is None or callable(found):  # lists have a method of this name
        return None
    return [_key(label) for label in found]


def _key(label: Any) -> Hashable:
    """Return what stands for a label: of a type that a file can hold, equal to itself.

    Dates, periods and other objects are known by what they print.
    """
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return tuple(_key(part) for part in label)
    is_plain = label is None or type(label) in (str, int, float, bool)
    return label if is_plain and label == label else repr(label)


def _is_numbering(labels: Labels) -> bool:
    """Tell whether labels are 0, 1, ..., as pandas gives them to those without."""
    return labels == list(range(len(labels)))


def _is_named(K: Any) -> bool:
    """Tell whether all columns have names that scikit-learn keeps: strings."""
    return all(type(label) is str for label in K.columns)


def _are_comparable(rows: Labels, columns: Labels) -> bool:
    """Tell whether rows and columns have labels to be matched by.

    A mere numbering is not a label, unless the other side has the same numbers.
    """
    if set(rows) == set(columns):
        return True
    return not _is_numbering(rows) and not _is_numbering(columns)


def _learned(estimator: BaseEstimator) -> Labels | None:
    """Return the labels of the training samples, if they had some."""
    found = getattr(estimator, "feature_names_in_", None)
    if found is None:
        found = getattr(estimator, "_labels", None)
    return found.tolist() if isinstance(found, np.ndarray) else found


def _unlabelled(estimator: BaseEstimator, K: ArrayLike) -> ArrayLike:
    """Return K; warn that it has no labels, unless scikit-learn will."""
    learned = getattr(estimator, "_labels", None)
    if learned is not None and not _is_numbering(list(learned)):
        warn_caller(
            f"X does not have valid feature names, but {type(estimator).__name__} was "
            "fitted with feature names"
        )
    return K


def _select(K: Any, columns: Labels, wanted: Labels) -> Any:
    """Return the columns of a DataFrame in the wanted order; no copy if they are."""
    if columns == wanted:
        return K
    place = {label: i for i, label in enumerate(columns)}
    order = [place[label] for label in wanted]
    return K.iloc[:, order] if hasattr(K, "iloc") else K[:, order]


def _nameless(K: Any) -> Any:
    """Return K with numbered columns if scikit-learn might reject their labels."""
    if _is_named(K):
        return K
    shallow = K.copy(deep=False)
    shallow.columns = range(K.shape[1])
    return shallow


def _check_once(labels: Labels, what: str) -> None:
    """Raise if a label occurs twice."""
    if len(set(labels)) == len(labels):
        return
    seen: set[Hashable] = set()
    for label in labels:
        if label in seen:
            raise ValueError(
                f"Labels of rows and columns must differ, but {what} {label!r} occurs "
                "more than once: drop or rename one, or pass X.to_numpy(), which has "
                "no labels."
            )
        seen.add(label)


def _check_squared(rows: Labels, columns: Labels) -> None:
    """Raise unless a training matrix has the same labels on both sides."""
    sides = (("row", rows, "column", columns), ("column", columns, "row", rows))
    for what, ours, other, theirs in sides:
        known = set(theirs)
        for label in ours:
            if label not in known:
                raise ValueError(
                    "Rows and columns of the training matrix must have the same "
                    f"labels, but {what} {label!r} has no {other}: add the {other}, "
                    f"drop the {what}, or pass X.to_numpy() if rows and columns are "
                    "in the same order in spite of their labels."
                )


def _check_beside(
    rows: Labels, where: str, beside: dict[str, ArrayLike | None]
) -> None:
    """Raise if y, weights or groups have the labels of the rows in another order.

    Labels that have nothing in common are ignored, as scikit-learn does.
    """
    for name, values in beside.items():
        theirs = _rows(values)
        if theirs is None or theirs == rows or len(theirs) != len(rows):
            continue
        is_shuffled = set(theirs) == set(rows)
        is_mixed = not set(theirs).isdisjoint(rows) and not (
            _is_numbering(theirs) or _is_numbering(rows)
        )
        if is_shuffled or is_mixed:
            pairs = zip(rows, theirs, strict=True)
            i, ours, other = next((i, a, b) for i, (a, b) in enumerate(pairs) if a != b)
            raise ValueError(
                f"{name!r} must be in the order of the rows of X, but entry {i} "
                f"belongs to {ours!r} in X and to {other!r} in {name}: pass "
                f"{name}.loc[X.{where}], or {name}.to_numpy() if the order is right."
            )


def _check_not_transposed(
    learned: Labels, columns: Labels, rows: Labels | None
) -> None:
    """Raise if the rows are the training samples, and the columns are not."""
    if rows is None or _is_numbering(rows) or set(rows) != set(learned):
        return
    known = set(learned)
    for label in columns:
        if label not in known:
            raise ValueError(
                "Rows of X must be new samples and columns training samples, but the "
                f"rows are the training samples, and column {label!r} is not one: "
                "pass X.T."
            )


def _check_complete(columns: Labels, wanted: Labels) -> None:
    """Raise unless the columns are those wanted, in whatever order."""
    given, known = set(columns), set(wanted)
    missing = [f"{label!r} is missing" for label in wanted if label not in given]
    extra = [f"{label!r} is not one" for label in columns if label not in known]
    if missing or extra:
        ways = ["add what is missing"] * bool(missing)
        ways += ["drop what is not a training sample"] * bool(extra)
        raise ValueError(
            "Columns of X must be the training samples, but "
            f"{' and '.join(missing[:1] + extra[:1])}: {' and '.join(ways)}, or pass "
            "X.to_numpy() if columns are in the order of training."
        )
