"""Copy the pictures of the tutorials: ``python docs/copy_pictures.py``.

Each is the figure of an example of the gallery, which has its code; run it after a
build of the docs.
"""

import shutil
from pathlib import Path

DOCS = Path(__file__).parent
PICTURE_EXAMPLES = {
    "series": "plot_series",
    "sequences": "plot_sequences",
    "graphs": "plot_graphs",
    "covariance": "plot_covariance_signals",
    "judgments": "plot_judgments",
    "sets": "plot_sets",
}
"""Names of pictures, and the examples that draw them."""


def main():
    """Copy the figure of each example."""
    for name, example in PICTURE_EXAMPLES.items():
        folder = DOCS / "auto_examples" / "domains" / "images"
        source = folder / f"sphx_glr_{example}_001.png"
        shutil.copyfile(source, DOCS / "images" / f"tutorial-{name}.png")


if __name__ == "__main__":
    main()
