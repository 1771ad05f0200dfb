"""Several distances in one model, compared with a single one, a mean and stacking.

    KREINLEARN_DATA=... python benchmarks/several_similarities.py --out docs

Writes ``results/several.csv`` and the table of ``benchmarks.md``.

Data sets, distances, other methods and splits were fixed before the first run. The
best single distance has the lowest mean log-loss on the test samples, which users
cannot know in advance. *chosen alone* has the best out-of-fold score in training. That
row, and the sum of models (stacking inside the search), were added after the first run,
in which stacking was better on the proteins.
"""

import argparse
import csv
import os
from collections import Counter
from pathlib import Path

import numpy as np
from findings import format_cells, update_page
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import minmax_scale

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.app.comparison.demo import compare_dark_pixels, load_digit_images
from kreinlearn.estimators._several import measure_scale
from kreinlearn.features import RegionCovariance
from kreinlearn.kernels import dtw, msm, smith_waterman, spd_distances, twe
from reproduction.data.local import load

N_FOLDS, N_REPEATS = 5, 2
KMER_LENGTH = 3
COLUMNS = "data n method log_loss accuracy difference error".split()
TABLE_NAMES = ("heart", "australian", "sonar")
DARK_LEVEL = 8


def load_series(name):
    """Return three elastic distances between time series."""
    folder = Path(os.environ["KREINLEARN_DATA"]) / "ucr"
    parts = [
        np.genfromtxt(folder / f"{name}_{part}.csv.gz", delimiter=",", skip_header=1)
        for part in ("TRAIN", "TEST")
    ]
    values = np.concatenate(parts)[:300]
    X, y = values[:, :-1], values[:, -1].astype(int)
    named = {"dtw": dtw(X, window=0.1), "dtw of slopes": dtw(X, derivative=True)}
    return named | {"msm": msm(X, c=0.5), "twe": twe(X)}, y


def load_proteins():
    """Return distances of 300 proteins by alignment, 3-mers and composition."""
    import pandas as pd

    path = Path(os.environ["KREINLEARN_DATA"]) / "seq" / "protein-location.csv.gz"
    table = pd.read_csv(path).sample(300, random_state=0)
    sequences = table["sequence"].tolist()
    S = smith_waterman(sequences)
    size = np.sqrt(S.diagonal())
    counts = [
        Counter(each[i : i + KMER_LENGTH] for i in range(len(each) - KMER_LENGTH + 1))
        for each in sequences
    ]
    words = sorted(set().union(*counts))
    found = np.array([[each[word] for word in words] for each in counts], float)
    letters = np.array(
        [
            [each.count(a) / len(each) for a in "ACDEFGHIKLMNPQRSTVWY"]
            for each in sequences
        ]
    )
    return {
        "alignment": 1 - S / np.outer(size, size),
        "3-mers": cdist(found, found, "cosine").clip(0),
        "composition": cdist(letters, letters, "cityblock"),
    }, table["y"].to_numpy()


def load_faces():
    """Return distances between descriptors of three parts of 320 faces."""
    with np.load(Path(os.environ["KREINLEARN_DATA"]) / "yaleb.npz") as file:
        images, y = file["images"][::2], file["subject"][::2]
    third = images.shape[1] // 3
    named = {}
    for i, name in enumerate(("forehead", "eyes and nose", "mouth")):
        part = images[:, i * third : (i + 1) * third]
        X = RegionCovariance().fit_transform(part)
        named[name] = np.sqrt(spd_distances(X, metric="log_euclid"))
    return named, y


def load_images():
    """Return three distances between images of digits."""
    images, y = load_digit_images()
    flat = images.reshape(len(images), -1)
    profiles = np.hstack([images.sum(axis=1), images.sum(axis=2)])
    return {
        "Hausdorff": compare_dark_pixels(images >= DARK_LEVEL),
        "pixels": cdist(flat, flat, "cityblock"),
        "profiles": cdist(profiles, profiles, "cityblock"),
    }, y


def load_table(X, y):
    """Return three distances between rows of a table."""
    scaled = minmax_scale(X)
    names = {"Canberra": "canberra", "Gower": "cityblock", "Chebyshev": "chebyshev"}
    return {key: cdist(scaled, scaled, metric) for key, metric in names.items()}, y


