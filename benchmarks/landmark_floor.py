"""Loss of accuracy with half of the samples as landmarks, by penalty.

    KREINLEARN_DATA=... python benchmarks/landmark_floor.py [--quick] [--repeats DRAWS]
        [--cache FOLDER] [--names NAME ...] [--out docs]

Similarities are -d for distances d, which are strongly indefinite. The ratio of two
log-losses in five folds: half of the training samples as landmarks (drawn uniformly,
``--repeats`` times per fold), over all samples. Each penalty has its best lam. Classes
are fitted one versus rest.

* ``as landmarks``: the modulus of K_ZZ.
* ``raised``: the penalty of `LandmarkLogisticRegression`.
* ``moment``: the square root of M times the mean of k k' over all samples.
* ``exact norm``: the rows and columns Z of the modulus of the full matrix. Landmarks do
  not have this norm: its loss is due to the restriction to half of the columns.
* ``euclidean``: the identity.
* ``half the samples``: the model is fitted to the drawn samples only.

Rows go to ``OUT/results/landmark-floor.csv``.
"""

import csv
from pathlib import Path

import numpy as np
from cases import CACHE_FOLDER, load_matrix
from common import parse_options, print_note, run_script
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

from kreinlearn.landmarks.penalty import build_penalty

CASE_NAMES = ("GunPoint", "chickenpieces-20-60", "ItalyPowerDemand", "ArrowHead")
CASE_NAMES += ("protein-haasdonk", "protein", "cat-cortex")
LAM_UNITS = 10.0 ** np.arange(0, -7.1, -0.5)
"""n lam / s, with the mean eigenvalue s of the penalty."""
FIELDS = ("case", "n", "landmarks", "penalty", "unit", "log_loss", "ratio")


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        cache={"type": Path, "default": CACHE_FOLDER, "metavar": "FOLDER"},
        names={"nargs": "+", "choices": CASE_NAMES, "default": CASE_NAMES},
        out={"type": Path, "metavar": "FOLDER"},
    )
    rows = []
    for name in options.names[-1:] if options.quick else options.names:
        found = load_matrix(name, options.cache)
        if found is not None:
            rows += compare_penalties(name, -found.values, found.y, options.repeats)
    if options.out is not None:
        path = options.out / "results" / "landmark-floor.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


def compare_penalties(name, K, y, n_draws):
    """Return the rows of one matrix."""
    y, losses = np.unique(y, return_inverse=True)[1], {}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for number, (train, test) in enumerate(folds.split(K, y)):
        here, there = K[np.ix_(train, train)], K[np.ix_(test, train)]
        labels = (y[train], y[test])
        n = len(train)
        whole = compute_modulus(here)
        losses.setdefault("exact", []).append(
            compute_losses(build_penalty("hilbert", here).T, here, there, *labels)
        )
        for draw in range(n_draws):
            rng = np.random.default_rng([number, draw])
            Z = np.sort(rng.choice(n, n // 2, replace=False))
            C, K_ZZ = here[:, Z], here[np.ix_(Z, Z)]
            coordinates = {
                "as landmarks": build_penalty("hilbert", K_ZZ).T,
                "raised": build_penalty("hilbert", K_ZZ, moment=C.T @ C / n).T,
                "moment": compute_root(C.T @ C / n, 0.25) / len(Z) ** 0.25,
                "exact norm": compute_root(whole[np.ix_(Z, Z)], 0.5),
                "euclidean": build_penalty("euclidean", K_ZZ).T,
            }
            for each, T in coordinates.items():
                found = compute_losses(T, C, there[:, Z], *labels)
                losses.setdefault(each, []).append(found)
            if len(np.unique(y[train][Z])) == y.max() + 1:
                T = coordinates["as landmarks"]
                found = compute_losses(T, K_ZZ, there[:, Z], y[train][Z], y[test])
                losses.setdefault("half the samples", []).append(found)
    means = {each: np.mean(found, axis=0) for each, found in losses.items()}
    rows = []
    for each, mean in means.items():
        best, ratio = mean.argmin(), mean.min() / means["exact"].min()
        M = n if each == "exact" else n // 2
        row = (name, n, M, each, f"{LAM_UNITS[best]:.2g}", f"{mean.min():.4f}")
        rows.append((*row, f"{ratio:.3f}"))
        print_note(" ".join(map(str, rows[-1])))
    return rows


def compute_modulus(K):
    values, vectors = np.linalg.eigh(K)
    return vectors * np.abs(values) @ vectors.T


def compute_root(R, power):
    """Return T with TT' the inverse of R to twice the power, where R is not zero."""
    values, vectors = np.linalg.eigh(R)
    kept = values > 1e-10 * values.max()
    return vectors[:, kept] / values[kept] ** power


def compute_losses(T, C, C_test, y, y_test):
    """Return held-out log-losses, one for each unit of lam."""
    n, n_classes = len(y), y.max() + 1
    A, A_test = (np.c_[each @ T, np.ones(len(each))] for each in (C, C_test))
    targets = y == np.arange(n_classes)[:, None] if n_classes > 2 else y[None] == 1
    scale = np.mean(1 / (T**2).sum(axis=0))  # mean eigenvalue of the penalty
    u, found = np.zeros((len(targets), A.shape[1])), []
    for unit in LAM_UNITS:
        u = np.stack([
            minimize_loss(A, target, unit * scale / n, start)
            for target, start in zip(targets, u, strict=True)
        ])  # fmt: skip
        scores = A_test @ u.T
        if n_classes == 2:
            scores = np.c_[-scores, scores]
        log_p = -np.logaddexp(0, -scores)
        log_p -= np.logaddexp.reduce(log_p, axis=1, keepdims=True)
        found.append(-log_p[np.arange(len(y_test)), y_test].mean())
    return found


def minimize_loss(A, y, lam, u):
    """Return the minimum of mean loss and ridge; the last column is the intercept."""
    n, ridge = len(A), np.append(np.full(A.shape[1] - 1, lam), 0.0)

    def value(u):
        f = A @ u
        return (np.logaddexp(0, f) - y * f).mean() + (ridge * u**2).sum() / 2

    for _ in range(50):
        p = expit(A @ u)
        g = A.T @ (p - y) / n + ridge * u
        H = (A.T * (p * (1 - p) / n)) @ A + np.diag(ridge + 1e-13)
        d = np.linalg.solve(H, g)
        gain, t, old = g @ d, 1.0, value(u)
        while value(u - t * d) > old - 1e-4 * t * gain + 1e-13 and t > 1e-6:
            t /= 2
        u = u - t * d
        if gain < 1e-9:
            break
    return u


if __name__ == "__main__":
    run_script(main)
