# ruff: noqa: D205, D400, E402
"""
Judgments: learning from what people say is alike
=================================================

Five people say how alike two scents are, from 0 to 10. They use the scale in different
ways, they contradict themselves, and not everybody was asked about every pair. The mean
of their answers is not a kernel. It still separates citrus from wood.
"""

# %%
# Nobody sees where the scents lie; only the answers are used below.

import numpy as np
import pandas as pd

rng = np.random.default_rng(2)
n_known, n_new = 40, 24
kind = np.array(["citrus", "wood"] * ((n_known + n_new) // 2))
place = rng.normal(0, 1, (n_known + n_new, 3)) + 1.3 * (kind == "wood")[:, None]


def answers(firsts, seconds):
    """Return a table with one row per answer."""
    rows = []
    for rater, (offset, spread) in enumerate(
        [(9, 2.0), (8, 1.2), (10, 2.5), (7, 1.0), (9, 1.6)]
    ):
        for a in firsts:
            for b in seconds:
                if a != b and rng.uniform() < 0.6:
                    far = np.linalg.norm(place[a] - place[b])
                    score = offset - spread * far + rng.normal(0, 1)
                    rows.append((rater, a, b, np.clip(np.round(score), 0, 10)))
    return pd.DataFrame(rows, columns=["rater", "one", "other", "score"])


known, new = range(n_known), range(n_known, n_known + n_new)
table = answers(known, known)
table_new = answers(new, known)
print(table.sample(4, random_state=0).to_string(index=False))

# %%
# Raters use the scale in different ways, so each is standardized first. Then the mean
# of all answers to a question is taken, and the mean of both orders of a pair.

usual = table.groupby("rater")["score"].agg(["mean", "std"])


def matrix(answered, rows):
    """Return the mean standardized answer for each pair; NaN where there is none."""
    own = usual.loc[answered["rater"]].to_numpy()
    scores = answered.assign(score=(answered["score"] - own[:, 0]) / own[:, 1])
    wide = scores.pivot_table("score", "one", "other", aggfunc="mean")
    return wide.reindex(index=rows, columns=known).to_numpy()


swapped = table.rename(columns={"one": "other", "other": "one"})
K = matrix(pd.concat([table, swapped]), known).copy()
np.fill_diagonal(K, np.nanmax(K))  # nobody was asked how like itself a scent is
K_new = matrix(table_new, new)
print(f"pairs without any answer: {np.isnan(K).sum()}, {np.isnan(K_new).sum()} new")
K_new = np.where(np.isnan(K_new), 0.0, K_new)  # the usual score of a rater

# %%
# How far is this from a kernel? Twelve of the forty eigenvalues are negative.

from kreinlearn.spectrum import describe

about = describe(K)
print(f"positive, negative, zero eigenvalues: {about['signature']}")
print(f"negative share: {about['negative_share']:.2f}")

# %%
# The search takes the matrix without repair. Uncertain predictions can go to a person.

from kreinlearn import KreinLogisticRegressionCV

model = KreinLogisticRegressionCV(kernel="precomputed", random_state=0)
model.fit(K, kind[:n_known])
citrus = model.predict_proba(K_new)[:, 0]
truth = kind[n_known:] == "citrus"
print(f"accuracy on new scents: {model.score(K_new, kind[n_known:]):.2f}")
doubtful = (citrus > 0.2) & (citrus < 0.8)
print(f"to be smelled again: {doubtful.sum()} of {n_new}")

# %%
# Left: the mean answers, sorted by kind. Middle: the eigenvalues. Right: the new
# scents, in the order of their probabilities.

import matplotlib.pyplot as plt

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(12, 3.6), layout="constrained"
)
order = np.argsort(kind[:n_known], kind="stable")
image = left.imshow(K[np.ix_(order, order)], cmap="cividis")
left.set_xticks([10, 30], ["citrus", "wood"])
left.set_yticks([10, 30], ["citrus", "wood"], rotation=90, va="center")
left.set_title("how alike two scents were said to be", fontsize="medium")
figure.colorbar(image, ax=left, label="mean answer, standardized")

mu = np.linalg.eigvalsh(K)[::-1]
for part, color in ((mu > 0, "#0072b2"), (mu < 0, "#d55e00")):
    middle.bar(np.flatnonzero(part), mu[part], color=color, width=1)
middle.set_yscale("symlog", linthresh=1)
middle.set(xlabel="eigenvalue, from the largest", ylabel="value")

right.axhspan(0.2, 0.8, color="#f0e442", alpha=0.3, label="ask again")
places = np.argsort(citrus)
for name, color in (("citrus", "#d55e00"), ("wood", "#0072b2")):
    here = np.flatnonzero((truth if name == "citrus" else ~truth)[places])
    right.plot(here, citrus[places][here], "o", color=color, label=name)
right.set(xlabel="new scents, in order", ylabel="probability of citrus")
right.legend(loc="upper left")
if plt.get_backend().lower() != "agg":
    plt.show()
