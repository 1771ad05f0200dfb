"""Established methods for series, sequences, graphs and sets.

A rival is a function of a data set, training rows and test rows. It computes distances,
fits and predicts, and all of it is timed; inner folds of the training rows choose the
settings. Labels are those of the rival. Methods with decision values get probabilities
by calibration on out-of-fold values (`contenders.calibrate`); methods without have no
log-loss.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
from cases import WL_ROUNDS
from contenders import (
    INNER_FOLDS,
    METHODS,
    RAW_SVC,
    Prediction,
    build_ridge_search,
    calibrate,
    fit_svc,
)
from domains import Domain, make_similarity_fold
from sklearn.base import ClassifierMixin, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifierCV
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn._typing import Array

Rival = Callable[[Domain, Array, Array], Prediction]
MIN_VOTE = 1e-3
"""Lower bound of the class probabilities of a forest before taking logarithms."""
N_PROXIMITY_TREES = 100


def fit_default(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit our search with its defaults to the samples."""
    here, there = data.split_inputs(train, test)
    model = KreinLogisticRegressionCV(kernel=data.kernel).fit(here, data.y[train])
    proba = model.predict_proba(there)
    labels = model.classes_[proba.argmax(axis=1)]
    return Prediction(labels, proba, {"norm": model.norm_, "lam": model.lam_})


def make_rival(name: str) -> Rival:
    """Return a method of `contenders` on the similarities of our search."""

    def fit(data: Domain, train: Array, test: Array) -> Prediction:
        return METHODS[name](data.make_fold(train, test), data.y[train])

    return fit


# -- time series -----------------------------------------------------------------------