def list_cases():
    """Return the data sets by name, each a function that loads named distances."""
    cases = {
        "digits": load_images,
        "wine": lambda: load_table(*load_wine(return_X_y=True)),
    }
    if "KREINLEARN_DATA" not in os.environ:
        return cases
    for name in TABLE_NAMES:
        cases[name] = lambda name=name: load_table(load(name).data, load(name).target)
    cases["GunPoint"] = lambda: load_series("GunPoint")
    cases["ItalyPowerDemand"] = lambda: load_series("ItalyPowerDemand")
    return cases | {"proteins": load_proteins, "faces": load_faces}


def symmetrize(D):
    """Return an exactly symmetric matrix with a zero diagonal."""
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    return D


def predict_each(D, y, D_new):
    """Return probabilities of new samples by method."""
    q = D.shape[2]
    model = KreinLogisticRegressionCV(kernel="distance")
    found = {"combined": model.fit(D, y).predict_proba(D_new)}
    held, new, scores = [], [], []
    for i in range(q):
        model = KreinLogisticRegressionCV(kernel="distance").fit(D[..., i], y)
        found[f"alone {i}"] = model.predict_proba(D_new[..., i])
        held.append(np.log(model.held_out_proba_.clip(1e-9)))
        new.append(np.log(found[f"alone {i}"].clip(1e-9)))
        scores.append(model.best_score_)
    found["chosen alone"] = found[f"alone {np.argmax(scores)}"]
    scale = np.array([measure_scale(D[..., i], is_distance=True) for i in range(q)])
    model = KreinLogisticRegressionCV(kernel="distance").fit((D / scale).mean(2), y)
    found["mean by hand"] = model.predict_proba((D_new / scale).mean(2))
    stack = LogisticRegressionCV(
        Cs=np.logspace(-3, 3, 7),
        scoring="neg_log_loss",
        max_iter=5000,
        cv=N_FOLDS,
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
    )
    found["stacking"] = stack.fit(np.hstack(held), y).predict_proba(np.hstack(new))
    return found


def measure_case(name, matrices, y):
    """Return rows of the table: means over splits, and differences from the best."""
    D = np.stack([symmetrize(each) for each in matrices.values()], axis=2)
    splitter = RepeatedStratifiedKFold(
        n_splits=N_FOLDS, n_repeats=N_REPEATS, random_state=0
    )
    losses, right = {}, {}
    for train, new in splitter.split(D, y):
        pair = D[np.ix_(train, train)], y[train], D[np.ix_(new, train)]
        classes = np.unique(y[train])
        for method, proba in predict_each(*pair).items():
            losses.setdefault(method, []).append(
                log_loss(y[new], proba, labels=classes)
            )
            labels = classes[proba.argmax(axis=1)]
            right.setdefault(method, []).append(accuracy_score(y[new], labels))
    alone = [f"alone {i}" for i in range(D.shape[2])]
    best = min(alone, key=lambda each: np.mean(losses[each]))
    rows = []
    for method, values in losses.items():
        gap = np.subtract(values, losses[best])
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        shown = method
        if method in alone:
            shown = f"{list(matrices)[alone.index(method)]} alone"
            shown += ", the best" * (method == best)
        figures = (np.mean(values), np.mean(right[method]), gap.mean(), error)
        rows.append([name, len(y), shown, *(f"{each:.4f}" for each in figures)])
    return rows


def make_table(path):
    """Return the lines of the table on the page: log-losses by data set and method."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    others = ("chosen alone", "mean by hand", "stacking", "combined")
    head = ("data", "best single, known afterwards", *others, "combined - best")
    lines = [f"| {' | '.join(head)} |", "| --- " * 2 + "| ---: " * 5 + "|"]
    for name in dict.fromkeys(row["data"] for row in rows):
        own = {row["method"]: row for row in rows if row["data"] == name}
        best = next(method for method in own if method.endswith(", the best"))
        losses = [float(own[method]["log_loss"]) for method in (best, *others)]
        words = format_cells(np.array(losses), 1).split(" | ")
        words[0] = f"{words[0]} ({best.removesuffix(' alone, the best')})"
        gap, error = (float(own["combined"][key]) for key in ("difference", "error"))
        lines.append(f"| {name} | {' | '.join(words)} | {gap:+.3f} ± {error:.3f} |")
    return lines


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("."))
    parser.add_argument("--quick", action="store_true", help="one small data set")
    given = parser.parse_args()
    path = given.out / "results" / "several.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    cases = list_cases()
    if given.quick:
        cases = {"wine": cases["wine"]}
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, load_case in cases.items():
            for row in measure_case(name, *load_case()):
                writer.writerow(row)
                print(*row, sep=", ", flush=True)
            file.flush()
    if (page := given.out / "benchmarks.md").exists():
        update_page(page, {"several": make_table(path)})


if __name__ == "__main__":
    main()
