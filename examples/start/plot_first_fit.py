# ruff: noqa: D205, D400, E402
"""
A first fit, with probabilities you can rely on
===============================================

The truncated L1 distance (TL1) gives a good similarity for tables of numbers, though
not always a positive definite one. Here we use it on the breast cancer data of
scikit-learn, let cross-validation choose all settings, and check whether the
probabilities are calibrated.
"""

# %%
# TL1 needs features between 0 and 1, so the first step of the pipeline is a scaler.
# ``KreinLogisticRegressionCV`` chooses the width of the kernel, the regularization
# ``lam`` and the norm by log-loss in five-fold cross-validation on the training rows.

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kreinlearn import KreinLogisticRegressionCV

data = load_breast_cancer()
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target, test_size=0.5, stratify=data.target, random_state=0
)
model = make_pipeline(MinMaxScaler(), KreinLogisticRegressionCV(kernel="tl1"))
model.fit(X_train, y_train)
probabilities = model.predict_proba(X_test)
print(f"accuracy {model.score(X_test, y_test):.3f}")
print(f"log-loss {log_loss(y_test, probabilities):.3f}")

# %%
# This is what was chosen, with the certificate of each fit behind the prediction: how
# far it is from a stationary point, in units of probability.

search = model[-1]
print(f"best: {search.kernel_params_}, lam {search.lam_:.1e}, {search.norm_} norm")
for weight, fitted in zip(search.weights_, search.estimators_, strict=True):
    print(
        f"weight {weight:.2f}: {fitted.kernel_params}, {fitted.regime_}, "
        f"{fitted.status_}, residual {fitted.residual_:.0e}"
    )

# %%
# Left: samples are sorted into eight groups of equal size by their probability. In each
# group, the share of benign samples should equal the mean probability. Bars show two
# standard errors of that share. Right: most samples get a clear answer, and few of
# these answers are wrong.

import matplotlib.pyplot as plt
import numpy as np

benign = probabilities[:, 1]
groups = np.array_split(np.argsort(benign), 8)
mean = np.array([benign[group].mean() for group in groups])
share = np.array([y_test[group].mean() for group in groups])
variance = benign * (1 - benign)
error = np.array([np.sqrt(variance[group].sum()) / len(group) for group in groups])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot([0, 1], [0, 1], color="gray", linestyle="--", label="perfect")
bars = np.clip([share - 2 * error, share + 2 * error], 0, 1)
bars = np.abs(bars - share)
left.errorbar(mean, share, bars, fmt="o", color="#0072b2", capsize=3, label="TL1")
left.set(xlabel="predicted probability of benign", ylabel="share of benign samples")
left.legend()
right.hist(
    [benign[y_test == 0], benign[y_test == 1]],
    bins=np.linspace(0, 1, 11),
    color=["#d55e00", "#56b4e9"],
    label=list(data.target_names),
)
right.set(xlabel="predicted probability of benign", ylabel="test samples", yscale="log")
right.legend()
if plt.get_backend().lower() != "agg":
    plt.show()
