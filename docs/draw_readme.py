"""Draw the picture of the README and of the first page.

    KREINLEARN_DATA=... python docs/draw_readme.py

Two recordings of GunPoint (UCR archive) and how time warping aligns them; eigenvalues
of the Gaussian of that distance for all 200; and what methods make of seventeen real
similarities, from ``docs/results/similarities.csv``.
"""

import csv
import os
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from kreinlearn import DistanceSimilarity
from kreinlearn.kernels import dtw

HERE = Path(__file__).parent
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6e6e6e"
SHOWN = {
    "default": "kreinlearn",
    "KreinSVC": "Krein SVM",
    "clip, SVC": "clipped, then SVC",
    "square, logistic": "squared, logistic",
    "SVC raw": "SVC on it as it is",
    "nearest neighbors": "nearest neighbors",
}
"""Methods in the table of similarities, and what the picture calls them."""


def recordings():
    """Return all recordings of GunPoint, those for training first."""
    folder = Path(os.environ["KREINLEARN_DATA"]) / "ucr"
    parts = [
        np.loadtxt(folder / f"GunPoint_{part}.csv.gz", delimiter=",", skiprows=1)
        for part in ("TRAIN", "TEST")
    ]
    table = np.vstack(parts)
    return table[:, :-1], table[:, -1]


def aligned(x, z):
    """Return the pairs of times that dynamic time warping puts together."""
    cost = (x[:, None] - z) ** 2
    total = np.full((len(x) + 1, len(z) + 1), np.inf)
    total[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(z)):
            before = min(total[i, j], total[i, j + 1], total[i + 1, j])
            total[i + 1, j + 1] = cost[i, j] + before
    i, j = len(x), len(z)
    path = []
    while i and j:
        path.append((i - 1, j - 1))
        steps = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
        i, j = min(steps, key=lambda step: total[step])
    return path[::-1]


def draw_alignment(axis, x, z, apart=3.2):
    """Draw two recordings, one above the other, and lines between aligned times."""
    for i, j in aligned(x, z)[::5]:
        axis.plot([i, j], [x[i] + apart, z[j]], color=GREY, lw=0.5, alpha=0.8)
    axis.plot(x + apart, color=BLUE)
    axis.plot(z, color=ORANGE)
    axis.set(xlabel="time", yticks=[])
    axis.spines["left"].set_visible(False)
    axis.set_title("1. A distance: stretch time until they fit")


def draw_spectrum(axis, K):
    """Draw the eigenvalues of a matrix, largest first."""
    mu = np.linalg.eigvalsh(K)[::-1]
    place = np.arange(1, len(mu) + 1)
    for part, color in ((mu > 0, BLUE), (mu < 0, ORANGE)):
        axis.bar(place[part], mu[part], color=color, width=1)
    axis.axhline(0, color="black", lw=0.6)
    axis.set_yscale("symlog", linthresh=1e-3)
    axis.set_yticks([-0.1, 0, 0.1, 10], ["−0.1", "0", "0.1", "10"])
    said = f"{(mu < 0).sum()} of {len(mu)}\nare negative"
    axis.text(place[mu < 0].mean(), 0.002, said, ha="center", va="bottom", size=8)
    axis.set(xlabel="eigenvalue, from the largest")
    axis.set_title("2. Its Gaussian is not a kernel")


def draw_losses(axis):
    """Draw the mean log-loss of the methods over all similarities."""
    losses = defaultdict(list)
    path = HERE / "results" / "similarities.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            losses[row["method"]].append(float(row["log_loss"]))
    means = {SHOWN[name]: float(np.mean(losses[name])) for name in SHOWN}
    order = sorted(means, key=means.get, reverse=True)
    for place, name in enumerate(order):
        color = BLUE if name == "kreinlearn" else GREY
        axis.plot([0, means[name]], [place] * 2, color=color, lw=3, alpha=0.45)
        axis.plot(means[name], place, "o", color=color, ms=7)
        axis.text(means[name] + 0.014, place, f"{means[name]:.3f}", va="center", size=8)
    axis.set_yticks(range(len(order)), order)
    axis.tick_params(axis="y", length=0)
    axis.set(xlim=(0, 0.48), xlabel="mean log-loss: less is better")
    axis.set_title(f"3. {len(losses['default'])} real similarities")


def main():
    """Draw and save."""
    plt.rcParams.update({"font.size": 9, "svg.fonttype": "path"})
    plt.rcParams.update({"svg.hashsalt": "krein", "axes.titlelocation": "left"})
    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    X, y = recordings()
    figure, (one, two, three) = plt.subplots(
        1, 3, figsize=(10.5, 2.9), layout="constrained", width_ratios=[1, 1, 1]
    )
    gun, point = X[y == y.min()][3], X[y == y.max()][0]
    draw_alignment(one, gun, point)
    draw_spectrum(two, DistanceSimilarity("gaussian").fit_transform(dtw(X)))
    draw_losses(three)
    target = HERE / "images" / "readme.svg"
    figure.savefig(target, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    print(target)


if __name__ == "__main__":
    main()
