# ruff: noqa: D205, D400, E402
"""
Sets: patients as clouds of cells, and the price of an error
============================================================

A patient is a set of cells, with two measurements of each. Patients have different
numbers of cells, and these have no order. The Wasserstein distance tells how far the
cells of one patient have to be moved to become those of another. To overlook a sick
patient is ten times as bad as a needless second test: that sets the threshold.
"""

# %%
# In sick patients a few cells, from 5 to 30 %, have moved away.

import numpy as np

rng = np.random.default_rng(2)


def patient(is_sick):
    """Return the cells of a patient, one per row."""
    cells = rng.standard_normal((int(rng.integers(20, 41)), 2))
    if is_sick:
        moved = int(len(cells) * rng.uniform(0.05, 0.3))
        cells[:moved] += np.array([1.8, 1.2])
    return cells + 0.15 * rng.standard_normal(2)


sick = np.arange(100) % 2 == 1
patients = [patient(each) for each in sick]
new_sick = rng.uniform(size=150) < 0.3
new = [patient(each) for each in new_sick]

# %%
# The sliced distance looks at the clouds from 50 directions: much faster than the exact
# one (``kernel="wasserstein"``), and it needs no other library.

from kreinlearn import KreinLogisticRegressionCV

model = KreinLogisticRegressionCV(kernel="sliced_wasserstein", random_state=0)
model.fit(patients, sick)
risk = model.predict_proba(new)[:, 1]
print(f"accuracy {np.mean((risk > 0.5) == new_sick):.3f}")

# %%
# Half of the training patients were sick, but only 30 % are in practice. The odds
# follow by Bayes' rule. Then decide: the second test is worth its price if the risk
# times ten is more than the chance that it was needless, that is above 1/11.

odds = risk / (1 - risk) * (0.3 / 0.7)
risk = odds / (1 + odds)
thresholds = np.linspace(0.005, 0.995, 199)
missed = [10 * np.sum(new_sick & (risk <= each)) for each in thresholds]
needless = [np.sum(~new_sick & (risk > each)) for each in thresholds]
cost = np.add(missed, needless)
for name, at in (("1/11", 1 / 11), ("1/2", 1 / 2)):
    print(f"threshold {name}: cost {np.interp(at, thresholds, cost):.0f}")

# %%
# Three patients, and what each threshold would have cost.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 4, figsize=(14, 3.6), layout="constrained")
order = np.argsort(risk)
shown = order[0], order[np.searchsorted(risk[order], 1 / 11)], order[-1]
for axis, i in zip(axes, shown, strict=False):
    color = "#d55e00" if new_sick[i] else "#0072b2"
    axis.scatter(*new[i].T, s=10, color=color)
    decision = "second test" if risk[i] > 1 / 11 else "no test"
    state = "sick" if new_sick[i] else "well"
    axis.set_title(f"risk {risk[i]:.2f}: {decision} ({state})", fontsize="medium")
    axis.set(xlabel="first measurement", xlim=(-4, 5), ylim=(-4, 4.5))
axes[0].set_ylabel("second measurement")
axes[3].plot(thresholds, missed, color="#d55e00", label="missed, ten each")
axes[3].plot(thresholds, needless, color="#0072b2", label="needless, one each")
axes[3].plot(thresholds, cost, color="black", label="both")
axes[3].axvline(1 / 11, color="0.7", linestyle="--")
axes[3].set(xlabel="threshold", ylabel="cost for 150 patients")
axes[3].legend(fontsize="small")
if plt.get_backend().lower() != "agg":
    plt.show()
