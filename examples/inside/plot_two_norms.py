# ruff: noqa: D205, D400, E402
r"""
Two norms
=========

``norm="krein"`` penalizes :math:`a^\top K a`, as the published model does;
``norm="hilbert"`` penalizes :math:`a^\top |K| a`, with the absolute values of the
eigenvalues, and keeps K in the decision function. If the negative part of K is small,
the two hardly differ. If it is large, everything depends on what it contains: the
Hilbert norm fits the labels in all directions, while the Krein norm fits them in
positive directions and works *against* them in negative ones.
"""

# %%
# We take two similarities. TL1 with a small ratio, on the breast cancer data, has a
# small negative part. The Gaussian of the largest difference in a coordinate, on random
# samples labeled by their distance from the center, has a large one.

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import minmax_scale

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.kernels import gram
from kreinlearn.spectrum import describe

X, y = load_breast_cancer(return_X_y=True)
tasks = {"TL1, breast cancer": (gram(minmax_scale(X[::3]), ratio=0.3), y[::3])}

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 12))
radius = np.abs(X[:, :3]).sum(axis=1) + 0.3 * rng.standard_normal(len(X))
D = cdist(X, X, "chebyshev")
K = np.exp(-((D / np.median(D)) ** 2))
tasks["Chebyshev, generated"] = K, np.where(radius > np.median(radius), "far", "near")

# %%
# ``KreinLogisticRegressionCV`` fits all values of lam and both norms in one block, and
# ``scores_`` keeps the score of every fold. It can choose by itself; here we look at
# the whole range.

lams = np.geomspace(1.0, 1e-4, 9)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores, thresholds = {}, {}
for name, (K, y) in tasks.items():
    report = describe(K)
    thresholds[name] = report["lam_unique"]
    print(f"{name}: {report['negative_share']:.1%} negative")
    for scoring in ("accuracy", "neg_log_loss"):
        search = KreinLogisticRegressionCV(
            lams=lams, kernel="precomputed", cv=folds, scoring=scoring, refit=False
        ).fit(K, y)
        scores[name, scoring] = np.abs(search.scores_[0].mean(axis=2))
        print(f"   best by {scoring}: {search.norm_}, lam {search.lam_:.0e}")

# %%
# To the right of the dotted line, the answer of the Krein norm is proven to be unique.
# In the upper row, both norms agree there. In the lower row, the labels are in the
# negative part, and the Krein norm, which works against it, is wrong more often than a
# coin flip.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), sharex=True, layout="constrained")
styles = {"krein": ("o-", "#d55e00"), "hilbert": ("s--", "#0072b2")}
for row, name in zip(axes, tasks, strict=True):
    for axis, scoring in zip(row, ("accuracy", "neg_log_loss"), strict=True):
        for i, (norm, (style, color)) in enumerate(styles.items()):
            means = scores[name, scoring][i]
            axis.semilogx(lams, means, style, color=color, label=f'norm="{norm}"')
        axis.axvline(thresholds[name], color="gray", ls=":", label="unique above")
        axis.set_title(name)
    row[0].set_ylabel("accuracy, held out")
    row[1].set_ylabel("log-loss, held out")
    row[1].set_yscale("log")
for axis in axes[1]:
    axis.set_xlabel("lam")
axes[0, 0].legend()
if plt.get_backend().lower() != "agg":
    plt.show()
