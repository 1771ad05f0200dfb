"""What people use on series, sequences, graphs and sets: each learns one fold.

A rival is a function of a data set, training and test rows. It measures, learns and
predicts, all inside the clock; settings are chosen by inner folds of the training rows.
Labels are the rival's own. What has decision values gets probabilities from those of
held-out rows (`contenders.calibrated`); what has neither has no log-loss.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
from contenders import INNER, METHODS, RAW, Learned, calibrated, machine, ridge
from domains import Domain, scored
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

Rival = Callable[[Domain, Array, Array], Learned]
VOTE_FLOOR = 1e-3
"""Smallest probability of a forest's class before its logarithm is calibrated."""
PROXIMITY_TREES = 100
ROUNDS = 5
"""Rounds of Weisfeiler-Lehman, as in `wl_assignment`."""


def default(data: Domain, train: Array, test: Array) -> Learned:
    """Learn our search as it comes, from the samples themselves."""
    here, there = data.given(train, test)
    model = KreinLogisticRegressionCV(kernel=data.kernel).fit(here, data.y[train])
    proba = model.predict_proba(there)
    labels = model.classes_[proba.argmax(axis=1)]
    return Learned(labels, proba, {"norm": model.norm_, "lam": model.lam_})


def same_measure(name: str) -> Rival:
    """Return a method of `contenders` on the measure that our search uses."""

    def learn(data: Domain, train: Array, test: Array) -> Learned:
        return METHODS[name](data.fold(train, test), data.y[train])

    return learn


# -- time series -----------------------------------------------------------------------


def aeon_nearest(data: Domain, train: Array, test: Array) -> Learned:
    """Learn aeon's nearest neighbor by dynamic time warping, full window."""
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    model = KNeighborsTimeSeriesClassifier(distance="dtw", n_jobs=-1)
    model.fit(data.rows(train), data.y[train])
    return Learned(model.predict(data.rows(test)), None, {})


def tslearn_nearest(data: Domain, train: Array, test: Array) -> Learned:
    """Learn tslearn's nearest neighbor by dynamic time warping, full window."""
    from tslearn.neighbors import KNeighborsTimeSeriesClassifier

    model = KNeighborsTimeSeriesClassifier(n_neighbors=1, metric="dtw", n_jobs=-1)
    model.fit(padded(data.rows(train)), data.y[train])
    return Learned(model.predict(padded(data.rows(test))), None, {})


def padded(series: list[Array] | Array) -> Array:
    """Return series as tslearn has them: times before channels, NaN at the end."""
    from tslearn.utils import to_time_series_dataset

    return to_time_series_dataset([np.asarray(each).T for each in series])


def global_alignment(data: Domain, train: Array, test: Array) -> Learned:
    """Learn what tslearn's TimeSeriesSVC is, with C chosen and probabilities."""
    from tslearn.metrics import cdist_gak, gamma_soft_dtw

    here, there = padded(data.rows(train)), padded(data.rows(test))
    sigma = np.sqrt(gamma_soft_dtw(here, random_state=0) / 2)
    fold = scored(
        cdist_gak(here, sigma=sigma, n_jobs=-1),
        cdist_gak(there, here, sigma=sigma, n_jobs=-1),
    )
    return machine(fold, data.y[train], RAW)


def convolutions(data: Domain, train: Array, test: Array) -> Learned:
    """Learn MiniRocket: ten thousand random convolutions and a ridge."""
    from aeon.transformations.collection.convolution_based import MiniRocket

    return featured(MiniRocket(n_jobs=-1, random_state=0), data, train, test)


def shapelets(data: Domain, train: Array, test: Array) -> Learned:
    """Learn random dilated shapelets and a ridge."""
    from aeon.transformations.collection.shapelet_based import (
        RandomDilatedShapeletTransform,
    )

    transform = RandomDilatedShapeletTransform(n_jobs=-1, random_state=0)
    return featured(transform, data, train, test)