def fit_aeon_nearest(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit nearest neighbors of aeon with dynamic time warping, full window."""
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    model = KNeighborsTimeSeriesClassifier(distance="dtw", n_jobs=-1)
    model.fit(data.select(train), data.y[train])
    return Prediction(model.predict(data.select(test)), None, {})


def fit_tslearn_nearest(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit the nearest neighbor of tslearn with dynamic time warping, full window."""
    from tslearn.neighbors import KNeighborsTimeSeriesClassifier

    model = KNeighborsTimeSeriesClassifier(n_neighbors=1, metric="dtw", n_jobs=-1)
    model.fit(pad_series(data.select(train)), data.y[train])
    return Prediction(model.predict(pad_series(data.select(test))), None, {})


def pad_series(series: list[Array] | Array) -> Array:
    """Return series in the format of tslearn: times before channels, padded by NaN."""
    from tslearn.utils import to_time_series_dataset

    return to_time_series_dataset([np.asarray(each).T for each in series])


def fit_global_alignment(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit TimeSeriesSVC of tslearn, with a search for C and calibration."""
    from tslearn.metrics import cdist_gak, gamma_soft_dtw

    here, there = pad_series(data.select(train)), pad_series(data.select(test))
    sigma = np.sqrt(gamma_soft_dtw(here, random_state=0) / 2)
    fold = make_similarity_fold(
        cdist_gak(here, sigma=sigma, n_jobs=-1),
        cdist_gak(there, here, sigma=sigma, n_jobs=-1),
    )
    return fit_svc(fold, data.y[train], RAW_SVC)


def fit_convolutions(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit MiniRocket: ten thousand random convolutions and ridge regression."""
    from aeon.transformations.collection.convolution_based import MiniRocket

    return fit_features(MiniRocket(n_jobs=-1, random_state=0), data, train, test)


def fit_shapelets(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit random dilated shapelets and ridge regression."""
    from aeon.transformations.collection.shapelet_based import (
        RandomDilatedShapeletTransform,
    )

    transform = RandomDilatedShapeletTransform(n_jobs=-1, random_state=0)
    return fit_features(transform, data, train, test)


def fit_features(
    transform: TransformerMixin, data: Domain, train: Array, test: Array
) -> Prediction:
    """Fit the ridge classifier of aeon to features, and calibrate its values."""
    y = data.y[train]
    model = make_pipeline(
        transform,
        StandardScaler(with_mean=False),
        RidgeClassifierCV(alphas=np.logspace(-3, 3, 10)),
    )
    here, there = data.select(train), data.select(test)
    held_out = cross_val_predict(
        model, here, y, cv=INNER_FOLDS, method="decision_function"
    )
    values = model.fit(here, y).decision_function(there)
    labels = model.classes_[
        values.argmax(axis=1) if values.ndim > 1 else (values > 0).astype(int)
    ]
    return Prediction(labels, calibrate(held_out, y, values), {})


def fit_calibrated(
    make: Callable[[], ClassifierMixin], data: Domain, train: Array, test: Array
) -> Prediction:
    """Fit a classifier of time series, and calibrate its out-of-fold votes."""
    y, here, there = data.y[train], data.select(train), data.select(test)
    held_out = cross_val_predict(
        make(), here, y, cv=INNER_FOLDS, method="predict_proba"
    )
    model = make().fit(here, y)
    proba = model.predict_proba(there)
    values = [np.log(np.clip(each, MIN_VOTE, 1)) for each in (held_out, proba)]
    if proba.shape[1] == 2:
        values = [each[:, 1] - each[:, 0] for each in values]
    labels = model.classes_[proba.argmax(axis=1)]
    return Prediction(labels, calibrate(values[0], y, values[1]), {})


def build_multirocket_hydra() -> ClassifierMixin:
    """Return MultiRocket-Hydra: convolutions, competing kernels, ridge regression."""
    from aeon.classification.convolution_based import MultiRocketHydraClassifier

    return MultiRocketHydraClassifier(random_state=0, n_jobs=-1)


def build_quant() -> ClassifierMixin:
    """Return QUANT: quantiles of intervals and extremely randomized trees."""
    from aeon.classification.interval_based import QUANTClassifier

    return QUANTClassifier(random_state=0)


def build_proximity_forest() -> ClassifierMixin:
    """Return the Proximity Forest of aeon, which lacks version 2.0."""
    from aeon.classification.distance_based import ProximityForest

    return ProximityForest(n_trees=N_PROXIMITY_TREES, random_state=0, n_jobs=-1)


# -- covariance matrices, and any matrix -----------------------------------------------


def fit_tangent_space(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit logistic regression in the tangent space of pyRiemann at the mean."""
    from pyriemann.tangentspace import TangentSpace

    model = make_pipeline(
        TangentSpace(), StandardScaler(), build_ridge_search(10.0 ** np.arange(-4, 4))
    ).fit(data.select(train), data.y[train])
    there = data.select(test)
    return Prediction(model.predict(there), model.predict_proba(there), {})


def fit_boosted_rows(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit gradient boosting to the rows of the matrix as features."""
    fold = data.make_fold(train, test)
    here, there = fold.K_train, fold.K_test
    model = HistGradientBoostingClassifier(
        early_stopping=False, max_iter=100, learning_rate=0.05, random_state=0
    ).fit(here, data.y[train])
    return Prediction(model.predict(there), model.predict_proba(there), {})


# -- sequences, graphs, sets -----------------------------------------------------------


def fit_k_mers(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit logistic regression to TF-IDF weights of one to three letters."""
    counts = TfidfVectorizer(
        analyzer="char", ngram_range=(1, 3), lowercase=False, sublinear_tf=True
    )
    here = counts.fit_transform(data.select(train))
    there = counts.transform(data.select(test))
    search = build_ridge_search(10.0 ** np.arange(-1, 5)).fit(here, data.y[train])
    return Prediction(
        search.predict(there), search.predict_proba(there), search.best_params_
    )


def fit_weisfeiler_lehman(
    data: Domain, train: Array, test: Array, *, assigned: bool
) -> Prediction:
    """Fit a support vector machine to the Weisfeiler-Lehman kernels of GraKeL."""
    from grakel import Graph
    from grakel.kernels import (
        VertexHistogram,
        WeisfeilerLehman,
        WeisfeilerLehmanOptimalAssignment,
    )

    if assigned:
        kernel = WeisfeilerLehmanOptimalAssignment(n_iter=WL_ROUNDS, normalize=True)
    else:
        kernel = WeisfeilerLehman(
            n_iter=WL_ROUNDS, normalize=True, base_graph_kernel=VertexHistogram
        )
    made = [
        Graph(
            {node: [b for a, b in edges if a == node] for node in range(n)},
            node_labels=dict(enumerate(labels)),
        )
        for n, edges, labels in data.samples
    ]
    here = kernel.fit_transform([made[i] for i in train])
    there = kernel.transform([made[i] for i in test])
    return fit_svc(make_similarity_fold(here, there), data.y[train], RAW_SVC)


def fit_pixels(data: Domain, train: Array, test: Array) -> Prediction:
    """Fit a support vector machine with a Gaussian kernel to the pixels."""
    images = np.zeros((len(data.samples), 8, 8))
    for image, (places, weights) in zip(images, data.samples, strict=True):
        image[tuple(places.astype(int).T)] = weights
    table = images.reshape(len(images), -1)
    gamma = 1 / (table.shape[1] * table[train].var())
    here = rbf_kernel(table[train], gamma=gamma)
    there = rbf_kernel(table[test], table[train], gamma=gamma)
    return fit_svc(make_similarity_fold(here, there), data.y[train], RAW_SVC)


# -- rivals by kind of samples ---------------------------------------------------------

SVC_METHODS = ("SVC", "SVC after clip")
"""Calibrated support vector machines on the same similarities."""
GENERAL_RIVALS: dict[str, Rival] = {
    "default": fit_default,
    "SVC": make_rival("SVC raw"),
    "SVC after clip": make_rival("clip, SVC"),
    "1-NN": make_rival("1-NN"),
    "k-NN": make_rival("nearest neighbors"),
    "rows, boosting": fit_boosted_rows,
}
KIND_RIVALS: dict[str, dict[str, Rival]] = {
    "series": {
        "1-NN, aeon": fit_aeon_nearest,
        "1-NN, tslearn": fit_tslearn_nearest,
        "GAK SVC": fit_global_alignment,
        "MiniRocket": fit_convolutions,
        "RDST": fit_shapelets,
        "MultiRocket-Hydra": partial(fit_calibrated, build_multirocket_hydra),
        "QUANT": partial(fit_calibrated, build_quant),
        "Proximity Forest": partial(fit_calibrated, build_proximity_forest),
    },
    "covariance": {"tangent space": fit_tangent_space},
    "sequences": {"k-mers": fit_k_mers},
    "graphs": {
        "WL-OA SVC": partial(fit_weisfeiler_lehman, assigned=True),
        "WL SVC": partial(fit_weisfeiler_lehman, assigned=False),
    },
    "sets": {"RBF SVC": fit_pixels},
    "distances": {},
}
REQUIRED_LIBRARIES = {
    **dict.fromkeys(
        ("1-NN, aeon", "MiniRocket", "RDST", "QUANT", "Proximity Forest"), "aeon"
    ),
    "MultiRocket-Hydra": "torch",  # and aeon
    "tangent space": "pyriemann",
    **dict.fromkeys(("1-NN, tslearn", "GAK SVC"), "tslearn"),
    **dict.fromkeys(("WL-OA SVC", "WL SVC"), "grakel"),
}
"""Library that each rival needs."""
EQUAL_LENGTHS = ("MiniRocket", "MultiRocket-Hydra", "QUANT", "Proximity Forest")
"""Rivals that need series of equal length."""


def list_rivals(data: Domain) -> dict[str, Rival]:
    """Return the rivals that can be fitted to a data set."""
    found = GENERAL_RIVALS | KIND_RIVALS[data.kind]
    return {
        name: each for name, each in found.items() if not explain_exclusion(name, data)
    }


def explain_exclusion(name: str, data: Domain) -> str:
    """Return why a rival is left out; empty if it is not."""
    library = REQUIRED_LIBRARIES.get(name)
    if library and find_spec(library) is None:
        return f"pip install {library}"
    if name in EQUAL_LENGTHS and not isinstance(data.samples, np.ndarray):
        return "it takes series of one length only"
    return ""
