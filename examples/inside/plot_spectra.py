# ruff: noqa: D205, D400, E402
"""
How indefinite is it?
=====================

Before you repair a similarity, or worry about it, look at its eigenvalues.
``kreinlearn.spectrum.describe`` gives the numbers that matter: how many eigenvalues are
negative, what share of the spectrum they carry, and above which ``lam`` the model has
only one stationary point.
"""

# %%
# We compare nine similarities of the same 178 wines, scaled to [0, 1]. Gaussians and
# Laplacians of the usual distances are positive definite; the others need not be. One
# is our own function: the Gaussian of the largest difference in any feature.

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from kreinlearn.kernels import gram
from kreinlearn.spectrum import describe

X = minmax_scale(load_wine().data)


def chebyshev(X, Y):
    """Return the Gaussian of the largest difference in any feature."""
    return np.exp(-((cdist(X, Y, "chebyshev") / 0.5) ** 2))


matrices = {
    "rbf": gram(X, kernel="rbf"),
    "laplacian": gram(X, kernel="laplacian"),
    "Chebyshev": gram(X, kernel=chebyshev),
    "tl1, ratio 0.7": gram(X, kernel="tl1", ratio=0.7),
    "tl1, ratio 0.2": gram(X, kernel="tl1", ratio=0.2),
    "epanechnikov": gram(X, kernel="epanechnikov"),
    "tanh": gram(X, kernel="tanh"),
    "log": gram(X, kernel="log"),
    "power": gram(X, kernel="power"),
}

print(f"{'similarity':<22}{'+':>5}{'-':>5}{'0':>5}{'negative share':>16}{'lam':>10}")
for name, K in matrices.items():
    report = describe(K)
    positive, negative, zero = report["signature"]
    print(
        f"{name:<22}{positive:>5}{negative:>5}{zero:>5}"
        f"{report['negative_share']:>16.1%}{report['lam_unique']:>10.1e}"
    )

# %%
# The figure shows all eigenvalues, from the largest to the smallest, on a scale that is
# logarithmic in both directions. If there are only a few small negative ones (TL1,
# Epanechnikov), a repair changes little. The Gaussian of Chebyshev's distance has a
# tail of them. Log and power have a single one, as large as all others together: they
# are *conditionally* positive definite, that is, on coefficients that sum to zero, as
# those of a model with an intercept do.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(3, 3, figsize=(10, 7), sharex=True, layout="constrained")
for axis, (name, K) in zip(axes.flat, matrices.items(), strict=True):
    values = np.linalg.eigvalsh(K)[::-1]
    values /= np.abs(values).max()
    colors = np.where(values < 0, "#d55e00", "#0072b2")
    axis.bar(np.arange(len(values)), values, width=1.0, color=colors)
    axis.axhline(0, color="black", linewidth=0.6)
    axis.set_yscale("symlog", linthresh=1e-4)
    axis.set(ylim=(-2, 2), yticks=[-1, -1e-2, -1e-4, 0, 1e-4, 1e-2, 1])
    share = describe(K)["negative_share"]
    axis.set_title(f"{name}: {share:.1%} negative", fontsize=10)
for axis in axes[-1]:
    axis.set_xlabel("index")
for axis in axes[:, 0]:
    axis.set_ylabel("eigenvalue / largest")
if plt.get_backend().lower() != "agg":
    plt.show()
