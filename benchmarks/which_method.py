"""Which method for an indefinite similarity: nested cross-validation on real ones.

    KREINLEARN_DATA=... python benchmarks/which_method.py [--quick] [--repeats N]
                                                          [--out docs]

Reads distances from ``$KREINLEARN_DATA/sim/NAME.npz`` (arrays ``D`` and ``y``), makes
two similarities of each, and compares our logistic regression with repaired matrices,
support vector machines and nearest neighbors. Outer folds measure, inner folds on the
training rows of the outer fold choose lam, C or k. (Repairs before a logistic
regression see all training rows of the outer fold at once, without labels, so that its
grid is one block; those before a support vector machine are made anew in every inner
fold.) Prints a table; with ``--out`` also
writes ``results/similarities.csv`` and ``images/which-method.svg`` there.
"""

import csv
import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import options_of, say, start
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC

from kreinlearn import (
    DCASVC,
    KreinLogisticRegressionCV,
    KreinSVC,
    SpectrumRepair,
)
from kreinlearn.spectrum import describe

NAMES = ("cat-cortex", "protein", "protein-haasdonk", "chickenpieces-20-60")
SIMILARITIES = ("exp(-d/median)", "-d^2/2 centered")
COSTS = tuple(10.0**k for k in range(-2, 5))
N_LAMS = tuple(10.0**k for k in range(2, -6, -1))
"""Values of n * lam, for all logistic regressions but the one with its defaults."""
INNER = StratifiedKFold(5, shuffle=True, random_state=0)
REFERENCE = "default"
"""What others are compared with: our estimator as it comes."""
SHOWN = {
    "default": ("#0072b2", "o"),
    "krein": ("#56b4e9", "<"),
    "hilbert": ("#56b4e9", ">"),
    "clip, logistic": ("#009e73", "s"),
    "square, logistic": ("#009e73", "D"),
    "SVC raw": ("#d55e00", "^"),
    "clip, SVC": ("#e69f00", "s"),
    "KreinSVC": ("#cc79a7", "v"),
    "nearest neighbors": ("#000000", "x"),
}


def main(argv=None):
    out = {"type": Path, "metavar": "FOLDER", "help": "writes a csv file and a figure"}
    options = options_of(__doc__, argv, out=out)
    home = os.environ.get("KREINLEARN_DATA")
    folder = Path(home or ".") / "sim"
    if not home or not folder.is_dir():
        say(
            "Nothing to do: set KREINLEARN_DATA to a folder that has sim/NAME.npz for "
            f"NAME in {', '.join(NAMES)}."
        )
        return
    found = []
    for name in NAMES[:1] if options.quick else NAMES:
        with np.load(folder / f"{name}.npz") as file:
            D, y = file["D"].astype(float), file["y"]
        D = (D + D.T) / 2
        for similarity in SIMILARITIES[:1] if options.quick else SIMILARITIES:
            found += compare(name, D, y, similarity, options.repeats)
    if options.out:
        write(found, options.out / "results" / "similarities.csv")
        draw(found, options.out / "images" / "which-method.svg")


def compare(name, D, y, similarity, repeats):
    """Return one row a method: scores on the outer test folds."""
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    scores: dict[str, list[tuple[float, float]]] = {}
    for train, test in folds.split(D, y):
        D_train, D_test = D[np.ix_(train, train)], D[np.ix_(test, train)]
        K_train, K_test = similarities(D_train, D_test, similarity)
        for method, (make, uses_distances) in methods(len(train)).items():
            given = (D_train, D_test) if uses_distances else (K_train, K_test)
            scored = score(make, *given, y[train], y[test])
            scores.setdefault(method, []).append(scored)
    whole = describe(similarities(D, D, similarity)[0])
    reference = np.array(scores[REFERENCE])
    found = []
    for method, rows in scores.items():
        accuracy, loss = np.array(rows).T
        difference = accuracy - reference[:, 0]
        # Nadeau and Bengio: outer folds share training rows, so they are no sample.
        spread = np.sqrt((1 / len(rows) + 1 / 4) * difference.var(ddof=1))
        found.append(
            {
                "data": name,
                "n": len(y),
                "classes": len(np.unique(y)),
                "similarity": similarity,
                "negative_share": round(float(whole["negative_share"]), 3),
                "lam_unique": float(f"{whole['lam_unique']:.2e}"),
                "method": method,
                "accuracy": round(accuracy.mean(), 4),
                "accuracy_std": round(accuracy.std(ddof=1), 4),
                "difference": round(difference.mean(), 4),
                "difference_se": round(float(spread), 4),
                "log_loss": round(loss.mean(), 4),
                "log_loss_std": round(loss.std(ddof=1), 4),
                "outer_folds": len(rows),
            }
        )
        row = found[-1]
        print(
            f"{name:<20} {similarity:<16} {method:<18} {row['accuracy']:.3f} "
            f"± {row['accuracy_std']:.3f}  log-loss {row['log_loss']:6.3f}",
            flush=True,
        )
    return found


