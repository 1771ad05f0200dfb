"""Draw how distances become similarities: ``python docs/draw_forms.py``.

Each form is computed by the package, for points on a line.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from kreinlearn import DistanceSimilarity

TRANSFORM_STYLES = {
    "exponential": ("#0072b2", "-"),
    "gaussian": ("#d55e00", "--"),
    "truncated": ("#009e73", "-."),
    "negative": ("#6e6e6e", ":"),
}


def main():
    """Draw and save."""
    plt.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "krein"})
    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    places = np.linspace(0, 3, 121)
    D = np.abs(places[:, None] - places)
    median = np.median(D[np.triu_indices(len(D), 1)])
    figure, axes = plt.subplots(
        1, 2, figsize=(8.4, 2.7), layout="constrained", width_ratios=[1.3, 1]
    )
    left, right = axes
    for form, (color, line) in TRANSFORM_STYLES.items():
        similarity = DistanceSimilarity(form).fit_transform(D)[0]
        if form in ("truncated", "negative"):  # which have the unit of the distance
            similarity = similarity / median
        left.plot(D[0] / median, similarity, line, color=color, label=form, lw=2)
    left.set(xlabel="distance / median distance", ylabel="similarity", ylim=(-1.3, 1.1))
    left.axhline(0, color="black", lw=0.6)
    left.legend(fontsize=8, loc="lower right")
    left.set_title("the forms, width 1", loc="left", size=10)
    for width, line in ((0.5, ":"), (1.0, "-"), (2.0, "--")):
        similarity = DistanceSimilarity("exponential", width).fit_transform(D)[0]
        right.plot(D[0] / median, similarity, line, color="#0072b2", label=f"{width:g}")
    right.set(xlabel="distance / median distance", ylim=(0, 1.1))
    right.legend(title="width", fontsize=8)
    right.set_title("exponential, three widths", loc="left", size=10)
    target = Path(__file__).parent / "images" / "distance-forms.svg"
    figure.savefig(target, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    print(target)


if __name__ == "__main__":
    main()
