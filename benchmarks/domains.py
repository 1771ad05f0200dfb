"""Real samples from several domains, and published distances.

Series come from the data folder and from the wheels of aeon and tslearn, proteins and
molecules from the data folder, digits from scikit-learn. A data set whose file or
library is missing is left out with a note.
"""

import csv
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from cases import (
    MISSING_DATA,
    Fold,
    Matrix,
    get_data_path,
    load_molecules,
    load_published,
    make_fold,
)
from common import print_note
from sklearn.model_selection import train_test_split

from kreinlearn import kernels
from kreinlearn._typing import Array
from kreinlearn.kernels import graphs, transport

SCORE_FUNCTIONS = {
    "smith_waterman": kernels.smith_waterman,
    "weisfeiler_lehman_assignment": graphs.wl_assignment,
    "node_assignment": graphs.node_assignment,
}
DISTANCE_FUNCTIONS = {
    "dtw": kernels.dtw,
    "wasserstein": transport.wasserstein,
    "spd_affine_invariant": lambda X, Y=None: np.sqrt(kernels.spd_distances(X, Y)),
}
"""Functions of two lists of samples, by the name of the kernel."""
COVARIANCE_RIDGE = 1e-3
"""Fraction of the mean variance that is added to each variance."""
GIVEN_DISTANCES = "distance"
"""Kernel name for rows of a given matrix of distances."""
Samples = Sequence[object]


@dataclass(frozen=True)
class Domain:
    """Samples of one data set, their kernel, and the split of the archive."""

    kind: str
    samples: Samples | Array
    y: Array
    kernel: str
    n_train: int | None = None
    """Number of leading rows in the training part of the archive; None without one."""
    keep: int | None = None
    """Size of the stratified subsample for the outer folds; None for all samples."""

    def select_fold_rows(self) -> Array:
        """Return the rows for the outer folds."""
        rows = np.arange(len(self.y))
        if self.keep is None:
            return rows
        return np.sort(
            train_test_split(
                rows, train_size=self.keep, stratify=self.y, random_state=0
            )[0]
        )

    def select(self, rows: Array) -> Samples:
        """Return some of the samples, as a list if the samples are a list."""
        if isinstance(self.samples, np.ndarray):
            return self.samples[rows]
        return [self.samples[row] for row in rows]

    def split_inputs(self, train: Array, test: Array) -> tuple[Samples, Samples]:
        """Return the inputs of an estimator for fit and predict."""
        if self.kernel == GIVEN_DISTANCES:
            return self.samples[np.ix_(train, train)], self.samples[np.ix_(test, train)]
        return self.select(train), self.select(test)

    def make_fold(self, train: Array, test: Array) -> Fold:
        """Compute similarities and distances of a fold."""
        here, there = self.split_inputs(train, test)
        if self.kernel in SCORE_FUNCTIONS:
            measure = SCORE_FUNCTIONS[self.kernel]
            return make_similarity_fold(measure(here), measure(there, here))
        if self.kernel in DISTANCE_FUNCTIONS:
            measure = DISTANCE_FUNCTIONS[self.kernel]
            here, there = measure(here), measure(there, here)
        return join_blocks(here, there, is_distance=True)


def make_similarity_fold(K_train: Array, K_test: Array) -> Fold:
    """Return a fold of similarities with unit diagonal."""
    return join_blocks(K_train, K_test, is_distance=False)


def join_blocks(here: Array, there: Array, *, is_distance: bool) -> Fold:
    """Return the fold of two blocks; distances are transformed by exp(-d / median)."""
    n, m = len(here), len(there)
    values = np.zeros((n + m, n + m)) if is_distance else np.eye(n + m)
    values[:n, :n], values[n:, :n] = here, there
    found = Matrix(values, is_distance, np.zeros(n + m), "")
    return make_fold(found, "exp", np.arange(n), np.arange(n, n + m))


# -- time series -----------------------------------------------------------------------


def load_archive(name: str, keep: int | None = None) -> Domain:
    """Return series from UCR files in the data folder."""
    parts = [
        np.loadtxt(
            get_data_path("ucr", f"{name}_{part}.csv.gz"), delimiter=",", skiprows=1
        )
        for part in ("TRAIN", "TEST")
    ]
    X, labels = np.vstack(parts)[:, None, :-1], np.concatenate(parts)[:, -1]
    return Domain("series", X, labels.astype(int), "dtw", len(parts[0]), keep)


def load_bundled(name: str, keep: int | None = None) -> Domain:
    """Return series bundled with aeon, the training part first."""
    from aeon.datasets import load_classification

    X, labels = load_classification(name, split="train")
    X_test, labels_test = load_classification(name, split="test")
    y = np.unique(np.concatenate([labels, labels_test]), return_inverse=True)[1]
    both = [*X, *X_test]
    samples = both if isinstance(X, list) else np.array(both)
    return Domain("series", samples, y, "dtw", len(labels), keep)


