"""The default search, next to a grid search of support vector machines.

    python benchmarks/bench_search.py [--quick] [--repeats N]

From samples to a fitted model: `KreinLogisticRegressionCV()` as it comes, in its two
kinds of search, against `GridSearchCV(SVC(), 7 C x 5 gamma, cv=5)` in two processes
that are there already, and against `LogisticRegressionCV` on 300 Nystroem features.
Half of each data set is learned from. Accuracy and log-loss are those of the other
half; a plain SVC has no probabilities, hence no log-loss. Three matrices of distances
are given as similarities, max - d, and the support vector machines try ten C on them.
"""

import os
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from bench_cv import JOBS, wake
from common import OURS, emit, environment, measure, options_of, rows, say, start
from samples import halves
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegressionCV

BINARY = ("heart", "sonar", "diabetic", "splice", "guide1-t", "EEG")
BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
MOST = 2000
"""Training samples of the larger sets."""
GRID = {"C": 10.0 ** np.arange(-2, 5), "gamma": 10.0 ** np.arange(-2, 3)}
GIVEN = {
    "chickenpieces": "chickenpieces-20-60.npz",
    "protein": "protein.npz",
    "cat-cortex": "cat-cortex.npz",
}
"""Matrices of distances in the folder ``sim`` of the data."""
FULL_MOST = 300
"""Training samples up to which all settings are tried as well: minutes beyond."""
FULL, GRIDS, NYSTROEM = "search='full'", "GridSearchCV, SVC", "Nystroem, logistic"
BUDGET = 100.0
"""Seconds after which a competitor gets no more turns."""


def main(argv=None):
    only = {"nargs": "+", "metavar": "NAME", "help": "some of the data sets"}
    options = options_of(__doc__, argv, only=only)
    machine = environment()
    warnings.simplefilter("ignore")
    names = ("heart", "iris") if options.quick else (*BINARY, *BUNDLED, *GIVEN)
    for name in options.only or names:
        found = samples_of(name, options.quick)
        if found is None:
            say(f"{name}: set KREINLEARN_DATA to a folder that has sim/{GIVEN[name]}")
            continue
        X_train, X_test, y_train, y_test = found
        models = {}
        made = given_makers() if name in GIVEN else makers(options.quick)
        functions = {
            library: partial(fit, models, library, make, X_train, y_train)
            for library, make in made.items()
            if library != FULL or len(y_train) <= FULL_MOST
        }
        ready = {GRIDS: wake}
        seconds = measure(functions, options.repeats, budget=BUDGET, prepare=ready)
        details = {
            library: outcome(model, X_test, y_test) for library, model in models.items()
        }
        shape = {"n": len(y_train), "m": X_train.shape[1], "dtype": "float64"}
        work = f"search, {name}"
        emit(rows("search", work, seconds, details=details, **shape), machine)


def samples_of(name, quick):
    """Return scaled halves of a data set; None if its file is not there."""
    if name in GIVEN:
        return given_halves(name)
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        most = 1000 if name == "digits" else len(y) // 2
        parts = train_test_split(X, y, train_size=most, random_state=0, stratify=y)
        scaler = MinMaxScaler().fit(parts[0])
        return scaler.transform(parts[0]), scaler.transform(parts[1]), *parts[2:]
    data = halves(name, quick)
    some = np.random.default_rng(0).permutation(len(data.y_train))[:MOST]
    return data.X_train[some], data.X_test, data.y_train[some], data.y_test


def given_halves(name):
    """Return similarities among one half, and of the other with it, and labels."""
    path = Path(os.environ.get("KREINLEARN_DATA", ".")) / "sim" / GIVEN[name]
    if not path.exists():
        return None
    with np.load(path) as file:
        K, y = file["D"].max() - file["D"], file["y"]
    K = (K + K.T) / 2
    half = {"train_size": 0.5, "random_state": 0, "stratify": y}
    train, test = train_test_split(np.arange(len(y)), **half)
    return K[np.ix_(train, train)], K[np.ix_(test, train)], y[train], y[test]


def given_makers():
    """Return how each competitor is built for a given matrix."""
    ours = partial(KreinLogisticRegressionCV, kernel="precomputed")
    costs = {"C": 10.0 ** np.arange(-4, 6)}
    machine = SVC(kernel="precomputed")
    return {
        OURS: ours,
        FULL: partial(ours, search="full"),
        GRIDS: lambda: GridSearchCV(machine, costs, cv=5, n_jobs=JOBS),
    }


def makers(quick):
    """Return how each competitor is built."""
    kernel = {"kernel": ("tl1",)} if quick else {}
    return {
        OURS: partial(KreinLogisticRegressionCV, **kernel),
        FULL: partial(KreinLogisticRegressionCV, search="full", **kernel),
        GRIDS: lambda: GridSearchCV(SVC(), GRID, cv=5, n_jobs=JOBS),
        NYSTROEM: lambda: make_pipeline(
            Nystroem(n_components=300, random_state=0),
            LogisticRegressionCV(Cs=10, cv=5, max_iter=1000, n_jobs=JOBS),
        ),
    }


def fit(models, library, make, X, y):
    """Fit a model and keep it."""
    models[library] = make().fit(X, y)


def outcome(model, X, y):
    """Return how good a model is on new samples."""
    found = {"accuracy": round(float(accuracy_score(y, model.predict(X))), 4)}
    if hasattr(model, "predict_proba"):
        loss = log_loss(y, model.predict_proba(X), labels=model.classes_)
        found["log_loss"] = round(float(loss), 4)
    return found


if __name__ == "__main__":
    start(main)