def similarities(D_train, D_test, similarity):
    """Return both matrices of similarities, made without looking at test rows."""
    if similarity == SIMILARITIES[0]:
        median = np.median(D_train[np.triu_indices_from(D_train, 1)])
        return np.exp(-D_train / median), np.exp(-D_test / median)
    center = KernelCenterer().fit(-(D_train**2) / 2)
    # To a mean diagonal of one, so that C and lam mean the same for all data.
    K_train = center.transform(-(D_train**2) / 2)
    scale = np.abs(np.diag(K_train)).mean()
    return K_train / scale, center.transform(-(D_test**2) / 2) / scale


def methods(n: int) -> dict[str, tuple[Callable[[], Any], bool]]:
    """Return what makes each method for n samples, and whether it takes distances."""

    def ours(*norms):
        lams = np.array(N_LAMS) / n
        return KreinLogisticRegressionCV(lams, norms, "precomputed", cv=INNER)

    def repaired(mode):
        # A shift changes self-similarities only: rows of new samples stay as they are.
        extension = "none" if mode == "shift" else "exact"
        # The matrix is positive semidefinite, so that both norms are the same.
        return make_pipeline(SpectrumRepair(mode, extension), ours("krein"))

    def chosen(model, name="C", values=COSTS):
        return GridSearchCV(model, {name: list(values)}, cv=INNER)

    raw = SVC(kernel="precomputed")
    found = {
        "default": partial(KreinLogisticRegressionCV, kernel="precomputed"),
        "krein or hilbert": partial(ours, "krein", "hilbert"),
        "krein": partial(ours, "krein"),
        "hilbert": partial(ours, "hilbert"),
    }
    for mode in ("clip", "flip", "shift", "square"):
        found[f"{mode}, logistic"] = partial(repaired, mode)
    found |= {
        "SVC raw": partial(chosen, raw),
        "clip, SVC": lambda: chosen(
            make_pipeline(SpectrumRepair("clip"), raw), "svc__C"
        ),
        "flip, SVC": lambda: chosen(
            make_pipeline(SpectrumRepair("flip"), raw), "svc__C"
        ),
        "KreinSVC": partial(chosen, KreinSVC(kernel="precomputed")),
        "DCASVC": partial(chosen, DCASVC(kernel="precomputed")),
    }
    takes_similarities = {name: (make, False) for name, make in found.items()}
    neighbors = KNeighborsClassifier(metric="precomputed")
    k = partial(chosen, neighbors, "n_neighbors", (1, 3, 5, 7, 11))
    return takes_similarities | {"nearest neighbors": (k, True)}


def score(make, K_train, K_test, y_train, y_test):
    """Return accuracy and log-loss, NaN without probabilities."""
    with warnings.catch_warnings():
        # A setting that does not converge is judged like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make().fit(K_train, y_train)
    accuracy = accuracy_score(y_test, model.predict(K_test))
    is_neighbors = isinstance(getattr(model, "estimator", None), KNeighborsClassifier)
    if is_neighbors or not hasattr(model, "predict_proba"):
        return accuracy, np.nan  # shares of one neighbor are no probabilities
    loss = log_loss(y_test, model.predict_proba(K_test), labels=model.classes_)
    return accuracy, loss


def write(found, path):
    """Write the rows as a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    say(f"Wrote {path}.")


def draw(found, path):
    """Draw accuracies and log-losses, one line of marks for each similarity."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "which-method", "svg.fonttype": "none"}
    tasks = list(dict.fromkeys((row["data"], row["similarity"]) for row in found))
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=(10, 1.6 + 0.5 * len(tasks)))
    for axis, measure in zip(axes, ("accuracy", "log_loss"), strict=True):
        for method, (color, marker) in SHOWN.items():
            rows = [row for row in found if row["method"] == method]
            axis.plot(
                [row[measure] for row in rows],
                [tasks.index((row["data"], row["similarity"])) for row in rows],
                marker,
                color=color,
                label=method,
                markersize=7,
                alpha=0.85,
                fillstyle="full" if method == REFERENCE else "none",
            )
        axis.grid(axis="y", color="0.85")
        axis.set_axisbelow(True)
    axes[0].set_yticks(range(len(tasks)), [f"{data}\n{kind}" for data, kind in tasks])
    axes[0].invert_yaxis()
    axes[0].set_xlabel("accuracy, more is better")
    axes[1].set_xlabel("log-loss, less is better")
    axes[1].set_xscale("log")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5
    )
    figure.set_layout_engine("constrained")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    say(f"Wrote {path}.")


if __name__ == "__main__":
    start(main)
