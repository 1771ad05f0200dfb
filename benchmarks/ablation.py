"""Ablation of the default search: scores and time without each mechanism.

    KREINLEARN_DATA=... python benchmarks/ablation.py [--variants NAME ...]
        [--groups NAME ...] [--jobs N] [--out FILE]

Each variant changes one mechanism of `KreinLogisticRegressionCV`. The data are the
fifteen small tables of the paper (three random halves), tables of scikit-learn (six
random splits), the seventeen similarities of `cases` and its distances (five folds),
and four larger tables (one half). Prints log-loss and accuracy on new samples,
processor seconds and the number of averaged models for each variant and group.
"""

import json
import time
import warnings
from collections import defaultdict
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from bench_search import load_samples
from cases import CACHE_FOLDER, CASES, MATRIX_LOADERS, load_matrix, make_fold
from common import parse_options, run_script
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from kreinlearn.estimators import logistic_cv
from kreinlearn.kernels.threads import limit_threads
from kreinlearn.search import candidates, racing, scoring
from reproduction.data import load

TABLE_NAMES = (
    *("monks1", "monks2", "monks3", "parkinsons", "sonar", "SPECT", "transfusion"),
    *("haberman", "breast-cancer", "heart", "australian", "fertility", "diabetic"),
    *("ionosphere", "climate"),
)
LARGER_TABLES = ("digits", "guide1-t", "splice", "EEG")
N_HALVES = 3
N_FOLDS = 5


def return_false(*_):
    """Return False for any arguments."""
    return False


def start_cold(self, K, index, counts, models):
    """Return None for each model: no warm starts."""
    return [None] * len(models)


def weigh_equally(logs, weights, error):
    """Return equal weights of the models with the best out-of-fold likelihood."""
    found = np.zeros(len(logs))
    total = logs @ weights + scoring.PSEUDO_ERRORS * error
    found[np.argsort(-total, kind="stable")[: scoring.MAX_MODELS]] = 1
    return found / found.sum(), found[:, None]


VARIANTS = {
    "default": [],
    "best model only": [(scoring, "MAX_MODELS", 1)],
    "equal weights": [(logistic_cv, "weigh_models", weigh_equally)],
    "no pseudo-error": [(scoring, "PSEUDO_ERRORS", 1e-9)],
    "no growth of the grid": [(candidates, "MORE_UNITS", ())],
    "no race": [(logistic_cv.KreinLogisticRegressionCV, "_needs_race", return_false)],
    "cold final fits": [
        (logistic_cv.KreinLogisticRegressionCV, "_find_starts", start_cold)
    ],
    "all samples": [(racing, "SEARCH_ROWS", 10**9)],
    "3 models": [(scoring, "MAX_MODELS", 3)],
    "all models": [(scoring, "MAX_MODELS", 1000), (scoring, "MIN_WEIGHT", 0.01)],
    "pseudo-error 1": [(scoring, "PSEUDO_ERRORS", 1.0)],
    "pseudo-error 0.25": [(scoring, "PSEUDO_ERRORS", 0.25)],
    "tolerance 1e-4": [(candidates, "RIDGE_TOL", 1e-4)],
    "twice the settings": [(racing, "MAX_WORK", 3000), (racing, "MIN_SETTINGS", 6)],
}
BUNDLED_TABLES = {
    "iris": (load_iris, 75),
    "wine": (load_wine, 89),
    "wine, 45 samples": (load_wine, 45),
    "breast cancer": (load_breast_cancer, 284),
    "breast cancer, 100 samples": (load_breast_cancer, 100),
    "digits, 100 samples": (load_digits, 100),
}
"""Data sets of scikit-learn, and the size of the training part."""
DATA_GROUPS = {
    "bundled": tuple(BUNDLED_TABLES),
    "tables": TABLE_NAMES,
    "cases": CASES,
    "distances": tuple(MATRIX_LOADERS),
    "larger": LARGER_TABLES,
}


