# ruff: noqa: D205, D400, E402
"""
SVC and probabilities, side by side
===================================

A support vector machine gives scores; probabilities are fitted to them afterwards, by
``CalibratedClassifierCV``, now that ``SVC(probability=True)`` is deprecated. Kernel
logistic regression is a model of probabilities. Both get the same similarity, which is
not positive definite: the largest difference between any two measurements.
"""

# %%
# Measurements of tumors, scaled to [0, 1]. The similarity falls with the Chebyshev
# distance, and its matrix has negative eigenvalues.

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from kreinlearn.spectrum import describe

X, y = load_breast_cancer(return_X_y=True)
X = MinMaxScaler().fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.6, stratify=y, random_state=1
)


def similarity(Z):
    """Return the similarities of samples with the training samples."""
    return np.exp(-((cdist(Z, X_train, "chebyshev") / 0.3) ** 2))


K, K_test = similarity(X_train), similarity(X_test)
about = describe(K)
print(f"{about['signature'][1]} of {len(K)} eigenvalues are negative")

# %%
# The machine as it is, the machine on the repaired matrix, and ours. C is searched for,
# and so is lam, which is 1 / (n C).

from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegressionCV, SpectrumRepair

grid = np.logspace(-1, 3, 5)
raw = GridSearchCV(SVC(kernel="precomputed"), {"C": grid}, cv=3)
clipped = GridSearchCV(
    make_pipeline(SpectrumRepair("clip"), SVC(kernel="precomputed")),
    {"svc__C": grid},
    cv=3,
)
methods = {
    "SVC, calibrated": CalibratedClassifierCV(raw, ensemble=False),
    "clip, SVC, calibrated": CalibratedClassifierCV(clipped, ensemble=False),
    "KreinLogisticRegressionCV": KreinLogisticRegressionCV(kernel="precomputed"),
}
probabilities = {}
for name, method in methods.items():
    method.fit(K, y_train)
    probabilities[name] = method.predict_proba(K_test)[:, 1]
    loss = log_loss(y_test, probabilities[name])
    print(f"{name:<26} accuracy {method.score(K_test, y_test):.3f}, ", end="")
    print(f"log-loss {loss:.3f}")

# %%
# Left: of the samples with a given probability, how many are really benign? On the
# diagonal, probabilities are calibrated. With some 340 test samples, the points in
# the middle rest on few of them. Right: the forty samples that cost each method most,
# as minus the logarithm of the probability that it gave to the truth.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
edges = np.array([0, 0.1, 0.3, 0.7, 0.9, 1.0])
colors = ["#d55e00", "#e69f00", "#0072b2"]
markers = ["s", "^", "o"]
left.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
for (name, p), color, marker in zip(
    probabilities.items(), colors, markers, strict=True
):
    part = np.digitize(p, edges[1:-1])
    some = [k for k in range(5) if (part == k).sum() > 2]
    said = [p[part == k].mean() for k in some]
    real = [y_test[part == k].mean() for k in some]
    left.plot(said, real, marker=marker, color=color, label=name)
    cost = -np.log(np.where(y_test == 1, p, 1 - p))
    right.plot(np.sort(cost)[::-1], color=color, label=name)
left.set(xlabel="probability that was said", ylabel="share that was benign")
left.legend(fontsize="small")
right.set(xlabel="samples, worst first", ylabel="-log(probability of the truth)")
right.set(xlim=(0, 40))
right.legend(fontsize="small")
if plt.get_backend().lower() != "agg":
    plt.show()
