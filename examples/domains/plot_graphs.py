# ruff: noqa: D205, D400, E402
"""
Graphs: molecules, and when to say nothing
==========================================

Molecules are graphs: atoms and bonds. Two are alike if their atoms have counterparts
with alike neighbors. Where the model is not sure, it can pass: how many molecules are
left, and how often is it right about those?
"""

# %%
# A graph is a tuple: the number of nodes, the edges, and the labels of the nodes. Each
# of these molecules is a chain of carbon with eight oxygen atoms. In acids most of them
# sit in pairs at one carbon atom, in the others most sit alone.

import numpy as np

rng = np.random.default_rng(3)


def molecule(is_acid):
    """Return a chain with oxygen in pairs, or alone."""
    n = int(rng.integers(14, 22))
    edges, atoms = [(i, i + 1) for i in range(n - 1)], ["C"] * n
    free = list(rng.permutation(n))
    for _ in range(4):
        is_pair = rng.uniform() < (0.7 if is_acid else 0.3)
        carbons = [free.pop()] * 2 if is_pair else [free.pop(), free.pop()]
        for carbon in carbons:
            edges.append((int(carbon), len(atoms)))
            atoms.append("O")
    return len(atoms), edges, atoms


y = np.array(["acid", "other"] * 100)
molecules = [molecule(label == "acid") for label in y]
train, new = molecules[:120], molecules[120:]

# %%
# Nodes agree after some rounds of Weisfeiler-Lehman, or they do not.

from kreinlearn import KreinLogisticRegressionCV

kernel = "weisfeiler_lehman_assignment"
model = KreinLogisticRegressionCV(kernel=kernel, random_state=0).fit(train, y[:120])
proba = model.predict_proba(new)
right = model.predict(new) == y[120:]
print(f"accuracy {right.mean():.3f}")

# %%
# Decide only where one class has at least a probability of 0.8.

sure = proba.max(axis=1)
decided = sure > 0.8
print(f"decided: {decided.sum()} of {len(new)}, right: {right[decided].mean():.3f}")
print(f"passed on: {(~decided).sum()}, would be right: {right[~decided].mean():.3f}")

# %%
# The figure shows that trade-off for all thresholds, the molecule of which the model is
# most sure, and the most doubtful one.

import matplotlib.pyplot as plt


def places(n, edges, steps=500):
    """Return places of the nodes: bonds pull, and all nodes push each other away."""
    turn = np.linspace(0, 1.8 * np.pi, n)
    spots = np.c_[np.cos(turn), np.sin(turn)] * n / 4
    a, b = np.array(edges).T
    for _ in range(steps):
        gaps = spots[:, None] - spots
        square = (gaps**2).sum(axis=2) + np.eye(n)
        force = (gaps / square[:, :, None] ** 1.5).sum(axis=1)
        pull = spots[b] - spots[a]
        pull *= 1 - 1 / np.linalg.norm(pull, axis=1, keepdims=True)
        np.add.at(force, a, 2 * pull)
        np.add.at(force, b, -2 * pull)
        spots += 0.05 * force
    return spots


figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
order = np.argsort(-sure)
share = np.arange(1, len(new) + 1) / len(new)
axes[0].plot(share, np.cumsum(right[order]) / np.arange(1, len(new) + 1), "#0072b2")
axes[0].axvline(decided.mean(), color="0.7", linestyle="--")
axes[0].set(xlabel="share of molecules decided", ylabel="accuracy on these")
colors = {"C": "#999999", "O": "#d55e00"}
for axis, name, i in zip(
    axes[1:], ("most sure", "most doubtful"), order[[0, -1]], strict=True
):
    n, edges, atoms = new[i]
    spots = places(n, edges)
    for one, other in edges:
        axis.plot(*spots[[one, other]].T, color="0.6", zorder=1)
    axis.scatter(*spots.T, c=[colors[atom] for atom in atoms], s=60, zorder=2)
    axis.set_title(f"{name}: {y[120:][i]}, p(acid) = {proba[i, 0]:.2f}")
    axis.set_aspect("equal")
    axis.set_axis_off()
if plt.get_backend().lower() != "agg":
    plt.show()
