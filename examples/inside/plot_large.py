# ruff: noqa: D205, D400, E402
"""
A matrix too large to store
===========================

The matrix of five thousand samples takes 200 MB; that of fifty thousand takes 20 GB.
``operator="blocked"`` computes the similarities again in every product and does not
keep them, so memory for a few columns is enough. ``operator="auto"``, the default, does
this when the matrix would not fit into memory.
"""

# %%
# The samples are points on two spirals.

import tracemalloc

import numpy as np

from kreinlearn import KreinLogisticRegression

rng = np.random.default_rng(0)


def spirals(n):
    """Return points in the unit square, and which spiral they belong to."""
    y = rng.integers(2, size=n)
    t = 3 * np.pi * np.sqrt(rng.uniform(0.05, 1, n))
    plane = np.c_[np.cos(t + np.pi * y), np.sin(t + np.pi * y)] * t[:, None]
    plane += 0.35 * rng.standard_normal((n, 2))
    return ((plane + 11) / 22).clip(0, 1), y


X, y = spirals(5000)
X_test, y_test = spirals(2000)

# %%
# We fit both ways, for growing n. Memory is the peak that NumPy allocates during the
# fit.

sizes = [1250, 2500, 5000]
memory = {"dense": [], "blocked": []}
probabilities = {}
for operator in memory:  # compile first, which takes memory, too
    KreinLogisticRegression(operator=operator).fit(X[:100], y[:100])
for n in sizes:
    for operator, peaks in memory.items():
        model = KreinLogisticRegression(
            kernel_params={"ratio": 0.1}, lam=1e-4, operator=operator
        )
        tracemalloc.start()
        model.fit(X[:n], y[:n])
        peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
        probabilities[operator] = model.predict_proba(X_test)[:, 1]
        print(f"n {n} {operator:8}{peaks[-1]:6.1f} MB, residual {model.residual_:.0e}")
difference = np.abs(probabilities["dense"] - probabilities["blocked"]).max()
print(f"largest difference between the predictions: {difference:.0e}")
accuracy = np.mean((probabilities["blocked"] > 0.5) == y_test)
print(f"accuracy on other samples: {accuracy:.3f}")

# %%
# The stored matrix grows with the square of n. The blocks stop growing at a fixed size;
# a smaller matrix is a single block. Both ways learn the same model.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for (operator, peaks), style, color in zip(
    memory.items(), ("o-", "s--"), ("#d55e00", "#0072b2"), strict=True
):
    left.plot(sizes, peaks, style, color=color, label=f'operator="{operator}"')
left.set(xlabel="samples", ylabel="peak memory of a fit, MB")
left.set_ylim(0, None)
left.legend()

side = np.linspace(0, 1, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
plane = model.predict_proba(grid)[:, 1]
image = right.imshow(
    plane.reshape(120, 120), origin="lower", extent=(0, 1, 0, 1), cmap="cividis"
)
for label, marker in ((0, "o"), (1, "^")):
    some = X_test[:400][y_test[:400] == label]
    right.scatter(
        *some.T[:2], s=12, marker=marker, c="white", edgecolors="black", linewidths=0.6
    )
right.set(xlabel="first coordinate", ylabel="second coordinate")
figure.colorbar(image, ax=right, label="probability of the second class")
if plt.get_backend().lower() != "agg":
    plt.show()
