# ruff: noqa: D205, D400, E402
"""
Ten classes with probabilities that belong together
===================================================

With more than two classes the model is multinomial: one score per class, turned into
probabilities by softmax, and all classes fitted together. One-versus-rest is available,
too, and fits the classes as columns of one block.
"""

# %%
# The data are handwritten digits of eight by eight pixels, with TL1 similarities.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from kreinlearn import KreinLogisticRegression

digits = load_digits()
X, y = digits.data / 16, digits.target
X_train, X_test, y_train, y_test = train_test_split(
    X, y, train_size=0.5, stratify=y, random_state=0
)
for multi_class in ("ovr", "multinomial"):
    model = KreinLogisticRegression(
        kernel="tl1", kernel_params={"ratio": 0.3}, lam=1e-5, multi_class=multi_class
    ).fit(X_train, y_train)
    probabilities = model.predict_proba(X_test)
    print(
        f"{multi_class:<12} accuracy {model.score(X_test, y_test):.3f}, "
        f"log-loss {log_loss(y_test, probabilities):.3f}, "
        f"residual {model.residual_:.0e}"
    )

# %%
# The probabilities show which predictions to trust: here is the accuracy among the most
# certain samples.

sure = probabilities.max(axis=1)
right = model.classes_[probabilities.argmax(axis=1)] == y_test
order = np.argsort(-sure)
kept = np.arange(1, len(order) + 1)
for share in (0.5, 0.9, 1.0):
    count = int(share * len(order))
    print(f"surest {share:.0%}: accuracy {right[order[:count]].mean():.4f}")

# %%
# Left: accuracy if only the most certain samples get an answer. Right: the six samples
# that the model is least sure about, each with its two most probable classes.

import matplotlib.pyplot as plt

figure = plt.figure(figsize=(11, 4), layout="constrained")
left, right_side = figure.subfigures(1, 2, width_ratios=[1, 1.25])
axis = left.subplots()
axis.plot(kept / len(kept), right[order].cumsum() / kept, color="#0072b2")
axis.set(xlabel="share of samples that get an answer", ylabel="accuracy among them")
axis.set_ylim(0.95, 1.003)
axes = right_side.subplots(2, 3)
for axis, i in zip(axes.flat, order[:-7:-1], strict=True):
    axis.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    first, second = np.argsort(-probabilities[i])[:2]
    axis.set_title(
        f"{first}: {probabilities[i, first]:.0%}, "
        f"{second}: {probabilities[i, second]:.0%}\n"
        f"true: {y_test[i]}",
        fontsize=10,
    )
    axis.set_axis_off()
if plt.get_backend().lower() != "agg":
    plt.show()
