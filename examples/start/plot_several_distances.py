# ruff: noqa: D205, D400, E402
"""
Several distances: which one counts?
====================================

Objects can often be compared in several ways. Here, 400 handwritten digits are
compared by the distance between their dark pixels, by their gray values, and by the
sums of their rows and columns. One model takes all three matrices, reports how much
each contributes, and names the images that a person should check.
"""

# %%
# The images come with scikit-learn. The first distance is the modified Hausdorff
# distance: the mean distance from a dark pixel of one image to the nearest dark pixel
# of the other, in the direction where it is larger.

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

images, y = load_digits(return_X_y=True)
rows = np.concatenate([np.flatnonzero(y == digit)[:40] for digit in range(10)])
images, y = images[rows].reshape(-1, 8, 8), y[rows]
names = np.array([f"image{i:03}" for i in range(400)])


def hausdorff(images):
    """Return the modified Hausdorff distances between sets of dark pixels."""
    points = [np.argwhere(image >= 8) for image in images]
    D = np.zeros((len(points), len(points)))
    for i, a in enumerate(points):
        for j in range(i):
            gaps = cdist(a, points[j])
            D[i, j] = D[j, i] = max(gaps.min(axis=0).mean(), gaps.min(axis=1).mean())
    return D


gray = images.reshape(400, -1)
profiles = np.hstack([images.sum(axis=1), images.sum(axis=2)])
matrices = {
    "shape": hausdorff(images),
    "gray": cdist(gray, gray, "cityblock"),
    "profiles": cdist(profiles, profiles, "cityblock"),
}

# %%
# Such matrices usually come from files, with names in the first row and column. Names
# are matched, so that files may be in any order. The same on the command line:
#
# .. code-block:: bash
#
#    krein fit shape.csv gray.csv profiles.csv --distance --labels labels.csv \
#        -o digits.krein
#    krein predict digits.krein new-shape.csv new-gray.csv new-profiles.csv --proba

import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
for name, D in matrices.items():
    pd.DataFrame(D, names, names).to_csv(folder / f"{name}.csv")
frames = {name: pd.read_csv(folder / f"{name}.csv", index_col=0) for name in matrices}

# %%
# Train on 200 images, and predict the others.

from kreinlearn import KreinLogisticRegressionCV

is_new = np.arange(400) % 2 == 1
train, new = names[~is_new], names[is_new]
model = KreinLogisticRegressionCV(kernel="distance")
model.fit(
    {name: frame.loc[train, train] for name, frame in frames.items()},
    pd.Series(y[~is_new], train),
)
print(model.similarity_weights_.round(3))

# %%
# The weight of a matrix is its share in the prediction, with a standard error;
# ``score_alone`` is the held-out log-likelihood of the best model on that matrix alone.
# The gray values decide here. On the new images, the combination is about as good as
# they are alone, without knowing in advance which distance is best:

from sklearn.metrics import log_loss

asked = {name: frame.loc[new, train] for name, frame in frames.items()}
proba = model.predict_proba(asked)
wrong = model.classes_[proba.argmax(axis=1)] != y[is_new]
print(f"all three: log-loss {log_loss(y[is_new], proba):.3f}, {wrong.sum()} errors")
for name, frame in frames.items():
    single = KreinLogisticRegressionCV(kernel="distance")
    single.fit(frame.loc[train, train], y[~is_new])
    alone = single.predict_proba(asked[name])
    errors = (single.classes_[alone.argmax(axis=1)] != y[is_new]).sum()
    print(f"{name:<9}: log-loss {log_loss(y[is_new], alone):.3f}, {errors} errors")

# %%
# The decision: which images does a person check? Prediction sets list the labels that
# cannot be ruled out; images with several labels are doubtful.

sets = model.predict_set(asked, coverage=0.99)
doubtful = np.flatnonzero(sets.sum(axis=1) > 1)
print(f"{len(doubtful)} of 200 images have several labels.")
print(f"They hold {wrong[doubtful].sum()} of {wrong.sum()} errors.")

# %%
# The figure shows the three matrices with images ordered by digit, and the images with
# the smallest probability of their predicted digit.

import matplotlib.pyplot as plt

from kreinlearn.plotting import SimilarityMatrixDisplay

figure = plt.figure(figsize=(10, 6), layout="constrained")
upper, lower = figure.subfigures(2, 1, height_ratios=[3, 2])
for axes, (name, D) in zip(upper.subplots(1, 3), matrices.items(), strict=True):
    display = SimilarityMatrixDisplay.from_matrix(D, y, ax=axes, cmap="cividis")
    display.colorbar_.set_label("distance")
    axes.set_title(name)
least = np.argsort(proba.max(axis=1))[:6]
for axes, i in zip(lower.subplots(1, 6), least, strict=True):
    first, second = np.argsort(-proba[i])[:2]
    axes.imshow(images[is_new][i], cmap="gray_r")
    axes.set_title(f"{first}: {proba[i, first]:.0%}, {second}: {proba[i, second]:.0%}")
    axes.set(xticks=[], yticks=[], xlabel=f"true: {y[is_new][i]}")
if plt.get_backend().lower() != "agg":
    plt.show()
