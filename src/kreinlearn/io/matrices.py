"""Similarities and distances in NumPy's files, with labels; nothing in them is run.

A vector of all pairs, as SciPy condenses a matrix, is a matrix, too.
"""

import math
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from kreinlearn._files import check_regular
from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import (
    DISTANCE_REMEDY,
    check_distances,
    check_matrix,
    check_similarities,
    symmetrize_matrix,
)
from kreinlearn.io.guards import damaged
from kreinlearn.io.scores import (
    NOTHING_SAID,
    Holds,
    PairOptions,
    completed,
    said,
)
from kreinlearn.io.table import Table
from kreinlearn.io.text import lines_of
from kreinlearn.io.values import as_labels

GRAM_NAMES, DISTANCE_NAMES = ("K", "S"), ("D",)
"""Names under which the matrix of an npz file is looked for."""
Shapes = dict[str, tuple[int, ...]]
"""Shapes of the arrays in a file, by name."""
NUMPYS = "not NumPy's"
LONGEST_HEADER = 2**16
"""Bytes of the text that tells shape and type of an array; usual are 118."""
LAST_LETTER, SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)
"""Numbers of letters: the largest, and those that stand for none."""
LABELS = "y"
"""Name of the labels in an npz file."""


def read_gram(
    path: Path,
    *,
    target: str | None,
    labels: bool,
    square: bool,
    holds: Holds | None = None,
    symmetrize: str | None = None,
    pairs: PairOptions = NOTHING_SAID,
) -> Table:
    """Return the matrix of similarities or distances in an npz or npy file.

    Parameters
    ----------
    path : Path
        The file. In npz the matrix is named K or S, distances are named D; or it is
        the only one with two dimensions.
    target : str or None
        In npz the name of the labels, "y" by default; for npy another file.
    labels : bool
        Whether labels are needed.
    square : bool
        Whether the matrix must be square.
    holds : {"similarities", "distances"}, optional
        What is in it. By default similarities, which are refused if they look like
        distances.
    symmetrize : {"mean", "max", "min"}, optional
        What to make of the two directions, if the matrix is square.
    pairs : PairOptions, optional
        What stands for pairs that are missing in a condensed vector; with the format
        "condensed" there must be one.

    Returns
    -------
    Table
        With K, and y if there are labels.
    """
    remarks = list[str]()
    read = partial(
        _matrix,
        path,
        square=square,
        holds=holds,
        symmetrize=symmetrize,
        pairs=pairs,
        remarks=remarks,
    )
    if path.suffix.lower() == ".npy":
        if labels and target is None:
            raise ValueError(
                f"{path} holds no labels; name a file with one label for each row as "
                "the target (--target on the command line), or save both with "
                "numpy.savez(path, K=K, y=y)."
            )
        with open(path, "rb") as stream:
            K = read("the array", stream)
        found = None if target is None else _other_labels(Path(target))
    else:
        dims = 1 if pairs.format == "condensed" else 2
        choose = partial(
            _gram_name, path, holds=holds, square=square, labels=target, dims=dims
        )
        K, found = _from_npz(path, target, labels, choose, read)
    name = (target or LABELS) if found is not None else None
    if found is not None:
        found = found.reshape(-1) if 1 in found.shape[1:] else found
        if found.shape != K.shape[:1]:
            raise ValueError(
                f"{path}: {len(K)} labels were expected, one for each row of the "
                f"matrix, got an array of shape {found.shape} in {name!r}."
            )
        if labels:
            rows = range(1, len(K) + 1)
            found = as_labels(found, rows, f"{path}, {name!r}", unit="row")
    remark = said(str(path), remarks)
    return Table(str(path), K=K, y=found, target=name, remark=remark)


