"""Real samples from four domains, and published distances, as a user has them.

Series come from the data folder and from what the wheels of aeon and tslearn bundle,
proteins and molecules from the data folder, digits from scikit-learn. A data set whose
file or library is missing is left out with a word.
"""

import csv
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from cases import NO_DATA, Fold, Matrix, data_file, fold_of, molecules, published
from common import say
from sklearn.model_selection import train_test_split

from kreinlearn import kernels
from kreinlearn._typing import Array
from kreinlearn.kernels import graphs, transport

SCORES = {
    "smith_waterman": kernels.smith_waterman,
    "weisfeiler_lehman_assignment": graphs.wl_assignment,
    "node_assignment": graphs.node_assignment,
}
DISTANCES = {
    "dtw": kernels.dtw,
    "wasserstein": transport.wasserstein,
    "spd_affine_invariant": lambda X, Y=None: np.sqrt(kernels.spd_distances(X, Y)),
}
"""Functions of two lists of samples, by the name that estimators know."""
COVARIANCE_RIDGE = 1e-3
"""Fraction of the mean variance that is added to each."""
GIVEN = "distance"
"""The kernel of samples that are rows of a given matrix of distances."""
Samples = Sequence[object]


@dataclass(frozen=True)
class Domain:
    """Samples of one data set, the kernel that suits them, and the archive's split."""

    kind: str
    samples: Samples | Array
    y: Array
    kernel: str
    n_train: int | None = None
    """The first rows are the archive's training part; None if it has none."""
    keep: int | None = None
    """How many samples the outer folds get, the same share of each class; or all."""

    def folded(self) -> Array:
        """Return the rows that the outer folds get."""
        rows = np.arange(len(self.y))
        if self.keep is None:
            return rows
        return np.sort(
            train_test_split(
                rows, train_size=self.keep, stratify=self.y, random_state=0
            )[0]
        )

    def rows(self, rows: Array) -> Samples:
        """Return some of the samples, as a list if they are one."""
        if isinstance(self.samples, np.ndarray):
            return self.samples[rows]
        return [self.samples[row] for row in rows]

    def given(self, train: Array, test: Array) -> tuple[Samples, Samples]:
        """Return what an estimator gets to fit and to predict."""
        if self.kernel == GIVEN:
            return self.samples[np.ix_(train, train)], self.samples[np.ix_(test, train)]
        return self.rows(train), self.rows(test)

    def fold(self, train: Array, test: Array) -> Fold:
        """Return similarities and distances of a fold, measured now."""
        here, there = self.given(train, test)
        if self.kernel in SCORES:
            measure = SCORES[self.kernel]
            return scored(measure(here), measure(there, here))
        if self.kernel in DISTANCES:
            measure = DISTANCES[self.kernel]
            here, there = measure(here), measure(there, here)
        return joined(here, there, is_distance=True)


def scored(K_train: Array, K_test: Array) -> Fold:
    """Return a fold of similarities that are 1 for a sample and itself."""
    return joined(K_train, K_test, is_distance=False)


def joined(here: Array, there: Array, *, is_distance: bool) -> Fold:
    """Return the fold of two blocks; distances become similarities as exp(-d / m)."""
    n, m = len(here), len(there)
    values = np.zeros((n + m, n + m)) if is_distance else np.eye(n + m)
    values[:n, :n], values[n:, :n] = here, there
    found = Matrix(values, is_distance, np.zeros(n + m), "")
    return fold_of(found, "exp", np.arange(n), np.arange(n, n + m))


# -- time series -----------------------------------------------------------------------


def archived(name: str, keep: int | None = None) -> Domain:
    """Return the series of the UCR archive's files in the data folder."""
    parts = [
        np.loadtxt(data_file("ucr", f"{name}_{part}.csv.gz"), delimiter=",", skiprows=1)
        for part in ("TRAIN", "TEST")
    ]
    X, labels = np.vstack(parts)[:, None, :-1], np.concatenate(parts)[:, -1]
    return Domain("series", X, labels.astype(int), "dtw", len(parts[0]), keep)


def bundled(name: str, keep: int | None = None) -> Domain:
    """Return series that come with aeon, the training part first."""
    from aeon.datasets import load_classification

    X, labels = load_classification(name, split="train")
    X_test, labels_test = load_classification(name, split="test")
    y = np.unique(np.concatenate([labels, labels_test]), return_inverse=True)[1]
    both = [*X, *X_test]
    samples = both if isinstance(X, list) else np.array(both)
    return Domain("series", samples, y, "dtw", len(labels), keep)


