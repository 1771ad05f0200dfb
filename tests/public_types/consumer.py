"""What a user's program does with the public names, for type checkers; never run."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import kreinlearn
from kreinlearn import (
    DCASVC,
    DistanceSimilarity,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    LandmarkFeatures,
    LandmarkLogisticRegression,
    SpectrumRepair,
    load,
    save,
)
from kreinlearn.exceptions import IndefiniteKernelWarning
from kreinlearn.kernels import gram, rbf, tl1
from kreinlearn.spectrum import describe


def similarities(X: NDArray[np.float64]) -> NDArray[Any]:
    """Compute similarities."""
    assert_type(kreinlearn.__version__, str)
    print(describe(tl1(X))["lam_unique"])
    return rbf(X) + gram(X, kernel="tl1")


def fit(X: NDArray[np.float64], y: list[str]) -> KreinLogisticRegression:
    """Fit, look at the certificate, predict, save and load."""
    model = KreinLogisticRegression("tl1", lam=0.1).fit(X, y)
    assert_type(model, KreinLogisticRegression)
    residual: float = model.residual_
    status: str = model.status_
    print(residual, status, model.predict(X), model.predict_proba(X).shape)
    path = Path("model.krein")
    save(model, path)
    print(load(path))
    return model


def search(X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Search, and use the other estimators."""
    found = KreinLogisticRegressionCV(kernel=("tl1", "rbf"), n_jobs=2).fit(X, y)
    assert_type(found, KreinLogisticRegressionCV)
    LandmarkLogisticRegression(n_landmarks=10).fit(X, y).predict(X)
    KreinSVC(C=10.0, kernel="tl1").fit(X, y).predict(X)
    DCASVC(kernel="tl1").fit(X, y).predict(X)
    K = SpectrumRepair("clip").fit_transform(similarities(X))
    print(K, LandmarkFeatures().fit(X), DistanceSimilarity())
    return found.lam_


def warned() -> type[Warning]:
    """Name a warning."""
    return IndefiniteKernelWarning