def _from_npz(
    path: Path,
    target: str | None,
    labels: bool,
    choose: Callable[[Shapes], str],
    read: Callable[[str, IO[bytes]], Array],
) -> tuple[Array, Array | None]:
    """Return the matrix and, if they are there, the labels of an npz file."""
    name, ending = target or LABELS, ".npy"
    with open(path, "rb") as file:
        with damaged(path, NUMPYS):
            archive = zipfile.ZipFile(file)
            members = [each for each in archive.namelist() if each.endswith(ending)]
            shapes: Shapes = {}
            for each in members:  # one open at a time: there may be many
                with archive.open(each) as stream:
                    shapes[each.removesuffix(ending)] = _header(stream)[0]
        chosen = choose(shapes)
        with archive.open(chosen + ending) as stream:
            K = read(repr(chosen), stream)
        if name in shapes:
            with archive.open(name + ending) as stream:
                return K, _array(path, repr(name), stream)
    if labels or target is not None:
        raise ValueError(
            f"{path} has no labels named {name!r}; it holds {_listed(shapes)}. Name "
            "the array of labels as the target (--target on the command line)."
        )
    return K, None


def _gram_name(
    path: Path,
    shapes: Shapes,
    *,
    holds: Holds | None,
    square: bool,
    labels: str | None,
    dims: int,
) -> str:
    """Return the name of the matrix among the arrays of a file."""
    is_distance = holds == "distances"
    names = DISTANCE_NAMES if is_distance else GRAM_NAMES
    named = [name for name in names if name in shapes]
    others = [name for name in (*GRAM_NAMES, *DISTANCE_NAMES) if name in shapes]
    if not named and others and holds != "similarities":
        raise ValueError(_misnamed(path, others[0], is_distance, square))
    # One column alone is labels, written as a column.
    wide = [
        name
        for name, shape in shapes.items()
        if len(shape) == dims and shape[-1] > 1 and name != (labels or LABELS)
    ]
    chosen = named[:1] or wide
    if len(chosen) != 1:
        wanted, kind = " or ".join(map(repr, names)), ("vector", "matrix")[dims - 1]
        raise ValueError(
            f"{path} must hold a {kind} named {wanted}, or one {kind} only, got "
            f"{_listed(shapes) or 'no arrays'}."
        )
    return chosen[0]


def _misnamed(path: Path, name: str, is_distance: bool, square: bool) -> str:
    """Return the sentence about a matrix whose name says what was not expected."""
    if is_distance:
        return (
            f"{path}: distances were expected, but {name!r} names similarities; name "
            "the matrix 'D' if it holds distances."
        )
    if not square:
        return (
            f"{path}: similarities were expected, but {name!r} names distances; name "
            "the matrix 'K' if it holds similarities."
        )
    expected = f"{path}: similarities were expected, but {name!r} names distances."
    return f"{expected} {DISTANCE_REMEDY}"


