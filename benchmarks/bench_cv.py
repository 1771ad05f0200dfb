"""The grid of a cross-validation, next to separate fits, SVC and TorchKM.

    python benchmarks/bench_cv.py [--quick] [--repeats N] [--limit SECONDS]

Seven lam and five folds of one TL1 matrix, guide1-t's training half. We solve all 35
problems in one block, and judge them. The others: the same 35 problems one by one (not
judged, but each with its certificate and its check of uniqueness), at the tolerance of
a fit and at that of the search; 35 support vector machines by `GridSearchCV` in two
processes that are there already; and TorchKM in a process of its own, which is ended
after ``--limit`` seconds.
"""

import tempfile
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from common import (
    OURS,
    Fresh,
    emit,
    environment,
    fresh,
    measure,
    options_of,
    rows,
    start,
    without,
)
from joblib import Parallel, delayed
from samples import halves
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.kernels import gram
from kreinlearn.search import DUAL_TOL

LAMS = [10.0**-k for k in range(1, 8)]
COSTS = [10.0**k for k in range(-2, 5)]
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
JOBS = 2
QUICK_MAXIT = 50
BUDGET = 100.0
"""Seconds after which a competitor gets no more turns."""


def main(argv=None):
    limit = {"type": float, "default": 900.0, "metavar": "SECONDS"}
    options = options_of(__doc__, argv, limit=limit)
    machine = environment("torch", "torchkm")
    warnings.simplefilter("ignore")  # how fits ended is a field of their row
    data = halves("guide1-t", options.quick)
    K, y = gram(data.X_train), data.y_train
    with tempfile.TemporaryDirectory() as folder:
        functions, models = competitors(K, y, options, Path(folder), machine["threads"])
        details = {}
        seconds = measure(
            functions,
            options.repeats,
            budget=BUDGET,
            prepare={"GridSearchCV, SVC": wake},
            details=details,
        )
    for library, model in models.items():
        details[library] = outcome(model, y)
    shape = {"n": len(y), "m": data.X_train.shape[1], "dtype": "float64"}
    shape |= {"data": data.data, "problems": len(LAMS) * FOLDS.n_splits}
    work = "cross-validation, guide1-t"
    emit(rows("cv", work, seconds, details=details, **shape), machine)


def competitors(K, y, options, folder, threads):
    """Return what to time by name, and where models are kept once fitted."""
    folds = list(FOLDS.split(K, y))
    models = {}
    makers = {
        OURS: lambda: KreinLogisticRegressionCV(
            lams=LAMS, norms=("krein",), kernel="precomputed", cv=folds, refit=False
        ),
        "GridSearchCV, SVC": lambda: GridSearchCV(
            SVC(kernel="precomputed"), {"C": COSTS}, cv=folds, n_jobs=JOBS, refit=False
        ),
    }

    def fit(library):
        models[library] = makers[library]().fit(K, y)

    parts = [(K[np.ix_(train, train)], y[train]) for train, _ in folds]
    functions = {
        OURS: partial(fit, OURS),
        "35 fits": partial(separate, parts),
        "35 fits, same tol": partial(separate, parts, tol=DUAL_TOL),
        "GridSearchCV, SVC": partial(fit, "GridSearchCV, SVC"),
    }
    if find_spec("torchkm"):
        task = torchkm_task(K, y, folds, folder) | {"threads": threads}
        if options.quick:
            task["maxit"] = QUICK_MAXIT
        script = str(Path(__file__).with_name("peer_torchkm.py"))
        functions["torchkm"] = Fresh(partial(fresh, script, task, options.limit))
    else:
        without("torchkm")
    return functions, models


def separate(parts, **settings):
    """Fit each problem by itself."""
    for K, y in parts:
        for lam in LAMS:
            KreinLogisticRegression("precomputed", lam=lam, **settings).fit(K, y)


def wake():
    """See that the worker processes are there; they leave when they have no work."""
    Parallel(n_jobs=JOBS)(delayed(abs)(each) for each in range(2 * JOBS))


def torchkm_task(K, y, folds, folder):
    """Write the problem to a file, and return what its process is told."""
    foldid = np.empty(len(y), dtype=np.int64)
    for number, (_, held_out) in enumerate(folds, start=1):
        foldid[held_out] = number
    np.savez(folder / "problem.npz", K=K, y=y, foldid=foldid, lams=LAMS)
    return {"file": str(folder / "problem.npz")}


def outcome(model, y):
    """Return what was chosen, and the accuracy on held-out samples."""
    if hasattr(model, "best_params_"):
        score = float(model.best_score_)
        return {"chosen": model.best_params_["C"], "accuracy": round(score, 4)}
    guess = model.classes_[model.held_out_proba_.argmax(axis=1)]
    accuracy = round(float((guess == y).mean()), 4)
    return {"chosen": model.lam_, "accuracy": accuracy, "tol": DUAL_TOL}


if __name__ == "__main__":
    start(main)
