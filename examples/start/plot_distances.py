# ruff: noqa: D205, D400, E402
"""
Distances: words and the edits between them
===========================================

What is at hand is often a distance, not a similarity: here the number of letters to
insert, delete or replace to turn one word into another. Pass the matrix of distances
with ``kernel="distance"``, and cross-validation finds a form that learns well.
"""

# %%
# The samples are words of two languages. No features are computed from them.

import numpy as np

english = """water house bread night light weather brother mother father thing
    thought through right street school friend winter summer morning evening which
    where there other under window kitchen garden flower finger shoulder whether
    daughter laughter knowledge strength length wonder follow yellow""".split()
italian = """acqua casa pane notte luce tempo fratello madre padre cosa pensiero
    attraverso destra strada scuola amico inverno estate mattina sera quale dove
    altro sotto finestra cucina giardino fiore dito spalla figlia risata conoscenza
    forza lunghezza meraviglia seguire giallo bianco azzurro""".split()
words = english + italian
y = np.repeat(["English", "Italian"], [len(english), len(italian)])


def edits(a, b):
    """Return the least number of letters to insert, delete or replace."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, z in enumerate(b, 1):
            best = min(row[j] + 1, row[j - 1] + 1, last + (x != z))
            last, row[j] = row[j], best
    return row[-1]


def distances(X, Y):
    """Return the distances between all words of two lists."""
    return np.array([[edits(x, z) for z in Y] for x in X], dtype=float)


D = distances(words, words)

# %%
# Taken for similarities, distances would be learned upside down: a word would be least
# like itself. Such a matrix raises an error with a remedy.

from kreinlearn import KreinLogisticRegression

try:
    KreinLogisticRegression(kernel="precomputed").fit(D, y)
except ValueError as error:
    print(error)

# %%
# Each form is a similarity of its own; widths are multiples of the median distance.
# The search tries eight forms and widths, and averages models with nearly equal scores.

from sklearn.model_selection import StratifiedKFold, cross_val_score

from kreinlearn import DistanceSimilarity, KreinLogisticRegressionCV
from kreinlearn.spectrum import describe

folds = StratifiedKFold(5, shuffle=True, random_state=0)
names = ("exponential", "gaussian", "negative", "centered", "truncated")
shares, scores = [], []
for form in names:
    model = KreinLogisticRegression(
        "distance", kernel_params={"form": form}, norm="hilbert"
    )
    shares.append(describe(DistanceSimilarity(form).fit_transform(D))["negative_share"])
    scores.append(cross_val_score(model, D, y, cv=folds).mean())
    print(f"{form:<12} negative part {shares[-1]:.2f}, accuracy {scores[-1]:.3f}")
search = KreinLogisticRegressionCV(kernel="distance")
chosen = cross_val_score(search, D, y, cv=folds).mean()
print(f"{'search':<12} {'':<18} accuracy {chosen:.3f}")

# %%
# New words need their distances to the training words. Spelling can mislead:
# *candle* and *bicchiere* look like words of the other language.

search.fit(D, y)
new = ["feather", "number", "candle", "finestrino", "telefono", "bicchiere"]
for word, (_, italian_share) in zip(
    new, search.predict_proba(distances(new, words)), strict=True
):
    print(f"{word:<12} Italian with probability {italian_share:.2f}")

# %%
# The figure shows the distances, sorted by language, and what the forms make of them.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
image = left.imshow(D, cmap="cividis")
left.set_xticks([20, 60], ["English", "Italian"])
left.set_yticks([20, 60], ["English", "Italian"], rotation=90, va="center")
left.set(xlabel="words, sorted by language")
figure.colorbar(image, ax=left, label="edits")
right.barh(names, scores, color="#0072b2")
right.axvline(chosen, color="#d55e00", label="search over forms and widths")
right.set(xlabel="accuracy in cross-validation", xlim=(0.5, 1.0))
right.invert_yaxis()
right.legend(loc="lower right", fontsize="small")
if plt.get_backend().lower() != "agg":
    plt.show()
