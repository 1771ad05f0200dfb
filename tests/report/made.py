"""Findings as the command line makes them, small and real."""

import platform
from functools import cache

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    roc_auc_score,
    roc_curve,
)
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kreinlearn.app.comparison.page import comparison_page
from kreinlearn.app.inspection.page import inspection_page
from tests.conftest import scaled, tl1_naive

NASTY = "<b>&\"x'</b> $a$ \x07 {{1}} 日本"
"""A name that a page must show as it is, in text, attributes and drawings."""
VERSIONS = {
    "kreinlearn": "0.1.0",
    "python": platform.python_version(),
    "numpy": np.__version__,
    "scikit-learn": sklearn.__version__,
}
MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "neighbors": KNeighborsClassifier(5),
    "naive Bayes": GaussianNB(),
    "logistic, weak": make_pipeline(StandardScaler(), LogisticRegression(C=0.001)),
}
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def moons():
    return make_moons(120, noise=0.3, random_state=0)


DATA = {
    "moons": moons,
    "cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
}


def make_spectrum(X, n=150):
    X = scaled(X[:n])
    K = tl1_naive(X, X, 0.5 * X.shape[1])
    mu = np.linalg.eigvalsh(K)[::-1]
    signs = [int((mu > 1e-9).sum()), int((mu < -1e-9).sum())]
    return {
        "mu_min": float(mu[-1]),
        "mu_max": float(mu[0]),
        "signature": [*signs, len(mu) - sum(signs)],
        "negative_share": float(-mu[mu < 0].sum() / np.abs(mu).sum()),
        "eigenvalues": mu.tolist(),
    }


def make_reliability(right, given):
    place = np.minimum((5 * given).astype(int), 4)
    bins = [place == each for each in np.unique(place)]
    observed = [float(right[own].mean()) for own in bins]
    return {
        "predicted": [float(given[own].mean()) for own in bins],
        "observed": observed,
        "low": [0.8 * share for share in observed],
        "high": [0.8 * share + 0.2 for share in observed],
        "count": [int(own.sum()) for own in bins],
    }


def scored(method, model, X, y, kernel):
    proba = cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba")
    guess = proba.argmax(axis=1)
    scores = [float((guess[held] == y[held]).mean()) for _, held in FOLDS.split(X, y)]
    is_two = proba.shape[1] == 2
    given = proba[:, 1] if is_two else proba
    head = {"method": method, "kernel": kernel, "label": method}
    row = head | {
        "accuracy": float(np.mean(scores)),
        "accuracy_std": float(np.std(scores)),
        "accuracy_low": float(np.mean(scores)) - 0.04,
        "accuracy_high": float(np.mean(scores)) + 0.03,
        "balanced_accuracy": balanced_accuracy_score(y, guess),
        "log_loss": log_loss(y, proba),
        "auc": float(roc_auc_score(y, given, multi_class="ovr")),
        "fit_seconds": 0.01 * len(method),
        "statuses": {"converged": 5},
        "scores": scores,
        "same_as": None,
        "confusion": confusion_matrix(y, guess).tolist(),
        "behind": {
            "accuracy": {"mean": -0.01 * len(method), "low": -0.3, "high": 0.01},
            "log_loss": {"mean": 0.01 * len(method), "low": 0.005, "high": 0.4},
        },
    }
    if is_two:
        fpr, tpr, _ = roc_curve(y, given)
        reliable = make_reliability(y, given)
    else:
        fpr, tpr, _ = roc_curve((y[:, None] == np.arange(3)).ravel(), proba.ravel())
        reliable = make_reliability(guess == y, proba.max(axis=1))
    curve = {"roc": {"fpr": fpr.tolist(), "tpr": tpr.tolist()}}
    return row | curve | {"reliability": reliable, "error": None, "failed": 0}


