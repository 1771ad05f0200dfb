"""Draw the five questions of the page "Results": ``python docs/draw_decision.py``."""

from pathlib import Path

import matplotlib.pyplot as plt

BLUE, GREY = "#0072b2", "#555555"
STEPS = [
    (
        "1. Do you have a table of numbers?",
        "yes",
        "KreinLogisticRegressionCV() after MinMaxScaler;\n"
        "krein compare: does a plain method do as well?",
    ),
    (
        "2. Are they distances: zero on the diagonal,\nlarger for unlike samples?",
        "yes",
        'kernel="distance", --distance;\nfor similarities kernel="precomputed"',
    ),
    (
        "3. Is K(x, z) the same as K(z, x)?",
        "no",
        'symmetrize="mean", "max" or "min",\nor norm="euclidean"',
    ),
    (
        "4. Do you need probabilities?",
        "no",
        'SVC after SpectrumRepair("clip") is as accurate and\n'
        "faster; krein inspect tests the negative part",
    ),
    (
        "5. More than a few thousand samples?",
        "yes",
        'up to some ten thousand norms=("euclidean",);\n'
        'beyond, LandmarkLogisticRegression, or operator="blocked"',
    ),
]
"""Questions, the answer that leads aside, and where it leads."""
LAST = "KreinLogisticRegressionCV with its defaults"


def main():
    """Draw and save."""
    plt.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "krein"})
    figure, axis = plt.subplots(figsize=(9.4, 5.4), layout="constrained")
    question = {"boxstyle": "round,pad=0.5", "fc": "#eef4fa", "ec": BLUE}
    answer = {"boxstyle": "round,pad=0.5", "fc": "white", "ec": GREY}
    words = {"ha": "center", "va": "center", "size": 9.5}
    arrow = {"arrowstyle": "-|>", "color": GREY, "lw": 1.2}
    for i, (asked, aside, where) in enumerate(STEPS):
        y = -1.1 * i
        axis.text(0, y, asked, bbox=question, **words)
        axis.text(5.6, y, where, bbox=answer, **words)
        axis.annotate("", (3.35, y), (2.05, y), arrowprops=arrow)
        axis.text(2.7, y + 0.08, aside, ha="center", va="bottom", size=9)
        axis.annotate("", (0, y - 0.72), (0, y - 0.34), arrowprops=arrow)
        onward = "no" if aside == "yes" else "yes"
        onward = "then" if i == 1 else onward
        axis.text(0.1, y - 0.53, onward, ha="left", va="center", size=9)
    axis.text(0, -1.1 * len(STEPS), LAST, bbox=question | {"fc": "#d6e6f4"}, **words)
    axis.set(xlim=(-2.3, 7.9), ylim=(-1.1 * len(STEPS) - 0.4, 0.45))
    axis.axis("off")
    target = Path(__file__).parent / "images" / "which-method-decision.svg"
    figure.savefig(target, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    print(target)


if __name__ == "__main__":
    main()