def featured(
    transform: TransformerMixin, data: Domain, train: Array, test: Array
) -> Learned:
    """Learn the ridge that aeon puts behind features, and calibrate its values."""
    y = data.y[train]
    model = make_pipeline(
        transform,
        StandardScaler(with_mean=False),
        RidgeClassifierCV(alphas=np.logspace(-3, 3, 10)),
    )
    here, there = data.rows(train), data.rows(test)
    held_out = cross_val_predict(model, here, y, cv=INNER, method="decision_function")
    values = model.fit(here, y).decision_function(there)
    labels = model.classes_[
        values.argmax(axis=1) if values.ndim > 1 else (values > 0).astype(int)
    ]
    return Learned(labels, calibrated(held_out, y, values), {})


def forecast(
    make: Callable[[], ClassifierMixin], data: Domain, train: Array, test: Array
) -> Learned:
    """Learn a classifier of time series; calibrate its votes by held-out rows."""
    y, here, there = data.y[train], data.rows(train), data.rows(test)
    held_out = cross_val_predict(make(), here, y, cv=INNER, method="predict_proba")
    model = make().fit(here, y)
    proba = model.predict_proba(there)
    values = [np.log(np.clip(each, VOTE_FLOOR, 1)) for each in (held_out, proba)]
    if proba.shape[1] == 2:
        values = [each[:, 1] - each[:, 0] for each in values]
    labels = model.classes_[proba.argmax(axis=1)]
    return Learned(labels, calibrated(values[0], y, values[1]), {})


def multirocket_hydra() -> ClassifierMixin:
    """Return MultiRocket-Hydra: convolutions, competing kernels and a ridge."""
    from aeon.classification.convolution_based import MultiRocketHydraClassifier

    return MultiRocketHydraClassifier(random_state=0, n_jobs=-1)


def quantiles() -> ClassifierMixin:
    """Return QUANT: quantiles of intervals and extremely randomized trees."""
    from aeon.classification.interval_based import QUANTClassifier

    return QUANTClassifier(random_state=0)


def proximity_forest() -> ClassifierMixin:
    """Return the Proximity Forest of aeon; it has no version 2.0."""
    from aeon.classification.distance_based import ProximityForest

    return ProximityForest(n_trees=PROXIMITY_TREES, random_state=0, n_jobs=-1)


# -- covariance matrices, and any matrix -----------------------------------------------


def tangent_space(data: Domain, train: Array, test: Array) -> Learned:
    """Learn logistic regression in pyRiemann's tangent space at the mean."""
    from pyriemann.tangentspace import TangentSpace

    model = make_pipeline(
        TangentSpace(), StandardScaler(), ridge(10.0 ** np.arange(-4, 4))
    ).fit(data.rows(train), data.y[train])
    there = data.rows(test)
    return Learned(model.predict(there), model.predict_proba(there), {})


def boosted_rows(data: Domain, train: Array, test: Array) -> Learned:
    """Learn gradient boosting on the rows of the matrix as features."""
    fold = data.fold(train, test)
    here, there = fold.K_train, fold.K_test
    model = HistGradientBoostingClassifier(
        early_stopping=False, max_iter=100, learning_rate=0.05, random_state=0
    ).fit(here, data.y[train])
    return Learned(model.predict(there), model.predict_proba(there), {})


# -- sequences, graphs, sets -----------------------------------------------------------


def k_mers(data: Domain, train: Array, test: Array) -> Learned:
    """Learn logistic regression on weighted counts of one to three letters."""
    counts = TfidfVectorizer(
        analyzer="char", ngram_range=(1, 3), lowercase=False, sublinear_tf=True
    )
    here = counts.fit_transform(data.rows(train))
    there = counts.transform(data.rows(test))
    search = ridge(10.0 ** np.arange(-1, 5)).fit(here, data.y[train])
    return Learned(
        search.predict(there), search.predict_proba(there), search.best_params_
    )