def comparison(name, nasty=False):
    """Return the findings of a comparison on a data set."""
    X, y = DATA[name]()
    shown = NASTY if nasty else name
    kernel = NASTY if nasty else "tl1 (ratio 0.5)"
    classes = [NASTY if nasty else f"class {each}" for each in np.unique(y)]
    data = {"name": shown, "n": len(y), "m": X.shape[1], "classes": classes}
    rows = [
        scored(f"{NASTY} {method}" if nasty else method, model, X, y, kernel)
        for method, model in MODELS.items()
    ]
    failed = dict.fromkeys(
        ("accuracy", "accuracy_std", "balanced_accuracy", "log_loss", "auc")
    )
    head = {"method": "SVC raw", "kernel": None, "label": "SVC raw", "same_as": None}
    head["behind"] = {"accuracy": None, "log_loss": None}
    ends = {"fit_seconds": None, "statuses": {"error": 5}, "scores": [], "failed": 5}
    rows.append(head | failed | ends | {"error": NASTY if nasty else "no result"})
    return {
        "kind": "comparison",
        "title": f"Comparison on {shown}",
        "interval": "Nadeau and Bengio",
        "verdict": "Use the similarity: learning with it is as good as the best.",
        "sentences": [
            "Use the similarity: learning with it is as good as the best.",
            f"{len(rows)} rows were compared.",
        ],
        "data": data | {"kernels": {kernel: make_spectrum(X)}},
        "methods": [row["method"] for row in rows],
        "rows": rows,
        "command": "krein compare moons",
        "versions": VERSIONS,
    }


@cache
def comparison_text(name, nasty=False):
    """Return the page of a comparison, which is drawn once."""
    return comparison_page(comparison(name, nasty=nasty))


@cache
def inspection_text(*, labels=True, nasty=False):
    """Return the page of an inspection, which is drawn once."""
    return inspection_page(inspection(labels=labels, nasty=nasty))


def inspection(*, labels=True, nasty=False):
    """Return the findings of an inspection."""
    X, _ = moons()
    null = (0.01 * np.random.default_rng(0).standard_normal(200)).tolist()
    scores = {
        "unrepaired": {"accuracy": 0.93, "log_loss": 0.21},
        "clip": {"accuracy": 0.9, "log_loss": 0.27},
        "flip": {"accuracy": 0.9, "log_loss": 0.28},
        "negative part alone": {"accuracy": 0.61, "log_loss": 0.67},
    }
    value = {
        "what": "keep",
        "scores": scores,
        "difference": 0.031,
        "p_value": 0.005,
        "permutations": null,
    }
    model = {
        "accuracy": 0.92,
        "log_loss": 0.22,
        "accuracy_low": 0.86,
        "accuracy_high": 0.96,
        "majority": 0.5,
        "folds": 5,
    }
    n = len(X)
    spectrum = make_spectrum(X)
    return spectrum | {
        "kind": "inspection",
        "source": NASTY if nasty else "train.csv",
        "kernel": "tl1",
        "params": {"ratio": 0.5},
        "n": n,
        "n_given": n,
        "n_verdict": 1,
        "classes": [NASTY if nasty else "no", "yes"] if labels else None,
        "asymmetry": {"largest": 0.0, "relative": 0.0, "share": 0.0},
        "unique_lam": abs(spectrum["mu_min"]) / (4 * n),
        "model": model if labels else None,
        "value": value if labels else None,
        "recommendation": "keep" if labels else "unknown",
        "sentences": [
            "Keep the negative part: it helps to predict held-out labels."
            if labels
            else "The similarity is indefinite; without labels nobody can say more.",
            "An example of a second sentence.",
            "An example of a third sentence.",
        ],
        "versions": VERSIONS,
    }


PAGES = {
    "comparison": lambda: comparison_text("moons"),
    "comparison, three classes": lambda: comparison_text("iris"),
    "comparison, odd names": lambda: comparison_text("moons", nasty=True),
    "inspection": inspection_text,
    "inspection without labels": lambda: inspection_text(labels=False),
    "table4": None,
    "fig2": None,
}
"""Pages that are opened in a browser; None for those of records in docs/results."""
