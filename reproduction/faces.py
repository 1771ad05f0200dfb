"""Table 5 and Figure 1: images as covariance matrices, faces above all.

Letters: D (n, n) squared distances between all images, K = exp(-D / sigma^2). D knows
no labels, so it is computed once for all halves.
"""

import base64
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from kreinlearn._typing import Array
from kreinlearn.app.runs import Cell, Record
from kreinlearn.estimators import KreinLogisticRegressionCV
from kreinlearn.features import RegionCovariance
from kreinlearn.kernels import spd_distances, spd_widths
from reproduction.data.local import folder
from reproduction.methods import KernelSettings

FACES, STAND_IN = "yaleb", "digits"
EXAMPLES = "examples"
"""The only "method" of Figure 1."""
FACE_WIDTHS = (10.0, 5.0, 1.0, 0.1)
"""The paper's sigmas above 0.01; smaller ones make K the identity matrix."""
REGIONS = {FACES: (12, 12), STAND_IN: (2, 2)}
"""Rows and columns of regions of the recommended estimator.

For faces, the held-out log-loss on the training half of the first run falls from 4 x 4
to 12 x 12 regions, the finest that were tried.
"""
REGION_METRICS = ("affine_invariant", "log_euclid", "stein")
REGION_WIDTHS = slice(1, 3)
"""Some of the default widths: two and four median distances."""
REGION_STRENGTHS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Values of n * lam of the recommended estimator."""
REGION_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Values of C on regions."""
EACH_DIGIT = 40
"""Images of each digit."""
GRID_ROWS, GRID_COLUMNS = 10, 8
"""Most subjects and lights of Figure 1."""
SHRINK = 3
"""Pixels of a large image per pixel of Figure 1, along each side."""


def faces_path(data_home: str | None = None) -> Path:
    """Return the file that holds, or should hold, the faces."""
    return folder(data_home) / f"{FACES}.npz"


@lru_cache(maxsize=1)
def images(name: str, data_home: str | None = None) -> tuple[Array, Array]:
    """Return images (n, h, w), uint8 or floats up to 1, and their labels (n,).

    The label is the number of the subject, or the digit.
    """
    if name == STAND_IN:
        bunch = load_digits()
        rows = [np.flatnonzero(bunch.target == k)[:EACH_DIGIT] for k in range(10)]
        order = np.concatenate(rows)
        return bunch.images[order] / 16, bunch.target[order]
    with np.load(faces_path(data_home)) as file:
        return file["images"], file["subject"].astype(int)


@lru_cache(maxsize=8)
def distances(
    name: str, metric: str, regions: tuple[int, int], data_home: str | None = None
) -> Array:
    """Return the squared distances between all images, summed over the regions."""
    X, _ = images(name, data_home)
    return spd_distances(RegionCovariance(regions).transform(X), metric=metric)


@dataclass(frozen=True, eq=False)
class Stored:
    """A Gaussian kernel between images that are given by their numbers.

    ``D`` (n, n) are squared distances.
    """

    name: str
    D: Array

    def __call__(self, X: Array, Y: Array, sigma: float) -> Array:
        """Return the similarities of images X (k, 1) with images Y (l, 1)."""
        rows, columns = X[:, 0].astype(int), Y[:, 0].astype(int)
        return np.exp(-self.D[np.ix_(rows, columns)] / sigma**2)

    def widths(self, train: Array) -> list[float]:
        """Return the widths that are tried on regions, given the training images."""
        return spd_widths(self.D[np.ix_(train, train)])[REGION_WIDTHS]


def gaussians(
    name: str, metric: str, train: Array, on_regions: bool, data_home: str | None
) -> KernelSettings:
    """Return the kernels to choose from, the widest first.

    They have the regions and widths of the recommended estimator, or one descriptor
    per image and the paper's widths.
    """
    regions = REGIONS[name] if on_regions else (1, 1)
    kernel = Stored(metric, distances(name, metric, regions, data_home))
    widths = kernel.widths(train)[::-1] if on_regions else FACE_WIDTHS
    return tuple({"kernel": kernel, "sigma": sigma} for sigma in widths)


def recommended_for(
    name: str, train: Array, data_home: str | None
) -> KreinLogisticRegressionCV:
    """Return the recommended estimator on regions; its samples are image numbers."""
    kernels = [
        Stored(f"spd_{metric}", distances(name, metric, REGIONS[name], data_home))
        for metric in REGION_METRICS
    ]
    return KreinLogisticRegressionCV(
        kernel=kernels,
        kernel_grid={each: {"sigma": each.widths(train)} for each in kernels},
        lams=np.array(REGION_STRENGTHS) / len(train),
    )


def examples(cell: Cell, data_home: str | None) -> Record:
    """Return example images, one row for each subject.

    The record holds the shape (rows, columns, h, w), and the gray values from 0 to 255
    as packed bytes.
    """
    X, y = images(cell.dataset, data_home)
    shrink = SHRINK if min(X.shape[1:]) >= 8 * SHRINK else 1
    h, w = (side // shrink for side in X.shape[1:])
    rows = []
    for label in np.unique(y)[:GRID_ROWS]:
        own = np.flatnonzero(y == label)
        picks = own[np.linspace(0, len(own) - 1, GRID_COLUMNS).astype(int)]
        some = X[picks, : h * shrink, : w * shrink].astype(float)
        blocks = some.reshape(len(picks), h, shrink, w, shrink).mean(axis=(2, 4))
        rows.append(blocks if X.dtype == np.uint8 else 255 * blocks)
    pixels = np.stack(rows).round().astype(np.uint8)
    code = base64.b64encode(zlib.compress(pixels.tobytes(), 9)).decode()
    return {"status": "done", "n": len(y), "shape": list(pixels.shape), "pixels": code}
