# ruff: noqa: D205, D400, E402
"""
Sequences: which proteins go to the laboratory first?
=====================================================

A few proteins are known to bind a drug. Of many others nothing is known, and each test
costs money. Proteins are compared by their best local alignment (Smith-Waterman), and
the model ranks them for testing.
"""

# %%
# Binders share a motif of 15 letters somewhere in their sequence, more or less mutated.
# The rest is random.

import numpy as np

rng = np.random.default_rng(0)
letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))
motif = rng.choice(letters, 15)


def protein(is_binder):
    """Return a sequence of 60 to 100 letters."""
    sequence = rng.choice(letters, rng.integers(60, 101))
    if is_binder:
        place = rng.integers(0, len(sequence) - 15)
        kept = rng.uniform(size=15) < rng.uniform(0.3, 0.8)
        sequence[place : place + 15][kept] = motif[kept]
    return "".join(sequence)


y = np.array(["binds"] * 60 + ["does not"] * 180)
known = [protein(label == "binds") for label in y]
binds = rng.uniform(size=200) < 0.25
candidates = [protein(each) for each in binds]

# %%
# Estimators take the sequences themselves. Scores of alignments are similarities, so
# there is no form to choose.

from kreinlearn import KreinLogisticRegressionCV

model = KreinLogisticRegressionCV(kernel="smith_waterman", random_state=0)
model.fit(known, y)
chance = model.predict_proba(candidates)[:, list(model.classes_).index("binds")]

# %%
# Decide: there is money for 40 tests. Compare with the usual way, which takes the
# candidates in the order of their best score with a known binder.

from kreinlearn.kernels import smith_waterman

nearest = smith_waterman(candidates, known[:60]).max(axis=1)
orders = {
    "probability": np.argsort(-chance),
    "best score with a binder": np.argsort(-nearest),
}
budget = 40
for name, order in orders.items():
    print(f"{name}: {binds[order[:budget]].sum()} binders in {budget} tests")
print(f"at random: {budget * binds.mean():.0f}")
print(f"expected by the model: {np.sort(chance)[-budget:].sum():.1f}")

# %%
# The model is cautious: it expects fewer binders than there are. The order decides.
# Left, what each order finds; right, how the model sees candidates that look alike by
# their best score.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
tests = np.arange(1, len(candidates) + 1)
for (name, order), color in zip(orders.items(), ("#0072b2", "#e69f00"), strict=True):
    left.plot(tests, np.cumsum(binds[order]), color=color, label=name)
left.plot(tests, tests * binds.mean(), "--", color="0.5", label="at random")
left.axvline(budget, color="0.8")
left.set(xlabel="tests", ylabel="binders found")
left.legend(loc="lower right")

for name, rows, color in (("binds", binds, "#d55e00"), ("not", ~binds, "#999999")):
    right.plot(nearest[rows], chance[rows], "o", color=color, markersize=4, label=name)
right.axhline(np.sort(chance)[-budget], color="0.7", linestyle="--")
right.set(xlabel="best score with a known binder", ylabel="probability to bind")
right.legend(loc="lower right")
if plt.get_backend().lower() != "agg":
    plt.show()
