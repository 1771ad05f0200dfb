"""Coverage and size of prediction sets over random splits, compared with an SVC.

    KREINLEARN_DATA=... python benchmarks/prediction_sets.py --out docs/results

The sets of the SVC use the same definition: `CalibratedClassifierCV` on the clipped
matrix, its probabilities out of fold for the thresholds, and a refit for new samples.
"""

import argparse
import csv
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from kreinlearn import DistanceSimilarity, KreinLogisticRegressionCV, SpectrumRepair
from kreinlearn.app.comparison.demo import make_job
from kreinlearn.estimators.logistic_cv import find_threshold

sys.path.append(str(Path(__file__).parents[1]))  # the package reproduction
from reproduction.data.local import load

COVERAGES = (0.9, 0.95)
N_FOLDS = 5
COLUMNS = "data n_train method coverage splits observed error size".split()


def load_cases():
    """Return distances, labels and the number of training samples by name."""
    job = make_job("digits")
    cases = {"digits, Hausdorff": (job.X, job.y, 100)}
    tables = {
        "wine, Canberra": (load_wine, "canberra", 89),
        "iris, Manhattan": (load_iris, "cityblock", 75),
        "breast cancer, Canberra": (load_breast_cancer, "canberra", 150),
    }
    for name, (load_table, metric, n_train) in tables.items():
        X, y = load_table(return_X_y=True)
        X = minmax_scale(X)
        cases[name] = cdist(X, X, metric), y, n_train
    if "KREINLEARN_DATA" in os.environ:
        for name, n_train in (("heart", 135), ("sonar", 104), ("haberman", 153)):
            data = load(name)
            X, y = minmax_scale(data.data), (data.target > 0).astype(int)
            cases[f"{name}, Manhattan"] = cdist(X, X, "cityblock"), y, n_train
    return cases


def make_machine():
    """Return a calibrated SVC on the clipped exponential of distances."""
    machine = make_pipeline(
        DistanceSimilarity(), SpectrumRepair("clip"), SVC(kernel="precomputed")
    )
    return CalibratedClassifierCV(machine, ensemble=False, cv=N_FOLDS)


def predict_machine_sets(D, y, D_new, seed):
    """Return a function from a coverage to the sets of the SVC."""
    reached = np.empty(len(y))
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    for train, test in splitter.split(D, y):
        model = make_machine().fit(D[np.ix_(train, train)], y[train])
        proba = model.predict_proba(D[np.ix_(test, train)])
        reached[test] = proba[np.arange(len(test)), y[test]]
    proba = make_machine().fit(D, y).predict_proba(D_new)

    def predict(coverage):
        found = proba >= find_threshold(reached, coverage)
        found[np.arange(len(proba)), proba.argmax(axis=1)] = True
        return found

    return predict


def measure_case(name, D, y, n_train, n_splits):
    """Return rows of the table: mean coverage with its standard error, mean size."""
    seen = {}
    for seed in range(n_splits):
        train, new = train_test_split(
            np.arange(len(y)), train_size=n_train, stratify=y, random_state=seed
        )
        own, across = D[np.ix_(train, train)], D[np.ix_(new, train)]
        model = KreinLogisticRegressionCV(kernel="distance", random_state=seed)
        model.fit(own, y[train])
        machine = predict_machine_sets(own, y[train], across, seed)
        for coverage in COVERAGES:
            sets = {
                "KreinCV": model.predict_set(across, coverage=coverage),
                "KreinCV, by class": model.predict_set(
                    across, coverage=coverage, by_class=True
                ),
                "SVC clip + Platt": machine(coverage),
            }
            for method, found in sets.items():
                held = found[np.arange(len(new)), y[new]].mean()
                size = found.sum(axis=1).mean()
                seen.setdefault((method, coverage), []).append((held, size))
    rows = []
    for (method, coverage), values in seen.items():
        held, size = np.transpose(values)
        error = held.std(ddof=1) / len(held) ** 0.5
        shown = (f"{each:.4f}" for each in (held.mean(), error, size.mean()))
        rows.append([name, n_train, method, coverage, n_splits, *shown])
    return rows


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--splits", type=int, default=200)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    # For classes too small for their own threshold, all labels are kept.
    warnings.filterwarnings("ignore", message=".* too few for a coverage")
    with open(given.out / "coverage.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, (D, y, n_train) in load_cases().items():
            for row in measure_case(name, D, y, n_train, given.splits):
                writer.writerow(row)
                print(*row, sep=", ", flush=True)


if __name__ == "__main__":
    main()
