"""Real similarities and distances, computed once and cached in a folder.

    KREINLEARN_DATA=... python benchmarks/cases.py [--cache FOLDER] [--names NAME ...]

One file ``NAME.npz`` per data set: a symmetric matrix of distances ``D`` or of
similarities ``K``, the labels ``y``, and the ``source``: measure, library and version.
Matrices in the folder are not computed again. A data set whose file or library is
missing is left out with a note; the libraries are

    pip install aeon parasail grakel

A case of `which_method` is one of these and, for distances, one of two transforms:
``NAME:exp`` is exp(-d / median), ``NAME:-d`` is -d.
"""

import csv
import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pooch
from common import parse_options, print_note, run_script
from sklearn.model_selection import train_test_split

from kreinlearn._typing import Array

CACHE_FOLDER = Path(pooch.os_cache("kreinlearn")) / "cases"
WL_ROUNDS = 5
"""Rounds of Weisfeiler-Lehman, as in `wl_assignment`."""
GAP_OPEN, GAP_EXTEND = 11, 1
"""A gap of k letters costs GAP_OPEN + (k - 1) * GAP_EXTEND."""
MISSING_DATA = "set KREINLEARN_DATA to a folder that has"


@dataclass(frozen=True)
class Matrix:
    """Content of one file."""

    values: Array
    is_distance: bool
    y: Array
    source: str

    def save(self, path: Path) -> None:
        """Write the file atomically, such that an interrupted run leaves none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        kind = "D" if self.is_distance else "K"
        np.savez_compressed(
            part, **{kind: self.values}, y=self.y, source=np.array(self.source)
        )
        part.replace(path)


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        cache={"type": Path, "default": CACHE_FOLDER, "metavar": "FOLDER"},
        names={
            "nargs": "+",
            "choices": list(MATRIX_LOADERS),
            "default": list(MATRIX_LOADERS),
        },
    )
    for name in options.names:
        found = load_matrix(name, options.cache)
        if found is not None:
            print_note(f"{name}: {len(found.y)} samples, {found.source}")


def load_matrix(name: str, cache: Path) -> Matrix | None:
    """Return a matrix from the folder; compute it if it is missing.

    Parameters
    ----------
    name : str
        One of ``MATRIX_LOADERS``.
    cache : Path
        The folder.

    Returns
    -------
    Matrix or None
        None, after a note, if the data or the library is missing.
    """
    path = cache / f"{name}.npz"
    if not path.exists():
        try:
            made = MATRIX_LOADERS[name]()
        except FileNotFoundError as error:
            missing = "/".join(Path(error.filename).parts[-2:])
            print_note(f"{name} is left out: {MISSING_DATA} {missing}.")
            return None
        except ImportError as error:
            library = str(error.name).partition(".")[0]
            print_note(f"{name} is left out: pip install {library}")
            return None
        made.save(path)
    with np.load(path) as file:
        is_distance = "D" in file
        values = file["D" if is_distance else "K"]
        return Matrix(values, is_distance, file["y"], str(file["source"]))


def get_data_path(*parts: str) -> Path:
    """Return the expected path of a data file."""
    return Path(os.environ.get("KREINLEARN_DATA", "."), *parts)


# -- published distances ---------------------------------------------------------------


def load_published(name: str) -> Matrix:
    """Return a published matrix of distances, averaged with its transpose."""
    with np.load(get_data_path("sim", f"{name}.npz")) as file:
        D, y = file["D"].astype(float), file["y"]
    return Matrix((D + D.T) / 2, True, y, "distances as published")


# -- time series -----------------------------------------------------------------------


def load_archive(name: str, keep: int | None = None) -> Matrix:
    """Return DTW distances of UCR files, training and test rows concatenated.

    Parameters
    ----------
    name : str
        ``NAME_TRAIN.csv.gz`` and ``NAME_TEST.csv.gz`` are read.
    keep : int, optional
        Size of a stratified subsample.
    """
    tables = [
        np.loadtxt(
            get_data_path("ucr", f"{name}_{part}.csv.gz"), delimiter=",", skiprows=1
        )
        for part in ("TRAIN", "TEST")
    ]
    X, y = np.vstack(tables)[:, :-1], np.concatenate(tables)[:, -1].astype(int)
    if keep is not None:
        rows, _ = train_test_split(
            np.arange(len(y)), train_size=keep, stratify=y, random_state=0
        )
        rows.sort()
        X, y = X[rows], y[rows]
    return compute_dtw(list(X[:, None, :]), y)


def load_bundled(name: str) -> Matrix:
    """Return DTW distances of a data set bundled with aeon, both parts concatenated."""
    from aeon.datasets import load_classification

    X, labels = load_classification(name)
    return compute_dtw(list(X), np.unique(labels, return_inverse=True)[1])


def compute_dtw(series: list[Array], y: Array) -> Matrix:
    """Return DTW distances: full window, square root of the sum of squares."""
    from aeon.distances import dtw_pairwise_distance

    squared = dtw_pairwise_distance(series)
    D = np.sqrt((squared + squared.T) / 2)
    np.fill_diagonal(D, 0.0)
    return Matrix(D, True, y, f"DTW, full window, root; aeon {version('aeon')}")


# -- sequences -------------------------------------------------------------------------


def compute_alignments() -> Matrix:
    """Return normalized Smith-Waterman scores of proteins."""
    with gzip.open(get_data_path("seq", "protein-location.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    import parasail

    sequences = [row["sequence"] for row in rows]
    n = len(sequences)
    S = np.zeros((n, n))
    for i, sequence in enumerate(sequences):
        profile = parasail.profile_create_sat(sequence, parasail.blosum62)
        for j in range(i, n):
            found = parasail.sw_striped_profile_sat(
                profile, sequences[j], GAP_OPEN, GAP_EXTEND
            )
            S[i, j] = S[j, i] = found.score
    own = np.sqrt(np.diag(S))
    source = "Smith-Waterman, BLOSUM62, gaps 11 and 1, normalized; parasail "
    y = np.array([int(row["y"]) for row in rows])
    return Matrix(S / np.outer(own, own), False, y, source + version("parasail"))


# -- graphs ----------------------------------------------------------------------------


def load_molecules() -> tuple[list[tuple[dict[int, list[int]], dict[int, int]]], Array]:
    """Return neighbors and labels of the nodes of each graph of MUTAG, and classes."""
    with np.load(get_data_path("graphs", "MUTAG.npz")) as file:
        edges, graph, nodes = file["A"], file["graph_indicator"], file["node_labels"]
        y = file["y"]
    graphs: list[tuple[dict[int, list[int]], dict[int, int]]]
    graphs = [({}, {}) for _ in y]
    for node, (number, label) in enumerate(zip(graph, nodes, strict=True), start=1):
        graphs[number - 1][0][node] = []
        graphs[number - 1][1][node] = int(label)
    for one, other in edges:  # each edge is listed in both directions
        graphs[graph[one - 1] - 1][0][int(one)].append(int(other))
    return graphs, y


def compute_assignments() -> Matrix:
    """Return the Weisfeiler-Lehman optimal assignment kernel of MUTAG, normalized."""
    graphs, y = load_molecules()
    from grakel import Graph
    from grakel.kernels import WeisfeilerLehmanOptimalAssignment

    kernel = WeisfeilerLehmanOptimalAssignment(n_iter=WL_ROUNDS, normalize=True)
    K = kernel.fit_transform(
        [Graph(neighbors, node_labels=labels) for neighbors, labels in graphs]
    )
    source = f"Weisfeiler-Lehman optimal assignment, {WL_ROUNDS} rounds, normalized"
    return Matrix((K + K.T) / 2, False, y, f"{source}; grakel {version('grakel')}")


MATRIX_LOADERS: dict[str, Callable[[], Matrix]] = {
    "cat-cortex": partial(load_published, "cat-cortex"),
    "protein": partial(load_published, "protein"),
    "protein-haasdonk": partial(load_published, "protein-haasdonk"),
    "chickenpieces-20-60": partial(load_published, "chickenpieces-20-60"),
    "GunPoint": partial(load_archive, "GunPoint"),
    "ItalyPowerDemand": partial(load_archive, "ItalyPowerDemand", 400),
    "protein-location": compute_alignments,
    "MUTAG": compute_assignments,
    "ArrowHead": partial(load_bundled, "ArrowHead"),
    "ACSF1": partial(load_bundled, "ACSF1"),
    "PickupGestureWiimoteZ": partial(load_bundled, "PickupGestureWiimoteZ"),
}
"""Functions that return each matrix, by name."""
TWO_FORM_NAMES = tuple(MATRIX_LOADERS)[:6]
CASES = (
    *(f"{name}:{form}" for name in TWO_FORM_NAMES for form in ("exp", "-d")),
    *("protein-location", "MUTAG"),
    *("ArrowHead:exp", "ACSF1:exp", "PickupGestureWiimoteZ:exp"),
)


@dataclass(frozen=True)
class Fold:
    """Similarities and distances of training and test rows."""

    K_train: Array
    K_test: Array
    D_train: Array
    D_test: Array


def make_fold(found: Matrix, form: str, train: Array, test: Array) -> Fold:
    """Return the inputs of methods, computed without looking at test rows.

    Parameters
    ----------
    found : Matrix
        Distances or similarities of all samples.
    form : {"exp", "-d", ""}
        Transform of distances to similarities; empty for similarities. Distances are
        then d(x, z)^2 = k(x, x) + k(z, z) - 2 k(x, z), clipped at 0.
    train, test : ndarray of int
        Rows.
    """
    here, there = found.values[np.ix_(train, train)], found.values[np.ix_(test, train)]
    if found.is_distance:
        if form == "-d":
            return Fold(-here, -there, here, there)
        median = np.median(here[np.triu_indices_from(here, 1)])
        return Fold(np.exp(-here / median), np.exp(-there / median), here, there)
    own = np.diag(found.values)

    def distances(K: Array, rows: Array) -> Array:
        return np.sqrt(np.maximum(own[rows, None] + own[train] - 2 * K, 0.0))

    return Fold(here, there, distances(here, train), distances(there, test))


if __name__ == "__main__":
    run_script(main)