def iterate_splits(group, name):
    """Yield parameters, and samples and labels for training and testing."""
    if group == "larger":
        X, X_test, y, y_test = load_samples(name, False)
        yield {}, X, y, X_test, y_test
    elif group in ("tables", "bundled"):
        loader, size = BUNDLED_TABLES.get(name, (partial(load, name), 0.5))
        data, count = loader(), N_HALVES if group == "tables" else 2 * N_HALVES
        cut = StratifiedShuffleSplit(count, train_size=size, random_state=1)
        for train, test in cut.split(data.data, data.target):
            scaler = MinMaxScaler().fit(data.data[train])
            X, X_test = map(scaler.transform, (data.data[train], data.data[test]))
            yield {}, X, data.target[train], X_test, data.target[test]
    else:
        name, _, form = name.partition(":")
        given = load_matrix(name, CACHE_FOLDER)
        if given is None or (group == "distances" and not given.is_distance):
            return
        cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=1)
        for train, test in cut.split(given.values, given.y):
            one = make_fold(given, form or "-d", train, test)
            y, y_test = given.y[train], given.y[test]
            if group == "distances":
                yield {"kernel": "distance"}, one.D_train, y, one.D_test, y_test
            else:
                yield {"kernel": "precomputed"}, one.K_train, y, one.K_test, y_test


def evaluate_variant(variant, group, name, split, own, X, y, X_test, y_test):
    """Return the record of a variant on one split."""
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(threadpool_limits(1))
        stack.enter_context(limit_threads(1))
        warnings.simplefilter("ignore")
        for where, attribute, value in VARIANTS[variant]:
            stack.enter_context(patch.object(where, attribute, value))
        begun = time.process_time()
        model = logistic_cv.KreinLogisticRegressionCV(**own).fit(X, y)
        seconds = time.process_time() - begun
        proba = model.predict_proba(X_test)
        return {
            "variant": variant,
            "group": group,
            "name": name,
            "split": split,
            "log_loss": log_loss(y_test, proba, labels=model.classes_),
            "accuracy": model.score(X_test, y_test),
            "seconds": seconds,
            "models": len(model.estimators_),
        }


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        variants={"nargs": "+", "default": list(VARIANTS), "metavar": "NAME"},
        groups={
            "nargs": "+",
            "default": list(DATA_GROUPS),
            "choices": list(DATA_GROUPS),
        },
        jobs={"type": int, "default": 2, "help": "processes"},
        out={"type": Path, "default": None, "metavar": "FILE", "help": "append to it"},
        read={"type": Path, "metavar": "FILE", "help": "print records, run nothing"},
    )
    if options.read:
        records = list(map(json.loads, options.read.read_text().splitlines()))
        for variant in dict.fromkeys(one["variant"] for one in records):
            print(format_row(variant, records))
        return
    pool = Parallel(options.jobs, return_as="generator")
    records = []
    for variant in options.variants:
        work = (
            delayed(evaluate_variant)(variant, group, name, i, *split)
            for group in options.groups
            for name in DATA_GROUPS[group][: 1 if options.quick else None]
            for i, split in enumerate(iterate_splits(group, name))
        )
        own = list(pool(work))
        if options.out:
            with options.out.open("a") as file:
                file.writelines(json.dumps(each) + "\n" for each in own)
        records += own
        print(format_row(variant, records), flush=True)


def format_row(variant, records):
    """Return a line of the table: the means of a variant in each group.

    Cells have log-loss, its difference from that of the first variant with a standard
    error over data sets, accuracy, seconds, and number of models.
    """
    first, cells = records[0]["variant"], []
    for group in DATA_GROUPS:
        found = average_by_name(records, group, variant)
        usual = average_by_name(records, group, first)
        if not found:
            continue
        loss, accuracy, seconds, models = np.mean(list(found.values()), axis=0)
        change = [found[name][0] - usual[name][0] for name in found]
        error = np.std(change, ddof=1) / np.sqrt(len(change)) if len(change) > 1 else 0
        cells.append(
            f"{loss:.4f} ({np.mean(change):+.4f}, {error:.4f}) {accuracy:.4f} "
            f"{seconds:.2f} {models:.1f}"
        )
    return " | ".join([f"{variant:24}", *cells])


def average_by_name(records, group, variant):
    """Return mean log-loss, accuracy, seconds and models of each data set."""
    found = defaultdict(list)
    for one in records:
        if (one["group"], one["variant"]) == (group, variant):
            own = (one["log_loss"], one["accuracy"], one["seconds"], one["models"])
            found[one["name"]].append(own)
    return {name: np.mean(own, axis=0) for name, own in found.items()}


if __name__ == "__main__":
    run_script(main)
