"""Table 5 and Figure 1: images as covariance matrices, faces above all.

Letters: D (n, n) squared distances between all images, K = exp(-D / sigma^2). D knows
no labels, so that it is computed once for all halves.
"""

import base64
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from kreinlearn._typing import Array
from kreinlearn.datasets.local import folder
from kreinlearn.estimators import KreinLogisticRegressionCV
from kreinlearn.features import RegionCovariance
from kreinlearn.kernels import spd_distances, spd_widths
from kreinlearn.paper.learners import Exact, Learner, Margin, iterations_of
from kreinlearn.paper.methods import LEARNERS, judged, timed
from kreinlearn.paper.several import Multinomial, Rest, status_of_all
from kreinlearn.paper.splits import half_rows, spectrum_fields
from kreinlearn.paper.tuning import GRID, choice_fields, choose
from kreinlearn.runs.cells import Cell

FACES, DIGITS = "yaleb", "digits"
EXAMPLES = "examples"
"""The only "method" of Figure 1."""
WIDTHS = (10.0, 5.0, 1.0, 0.1)
"""The paper's sigmas but for 0.01 and below, which make K the identity matrix."""
REGIONS = {FACES: (12, 12), DIGITS: (2, 2)}
"""Rows and columns of regions of the recommended estimator.

For faces, the held-out log-loss on the training half of the first run falls from 4 x 4
to 12 x 12 regions, the finest that were tried.
"""
KREIN_KERNELS = ("affine_invariant", "log_euclid", "stein")
KREIN_WIDTHS = slice(1, 3)
"""Some of the default widths: two and four median distances."""
N_LAMS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Values of n * lam of the recommended estimator."""
REGION_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Values of C on regions."""
EACH_DIGIT = 40
"""Images of each digit."""
GRID_ROWS, GRID_COLUMNS = 10, 8
"""Subjects and lights of Figure 1, at most."""
SHRINK = 3
"""Pixels of an image to one of Figure 1, along each side, if it is a large one."""


def faces_path(data_home: str | None = None) -> Path:
    """Return where the faces are, or should be.

    Parameters
    ----------
    data_home : str, optional
        The data folder.

    Returns
    -------
    Path
        A file with the arrays ``images`` and ``subject``.
    """
    return folder(data_home) / f"{FACES}.npz"


@lru_cache(maxsize=1)
def images(name: str, data_home: str | None = None) -> tuple[Array, Array]:
    """Return images and what they show.

    Parameters
    ----------
    name : {"yaleb", "digits"}
        Faces, or the digits that come with scikit-learn.
    data_home : str, optional
        The data folder.

    Returns
    -------
    images : ndarray of shape (n, h, w)
        Gray, uint8, or floats up to 1.
    y : ndarray of shape (n,)
        Number of the subject, or the digit.
    """
    if name == DIGITS:
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
    """Return the squared distances between all images, from memory if they are there.

    Parameters
    ----------
    name : str
        As in `images`.
    metric : str
        As in `spd_distances`.
    regions : (int, int)
        Rows and columns of regions.
    data_home : str, optional
        The data folder.

    Returns
    -------
    ndarray of shape (n, n)
        Sums over the regions.
    """
    X, _ = images(name, data_home)
    return spd_distances(RegionCovariance(regions).transform(X), metric=metric)


@dataclass(frozen=True, eq=False)
class Stored:
    """A Gaussian kernel between images that are given by their numbers.

    Parameters
    ----------
    name : str
        Name of the kernel.
    D : ndarray of shape (n, n)
        Squared distances.
    """

    name: str
    D: Array

    def __call__(self, X: Array, Y: Array, sigma: float) -> Array:
        """Return the similarities.

        Parameters
        ----------
        X, Y : ndarray of shape (k, 1)
            Numbers of images.
        sigma : float
            Width.

        Returns
        -------
        ndarray
            One row for each of X, one column for each of Y.
        """
        rows, columns = X[:, 0].astype(int), Y[:, 0].astype(int)
        return np.exp(-self.D[np.ix_(rows, columns)] / sigma**2)


