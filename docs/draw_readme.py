"""Draw the picture of the README and of the first page, from the data of the demo.

python docs/draw_readme.py
"""

from pathlib import Path

import numpy as np

from kreinlearn.app.comparison import demo
from kreinlearn.app.comparison.summary import compute_review
from kreinlearn.app.report import (
    DARK_QUERY,
    PHONE_QUERY,
    Color,
    Figure,
    draw_pictures,
)

DOCS = Path(__file__).parent
METHOD_STYLES = {
    "KreinCV": ("KreinCV", Color.BLUE, "-"),
    "clip + KLR": ("clip + logistic regression", Color.GREEN, "-."),
    "SVC clip + Platt": ("clip + SVC, calibrated", Color.ORANGE, "--"),
}
"""Methods, and their names and looks in the picture."""
N_IMAGES = 6
FILE_NAMES = {
    f"{PHONE_QUERY} and {DARK_QUERY}": "readme-narrow-dark.svg",
    PHONE_QUERY: "readme-narrow.svg",
    DARK_QUERY: "readme-dark.svg",
    "": "readme.svg",
}
"""Names of the files by the screens that they are for."""


def collect_results():
    """Return doubtful images with their titles, and the review curves."""
    records = [record for found, _ in demo.run_methods("digits") for record in found]
    own = [record for record in records if record["method"] == "KreinCV"]
    tests = [test for _, test in demo.make_job("digits").splits.values()]
    rows, proba = np.concatenate(tests), np.vstack([each["proba"] for each in own])
    images, _ = demo.load_digit_images()
    shown = []
    for k in np.argsort(proba.max(axis=1), kind="stable")[:N_IMAGES]:
        first, second = np.argsort(-proba[k])[:2]
        title = f"{first}: {proba[k, first]:.0%}\n{second}: {proba[k, second]:.0%}"
        shown.append((images[rows[k]], title))
    curves = {
        name: compute_review([each for each in records if each["method"] == name])
        for name in METHOD_STYLES
    }
    return shown, curves


def make_figure(shown, curves):
    """Return the figure: doubtful images, and errors left after a review."""

    def draw(figure, is_narrow):
        parts = figure.subfigures(*((2, 1) if is_narrow else (1, 2)))
        parts[0].suptitle("Least certain digits: a person checks these", size=9)
        for axes, (image, title) in zip(
            parts[0].subplots(2, 3).ravel(), shown, strict=True
        ):
            axes.imshow(image, cmap="gray_r", interpolation="nearest")
            axes.set_title(title, loc="right", weight="normal", size=8)
            axes.set_axis_off()
        axes = parts[1].subplots()
        for name, (label, color, line) in METHOD_STYLES.items():
            points = curves[name]["fraction"], curves[name]["left"]
            axes.plot(*points, color=color, ls=line, lw=1.6, label=label)
        axes.set(xlim=(0, 0.6), xlabel="fraction reviewed", ylabel="errors left")
        axes.set_ylim(bottom=0)
        axes.grid()
        axes.legend(loc="upper right", title=None)
        parts[1].suptitle("Errors left of 400 predictions", size=9)

    return Figure(
        "From distances to probabilities",
        "",
        "",
        (lambda figure: draw(figure, False), (7.6, 3.0)),
        (lambda figure: draw(figure, True), (3.7, 5.6)),
    )


def main():
    """Write the pictures."""
    for media, svg in draw_pictures(make_figure(*collect_results())):
        (DOCS / "images" / FILE_NAMES[media]).write_bytes(svg)


if __name__ == "__main__":
    main()