def traced() -> Domain:
    """Return the series of Trace, which come with tslearn."""
    from tslearn.datasets import CachedDatasets

    X, y, X_test, y_test = CachedDatasets().load_dataset("Trace")
    samples = np.concatenate([X, X_test]).transpose(0, 2, 1)
    return Domain("series", samples, np.concatenate([y, y_test]), "dtw", len(y))


# -- covariance matrices ---------------------------------------------------------------


def moving(name: str) -> Domain:
    """Return the covariance matrices of series of several channels."""
    series = bundled(name)
    matrices = np.array([np.cov(each) for each in series.samples])
    size = np.trace(matrices, axis1=1, axis2=2).mean() / matrices.shape[1]
    matrices += COVARIANCE_RIDGE * size * np.eye(matrices.shape[1])
    return Domain("covariance", matrices, series.y, "spd_affine_invariant")


def faces(keep: int) -> Domain:
    """Return region descriptors of faces, and whose they are."""
    from kreinlearn.features import RegionCovariance

    with np.load(data_file("yaleb.npz")) as file:
        images, y = file["images"][::2], file["subject"][::2]
    X = RegionCovariance().fit_transform(images)
    return Domain("covariance", X, y, "spd_affine_invariant", keep=keep)


# -- sequences, graphs, sets, distances ------------------------------------------------


def proteins() -> Domain:
    """Return proteins, and where in the cell they are."""
    with gzip.open(data_file("seq", "protein-location.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    y = np.array([int(row["y"]) for row in rows])
    sequences = [row["sequence"] for row in rows]
    return Domain("sequences", sequences, y, "smith_waterman")


def mutagens(kernel: str) -> Domain:
    """Return the molecules of MUTAG as numbers of nodes, edges and labels."""
    found, y = molecules()
    samples = []
    for neighbors, labels in found:
        place = {node: i for i, node in enumerate(neighbors)}
        edges = [(place[a], place[b]) for a, near in neighbors.items() for b in near]
        samples.append((len(place), edges, [labels[node] for node in neighbors]))
    return Domain("graphs", samples, y, kernel)


def digits(keep: int) -> Domain:
    """Return written digits as places of their ink, each weighed by its darkness."""
    from sklearn.datasets import load_digits

    images, y = load_digits(return_X_y=True)
    samples = []
    for image in images.reshape(-1, 8, 8):
        places = np.argwhere(image > 0)
        samples.append((places.astype(float), image[image > 0] / image.sum()))
    return Domain("sets", samples, y, "wasserstein", keep=keep)


def distances(name: str) -> Domain:
    """Return a published matrix of distances."""
    found = published(name)
    return Domain("distances", found.values, found.y, GIVEN)


DOMAINS: dict[str, Callable[[], Domain]] = {
    "GunPoint": partial(archived, "GunPoint"),
    "ItalyPowerDemand": partial(archived, "ItalyPowerDemand", 400),
    "ArrowHead": partial(bundled, "ArrowHead"),
    "BasicMotions": partial(bundled, "BasicMotions"),
    "PickupGestureWiimoteZ": partial(bundled, "PickupGestureWiimoteZ"),
    "Trace": traced,
    "JapaneseVowels": partial(bundled, "JapaneseVowels", 200),
    "OSULeaf": partial(bundled, "OSULeaf", 200),
    "ACSF1": partial(bundled, "ACSF1"),
    "BasicMotions, covariance": partial(moving, "BasicMotions"),
    "faces": partial(faces, 200),
    "protein-location": proteins,
    "MUTAG": partial(mutagens, "weisfeiler_lehman_assignment"),
    "MUTAG, nodes": partial(mutagens, "node_assignment"),
    "digits": partial(digits, 100),
    "cat-cortex": partial(distances, "cat-cortex"),
    "protein": partial(distances, "protein"),
    "protein-haasdonk": partial(distances, "protein-haasdonk"),
    "chickenpieces-20-60": partial(distances, "chickenpieces-20-60"),
}
"""What makes each data set, by name."""


@cache
def domain(name: str) -> Domain | None:
    """Return a data set; None, after a word, if its file or library is missing."""
    try:
        return DOMAINS[name]()
    except FileNotFoundError as error:
        missing = "/".join(Path(error.filename).parts[-2:])
        say(f"{name} is left out: {NO_DATA} {missing}.")
    except ImportError as error:
        say(f"{name} is left out: pip install {str(error.name).partition('.')[0]}")
    return None
