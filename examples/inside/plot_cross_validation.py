# ruff: noqa: D205, D400, E402
"""
Cross-validation of kernels and lam in one go
=============================================

For each setting of the kernel, all folds, all values of ``lam`` and both norms share
one matrix, so ``KreinLogisticRegressionCV`` solves them together, as columns of one
block. It keeps all scores in ``scores_``.
"""

# %%
# In the second MONK's problem, a sample is positive if exactly two of its six
# attributes have their first value. No threshold on a single attribute helps, and the
# width of the kernel matters.

from time import perf_counter

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.datasets import make_monks

X, y = make_monks(2)
X_train, X_test, y_train, y_test = train_test_split(
    minmax_scale(X), y, train_size=0.4, stratify=y, random_state=0
)

# %%
# We try two kernels, each with its own grid, eight values of lam, two norms, and five
# folds.

lams = np.geomspace(1, 1e-5, 8)
began = perf_counter()
search = KreinLogisticRegressionCV(lams=lams, kernel=("tl1", "rbf"), random_state=0)
search.fit(X_train, y_train)
seconds = perf_counter() - began
settings, norms, _, folds = search.scores_.shape
print(f"{search.scores_.size} fits in {seconds:.1f} s, n = {len(y_train)}")
print(f"best: {search.kernel_} {search.kernel_params_}, {search.norm_} norm")
print(f"accuracy on other samples: {search.score(X_test, y_test):.3f}")

# %%
# Predictions are averaged over the settings of the kernels and the norms, weighted by
# how well each predicts held-out samples. ``average=False`` uses only the best one.

for weight, model in zip(search.weights_, search.estimators_, strict=True):
    setting = f"{model.kernel} {model.kernel_params}, {model.norm}"
    print(f"{weight:.2f} {setting}, lam {model.lam:.0e}")

# %%
# The figure shows the mean log-loss on the held-out samples for the better of the two
# norms. Bright is good, and the cross marks the best setting. If the norms differ, H or
# E marks the better one, Hilbert or Euclidean.

import matplotlib.pyplot as plt

losses = -search.scores_.mean(axis=3)  # (kernel settings, norms, lams)
better = losses.min(axis=1)
figure, axis = plt.subplots(figsize=(8, 4.6), layout="constrained")
image = axis.imshow(better, cmap="viridis_r", aspect="auto", vmax=0.75)
for (i, j), gap in np.ndenumerate(losses[:, 1] - losses[:, 0]):
    if abs(gap) > 0.005:
        letter = "H" if gap > 0 else "E"
        color = "white" if better[i, j] > 0.55 else "black"
        axis.text(j, i, letter, color=color, ha="center", va="center", fontsize=9)
i, j = np.unravel_index(better.argmin(), better.shape)
axis.plot(j, i, "x", color="black", markersize=14, markeredgewidth=2.5)
labels = [
    f"{kernel}, " + ", ".join(f"{name} {value:.2g}" for name, value in params.items())
    for kernel, params in search.kernel_settings_
]
axis.set_yticks(range(settings), labels)
axis.set_xticks(range(len(lams)), [f"{lam:.0e}" for lam in lams])
axis.set(xlabel="lam", ylabel="kernel")
figure.colorbar(image, ax=axis, label="log-loss on held-out samples", extend="max")
if plt.get_backend().lower() != "agg":
    plt.show()