def weisfeiler_lehman(
    data: Domain, train: Array, test: Array, *, assigned: bool
) -> Learned:
    """Learn a support vector machine on GraKeL's Weisfeiler-Lehman kernels."""
    from grakel import Graph
    from grakel.kernels import (
        VertexHistogram,
        WeisfeilerLehman,
        WeisfeilerLehmanOptimalAssignment,
    )

    if assigned:
        kernel = WeisfeilerLehmanOptimalAssignment(n_iter=ROUNDS, normalize=True)
    else:
        kernel = WeisfeilerLehman(
            n_iter=ROUNDS, normalize=True, base_graph_kernel=VertexHistogram
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
    return machine(scored(here, there), data.y[train], RAW)


def pixels(data: Domain, train: Array, test: Array) -> Learned:
    """Learn a support vector machine with a Gaussian kernel on the pixels."""
    images = np.zeros((len(data.samples), 8, 8))
    for image, (places, weights) in zip(images, data.samples, strict=True):
        image[tuple(places.astype(int).T)] = weights
    table = images.reshape(len(images), -1)
    gamma = 1 / (table.shape[1] * table[train].var())
    here = rbf_kernel(table[train], gamma=gamma)
    there = rbf_kernel(table[test], table[train], gamma=gamma)
    return machine(scored(here, there), data.y[train], RAW)


# -- who is compared where -------------------------------------------------------------

MACHINES = ("SVC", "SVC after clip")
"""Calibrated support vector machines on the same measure."""
EVERYWHERE: dict[str, Rival] = {
    "default": default,
    "SVC": same_measure("SVC raw"),
    "SVC after clip": same_measure("clip, SVC"),
    "1-NN": same_measure("1-NN"),
    "k-NN": same_measure("nearest neighbors"),
    "rows, boosting": boosted_rows,
}
OF_KIND: dict[str, dict[str, Rival]] = {
    "series": {
        "1-NN, aeon": aeon_nearest,
        "1-NN, tslearn": tslearn_nearest,
        "GAK SVC": global_alignment,
        "MiniRocket": convolutions,
        "RDST": shapelets,
        "MultiRocket-Hydra": partial(forecast, multirocket_hydra),
        "QUANT": partial(forecast, quantiles),
        "Proximity Forest": partial(forecast, proximity_forest),
    },
    "covariance": {"tangent space": tangent_space},
    "sequences": {"k-mers": k_mers},
    "graphs": {
        "WL-OA SVC": partial(weisfeiler_lehman, assigned=True),
        "WL SVC": partial(weisfeiler_lehman, assigned=False),
    },
    "sets": {"RBF SVC": pixels},
    "distances": {},
}
NEEDS = {
    **dict.fromkeys(
        ("1-NN, aeon", "MiniRocket", "RDST", "QUANT", "Proximity Forest"), "aeon"
    ),
    "MultiRocket-Hydra": "torch",  # and aeon
    "tangent space": "pyriemann",
    **dict.fromkeys(("1-NN, tslearn", "GAK SVC"), "tslearn"),
    **dict.fromkeys(("WL-OA SVC", "WL SVC"), "grakel"),
}
"""Libraries of rivals."""
EQUAL_LENGTHS = ("MiniRocket", "MultiRocket-Hydra", "QUANT", "Proximity Forest")
"""Rivals that take series of one length only."""


def rivals_of(data: Domain) -> dict[str, Rival]:
    """Return who is compared on a data set: those of its kind that can take it."""
    found = EVERYWHERE | OF_KIND[data.kind]
    return {name: each for name, each in found.items() if not obstacle(name, data)}


def obstacle(name: str, data: Domain) -> str:
    """Return why a rival is left out; empty if it is not."""
    library = NEEDS.get(name)
    if library and find_spec(library) is None:
        return f"pip install {library}"
    if name in EQUAL_LENGTHS and not isinstance(data.samples, np.ndarray):
        return "it takes series of one length only"
    return ""