def learn(
    learner: Learner,
    metric: str,
    cell: Cell,
    data_home: str | None,
    *,
    on_regions: bool = False,
) -> dict[str, Any]:
    """Tune a learner on the training half, fit it, and score it on the test half.

    Parameters
    ----------
    learner : Learner
        For several classes.
    metric : str
        Distance of its Gaussian kernel.
    cell : Cell
        Data set and seeds.
    data_home : str or None
        The data folder.
    on_regions : bool
        Whether to learn from the regions and widths of the recommended estimator
        instead of one descriptor an image and the paper's widths.

    Returns
    -------
    dict
        Fields of a record, as in `kreinlearn.paper.methods.learn`.
    """
    _, y = images(cell.dataset, data_home)
    regions = REGIONS[cell.dataset] if on_regions else (1, 1)
    D = distances(cell.dataset, metric, regions, data_home)
    train, test = half_rows(len(y), cell.half_seed)
    D_train = D[np.ix_(train, train)]
    widths: Sequence[float] = WIDTHS
    if on_regions:
        widths = spd_widths(D_train)[KREIN_WIDTHS][::-1]
    choice = choose(
        learner,
        [np.exp(-D_train / sigma**2) for sigma in widths],
        y[train],
        half_seed=cell.half_seed,
        seed=cell.seed,
        values=REGION_COSTS if on_regions else GRID,
    )
    sigma = widths[choice.setting]
    K = np.exp(-D_train / sigma**2)
    model = learner.estimator(choice.value, cell.seed)
    _, fit_s = timed(model.fit, K, y[train])
    fields = {
        "status": status_of_all(model),
        "fit_s": fit_s,
        "n": len(train),
        **choice_fields(choice, learner, len(train)),
        **spectrum_fields(K),
    }
    fields["chosen"]["sigma"] = sigma
    fields["grid"]["sigma"] = widths
    K_test = np.exp(-D[np.ix_(test, train)] / sigma**2)
    return fields | judged(model, K_test, y[test])


def krein_cv(cell: Cell, data_home: str | None) -> dict[str, Any]:
    """Fit and score the recommended estimator, on regions of the images.

    Parameters
    ----------
    cell : Cell
        Data set and seeds.
    data_home : str or None
        The data folder.

    Returns
    -------
    dict
        Fields of a record. Seconds are those of the whole fit with its
        cross-validation, given distances.
    """
    _, y = images(cell.dataset, data_home)
    train, test = half_rows(len(y), cell.half_seed)
    regions = REGIONS[cell.dataset]
    kernels = [
        Stored(f"spd_{metric}", distances(cell.dataset, metric, regions, data_home))
        for metric in KREIN_KERNELS
    ]
    square = np.ix_(train, train)
    model = KreinLogisticRegressionCV(
        kernel=kernels,
        kernel_grid={
            each: {"sigma": spd_widths(each.D[square])[KREIN_WIDTHS]}
            for each in kernels
        },
        lams=np.array(N_LAMS) / len(train),
    )
    _, fit_s = timed(model.fit, train[:, None].astype(float), y[train])
    sigma = model.kernel_params_["sigma"]
    return {
        "status": status_of_all(model),
        "fit_s": fit_s,
        "n_iter": iterations_of(model),
        "n": len(train),
        "chosen": {
            "kernel": model.kernel_.name,
            "sigma": sigma,
            "lam": model.lam_,
            "norm": model.norm_,
            "averaged": len(model.estimators_),
            "regions": list(regions),
        },
        "grid": {"lam": model.lams_, "kernels": len(model.scores_)},
        **spectrum_fields(np.exp(-model.kernel_.D[square] / sigma**2)),
        **judged(model, test[:, None].astype(float), y[test]),
    }


def examples(cell: Cell, data_home: str | None) -> dict[str, Any]:
    """Return example images, a row for each subject, as text.

    Parameters
    ----------
    cell : Cell
        For its data set.
    data_home : str or None
        The data folder.

    Returns
    -------
    dict
        Fields of a record: the shape (rows, columns, h, w), and the gray values from
        0 to 255 as packed bytes.
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


Method = Callable[[Cell, str | None], dict[str, Any]]

METHODS: dict[str, Method] = {
    "SVM(Log-E)": partial(learn, Rest(Margin("svc")), "log_euclid"),
    "KLR(Log-E)": partial(learn, Rest(Exact()), "log_euclid"),
    **{
        name: partial(learn, Rest(LEARNERS[name]), "affine_invariant")
        for name in (
            "Flip",
            "Clip",
            "Shift",
            "TDCASVM",
            "KSVM",
            "CCICP-GD",
            "CCICP-SGD",
        )
    },
    "IKLR krein": partial(learn, Multinomial(), "affine_invariant"),
    "SVM(Log-E) regions": partial(
        learn, Rest(Margin("svc")), "log_euclid", on_regions=True
    ),
    "KreinCV": krein_cv,
    EXAMPLES: examples,
}
"""What a cell asks for by its method."""