def _listed(shapes: Shapes) -> str:
    return ", ".join(f"{name!r} {shape}" for name, shape in shapes.items())


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of the array that a stream begins with."""
    form = np.lib.format
    is_first = form.read_magic(stream) == (1, 0)
    at = stream.tell()
    size = int.from_bytes(stream.read(2 if is_first else 4), "little")
    if size > LONGEST_HEADER:
        raise ValueError(f"the header of an array cannot have {size:,} bytes")
    stream.seek(at)
    read = form.read_array_header_1_0 if is_first else form.read_array_header_2_0
    shape, _, dtype = read(stream)
    if any(isinstance(n, bool) or n < 0 for n in shape):
        raise ValueError(f"the shape of an array cannot be {shape}")
    return shape, dtype


def _array(path: Path, name: str, stream: IO[bytes]) -> Array:
    """Return an array of numbers or text, whose size is known before it is read."""
    with damaged(path, NUMPYS):
        stream.seek(0)
        shape, dtype = _header(stream)
    if dtype.hasobject:
        raise ValueError(
            f"{path}: {name} is an array of Python objects, which could run code and "
            "is not read; save it as numbers or text, e.g. y.astype(str)."
        )
    if dtype.kind not in "biufUS":
        raise ValueError(f"{path}: {name} must hold real numbers or text, got {dtype}.")
    check_fits(math.prod(shape[:-1]), shape[-1] if shape else 1, dtype, str(path))
    with damaged(path, NUMPYS):
        stream.seek(0)
        array: Array = np.lib.format.read_array(stream, allow_pickle=False)
        return _decoded(array) if array.dtype.kind in "SU" else array


def _decoded(array: Array) -> Array:
    """Return an array of text whose letters exist; Python cannot hold others."""
    if array.dtype.kind == "S":
        return array.astype(str)
    native = array.astype(array.dtype.newbyteorder("="))
    letters = np.ascontiguousarray(native).reshape(-1).view(np.uint32)
    low, high = SURROGATES
    wrong = (letters > LAST_LETTER) | ((letters >= low) & (letters <= high))
    if wrong.any():
        letter = int(letters[wrong.argmax()])
        raise ValueError(f"its text holds 0x{letter:x}, which is no letter")
    return native


def _matrix(
    path: Path,
    name: str,
    stream: IO[bytes],
    *,
    square: bool,
    holds: Holds | None,
    symmetrize: str | None,
    pairs: PairOptions,
    remarks: list[str],
) -> Array:
    """Return a matrix that holds what it should, and add what was done to remarks."""
    what = f"{path}: {name}"
    given = _array(path, name, stream)
    # A vector of distances cannot be anything else; one of similarities must be said.
    is_said = pairs.format == "condensed" or (holds, pairs.format) == (
        "distances",
        None,
    )
    is_condensed = given.ndim == 1 and square and is_said
    if pairs.format == "condensed" and not square:
        raise ValueError(
            f"{what} cannot be condensed, which leaves out the direction from new to "
            "training samples; give a matrix with one row per new sample."
        )
    if pairs.format == "condensed" and not is_condensed:
        raise ValueError(
            f"{what} must be a vector of the pairs of training samples, got an array "
            f"of shape {given.shape}; leave out --format for a matrix."
        )
    if is_condensed:
        spread = _spread(given, what)
        K, more = completed(
            what, range(1, len(spread) + 1), spread, pairs, holds, symmetrize
        )
        remarks += more
        return K
    if pairs.missing is not None or pairs.missing_self is not None:
        raise ValueError(
            f"{what} is a matrix, in which every pair must be known: leave out "
            "--missing and --missing-self, which go with pairs and condensed vectors."
        )
    # Rows are counted from one in files.
    K, _ = check_matrix(given, what, symmetric="any", square=square, first=1)
    if symmetrize is not None and square:
        K = symmetrize_matrix(K, symmetrize)
    if holds == "distances":
        return check_distances(K, what, square=square, first=1)
    if square and holds is None:
        check_similarities(K, what)
    return K


def _spread(vector: Array, what: str) -> Array:
    """Return the matrix of a condensed vector: NaN where it says nothing."""
    n = (1 + math.isqrt(1 + 8 * len(vector))) // 2
    if len(vector) == 0 or n * (n - 1) // 2 != len(vector):
        raise ValueError(
            f"{what} must be square, one row and one column per sample, or a vector "
            "of all pairs with n (n - 1) / 2 numbers, got an array of shape "
            f"{vector.shape}; {n} samples have {n * (n - 1) // 2} pairs."
        )
    if vector.dtype.kind not in "fiub" or np.isinf(vector).any():
        raise ValueError(f"{what} must hold finite numbers, got {vector.dtype}.")
    check_fits(n, n, float, what)
    K = np.full((n, n), np.nan)
    K[np.triu_indices(n, 1)] = vector
    return K


def _other_labels(path: Path) -> Array:
    """Return labels from a file of their own."""
    if path.is_dir() or not path.exists():
        raise FileNotFoundError(
            f"The target of a matrix in npy is a file of labels, but there is no file "
            f"{path}."
        )
    check_regular(path)
    if path.suffix.lower() == ".npy":
        with open(path, "rb") as stream:
            return _array(path, "the array", stream)
    return np.array([line.strip() for line in lines_of(path) if line.strip()])
