"""Cross-validation of kernel logistic regression by TorchKM, in a separate process.

Started by ``bench_cv.py``. With K, labels y and folds given, `cvklogit` minimizes

    sum of the losses of the fold / n + ulam a'Ka,

where n is the number of all samples. Ours, the mean loss of the fold plus lam a'Ka / 2,
is the same problem for ``ulam = lam n_fold / (2 n)``. Notes on version 4.3.2:

* It also fits all samples at each lam, as a warm start for the folds.
* It stops when no coefficient changes by more than 0.003. At large lam all
  coefficients are smaller, and it stops after a few steps.
* After each fit it changes the intercept to minimize another loss,
  log(1 + exp(yf - 1)), which decreases with the number of misclassified samples. Its
  coefficients are correct, its intercepts are not. Residuals are therefore those of its
  coefficients with the best intercept; accuracies are those of its own scores.

Its steps divide by mu + 1 + 8 n ulam for each eigenvalue mu of K, and ascend where that
is negative. It converges for slightly indefinite K and diverges otherwise.
"""

import json
import sys
import time
import warnings

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

MAX_STEPS = 20_000
"""Largest number of steps for all lam; its default, 1000, leaves small lam unsolved."""
N_SMALL = 60


def main():
    task = json.loads(sys.argv[sys.argv.index("--child") + 1])
    import torch

    torch.set_num_threads(task["threads"])
    warnings.simplefilter("ignore")  # the report has its status
    difference = compare_on_rbf()  # also a warm-up call
    with np.load(task["file"]) as given:
        K, y, foldid, lams = (given[key] for key in ("K", "y", "foldid", "lams"))
    n_folds = int(foldid.max())
    ulams = lams * (n_folds - 1) / n_folds / 2
    start = time.perf_counter()
    model = fit_torchkm(K, y, foldid, ulams, maxit=task.get("maxit", MAX_STEPS))
    seconds = time.perf_counter() - start
    report = {"seconds": seconds, "coef_difference_rbf": difference}
    print(json.dumps(report | describe_fit(model, K, y, ulams)))


def fit_torchkm(K, y, foldid, ulams, **settings):
    """Return TorchKM's model, fitted."""
    import torch
    from torchkm.cvklogit import cvklogit

    model = cvklogit(
        torch.from_numpy(K),
        torch.from_numpy(y.astype(float)),
        len(ulams),
        torch.from_numpy(ulams),
        torch.from_numpy(foldid),
        nfolds=int(foldid.max()),
        device="cpu",
        **settings,
    )
    model.fit()
    return model


def describe_fit(model, K, y, ulams):
    """Return its status and accuracy, and the residuals by our definition."""
    solved = model.converged.numpy()
    right = np.sign(model.pred.numpy()) == y[:, None]
    residuals = [
        compute_residual(K, y, a, 2 * ulam)
        for a, ulam in zip(model.alpmat.numpy()[1:].T, ulams, strict=True)
    ]
    return {
        "status": "converged" if solved.all() else "max_iter",
        "converged": solved.tolist(),
        "npass": model.npass.tolist(),
        "cvnpass": model.cvnpass.tolist(),
        "accuracy": round(float(right.mean(axis=0).max()), 4),
        "accuracies": right.mean(axis=0).round(4).tolist(),
        "residual": max(residuals, key=lambda each: np.inf if each is None else each),
        "residuals": residuals,
    }


def compute_residual(K, y, a, lam):
    """Return our residual for its coefficients with the best intercept."""
    f = K @ a
    if not np.isfinite(f).all():
        return None
    wide = 2 * np.abs(f).max() + 100
    c = brentq(lambda c: (y * expit(-y * (f + c))).sum(), -wide, wide)
    return float(f"{np.abs(len(y) * lam * y * a - expit(-y * (f + c))).max():.3g}")


def compare_on_rbf():
    """Return the largest relative difference of coefficients on a small RBF matrix."""
    from samples import make_samples

    from kreinlearn import KreinLogisticRegression
    from kreinlearn.kernels import gram

    X, y = make_samples(N_SMALL, 4)
    K, lam = gram(X, kernel="rbf", sigma=0.5), 1e-2
    foldid = np.arange(N_SMALL) % 5 + 1
    theirs = fit_torchkm(K, y, foldid, np.array([lam / 2]), eps=1e-16, maxit=MAX_STEPS)
    a = theirs.alpmat.numpy()[1:, 0]
    ours = KreinLogisticRegression("precomputed", lam=lam, tol=1e-9).fit(K, y)
    a_ours = ours.dual_coef_[0]
    return float(f"{np.abs(a - a_ours).max() / np.abs(a_ours).max():.2g}")


if __name__ == "__main__":
    main()
