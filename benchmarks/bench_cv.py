"""The grid of a cross-validation, compared with separate fits, SVC and TorchKM.

    python benchmarks/bench_cv.py [--quick] [--repeats N] [--limit SECONDS]

Seven values of lam and five folds of one TL1 matrix, the training half of guide1-t. We
solve all 35 problems in one block and evaluate them. The others are

* the same 35 problems one by one, at the tolerance of a fit and at that of the search.
  They are not evaluated, but each has its certificate and its check of uniqueness;
* 35 support vector machines by `GridSearchCV` in two worker processes already running;
* TorchKM in a separate process, which is stopped after ``--limit`` seconds.
"""

import tempfile
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from common import (
    OURS,
    SelfTimed,
    describe_machine,
    make_rows,
    parse_options,
    print_missing_library,
    print_rows,
    run_in_process,
    run_script,
    time_functions,
)
from joblib import Parallel, delayed
from samples import load_halves
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.kernels import gram
from kreinlearn.search import DUAL_TOL

LAMS = [10.0**-k for k in range(1, 8)]
COSTS = [10.0**k for k in range(-2, 5)]
FOLD_SPLITTER = StratifiedKFold(5, shuffle=True, random_state=0)
N_JOBS = 2
QUICK_MAXIT = 50
BUDGET_SECONDS = 100.0
"""Seconds after which a library gets no more turns."""


def main(argv=None):
    limit = {"type": float, "default": 900.0, "metavar": "SECONDS"}
    options = parse_options(__doc__, argv, limit=limit)
    machine = describe_machine("torch", "torchkm")
    warnings.simplefilter("ignore")  # rows have the status of fits
    data = load_halves("guide1-t", options.quick)
    K, y = gram(data.X_train), data.y_train
    with tempfile.TemporaryDirectory() as folder:
        functions, models = build_competitors(
            K, y, options, Path(folder), machine["threads"]
        )
        details = {}
        seconds = time_functions(
            functions,
            options.repeats,
            budget=BUDGET_SECONDS,
            prepare={"GridSearchCV, SVC": start_workers},
            details=details,
        )
    for library, model in models.items():
        details[library] = score_model(model, y)
    shape = {"n": len(y), "m": data.X_train.shape[1], "dtype": "float64"}
    shape |= {"data": data.data, "problems": len(LAMS) * FOLD_SPLITTER.n_splits}
    work = "cross-validation, guide1-t"
    print_rows(make_rows("cv", work, seconds, details=details, **shape), machine)


def build_competitors(K, y, options, folder, threads):
    """Return functions to time by name, and a dict that collects fitted models."""
    folds = list(FOLD_SPLITTER.split(K, y))
    models = {}
    makers = {
        OURS: lambda: KreinLogisticRegressionCV(
            lams=LAMS, norms=("krein",), kernel="precomputed", cv=folds, refit=False
        ),
        "GridSearchCV, SVC": lambda: GridSearchCV(
            SVC(kernel="precomputed"),
            {"C": COSTS},
            cv=folds,
            n_jobs=N_JOBS,
            refit=False,
        ),
    }

    def fit(library):
        models[library] = makers[library]().fit(K, y)

    parts = [(K[np.ix_(train, train)], y[train]) for train, _ in folds]
    functions = {
        OURS: partial(fit, OURS),
        "35 fits": partial(fit_separately, parts),
        "35 fits, same tol": partial(fit_separately, parts, tol=DUAL_TOL),
        "GridSearchCV, SVC": partial(fit, "GridSearchCV, SVC"),
    }
    if find_spec("torchkm"):
        task = write_torchkm_task(K, y, folds, folder) | {"threads": threads}
        if options.quick:
            task["maxit"] = QUICK_MAXIT
        script = str(Path(__file__).with_name("peer_torchkm.py"))
        functions["torchkm"] = SelfTimed(
            partial(run_in_process, script, task, options.limit)
        )
    else:
        print_missing_library("torchkm")
    return functions, models


def fit_separately(parts, **settings):
    """Fit each problem separately."""
    for K, y in parts:
        for lam in LAMS:
            KreinLogisticRegression("precomputed", lam=lam, **settings).fit(K, y)


def start_workers():
    """Start the worker processes of joblib, which stop when idle."""
    Parallel(n_jobs=N_JOBS)(delayed(abs)(each) for each in range(2 * N_JOBS))


def write_torchkm_task(K, y, folds, folder):
    """Write the problem to a file, and return the task of the process."""
    foldid = np.empty(len(y), dtype=np.int64)
    for number, (_, held_out) in enumerate(folds, start=1):
        foldid[held_out] = number
    np.savez(folder / "problem.npz", K=K, y=y, foldid=foldid, lams=LAMS)
    return {"file": str(folder / "problem.npz")}


def score_model(model, y):
    """Return the chosen parameter and the out-of-fold accuracy."""
    if hasattr(model, "best_params_"):
        score = float(model.best_score_)
        return {"chosen": model.best_params_["C"], "accuracy": round(score, 4)}
    guess = model.classes_[model.held_out_proba_.argmax(axis=1)]
    accuracy = round(float((guess == y).mean()), 4)
    return {"chosen": model.lam_, "accuracy": accuracy, "tol": DUAL_TOL}


if __name__ == "__main__":
    run_script(main)
