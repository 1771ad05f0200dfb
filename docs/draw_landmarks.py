"""Draw the figures of the page on landmarks from their records.

    python docs/draw_landmarks.py

``benchmarks/landmark_curves.py`` makes ``docs/results/landmarks.csv``; the figures go
to ``docs/images/landmarks-*.svg``.
"""

import csv
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).parent
BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
NUMBER_STYLES = {
    "uniform": ("landmarks", BLUE, "o-"),
    "nystroem": ("scikit-learn's Nystroem", ORANGE, "s--"),
}
CHOICE_STYLES = {
    "uniform": ("uniform", BLUE, "o-"),
    "kmeans++": ("k-means++", GREEN, "^--"),
    "leverage": ("leverage scores", ORANGE, "s:"),
}
MAX_COMPARED = 400
"""Ways of choosing are compared up to this number of landmarks."""


def main(docs: Path = DOCS) -> None:
    """Draw both figures."""
    mpl.rcParams |= {"svg.hashsalt": "landmarks", "font.size": 10}
    with (docs / "results" / "landmarks.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["landmarks"] = int(row["landmarks"])
    (docs / "images").mkdir(exist_ok=True)
    draw_numbers(rows, docs / "images" / "landmarks-number.svg")
    draw_choices(rows, docs / "images" / "landmarks-choice.svg")


def draw_numbers(rows, path):
    """Draw accuracy and log-loss against the number of landmarks, a column per set."""
    sets = list_sets([row for row in rows if row["set"] != "clusters"])
    shape = {"figsize": (4.3 * len(sets), 6), "layout": "constrained"}
    figure, axes = plt.subplots(2, len(sets), sharex="col", squeeze=False, **shape)
    for column, name in enumerate(sets):
        mine = [row for row in rows if row["set"] == name]
        both = {row["landmarks"] for row in mine if row["method"] == "nystroem"}
        exact = [row for row in mine if row["method"] == "exact"]
        mine = [r for r in mine if r["landmarks"] in both or r["landmarks"] > 1000]
        for axis, measure in zip(
            axes[:, column], ("accuracy", "log_loss"), strict=True
        ):
            draw_lines(
                axis,
                [r for r in mine if r["method"] in NUMBER_STYLES],
                measure,
                NUMBER_STYLES,
            )
            for row in exact:
                label = f"all {int(row['n']):,} samples"
                axis.axhline(float(row[measure]), color="0.4", ls=":", label=label)
            axis.set_ylabel(f"held-out {measure.replace('_', '-')}")
        axes[0, column].set_title(f"{name}, {int(mine[0]['n']):,} samples")
        axes[0, column].legend(fontsize="small")
        axes[1, column].set_xlabel("landmarks")
    save(figure, path)


def draw_choices(rows, path):
    """Draw log-loss against the number of landmarks for each way to choose them."""
    rows = [row for row in rows if 0 < row["landmarks"] <= MAX_COMPARED]
    sets = list_sets(rows)
    shape = {"figsize": (3.4 * len(sets), 3.4), "layout": "constrained"}
    figure, axes = plt.subplots(1, len(sets), squeeze=False, **shape)
    for axis, name in zip(axes[0], sets, strict=True):
        mine = [row for row in rows if row["set"] == name]
        draw_lines(axis, mine, "log_loss", CHOICE_STYLES)
        axis.set(title=f"{name}, {int(mine[0]['n']):,} samples", xlabel="landmarks")
    axes[0, 0].set_ylabel("held-out log-loss")
    axes[0, 0].legend(fontsize="small")
    save(figure, path)


def draw_lines(axis, rows, measure, methods):
    """Draw means over draws, and the range of the draws."""
    for method, (label, color, style) in methods.items():
        mine = [row for row in rows if row["method"] == method]
        numbers = sorted({row["landmarks"] for row in mine})
        found = [
            [float(row[measure]) for row in mine if row["landmarks"] == M]
            for M in numbers
        ]
        ends = [min(each) for each in found], [max(each) for each in found]
        axis.fill_between(numbers, *ends, color=color, alpha=0.15, linewidth=0)
        axis.plot(numbers, list(map(np.mean, found)), style, color=color, label=label)
    axis.set_xscale("log")
    ticks = sorted({row["landmarks"] for row in rows})
    axis.set_xticks(ticks, [f"{M:,}" for M in ticks])
    axis.minorticks_off()
    axis.grid(color="0.92")


def list_sets(rows):
    """Return the names of the sets in the order of the records."""
    return list(dict.fromkeys(row["set"] for row in rows))


def save(figure, path):
    """Write a figure that is the same on every run."""
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
