"""How good landmarks are by their number, and by how they are chosen.

    KREINLEARN_DATA=... python benchmarks/landmark_curves.py [--quick] [--out docs]
        [--only SET ...] [--most M]

Halves of EEG and ijcnn1-tr, and generated clusters of very different sizes. Held-out
accuracy and log-loss of landmarks, of scikit-learn's way (``Nystroem`` and
``LogisticRegression``, with TL1, as many landmarks and the same lam), and of all
samples where that is practical. A set has one lam for all; that of EEG and ijcnn1-tr
was chosen by ``--choose`` with 500 landmarks and three folds, and rounded. Each row is
appended to ``OUT/results/landmarks.csv`` as soon as it is there; what is in the file
already is not done again. ``docs/draw_landmarks.py`` draws it.
"""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import options_of, say, start
from samples import halves
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from kreinlearn import KreinLogisticRegression, LandmarkLogisticRegression
from kreinlearn.kernels import gram
from kreinlearn.landmarks.select import SELECTION_METHODS

NUMBERS, SMALL = (100, 200, 500, 1000, 2000, 4000), (25, 50, 100, 200, 400)
DRAWS, MANY = 3, 500
"""With more landmarks than this there is a single draw."""
LAMS = {"EEG": 4e-5, "ijcnn1-tr": 1e-5, "clusters": 1e-4}
EXACT = {"EEG"}
"""Sets that are fitted with all samples as landmarks, too."""
FIELDS = ("set", "n", "method", "landmarks", "draw", "lam", "accuracy", "log_loss")


class Set(NamedTuple):
    """Training and test samples."""

    X: np.ndarray
    y: np.ndarray
    test: tuple[np.ndarray, np.ndarray]


def main(argv=None):
    options = options_of(
        __doc__,
        argv,
        out={"type": Path, "default": Path("docs"), "metavar": "FOLDER"},
        only={"nargs": "+", "choices": list(LAMS), "default": list(LAMS)},
        most={"type": int, "default": NUMBERS[-1], "metavar": "M"},
        choose={"action": "store_true", "help": "print the lam that a search chooses"},
    )
    if options.choose:
        for name in options.only:
            samples = samples_of(name, options.quick)
            model = LandmarkLogisticRegression(n_landmarks=500, cv=3)
            say(f"{name}: lam {model.fit(samples.X, samples.y).lam_:.2g}")
        return
    path = options.out / "results" / "landmarks.csv"
    done = known(path)
    for task in tasks(options):
        if task not in done:
            append(path, task, *measured(*task, options.quick))


def tasks(options):
    """Return (set, method, landmarks, draw) of all that is to be done."""
    small = [
        (name, method, M, draw)
        for M in (SMALL[:2] if options.quick else SMALL)
        for name in options.only
        for draw in range(1 if options.quick else DRAWS)
        for method in SELECTION_METHODS
    ]
    if options.quick:
        return [*small, *((name, "nystroem", 50, 0) for name in options.only)]
    large = [
        (name, method, M, draw)
        for M in NUMBERS
        for name in options.only
        if M <= options.most and name != "clusters"
        for draw in range(1 if M > MANY else DRAWS)
        for method in ("uniform", "nystroem")
    ]
    exact = [(name, "exact", 0, 0) for name in options.only if name in EXACT]
    return list(dict.fromkeys(large + small + exact))


def measured(name, method, M, draw, quick):
    """Return the number of samples, accuracy and log-loss on the test half."""
    samples, lam = samples_of(name, quick), LAMS[name]
    n = len(samples.X)
    if method == "exact":
        model = KreinLogisticRegression(lam=lam, norm="hilbert")
        return n, *judged(model.fit(samples.X, samples.y), *samples.test)
    way = "uniform" if method == "nystroem" else method
    model = LandmarkLogisticRegression(
        n_landmarks=M, landmarks=way, lam=lam, random_state=draw
    )
    if method != "nystroem":
        return n, *judged(model.fit(samples.X, samples.y), *samples.test)
    rows = np.random.default_rng(draw).choice(n, M, replace=False)
    features = nystroem(samples.X[rows])
    model = LogisticRegression(C=1 / (n * lam), max_iter=1000)
    model.fit(features(samples.X), samples.y)
    return n, *judged(model, features(samples.test[0]), samples.test[1])


def judged(model, X, y):
    p = model.predict_proba(X)
    return float((model.classes_[p.argmax(axis=1)] == y).mean()), float(log_loss(y, p))


def nystroem(Z):
    """Return the features of scikit-learn's class, which would take pair by pair."""
    U, S, V = np.linalg.svd(gram(Z))
    components = U / np.sqrt(np.maximum(S, 1e-12)) @ V
    return lambda X: gram(X, Z) @ components.T


@cache
def samples_of(name, quick):
    """Return halves, scaled to [0, 1]; what lies far outside is cut from EEG."""
    if name == "clusters":
        X, y = clusters(2000 if quick else 20_000)
        X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
        return Set(X, y, (X_test, y_test))
    X, X_test, y, y_test, _ = halves(name, quick)
    if name == "EEG":  # a few artefacts, a hundred times as large as all the rest
        low, high = np.quantile(X, [0.01, 0.99], axis=0)
        X, X_test = (np.clip((each - low) / (high - low), 0, 1) for each in (X, X_test))
    return Set(X, y, (X_test, y_test))


def clusters(n):
    """Return 60 clusters, three of them with 300 times as many; classes alternate."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(size=(60, 4))
    chances = np.where(np.arange(60) < 3, 300.0, 1.0)
    which = rng.choice(60, n, p=chances / chances.sum())
    X = centers[which] + 0.02 * rng.standard_normal((n, 4))
    return np.clip(X, 0, 1), which % 2


def known(path):
    """Return what is in the file."""
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {
            (row["set"], row["method"], int(row["landmarks"]), int(row["draw"]))
            for row in csv.DictReader(file)
        }


def append(path, task, n, accuracy, loss):
    """Write one row."""
    name, method, M, draw = task
    row = (name, n, method, M, draw, LAMS[name], f"{accuracy:.5f}", f"{loss:.5f}")
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        writer.writerow(row)
    say(" ".join(map(str, row)))


if __name__ == "__main__":
    start(main)
