"""The default search, next to a grid search of support vector machines.

    python benchmarks/bench_search.py [--quick] [--repeats N]

From samples to a fitted model: `KreinLogisticRegressionCV()` as it comes, in its two
kinds of search, against `GridSearchCV(SVC(), 7 C x 5 gamma, cv=5)` in two processes
that are there already, and against `LogisticRegressionCV` on 300 Nystroem features.
Half of each data set is learned from. Accuracy and log-loss are those of the other
half; a plain SVC has no probabilities, hence no log-loss.
"""

import warnings
from functools import partial

import numpy as np
from bench_cv import JOBS, wake
from common import OURS, emit, environment, measure, options_of, rows, start
from samples import halves
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegressionCV

BINARY = ("heart", "sonar", "diabetic", "splice", "guide1-t", "EEG")
BUNDLED = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
MOST = 2000
"""Training samples of the larger sets."""
GRID = {"C": 10.0 ** np.arange(-2, 5), "gamma": 10.0 ** np.arange(-2, 3)}
FULL, GRIDS, NYSTROEM = "search='full'", "GridSearchCV, SVC", "Nystroem, logistic"
BUDGET = 100.0
"""Seconds after which a competitor gets no more turns."""


def main(argv=None):
    only = {"nargs": "+", "metavar": "NAME", "help": "some of the data sets"}
    options = options_of(__doc__, argv, only=only)
    machine = environment()
    warnings.simplefilter("ignore")
    names = ("heart", "iris") if options.quick else (*BINARY, *BUNDLED)
    for name in options.only or names:
        X_train, X_test, y_train, y_test = samples_of(name, options.quick)
        models = {}
        functions = {
            library: partial(fit, models, library, make, X_train, y_train)
            for library, make in makers(options.quick).items()
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
    """Return scaled halves of a data set."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        most = 1000 if name == "digits" else len(y) // 2
        parts = train_test_split(X, y, train_size=most, random_state=0, stratify=y)
        scaler = MinMaxScaler().fit(parts[0])
        return scaler.transform(parts[0]), scaler.transform(parts[1]), *parts[2:]
    data = halves(name, quick)
    some = np.random.default_rng(0).permutation(len(data.y_train))[:MOST]
    return data.X_train[some], data.X_test, data.y_train[some], data.y_test


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
