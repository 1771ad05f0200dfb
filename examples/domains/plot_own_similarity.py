# ruff: noqa: D205, D400, E402
"""
Your own similarity: dynamic time warping
=========================================

You can use any symmetric similarity, for any kind of samples: pass a function of two
sets of samples, or the matrix itself. Here it is a Gaussian of the dynamic time warping
distance, which stretches two series until they match. The distance is not a metric, and
the similarity is not positive definite.
"""

# %%
# The samples are short series with a bump, a step or a dent, early or late, fast or
# slow. Their lengths differ, so they form a list, not a table.

import numpy as np

rng = np.random.default_rng(0)
kinds = np.array(["bump", "step", "dent"])


def series(kind):
    """Return a noisy series of 25 to 40 values."""
    t = np.linspace(0, 1, rng.integers(25, 41)) ** rng.uniform(0.6, 1.6)
    x = (t - rng.uniform(0.35, 0.65)) / rng.uniform(0.04, 0.1)
    shapes = {"bump": np.exp(-(x**2)), "step": np.arctan(x) / np.pi + 0.5}
    shapes["dent"] = shapes["bump"] * -x * 1.5
    return shapes[kind] + 0.15 * rng.standard_normal(len(t))


y = rng.permutation(np.repeat(kinds, 50))
samples = [series(kind) for kind in y]

# %%
# The distance takes a dozen lines of code. Once compiled, it fills a whole matrix in a
# moment.

from numba import njit


@njit
def dtw(x, z):
    """Return the smallest sum of differences over all ways to stretch x and z."""
    cost = np.full((len(x) + 1, len(z) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(z)):
            step = min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
            cost[i + 1, j + 1] = abs(x[i] - z[j]) + step
    return cost[-1, -1]


def warped(X, Y, width=12.0):
    """Return the Gaussian of the warping distance between two lists of series."""
    D = np.array([[dtw(x, z) for z in Y] for x in X])
    return np.exp(-((D / width) ** 2))


# %%
# Passed as a function, the similarity is a kernel like any other. Its parameters go
# into ``kernel_params``; with ``kernel_grid``, cross-validation can choose them.

from kreinlearn import KreinLogisticRegression

model = KreinLogisticRegression(kernel=warped, kernel_params={"width": 12.0}, lam=1e-3)
model.fit(samples[:75], y[:75])
print(f"accuracy {model.score(samples[75:], y[75:]):.3f}, {model.regime_}")
print(model.predict_proba(samples[75:78]).round(3), y[75:78])

# %%
# Passed as a matrix, it is computed once for all settings. ``describe`` measures how
# indefinite it is, and cross-validation selects rows and columns by itself.

from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.kernels import gram
from kreinlearn.spectrum import describe

K = gram(samples, kernel=warped, width=12.0)
report = describe(K)
print(f"signature {report['signature']}, {report['negative_share']:.1%} negative")
table = np.array(
    [np.interp(np.linspace(0, 1, 30), np.linspace(0, 1, len(x)), x) for x in samples]
)
for name, model, given in (
    ("warped, Krein", KreinLogisticRegressionCV(kernel="precomputed"), K),
    ("resampled, RBF SVM", SVC(C=10), table),
):
    print(f"{name:<20}{cross_val_score(model, given, y).mean():.3f}")

# %%
# The figure shows series of each kind, the matrix sorted by kind, and its eigenvalues.

import matplotlib.pyplot as plt

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(12, 3.8), layout="constrained"
)
for kind, color in zip(kinds, ("#0072b2", "#d55e00", "#009e73"), strict=True):
    for i, index in enumerate(np.flatnonzero(y == kind)[:3]):
        shift = 4 * list(kinds).index(kind) + 1.2 * i
        left.plot(samples[index] + shift, color=color, label=None if i else kind)
left.set(xlabel="time", ylabel="value, series moved apart")
left.set_ylim(None, 14)
left.legend(loc="upper center", ncols=3, fontsize="small")

order = np.argsort(y, kind="stable")
image = middle.imshow(K[np.ix_(order, order)], cmap="cividis")
middle.set_xticks([25, 75, 125], np.unique(y))
middle.set_yticks([25, 75, 125], np.unique(y), rotation=90, va="center")
middle.set(xlabel="series, sorted by kind")
figure.colorbar(image, ax=middle, label="similarity")

values = np.linalg.eigvalsh(K)[::-1]
right.bar(
    np.arange(len(values)),
    values,
    width=1.0,
    color=np.where(values < 0, "#d55e00", "#0072b2"),
)
right.axhline(0, color="black", linewidth=0.6)
right.set_yscale("symlog", linthresh=1e-2)
right.set(xlabel="index", ylabel="eigenvalue")
if plt.get_backend().lower() != "agg":
    plt.show()
