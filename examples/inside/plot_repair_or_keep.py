# ruff: noqa: D205, D400, E402
"""
Repair the matrix, or keep it?
==============================

Clipping drops the negative part of a similarity, flipping reverses its sign, and
shifting adds to the diagonal until nothing is negative. The best choice depends on the
content of the negative part, which eigenvalues do not show. Here is one similarity with
three sets of labels: in the positive part, in the negative part, and in both.
"""

# %%
# Samples have positive coordinates, which add to the similarity of samples that agree,
# and negative ones, which subtract from it, like the time coordinate of space-time.

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline

from kreinlearn import KreinLogisticRegressionCV, SpectrumRepair
from kreinlearn.spectrum import describe

rng = np.random.default_rng(0)
n = 300
space, time = rng.standard_normal((2, n, 8))
K = space @ space.T - time @ time.T
noise = rng.standard_normal(n)
tasks = {
    "labels in the positive part, noise in the negative": space[:, 0] + space[:, 1],
    "labels in the negative part, noise in the positive": time[:, 0] + time[:, 1],
    "labels in both": space[:, 0] + time[:, 0],
}
report = describe(K)
print(f"signature {report['signature']}, {report['negative_share']:.0%} negative")

# %%
# Every method is logistic regression and chooses lam on its training samples. Repairs
# are extended to new samples, except the shift, which changes only the diagonal.


def logistic(*norms):
    """Return our estimator for a given matrix."""
    return KreinLogisticRegressionCV(norms=norms, kernel="precomputed")


methods = {
    "keep, krein": logistic("krein"),
    "keep, hilbert": logistic("hilbert"),
    "keep, default": logistic("hilbert", "euclidean"),
    "clip": make_pipeline(SpectrumRepair("clip"), logistic("hilbert")),
    "flip": make_pipeline(SpectrumRepair("flip"), logistic("hilbert")),
    "shift": make_pipeline(SpectrumRepair("shift", "none"), logistic("hilbert")),
}
halves = StratifiedShuffleSplit(3, train_size=100, random_state=0)
accuracy = {}
for task, signal in tasks.items():
    y = np.where(signal + 0.5 * noise > 0, 1, -1)
    for name, method in methods.items():
        scores = []
        for train, test in halves.split(K, y):
            method.fit(K[np.ix_(train, train)], y[train])
            scores.append(method.score(K[np.ix_(test, train)], y[test]))
        accuracy[task, name] = np.mean(scores)
    line = ", ".join(f"{name} {accuracy[task, name]:.2f}" for name in methods)
    print(f"{task}: {line}")

# %%
# If you do not know what the negative part contains, ask the training samples:
# ``SpectrumRepair`` is a step of a pipeline like any other.

y = np.where(tasks["labels in both"] + 0.5 * noise > 0, 1, -1)
K_train, y_train = K[:100, :100], y[:100]
for name in ("keep, default", "clip"):
    losses = -cross_val_score(methods[name], K_train, y_train, scoring="neg_log_loss")
    print(f"{name}: log-loss {losses.mean():.2f} on held-out training samples")

# %%
# Clipping is right if the negative part is noise, and hopeless if it is the signal.
# Flipping and the Hilbert norm use both parts, and lose little where one is noise. The
# Krein norm works against the negative part: where the labels are there, it does worse
# than chance.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(
    1, 3, figsize=(12, 3.6), sharey=True, sharex=True, layout="constrained"
)
colors = ["#d55e00", "#0072b2", "#0072b2", "#009e73", "#009e73", "#009e73"]
for axis, task in zip(axes, tasks, strict=True):
    heights = [accuracy[task, name] for name in methods]
    bars = axis.barh(list(methods), heights, color=colors)
    axis.bar_label(bars, fmt="%.2f", padding=2)
    axis.axvline(0.5, color="black", linestyle=":", linewidth=1)
    axis.set(xlabel="accuracy on other samples", xlim=(0, 1.08))
    axis.set_title(task.replace(", ", ",\n"), fontsize=10)
axes[0].invert_yaxis()
if plt.get_backend().lower() != "agg":
    plt.show()
