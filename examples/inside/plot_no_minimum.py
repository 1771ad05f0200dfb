# ruff: noqa: D205, D400, E402
r"""
An objective without a minimum, and what to do about it
=======================================================

Indefinite kernel logistic regression is written as a minimization,

.. math:: F(a) = \frac1n \sum_i \log(1 + e^{-y_i (Ka)_i})
          + \frac{\lambda}{2} a^\top K a.

If K has even a single negative eigenvalue, F has no minimum. Run the published
procedure to high accuracy, and you can watch F fall forever while the classifier gets
worse. What does exist for every K is a stationary point, and Newton's method on the
dual finds it.
"""

# %%
# The data follow the rule of the first MONK's problem. We train on a random part of
# them, with TL1 similarities.

import numpy as np
from sklearn.preprocessing import minmax_scale

from kreinlearn import KreinLogisticRegression
from kreinlearn.datasets import make_monks
from kreinlearn.kernels import gram

X, y = make_monks(1)
X = minmax_scale(X)
train = np.random.default_rng(0).permutation(len(y))[:124]
test = np.setdiff1d(np.arange(len(y)), train)
K, K_test = gram(X[train]), gram(X[test], X[train])
n, lam = len(train), 0.1


def F(a):
    """Return the objective at coefficients a, without an intercept."""
    f = K @ a
    return np.logaddexp(0, -y[train] * f).mean() + lam / 2 * a @ f


# %%
# Along the eigenvector of the most negative eigenvalue, the loss grows at most linearly
# and the penalty falls quadratically. In the direction of the largest eigenvalue all is
# well, which is why the problem is rarely noticed.

values, vectors = np.linalg.eigh(K)
print(f"eigenvalues from {values[0]:.2f} to {values[-1]:.1f}")
print(f"F(0) = {F(np.zeros(n)):.3f}, F(100 v) = {F(100 * vectors[:, 0]):.1f}")
steps = np.linspace(-40, 40, 201)
along = {
    f"eigenvalue {values[i]:.1f}": [F(t * vectors[:, i]) for t in steps]
    for i in (0, -1)
}

# %%
# The concave-convex procedure writes K as a difference of two positive definite parts,
# replaces the concave term by its tangent, minimizes what is left, and repeats. Here
# every convex problem is solved accurately, in coordinates along the eigenvectors.

from scipy.optimize import minimize
from scipy.special import expit

shift = 1.1 * abs(values[0])
positive, negative = np.maximum(values, 0) + shift, np.maximum(-values, 0) + shift
z = np.zeros(n)  # coefficients a = vectors @ z
objective, accuracy = [F(z)], []
for _ in range(10):
    tangent = lam * negative * z

    def surrogate(z, tangent=tangent):
        """Return the value and the gradient of what is left."""
        f = vectors @ (values * z)
        value = np.logaddexp(0, -y[train] * f).mean()
        value += lam / 2 * positive @ z**2 - tangent @ z
        slope = -y[train] * expit(-y[train] * f) / n
        return value, values * (vectors.T @ slope) + lam * positive * z - tangent

    z = minimize(surrogate, z, jac=True, method="L-BFGS-B", options={"maxiter": 5000}).x
    objective.append(F(vectors @ z))
    accuracy.append(np.mean(np.sign(K_test @ vectors @ z) == y[test]))
    print(f"F = {objective[-1]:12.4g}, test accuracy {accuracy[-1]:.3f}")

# %%
# The library runs the published procedure, stops it if F decreases without bound, and
# warns.

import warnings

from kreinlearn.solvers import CCCP, GradientDescent

careful = GradientDescent(step="lipschitz")
published = KreinLogisticRegression(
    "precomputed",
    lam=lam,
    fit_intercept=False,
    solver=CCCP(inner=careful, eps=1e-5, outer_iter=30),
)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    published.fit(K, y[train])
print(published.status_, "-", caught[0].message)

# %%
# Newton's method on the dual, with the same lam, brings the certificate down to zero.

exact = KreinLogisticRegression(
    "precomputed", lam=lam, fit_intercept=False, tol=1e-12
).fit(K, y[train])
residuals = [row["residual"] for row in exact.history_ if row["lam"] == lam]
print(f"{exact.status_}, residual {exact.residual_:.1e}, {exact.regime_}")
print(f"accuracy {exact.score(K_test, y[test]):.3f}")

# %%
# On the right are the outer steps of the procedure, each solved accurately. F falls
# forever, and the classifier is best after a few steps. The paper's own constants stop
# the procedure in time, so its starting point, step sizes and stopping rule are part of
# the model.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
(upper_left, upper_right), (lower_left, lower_right) = axes
for (label, heights), color in zip(along.items(), ("#d55e00", "#0072b2"), strict=True):
    upper_left.plot(steps, heights, color=color, label=label)
upper_left.set(xlabel="t", ylabel="F(t v)", ylim=(-100, 100))
upper_left.set_title("F along eigenvectors v")
upper_left.legend()

upper_right.plot(objective, "o-", color="#d55e00")
upper_right.axhline(0, color="gray", linewidth=0.8)
upper_right.set_yscale("symlog", linthresh=1)
upper_right.set(xlabel="outer step", ylabel="F")
upper_right.set_title("concave-convex procedure: the objective")

lower_right.plot(range(1, len(objective)), accuracy, "s-", color="#d55e00")
lower_right.axhline(
    exact.score(K_test, y[test]), color="#009e73", linestyle="--", label="dual Newton"
)
lower_right.set(xlabel="outer step", ylabel="accuracy on other samples")
lower_right.set_title("concave-convex procedure: the classifier")
lower_right.legend()

lower_left.semilogy(residuals, "o-", color="#009e73")
lower_left.set(xlabel="Newton step", ylabel="largest violation, a probability")
lower_left.set_title("dual Newton: the certificate")
if plt.get_backend().lower() != "agg":
    plt.show()
