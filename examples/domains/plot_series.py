# ruff: noqa: D205, D400, E402
"""
Time series: which recordings should a person look at?
======================================================

Pressure rises when a pump starts. Now and then it stalls on the way up, which announces
a fault. No two starts are equally fast, so series are compared by dynamic time warping.
The model gives probabilities, and they decide what is passed on to a person.
"""

# %%
# A start takes 40 to 70 steps. The stall is short, and comes early or late.

import numpy as np

rng = np.random.default_rng(1)


def start(is_faulty):
    """Return the pressure during one start of the pump."""
    time = np.linspace(0, 1, rng.integers(40, 71)) ** rng.uniform(0.8, 1.25)
    middle, steepness = rng.uniform(0.4, 0.6), rng.uniform(9, 14)
    pressure = 1 / (1 + np.exp(-steepness * (time - middle)))
    if is_faulty:
        place, depth = rng.uniform(0.4, 0.8), rng.uniform(0.1, 0.5)
        pressure -= depth * np.exp(-(((time - place) / 0.05) ** 2))
    return pressure + 0.03 * rng.standard_normal(len(time))


y = np.array(["fine", "fault"] * 60)
starts = [start(label == "fault") for label in y]
new_y = rng.choice(["fine", "fault"], 80)
new = [start(label == "fault") for label in new_y]

# %%
# The name of the distance is enough. The search computes the distances once, tries
# eight transforms to similarities, and averages models with nearly equal scores.

from kreinlearn import KreinLogisticRegressionCV

model = KreinLogisticRegressionCV(kernel="dtw", random_state=0).fit(starts, y)
fault = model.predict_proba(new)[:, list(model.classes_).index("fault")]
print(f"accuracy on new starts: {model.score(new, new_y):.3f}")

# %%
# Decide: sound the alarm above 0.9, do nothing below 0.1, and let a person look at the
# rest.

alarm, quiet = fault > 0.9, fault < 0.1
look = ~(alarm | quiet)
truth = new_y == "fault"
print(f"alarm: {alarm.sum()}, of which real faults: {(alarm & truth).sum()}")
print(f"nothing to do: {quiet.sum()}, of which missed faults: {(quiet & truth).sum()}")
print(f"to look at: {look.sum()}, of which faults: {(look & truth).sum()}")

# %%
# The new starts in the order of their probabilities, and those nearest to one half.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
order = np.argsort(fault)
left.axhspan(0.1, 0.9, color="#f0e442", alpha=0.3, label="a person looks")
for label, color in (("fine", "#0072b2"), ("fault", "#d55e00")):
    here = np.flatnonzero(new_y[order] == label)
    left.plot(here, fault[order][here], "o", color=color, markersize=4, label=label)
left.set(xlabel="new starts, in order", ylabel="probability of a fault")
left.legend(loc="upper left")

doubtful = np.argsort(np.abs(fault - 0.5))[:5]
for row, i in enumerate(sorted(doubtful, key=lambda i: fault[i])):
    color = "#d55e00" if truth[i] else "#0072b2"
    right.plot(new[i] + 0.8 * row, color=color)
    right.annotate(f"{fault[i]:.2f}", (len(new[i]), new[i][-1] + 0.8 * row))
right.set(xlabel="time", ylabel="pressure, starts moved apart", xlim=(0, 80))
right.set_title("most doubtful, with the probability of a fault", fontsize="medium")
if plt.get_backend().lower() != "agg":
    plt.show()
