"""Draw the picture of the README: ``python docs/draw_readme.py``.

Left, the eigenvalues of a similarity that is no kernel; right, accuracies from
``docs/results/table3.csv``.
"""

import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import MinMaxScaler

from kreinlearn.datasets import make_monks
from kreinlearn.kernels import gram

HERE = Path(__file__).parent
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8a8a8a"
SHOWN = {
    "KreinCV": "KreinLogisticRegressionCV",
    "Clip exact": "clipped, logistic",
    "IKLR krein": "kept, logistic (Krein)",
    "KSVM": "Krein SVM",
    "SVC raw": "kept, SVC",
    "SVM(RBF)": "RBF, SVC",
    "CCICP-GD": "CCICP-GD as printed",
}
"""Methods of Table 3, and what the README calls them."""

X, _ = make_monks(1)
K = gram(MinMaxScaler().fit_transform(X[::3]), kernel="tl1")
mu = np.linalg.eigvalsh(K)[::-1]
place = np.arange(1, len(mu) + 1)

plt.rcParams.update({"font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "krein"})
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 2.9), layout="constrained")

left.bar(place[mu > 0], mu[mu > 0], color=BLUE, width=1)
left.bar(place[mu < 0], mu[mu < 0], color=ORANGE, width=1)
left.axhline(0, color="black", lw=0.6)
left.set_yscale("symlog", linthresh=0.1)
left.set_yticks([-1, 0, 1, 100], ["−1", "0", "1", "100"])
left.annotate(
    "negative:\nno kernel", (0.98, 0.62), xycoords="axes fraction", ha="right"
)
left.set_title("a similarity (TL1, MONK's problem)")
left.set_xlabel("eigenvalue")

accuracy = defaultdict(list)
with (HERE / "results" / "table3.csv").open(encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file):
        if row["measure"] == "acc" and row["ours"] and row["data"] != "parkinsons":
            accuracy[row["method"]].append(float(row["ours"]))
means = {SHOWN[name]: np.mean(accuracy[name]) for name in SHOWN}
order = sorted(means, key=means.get)
colors = [BLUE if "Krein" in name and "CV" in name else GREY for name in order]
for position, (name, color) in enumerate(zip(order, colors, strict=True)):
    right.plot([0.75, means[name]], [position] * 2, ":", color=GREY, lw=0.8)
    right.plot(means[name], position, "o", color=color, ms=7)
    right.text(means[name] + 0.002, position, f"{means[name]:.3f}", va="center", size=8)
right.set_yticks(range(len(order)), order)
right.set_xlim(0.75, 0.85)
right.tick_params(axis="y", length=0)
right.set_title("mean accuracy on 15 data sets")
right.set_xlabel("ten random halves each")

target = HERE / "images" / "readme.svg"
figure.savefig(target, metadata={"Date": None, "Creator": None})
print(target)
