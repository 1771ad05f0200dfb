"""The default search, compared with a grid search of support vector machines.

    python benchmarks/bench_search.py [--quick] [--repeats N]

From samples to a fitted model: `KreinLogisticRegressionCV()` with its defaults and with
``search='full'``, `GridSearchCV(SVC(), 7 C x 5 gamma, cv=5)` in two worker processes
already running, and `LogisticRegressionCV` on 300 Nystroem features. Models are fitted
to one half of each data set; accuracy and log-loss are those of the other half. SVC has
no probabilities, hence no log-loss. Three matrices of distances are converted to
similarities, max - d; for them SVC tries ten C.
"""

import os
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from bench_cv import N_JOBS, start_workers
from common import (
    OURS,
    describe_machine,
    make_rows,
    parse_options,
    print_note,
    print_rows,
    run_script,
    time_functions,
)
from samples import load_halves
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegressionCV

BINARY_DATA = ("heart", "sonar", "diabetic", "splice", "guide1-t", "EEG")
BUNDLED_LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
MAX_TRAIN = 2000
"""Largest number of training samples."""
SVC_GRID = {"C": 10.0 ** np.arange(-2, 5), "gamma": 10.0 ** np.arange(-2, 3)}
MATRIX_FILES = {
    "chickenpieces": "chickenpieces-20-60.npz",
    "protein": "protein.npz",
    "cat-cortex": "cat-cortex.npz",
}
"""Matrices of distances in the folder ``sim`` of the data."""
MAX_FULL_TRAIN = 300
"""Training samples up to which the full search is timed; it takes minutes beyond."""
FULL_SEARCH, GRID_SEARCH, NYSTROEM = (
    "search='full'",
    "GridSearchCV, SVC",
    "Nystroem, logistic",
)
BUDGET_SECONDS = 100.0
"""Seconds after which a library gets no more turns."""


def main(argv=None):
    only = {"nargs": "+", "metavar": "NAME", "help": "some of the data sets"}
    options = parse_options(__doc__, argv, only=only)
    machine = describe_machine()
    warnings.simplefilter("ignore")
    names = (
        ("heart", "iris")
        if options.quick
        else (*BINARY_DATA, *BUNDLED_LOADERS, *MATRIX_FILES)
    )
    for name in options.only or names:
        found = load_samples(name, options.quick)
        if found is None:
            file = f"sim/{MATRIX_FILES[name]}"
            print_note(f"{name}: set KREINLEARN_DATA to a folder that has {file}")
            continue
        X_train, X_test, y_train, y_test = found
        models = {}
        made = (
            list_matrix_makers() if name in MATRIX_FILES else list_makers(options.quick)
        )
        functions = {
            library: partial(fit_and_store, models, library, make, X_train, y_train)
            for library, make in made.items()
            if library != FULL_SEARCH or len(y_train) <= MAX_FULL_TRAIN
        }
        ready = {GRID_SEARCH: start_workers}
        seconds = time_functions(
            functions, options.repeats, budget=BUDGET_SECONDS, prepare=ready
        )
        details = {
            library: score_model(model, X_test, y_test)
            for library, model in models.items()
        }
        shape = {"n": len(y_train), "m": X_train.shape[1], "dtype": "float64"}
        work = f"search, {name}"
        print_rows(
            make_rows("search", work, seconds, details=details, **shape), machine
        )


def load_samples(name, quick):
    """Return scaled halves of a data set; None if its file is missing."""
    if name in MATRIX_FILES:
        return load_matrix_halves(name)
    if name in BUNDLED_LOADERS:
        X, y = BUNDLED_LOADERS[name](return_X_y=True)
        most = 1000 if name == "digits" else len(y) // 2
        parts = train_test_split(X, y, train_size=most, random_state=0, stratify=y)
        scaler = MinMaxScaler().fit(parts[0])
        return scaler.transform(parts[0]), scaler.transform(parts[1]), *parts[2:]
    data = load_halves(name, quick)
    some = np.random.default_rng(0).permutation(len(data.y_train))[:MAX_TRAIN]
    return data.X_train[some], data.X_test, data.y_train[some], data.y_test


def load_matrix_halves(name):
    """Return similarities within one half and of the other half to it, and labels."""
    path = Path(os.environ.get("KREINLEARN_DATA", ".")) / "sim" / MATRIX_FILES[name]
    if not path.exists():
        return None
    with np.load(path) as file:
        K, y = file["D"].max() - file["D"], file["y"]
    K = (K + K.T) / 2
    half = {"train_size": 0.5, "random_state": 0, "stratify": y}
    train, test = train_test_split(np.arange(len(y)), **half)
    return K[np.ix_(train, train)], K[np.ix_(test, train)], y[train], y[test]


def list_matrix_makers():
    """Return functions that build the model of each library for a given matrix."""
    ours = partial(KreinLogisticRegressionCV, kernel="precomputed")
    costs = {"C": 10.0 ** np.arange(-4, 6)}
    machine = SVC(kernel="precomputed")
    return {
        OURS: ours,
        FULL_SEARCH: partial(ours, search="full"),
        GRID_SEARCH: lambda: GridSearchCV(machine, costs, cv=5, n_jobs=N_JOBS),
    }


def list_makers(quick):
    """Return functions that build the model of each library."""
    kernel = {"kernel": ("tl1",)} if quick else {}
    return {
        OURS: partial(KreinLogisticRegressionCV, **kernel),
        FULL_SEARCH: partial(KreinLogisticRegressionCV, search="full", **kernel),
        GRID_SEARCH: lambda: GridSearchCV(SVC(), SVC_GRID, cv=5, n_jobs=N_JOBS),
        NYSTROEM: lambda: make_pipeline(
            Nystroem(n_components=300, random_state=0),
            LogisticRegressionCV(Cs=10, cv=5, max_iter=1000, n_jobs=N_JOBS),
        ),
    }


def fit_and_store(models, library, make, X, y):
    """Fit a model and store it."""
    models[library] = make().fit(X, y)


def score_model(model, X, y):
    """Return accuracy and log-loss of a model on new samples."""
    found = {"accuracy": round(float(accuracy_score(y, model.predict(X))), 4)}
    if hasattr(model, "predict_proba"):
        loss = log_loss(y, model.predict_proba(X), labels=model.classes_)
        found["log_loss"] = round(float(loss), 4)
    return found


if __name__ == "__main__":
    run_script(main)
