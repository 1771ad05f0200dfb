"""One fit of a given matrix, compared with SVC and the published procedure.

    python benchmarks/bench_fit.py [--quick] [--repeats N] [--only NAME ...] [--choose]

TL1 matrices of training halves (for splice, of its own training part). lam and C were
chosen there by cross-validation and stored in ``chosen.json``; ``--choose`` repeats the
choice (minutes for EEG). The time is that of ``fit`` alone, with its certificate and
its check of uniqueness. Scores are on the test half.
"""

import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
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
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.kernels import gram

DATA_SETS = ("EEG", "guide1-t", "splice", "madelon")
PUBLISHED_DATA_SETS = ("guide1-t",)
"""Data sets on which the published procedure is timed."""
CHOSEN_FILE = Path(__file__).with_name("chosen.json")
LAMS = [10.0**-k for k in range(1, 9)]
COSTS = [10.0**k for k in range(-2, 5)]
FOLD_SPLITTER = StratifiedKFold(5, shuffle=True, random_state=0)


def main(argv=None):
    only = {
        "nargs": "+",
        "default": DATA_SETS,
        "choices": DATA_SETS,
        "help": "data sets",
    }
    choose = {"action": "store_true", "help": "write chosen.json and stop"}
    options = parse_options(__doc__, argv, only=only, choose=choose)
    warnings.simplefilter("ignore")  # rows have the status of fits
    if options.choose:
        for name in options.only:
            write_choice(name)
        return
    machine = describe_machine()
    for name in options.only:
        print_rows(measure_fits(name, options), machine)


def measure_fits(name, options):
    """Return the rows of one data set."""
    data = load_halves(name, options.quick)
    chosen = json.loads(CHOSEN_FILE.read_text())["chosen"][name]
    given = {"kernel": "precomputed", "lam": chosen["lam"]}
    makers = {
        OURS: partial(KreinLogisticRegression, **given),
        "SVC": partial(SVC, kernel="precomputed", C=chosen["C"]),
    }
    if name in PUBLISHED_DATA_SETS:
        makers["CCCP-GD"] = partial(
            KreinLogisticRegression, solver="cccp-gd-as-printed", **given
        )
    # The training matrix is freed before the test matrix is computed: EEG is large.
    seconds, models = fit_all(makers, gram(data.X_train), data.y_train, options.repeats)
    K_test = gram(data.X_test, data.X_train)
    details = {
        library: describe_fit(model, K_test, data.y_test)
        for library, model in models.items()
    }
    return make_rows(
        "fit",
        f"fit, {name}",
        seconds,
        details=details,
        n=len(data.y_train),
        m=data.X_train.shape[1],
        dtype="float64",
        data=data.data,
    )


def fit_all(makers, K, y, repeats):
    """Return seconds and fitted models by library."""
    models = {}

    def fit(library):
        models[library] = makers[library]().fit(K, y)

    seconds = time_functions({each: partial(fit, each) for each in makers}, repeats)
    return seconds, models


def describe_fit(model, K_test, y_test):
    """Return the status of a fit and its accuracy."""
    found = {"accuracy": round(float(model.score(K_test, y_test)), 4)}
    found["n_iter"] = int(np.max(model.n_iter_))
    found |= {
        name: getattr(model, name) for name in ("lam", "C") if hasattr(model, name)
    }
    if hasattr(model, "residual_"):
        found["status"] = model.status_
        found["residual"] = float(f"{model.residual_:.3g}")
        found["regime"] = model.regime_
        found["products"] = model.history_[-1].get("products")
    return found


def write_choice(name):
    """Choose lam and C on the training half by accuracy, and store them."""
    data = load_halves(name)
    if data.data != "real":
        print_note(f"{name}: no choice on synthetic data")
        return
    K, y = gram(data.X_train), data.y_train
    folds = list(FOLD_SPLITTER.split(K, y))
    ours = KreinLogisticRegressionCV(
        lams=LAMS,
        norms=("krein",),
        kernel="precomputed",
        cv=folds,
        scoring="accuracy",
        refit=False,
    ).fit(K, y)
    # In ascending order of C, ties go to more regularization, as for lam.
    theirs = GridSearchCV(
        SVC(kernel="precomputed"), {"C": COSTS}, cv=folds, n_jobs=2, refit=False
    ).fit(K, y)
    known = json.loads(CHOSEN_FILE.read_text())["chosen"]
    known[name] = {
        "lam": ours.lam_,
        "C": theirs.best_params_["C"],
        "lam_accuracy": np.round(ours.scores_[0, 0].mean(axis=1), 4).tolist(),
        "C_accuracy": np.round(theirs.cv_results_["mean_test_score"], 4).tolist(),
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(known[key])}" for key in known]
    text = ",\n".join(lines)
    CHOSEN_FILE.write_text(
        f'{{\n "how": {json.dumps(CHOICE_METHOD)},\n "chosen": {{\n{text}\n }}\n}}\n'
    )
    print_note(f"{name}: lam {ours.lam_:g}, C {theirs.best_params_['C']:g}")


CHOICE_METHOD = (
    "accuracy in five stratified folds (shuffled, seed 0) of the training half, "
    f"lam in {LAMS}, C in {COSTS}; ties go to more regularization"
)


if __name__ == "__main__":
    run_script(main)