def load_trace() -> Domain:
    """Return the series of Trace, which are bundled with tslearn."""
    from tslearn.datasets import CachedDatasets

    X, y, X_test, y_test = CachedDatasets().load_dataset("Trace")
    samples = np.concatenate([X, X_test]).transpose(0, 2, 1)
    return Domain("series", samples, np.concatenate([y, y_test]), "dtw", len(y))


# -- covariance matrices ---------------------------------------------------------------


def load_covariances(name: str) -> Domain:
    """Return the covariance matrices of multichannel series."""
    series = load_bundled(name)
    matrices = np.array([np.cov(each) for each in series.samples])
    size = np.trace(matrices, axis1=1, axis2=2).mean() / matrices.shape[1]
    matrices += COVARIANCE_RIDGE * size * np.eye(matrices.shape[1])
    return Domain("covariance", matrices, series.y, "spd_affine_invariant")


def load_faces(keep: int) -> Domain:
    """Return region descriptors of faces, and their subjects."""
    from kreinlearn.features import RegionCovariance

    with np.load(get_data_path("yaleb.npz")) as file:
        images, y = file["images"][::2], file["subject"][::2]
    X = RegionCovariance().fit_transform(images)
    return Domain("covariance", X, y, "spd_affine_invariant", keep=keep)


# -- sequences, graphs, sets, distances ------------------------------------------------


def load_proteins() -> Domain:
    """Return proteins, and their location in the cell."""
    with gzip.open(get_data_path("seq", "protein-location.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    y = np.array([int(row["y"]) for row in rows])
    sequences = [row["sequence"] for row in rows]
    return Domain("sequences", sequences, y, "smith_waterman")


def load_molecule_graphs(kernel: str) -> Domain:
    """Return the molecules of MUTAG as tuples (n_nodes, edges, labels)."""
    found, y = load_molecules()
    samples = []
    for neighbors, labels in found:
        place = {node: i for i, node in enumerate(neighbors)}
        edges = [(place[a], place[b]) for a, near in neighbors.items() for b in near]
        samples.append((len(place), edges, [labels[node] for node in neighbors]))
    return Domain("graphs", samples, y, kernel)


def load_digit_sets(keep: int) -> Domain:
    """Return handwritten digits as pixel positions weighted by darkness."""
    from sklearn.datasets import load_digits

    images, y = load_digits(return_X_y=True)
    samples = []
    for image in images.reshape(-1, 8, 8):
        places = np.argwhere(image > 0)
        samples.append((places.astype(float), image[image > 0] / image.sum()))
    return Domain("sets", samples, y, "wasserstein", keep=keep)


def load_distances(name: str) -> Domain:
    """Return a published matrix of distances."""
    found = load_published(name)
    return Domain("distances", found.values, found.y, GIVEN_DISTANCES)


DOMAIN_LOADERS: dict[str, Callable[[], Domain]] = {
    "GunPoint": partial(load_archive, "GunPoint"),
    "ItalyPowerDemand": partial(load_archive, "ItalyPowerDemand", 400),
    "ArrowHead": partial(load_bundled, "ArrowHead"),
    "BasicMotions": partial(load_bundled, "BasicMotions"),
    "PickupGestureWiimoteZ": partial(load_bundled, "PickupGestureWiimoteZ"),
    "Trace": load_trace,
    "JapaneseVowels": partial(load_bundled, "JapaneseVowels", 200),
    "OSULeaf": partial(load_bundled, "OSULeaf", 200),
    "ACSF1": partial(load_bundled, "ACSF1"),
    "BasicMotions, covariance": partial(load_covariances, "BasicMotions"),
    "faces": partial(load_faces, 200),
    "protein-location": load_proteins,
    "MUTAG": partial(load_molecule_graphs, "weisfeiler_lehman_assignment"),
    "MUTAG, nodes": partial(load_molecule_graphs, "node_assignment"),
    "digits": partial(load_digit_sets, 100),
    "cat-cortex": partial(load_distances, "cat-cortex"),
    "protein": partial(load_distances, "protein"),
    "protein-haasdonk": partial(load_distances, "protein-haasdonk"),
    "chickenpieces-20-60": partial(load_distances, "chickenpieces-20-60"),
}
"""Functions that return each data set, by name."""


@cache
def load_domain(name: str) -> Domain | None:
    """Return a data set; None, after a note, if its file or library is missing."""
    try:
        return DOMAIN_LOADERS[name]()
    except FileNotFoundError as error:
        missing = "/".join(Path(error.filename).parts[-2:])
        print_note(f"{name} is left out: {MISSING_DATA} {missing}.")
    except ImportError as error:
        print_note(
            f"{name} is left out: pip install {str(error.name).partition('.')[0]}"
        )
    return None
