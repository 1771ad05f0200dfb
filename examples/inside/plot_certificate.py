# ruff: noqa: D205, D400, E402
r"""
The certificate, and where the answer is unique
===============================================

Every fit of ``KreinLogisticRegression`` reports two things. ``residual_`` is the
largest violation of the stationarity condition over all samples, in units of
probability. ``regime_`` is "unique" if it is proven that no other stationary point
exists, which holds for ``lam`` above :math:`|\mu_{\min}| / (4 n)`. This example shows
both, and what happens below the threshold.
"""

# %%
# We take a matrix with twenty negative eigenvalues, twice as many as positive ones, and
# labels that have nothing to do with it. This is far worse than what you meet in
# practice.

import numpy as np

from kreinlearn import KreinLogisticRegression
from kreinlearn.datasets import make_gram
from kreinlearn.spectrum import describe

K, _ = make_gram((10, 20), scale=30.0, random_state=0)
n = len(K)
y = np.random.default_rng(0).permutation(np.repeat([-1, 1], n // 2))
threshold = describe(K)["lam_unique"]
print(f"n = {n}, mu_min = {describe(K)['mu_min']:.1f}, unique above {threshold:.2f}")

# %%
# The residual falls with every step, and faster and faster, as usual for Newton's
# method. A small ``lam`` is reached through larger ones, so only the last part of the
# history belongs to the value that we ask for.

histories, factors = {}, [4.0, 1.1, 0.1, 0.01]
for factor in factors:
    lam = factor * threshold
    model = KreinLogisticRegression(
        "precomputed", lam=lam, fit_intercept=False, tol=1e-10
    ).fit(K, y)
    residuals = [row["residual"] for row in model.history_]
    histories[f"{factor:g} x threshold, {model.regime_}"] = residuals
    print(f"lam {lam:.3f}: {model.status_}, {model.regime_}, {model.residual_:.0e}")

# %%
# How many stationary points are there? One level below the estimators, the solver takes
# a block of problems, each with its own starting point: here the same problem from
# sixty random starts. Newton's method goes downhill on the dual, so it finds minima.
# There are also saddle points, which are stationary, too.

from kreinlearn.losses import Logistic
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers import DualNewton

n_starts = 60
starts = np.random.default_rng(1).normal(scale=3.0, size=(n, n_starts, 1))
targets = np.repeat((y[:, None, None] == 1).astype(float), n_starts, axis=1)
weights = np.full((n, n_starts), 1 / n)

ratios = np.array([4.0, 2.0, 1.0, 0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05])
counts = []
for ratio in ratios:
    lams = np.full(n_starts, ratio * threshold)
    block = KreinDual(Dense(K), targets, weights, lams, Logistic(), False)
    result = DualNewton().solve(block, starts, tol=1e-8)
    coefficients = block.point(result.w).A  # (target - probability) / (n lam)
    probabilities = (targets - n * lams[:, None] * coefficients)[:, :, 0]
    counts.append(np.unique(probabilities.round(4) + 0.0, axis=1).shape[1])
    print(f"lam = {ratio:.2f} x threshold: {counts[-1]} different answers")

# %%
# Above the threshold, all starts end at the same point. Somewhere below it, the answer
# depends on the start. How far below depends on the data, because the threshold is a
# guarantee, not an estimate. In that range, let cross-validation choose ``lam``.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
colors = ("#0072b2", "#56b4e9", "#e69f00", "#d55e00")
for (label, residuals), color in zip(histories.items(), colors, strict=True):
    left.semilogy(residuals, "o-", markersize=4, color=color, label=label)
left.set(xlabel="Newton step, including larger lam on the way", ylabel="residual")
left.set_ylim(bottom=1e-17)  # room for the legend
left.legend(fontsize="small", loc="lower left")
right.semilogx(ratios, counts, "o-", color="#0072b2")
right.axvspan(1, ratios[0], color="#009e73", alpha=0.15, label="proven unique")
right.set(xlabel="lam / threshold", ylabel="different answers from 60 starts")
right.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 4], "0.05 0.1 0.2 0.5 1 2 4".split())
right.minorticks_off()
right.set_ylim(0, None)
right.legend()
if plt.get_backend().lower() != "agg":
    plt.show()
