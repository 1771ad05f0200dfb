"""Accuracy of landmarks by their number, and by the method of selection.

    KREINLEARN_DATA=... python benchmarks/landmark_curves.py [--quick] [--out docs]
        [--only SET ...] [--most M]

Halves of EEG and ijcnn1-tr, and generated clusters of very different sizes. Accuracy
and log-loss on new samples of landmarks, of ``Nystroem`` and ``LogisticRegression``
(with TL1, as many landmarks and the same lam), and of all samples if practical. Each
data set has one lam; that of EEG and ijcnn1-tr was chosen by ``--choose`` with 500
landmarks and three folds, and rounded. Each row is appended to
``OUT/results/landmarks.csv`` immediately; run the same command again to resume.
``docs/draw_landmarks.py`` draws it.
"""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import parse_options, print_note, run_script
from samples import load_halves
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from kreinlearn import KreinLogisticRegression, LandmarkLogisticRegression
from kreinlearn.kernels import gram
from kreinlearn.landmarks.select import SELECTION_METHODS

LANDMARK_COUNTS, SMALL_COUNTS = (
    (100, 200, 500, 1000, 2000, 4000),
    (25, 50, 100, 200, 400),
)
N_DRAWS, MANY_LANDMARKS = 3, 500
"""With more than ``MANY_LANDMARKS`` landmarks there is a single draw."""
DATA_LAMS = {"EEG": 4e-5, "ijcnn1-tr": 1e-5, "clusters": 1e-4}
EXACT_SETS = {"EEG"}
"""Data sets that are also fitted with all samples as landmarks."""
FIELDS = ("set", "n", "method", "landmarks", "draw", "lam", "accuracy", "log_loss")


class SampleSet(NamedTuple):
    """Training and test samples."""

    X: np.ndarray
    y: np.ndarray
    test: tuple[np.ndarray, np.ndarray]


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        out={"type": Path, "default": Path("docs"), "metavar": "FOLDER"},
        only={"nargs": "+", "choices": list(DATA_LAMS), "default": list(DATA_LAMS)},
        most={"type": int, "default": LANDMARK_COUNTS[-1], "metavar": "M"},
        choose={"action": "store_true", "help": "print the lam that a search chooses"},
    )
    if options.choose:
        for name in options.only:
            samples = load_samples(name, options.quick)
            model = LandmarkLogisticRegression(n_landmarks=500, cv=3)
            print_note(f"{name}: lam {model.fit(samples.X, samples.y).lam_:.2g}")
        return
    path = options.out / "results" / "landmarks.csv"
    done = read_tasks(path)
    for task in list_tasks(options):
        if task not in done:
            append_row(path, task, *measure_task(*task, options.quick))


def list_tasks(options):
    """Return the tasks (set, method, landmarks, draw)."""
    small = [
        (name, method, M, draw)
        for M in (SMALL_COUNTS[:2] if options.quick else SMALL_COUNTS)
        for name in options.only
        for draw in range(1 if options.quick else N_DRAWS)
        for method in SELECTION_METHODS
    ]
    if options.quick:
        return [*small, *((name, "nystroem", 50, 0) for name in options.only)]
    large = [
        (name, method, M, draw)
        for M in LANDMARK_COUNTS
        for name in options.only
        if M <= options.most and name != "clusters"
        for draw in range(1 if M > MANY_LANDMARKS else N_DRAWS)
        for method in ("uniform", "nystroem")
    ]
    exact = [(name, "exact", 0, 0) for name in options.only if name in EXACT_SETS]
    return list(dict.fromkeys(large + small + exact))


def measure_task(name, method, M, draw, quick):
    """Return the number of samples, accuracy and log-loss on the test half."""
    samples, lam = load_samples(name, quick), DATA_LAMS[name]
    n = len(samples.X)
    if method == "exact":
        model = KreinLogisticRegression(lam=lam, norm="hilbert")
        return n, *score_model(model.fit(samples.X, samples.y), *samples.test)
    selection = "uniform" if method == "nystroem" else method
    model = LandmarkLogisticRegression(
        n_landmarks=M, landmarks=selection, lam=lam, random_state=draw
    )
    if method != "nystroem":
        return n, *score_model(model.fit(samples.X, samples.y), *samples.test)
    rows = np.random.default_rng(draw).choice(n, M, replace=False)
    features = fit_nystroem(samples.X[rows])
    model = LogisticRegression(C=1 / (n * lam), max_iter=1000)
    model.fit(features(samples.X), samples.y)
    return n, *score_model(model, features(samples.test[0]), samples.test[1])


def score_model(model, X, y):
    p = model.predict_proba(X)
    return float((model.classes_[p.argmax(axis=1)] == y).mean()), float(log_loss(y, p))


def fit_nystroem(Z):
    """Return a function that computes features of ``Nystroem`` with our kernels."""
    U, S, V = np.linalg.svd(gram(Z))
    components = U / np.sqrt(np.maximum(S, 1e-12)) @ V
    return lambda X: gram(X, Z) @ components.T


@cache
def load_samples(name, quick):
    """Return halves, scaled to [0, 1]; outliers of EEG are clipped."""
    if name == "clusters":
        X, y = make_clusters(2000 if quick else 20_000)
        X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
        return SampleSet(X, y, (X_test, y_test))
    X, X_test, y, y_test, _ = load_halves(name, quick)
    if name == "EEG":  # a few artifacts are a hundred times as large as other values
        low, high = np.quantile(X, [0.01, 0.99], axis=0)
        X, X_test = (np.clip((each - low) / (high - low), 0, 1) for each in (X, X_test))
    return SampleSet(X, y, (X_test, y_test))


def make_clusters(n):
    """Return 60 clusters, three of them with 300 times as many; classes alternate."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(size=(60, 4))
    chances = np.where(np.arange(60) < 3, 300.0, 1.0)
    which = rng.choice(60, n, p=chances / chances.sum())
    X = centers[which] + 0.02 * rng.standard_normal((n, 4))
    return np.clip(X, 0, 1), which % 2


def read_tasks(path):
    """Return the tasks whose rows are in the file."""
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {
            (row["set"], row["method"], int(row["landmarks"]), int(row["draw"]))
            for row in csv.DictReader(file)
        }


def append_row(path, task, n, accuracy, loss):
    """Append one row to the file."""
    name, method, M, draw = task
    row = (name, n, method, M, draw, DATA_LAMS[name], f"{accuracy:.5f}", f"{loss:.5f}")
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        writer.writerow(row)
    print_note(" ".join(map(str, row)))


if __name__ == "__main__":
    run_script(main)
