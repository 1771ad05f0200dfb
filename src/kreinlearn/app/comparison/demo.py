"""The cases of `krein demo`: data, methods, figures and sentences about results.

Digits: handwritten digits, compared by the modified Hausdorff distance of their dark
pixels. Balls: a published recipe for non-Euclidean distances, whose negative part
matters. The data, methods, folds and figures of both were fixed before the first run.
All sentences about results are computed from them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.spatial.distance import cdist

from kreinlearn._typing import Array
from kreinlearn.app.comparison.plan import PRECOMPUTED, Job, repeat_folds
from kreinlearn.app.comparison.run import score_fold
from kreinlearn.app.comparison.summary import (
    Summary,
    accuracy_interval,
    predict_classes,
    summarize,
)
from kreinlearn.app.methods.records import KREIN_CV, METHODS
from kreinlearn.app.methods.tuning import fit_method
from kreinlearn.app.report.figures import COLUMN, NARROW, Drawing, Figure
from kreinlearn.app.report.page import Section
from kreinlearn.app.runs.records import (
    Cell,
    Record,
    describe_environment,
    make_record,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

FOLDS = 5
SURE = 0.9
"""Probability from which a prediction counts as sure."""
FAIR_RIVAL = "clip + KLR"
"""Logistic regression on the same matrix without its negative part."""
IMAGES_PER_DIGIT = 40
DARK_LEVEL = 8
"""Pixels of at least this gray level, of 16, are dark."""
REVIEWED = 0.2
"""Fraction of predictions that a person reviews in the story of the digits."""
DOUBTFUL_SHOWN = 8
CONTRIBUTIONS_SHOWN = 4
"""Training images for, and as many against, a prediction."""
BOX_SIDE = 100.0
RADII = (1.0, 2.0)
"""Radii of small and of large cells."""
N_CELLS = 200
NAIVE, CLIPPED, RIVAL = "SVC raw", "SVC clip", "flip + KLR"


@dataclass(frozen=True)
class DemoCase:
    """One case of the demo.

    Attributes
    ----------
    title : str
        Heading of the page.
    make_job : callable
        Returns the data and the folds.
    methods : dict of str to str
        Methods in the order of the table, and how each uses the matrix.
    drawn : tuple of str
        Methods whose curves are drawn.
    facts : dict of str to str
        Facts about the data.
    story : tuple of str
        Sentences about the procedure.
    state_results : callable
        From summary and records to the sentences to begin with, the headline first.
    make_sections : callable
        From the records to the first sections of the page.
    """

    title: str
    make_job: Callable[[], Job]
    methods: dict[str, str]
    drawn: tuple[str, ...]
    facts: dict[str, str]
    story: tuple[str, ...]
    state_results: Callable[[Summary, Sequence[Record]], list[str]]
    make_sections: Callable[[Sequence[Record]], list[Section]]


def run_methods(case: DemoCase) -> Iterator[tuple[list[Record], float]]:
    """Yield the records of each method on all folds, and the finished fraction."""
    job = case.make_job()
    total, done = sum(METHODS[method].weight for method in case.methods), 0.0
    for method in case.methods:
        records = []
        for run, fold in job.splits:
            cell = _make_cell(job, method, run, fold)
            found = score_fold(job, cell)
            records.append(make_record(cell, found, **describe_environment()))
        done += METHODS[method].weight
        yield records, done / total


def _make_cell(job: Job, method: str, run: int, fold: int) -> Cell:
    settings = (("kernel", PRECOMPUTED), ("fold", fold))
    return Cell("demo", job.name, method, run, settings)


def summarize_method(records: Sequence[Record]) -> Record:
    """Return mean scores of a method, with a 95% interval, and its total seconds."""
    losses = [record["ll"] for record in records if "ll" in record]
    low, high = accuracy_interval(records) or (None, None)
    return {
        "data": records[0]["data"],
        "method": records[0]["method"],
        "n": sum(len(record["truth"]) for record in records),
        "accuracy": float(np.mean([record["acc"] for record in records])),
        "accuracy_low": low,
        "accuracy_high": high,
        "log_loss": float(np.mean(losses)) if losses else None,
        "seconds": sum(record["fit_s"] for record in records),
    }


def summarize_demo(case: DemoCase, records: Sequence[Record]) -> Summary:
    """Return the summary of all records; "lead" holds the sentences to begin with."""
    found = summarize(case.make_job(), records, [PRECOMPUTED], title=case.title)
    lead = case.state_results(found, records)
    more = {"lead": lead, "sentences": [*lead, *case.story], "verdict": lead[0]}
    return found | more | {"shown": case.drawn, "facts": case.facts}


def compare_dark_pixels(images: Array) -> Array:
    """Return the modified Hausdorff distances between the dark pixels of images.

    The directed distance is the mean distance from a dark pixel of one image to the
    nearest dark pixel of the other; the distance is the larger of both directions. It
    violates the triangle inequality.

    Parameters
    ----------
    images : ndarray of bool of shape (n, height, width)
        True for dark pixels; each image has at least one.

    Returns
    -------
    ndarray of shape (n, n)

    References
    ----------
    M.-P. Dubuisson and A. K. Jain, "A modified Hausdorff distance for object matching",
    International Conference on Pattern Recognition, 1994.
    """
    nearest = [distance_transform_edt(~image).ravel() for image in images]
    dark = images.reshape(len(images), -1)
    directed = dark @ np.transpose(nearest) / dark.sum(axis=1, keepdims=True)
    return np.maximum(directed, directed.T)


@cache
def load_digit_images() -> tuple[Array, Array]:
    """Return the first images of each digit, of shape (400, 8, 8), and the digits."""
    from sklearn.datasets import load_digits

    images, y = load_digits(return_X_y=True)
    first = [np.flatnonzero(y == digit)[:IMAGES_PER_DIGIT] for digit in range(10)]
    rows = np.sort(np.concatenate(first))
    return images[rows].reshape(-1, 8, 8), y[rows]


@cache
def make_digits_job() -> Job:
    """Return the distances between the images, and the folds."""
    images, y = load_digit_images()
    D = compare_dark_pixels(images >= DARK_LEVEL)
    folds = repeat_folds(y, folds=FOLDS, repeats=1, seed=0)
    return Job("digits", D, y, tuple(range(10)), folds, "distances")


def _state_digits(found: Summary, records: Sequence[Record]) -> list[str]:
    rows = {row["method"]: row for row in found["rows"]}
    n = found["data"]["n"]
    wrong = {name: n - _count_right(row) for name, row in rows.items()}
    left = {name: count_left(row) for name, row in rows.items()}
    others = [f"{m}: {left[m]:.0f} of {wrong[m]}" for m in rows if m != KREIN_CV]
    return [
        f"{KREIN_CV} classifies {n - wrong[KREIN_CV]} of {n} handwritten digits "
        "correctly, from the distances between them alone.",
        f"If a person reviews the {REVIEWED:.0%} that it is least certain of, "
        f"{left[KREIN_CV]:.0f} of its {wrong[KREIN_CV]} errors remain "
        f"({'; '.join(others)}).",
        *_state_fair_rival(rows),
        _state_spectrum(found),
        _state_reliability(records, "digit"),
    ]


def count_left(row: Record) -> float:
    """Return the errors that are left after the review of the least certain samples."""
    return float(np.interp(REVIEWED, row["review"]["fraction"], row["review"]["left"]))


def _state_fair_rival(rows: Mapping[str, Record]) -> list[str]:
    if FAIR_RIVAL not in rows:
        return []
    ours, rival = rows[KREIN_CV]["log_loss"], rows[FAIR_RIVAL]["log_loss"]
    text = (
        f"{KREIN_CV} has a log-loss of {ours:.3f}, and {FAIR_RIVAL}, logistic "
        f"regression without the negative part, has {rival:.3f}; "
    )
    behind = rows[FAIR_RIVAL if ours < rival else KREIN_CV]
    machines = [row for name, row in rows.items() if name.startswith("SVC")]
    text += _state_margin(behind, "log_loss")
    is_gain = machines and all(_is_clear(row, "log_loss") for row in machines)
    if is_gain and not _is_clear(behind, "log_loss"):
        text += ", so the gain over the SVMs comes from the logistic model"
    return [f"{text}."]


def _state_spectrum(found: Summary) -> str:
    (about,) = found["data"]["kernels"].values()
    negative, n = about["signature"][1], sum(about["signature"])
    fraction = f"{100 * about['negative_share']:.2g}%"
    return (
        f"{negative} of {n} eigenvalues of the similarities are negative, {fraction} "
        "of the total absolute value."
    )


def make_review_sections(records: Sequence[Record]) -> list[Section]:
    """Return the most doubtful images, and the training images behind one prediction.

    Parameters
    ----------
    records : sequence of dict
        Records of the digits; those of KreinCV are used.
    """
    job = make_digits_job()
    own = [record for record in records if record["method"] == KREIN_CV]
    order = [job.splits[each["run"], each["set"]["fold"]][1] for each in own]
    rows, proba = np.concatenate(order), np.vstack([each["proba"] for each in own])
    doubtful = np.argsort(proba.max(axis=1), kind="stable")[:DOUBTFUL_SHOWN]
    first = _make_doubtful_figure(rows[doubtful], proba[doubtful])
    return [
        Section(
            "The doubtful cases", [first, _make_contribution_figure(rows[doubtful[0]])]
        )
    ]


def _make_doubtful_figure(rows: Array, proba: Array) -> Figure:
    images, y = load_digit_images()
    best = np.argsort(-proba, axis=1)[:, :2]
    texts = [
        f"{i}: {p[i]:.0%}, {j}: {p[j]:.0%}"
        for p, (i, j) in zip(proba, best, strict=True)
    ]
    titles = [f"{text}\nit is {y[row]}" for row, text in zip(rows, texts, strict=True)]
    return Figure(
        "What a person should check",
        f"The {len(rows)} images that {KREIN_CV} is least certain of, when they are "
        "held out; above each, the two most probable digits and the true one.",
        "Images with the most probable digits: "
        + "; ".join(title.replace("\n", ", ") for title in titles),
        _draw_images(images[rows], titles, 4, COLUMN),
        _draw_images(images[rows], titles, 2, NARROW),
        numbers=(
            "The two most probable digits of each image.",
            "image, true digit, probabilities",
            [
                (str(row), str(y[row]), text)
                for row, text in zip(rows, texts, strict=True)
            ],
        ),
    )


def _make_contribution_figure(row: int) -> Figure:
    """Return the training images that count for and against the prediction of one."""
    job, (images, y) = make_digits_job(), load_digit_images()
    place = next(each for each, (_, test) in job.splits.items() if row in test)
    train = job.splits[place][0]
    cell = _make_cell(job, KREIN_CV, *place)
    fitted = fit_method(
        KREIN_CV,
        job.X[np.ix_(train, train)],
        job.y[train],
        fold_seed=cell.half_seed,
        seed=cell.seed,
        kernel=job.kernel,
    )
    sample = job.X[[row]][:, train]
    predicted = fitted.model.predict(sample)[0]
    found = fitted.model.explain(sample, top=None)
    found = found[found["class"] == predicted].sort_values("contribution")
    k = CONTRIBUTIONS_SHOWN
    shown = [*found[::-1][:k].itertuples(), *found[:k].itertuples()]
    known = [int(train[each.training_sample]) for each in shown]
    titles = [
        f"{each.contribution:+.2f}\na {y[i]}"
        for each, i in zip(shown, known, strict=True)
    ]
    return Figure(
        "Why",
        f"The most doubtful image is a {y[row]} and predicted to be a {predicted}. The "
        f"{k} training images that count most for {predicted} come first, then the "
        f"{k} that count most against it. All contributions and the intercept sum to "
        "the score.",
        f"Contributions to the score of {predicted}: "
        + "; ".join(title.replace("\n", ", ") for title in titles),
        _draw_images(images[known], titles, k, COLUMN),
        _draw_images(images[known], titles, 2, NARROW),
        numbers=(
            f"Contributions to the score of {predicted}.",
            "training image, digit, contribution",
            [
                (str(i), str(y[i]), f"{each.contribution:+.3f}")
                for each, i in zip(shown, known, strict=True)
            ],
        ),
    )


def _draw_images(
    images: Array, titles: Sequence[str], columns: int, width: float
) -> Drawing:
    """Return a drawing of images in rows, with a title above each."""
    rows = -(-len(images) // columns)

    def draw(figure: "Canvas") -> None:
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, image, title in zip(panels, images, titles, strict=False):
            axes.imshow(image, cmap="gray_r", interpolation="nearest")
            axes.set_title(title, loc="center", weight="normal")
        for axes in panels:
            axes.set_axis_off()

    return draw, (width, rows * (width / columns + 0.35))


def make_gaps(n: int = N_CELLS) -> tuple[Array, Array]:
    """Return the gaps between cells of two sizes, from surface to surface.

    The recipe is `genballd` of the Matlab toolbox DisTools, with its own box and radii,
    in three dimensions and without noise.

    Parameters
    ----------
    n : int
        Number of cells: disjoint balls at random places in a box, every other large.

    Returns
    -------
    D : ndarray of shape (n, n)
        Gaps.
    y : ndarray of shape (n,)
        0 for a small and 1 for a large cell.

    References
    ----------
    R. P. W. Duin and E. Pękalska, "Non-Euclidean dissimilarities: causes and
    informativeness", Structural, Syntactic, and Statistical Pattern Recognition, 2010.
    """
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    radii = np.asarray(RADII)[y]
    centers = np.empty((0, 3))
    while (k := len(centers)) < n:
        center = rng.uniform(0, BOX_SIDE, 3)
        gaps = np.linalg.norm(centers - center, axis=1) - radii[:k] - radii[k]
        if (gaps > 0).all():
            centers = np.vstack([centers, center])
    D = cdist(centers, centers) - np.add.outer(radii, radii)
    np.fill_diagonal(D, 0)
    return D, y


@cache
def make_balls_job() -> Job:
    """Return the gaps and the folds."""
    D, y = make_gaps()
    folds = repeat_folds(y, folds=FOLDS, repeats=1, seed=0)
    return Job("gaps", D, y, ("small", "large"), folds, "distances", form="centered")


def _state_balls(found: Summary, records: Sequence[Record]) -> list[str]:
    rows = {row["method"]: row for row in found["rows"]}
    right = {name: _count_right(row) for name, row in rows.items()}
    low, n_all = rows[NAIVE]["accuracy_low"], found["data"]["n"]
    is_chance = low is not None and low <= 0.5
    return [
        f"{KREIN_CV} classifies {right[KREIN_CV]} of {n_all} cells correctly. An SVM "
        f"on the same matrix gets {right[NAIVE]}"
        f"{', no better than chance' if is_chance else ''}.",
        f"{_state_spectrum(found)} Without them ({CLIPPED}), {right[CLIPPED]} cells "
        "are correct; "
        f"{_state_margin(rows[CLIPPED], 'accuracy', 'from the best ')}.",
        _state_rival(rows),
        *_state_log_losses(rows),
        _state_reliability(records, "cell"),
    ]


def _state_rival(rows: Mapping[str, Record]) -> str:
    others = [row for name, row in rows.items() if name != KREIN_CV]
    most, ours = max(map(_count_right, others)), _count_right(rows[KREIN_CV])
    best = [row for row in others if _count_right(row) == most]
    names = f"{' and '.join(row['method'] for row in best)} ({most})"
    are = "are" if len(best) > 1 else "is"
    if most > ours:
        margin = _state_margin(rows[KREIN_CV], "accuracy")
        return f"{KREIN_CV} is not the best here: {names} {are} ahead; {margin}."
    if most == ours:
        return f"Of the others, {names} {are} the best, as good as {KREIN_CV}."
    margin = _state_margin(best[0], "accuracy")
    return f"Of the others, {names} {are} the best; {margin}."


def _state_log_losses(rows: Mapping[str, Record]) -> list[str]:
    if RIVAL not in rows:
        return []
    ours, rival = rows[KREIN_CV]["log_loss"], rows[RIVAL]["log_loss"]
    behind = rows[RIVAL if ours < rival else KREIN_CV]
    return [
        f"Two of these methods give probabilities: {KREIN_CV}, with a log-loss of "
        f"{ours:.3f}, and {RIVAL}, with {rival:.3f}; "
        f"{_state_margin(behind, 'log_loss')}."
    ]


def _state_margin(behind: Record, measure: str, whose: str = "") -> str:
    place = "beyond" if _is_clear(behind, measure) else "within"
    return f"the difference {whose}is {place} the margin of error"


def _is_clear(behind: Record, measure: str) -> bool:
    """Return whether the interval of a difference from the best excludes zero."""
    gap = behind["behind"][measure]
    return gap["low"] is not None and not gap["low"] <= 0 <= gap["high"]


def _count_right(row: Record) -> int:
    return sum(counts[k] for k, counts in enumerate(row["confusion"]))


def _state_reliability(records: Sequence[Record], what: str) -> str:
    own = [record for record in records if record["method"] == KREIN_CV]
    given = np.concatenate([record["proba"] for record in own])
    largest = given.max(axis=1) if given.ndim == 2 else np.maximum(given, 1 - given)
    predicted = np.concatenate([predict_classes(record) for record in own])
    truth = np.concatenate([record["truth"] for record in own])
    sure = largest >= SURE
    if not sure.any():
        return f"{KREIN_CV} was never {SURE:.0%} sure of a {what}."
    right = (predicted == truth)[sure].sum()
    return (
        f"{KREIN_CV} was at least {SURE:.0%} sure of {sure.sum()} {what}s, and right "
        f"about {right} of them."
    )


CASES = {
    "digits": DemoCase(
        "Which digit is it, given only distances between images?",
        make_digits_job,
        {
            "k-NN": "nearest images",
            "SVC clip + Platt": "negative part dropped",
            "SVC flip + Platt": "negative part made positive",
            FAIR_RIVAL: "negative part dropped",
            KREIN_CV: "unchanged: ours",
        },
        (KREIN_CV, "SVC clip + Platt", FAIR_RIVAL),
        {
            "Source": "handwritten digits of scikit-learn (UCI), the first "
            f"{IMAGES_PER_DIGIT} images of each digit, 8 by 8 pixels",
            "Distance": "modified Hausdorff distance between dark pixels (Dubuisson "
            "and Jain, 1994); no features",
            "Selection": "images, distance, methods, folds and figures were fixed "
            "before the first run",
        },
        (
            "Two images are near if every dark pixel of one has a dark pixel of the "
            "other nearby. Such a distance is easy to write down, and it is not a "
            "metric. No method sees the pixels.",
            f"{KREIN_CV} is `KreinLogisticRegressionCV` with its defaults: it tries "
            "several transforms of the distances and returns probabilities. The others "
            "use the exponential of the distances with the median as width. SVC is a "
            "support vector machine, with probabilities after Platt; clip drops the "
            "negative part of the matrix, and flip makes it positive. KLR is kernel "
            "logistic regression. k-NN ranks its predictions by votes.",
            "Each method learns from four fifths of the images, where its settings are "
            f"chosen by cross-validation, and is scored on the rest, {FOLDS} times. "
            "All use the same folds. The spectrum is that of the first four fifths.",
            "Many similarities are like this one: their negative part is small. "
            "`krein demo --case balls` shows one whose negative part decides.",
        ),
        _state_digits,
        make_review_sections,
    ),
    "balls": DemoCase(
        "Which cells are large, given only the gaps between them?",
        make_balls_job,
        {
            "SVC raw": "treats the matrix as a kernel",
            "k-NN": "uses the nearest cells",
            "SVC clip": "drops the negative part",
            "SVC flip": "makes the negative part positive",
            "flip + KLR": "the same, with probabilities",
            KREIN_CV: "learns from the matrix: ours",
        },
        (KREIN_CV, "SVC flip", "SVC clip"),
        {
            "Source": "generated by a published recipe for non-Euclidean distances, "
            "with its own sizes: genballd of DisTools, by R. P. W. Duin and E. "
            "P\u0119kalska",
            "Selection": "an example in which the negative part matters; recipe, "
            "number of cells, seed, methods and folds were fixed before the first run",
        },
        (
            "The cells are balls in a box, with radii of one or two hundredths of its "
            "side. A gap is the distance between two surfaces. Distances between "
            "centers would be Euclidean, so the sizes show mostly in the part that is "
            "not Euclidean: the negative eigenvalues. In other data the negative part "
            "may be noise; `krein inspect` reports which.",
            "There are three ways to use such a matrix. Treat it as a kernel: SVC raw, "
            "a support vector machine, and k-NN, which uses the nearest cells. Repair "
            "it: clip drops the negative part, flip makes it positive; then SVC learns "
            "labels, and KLR, kernel logistic regression, probabilities. Or learn from "
            "it directly: KreinCV, `KreinLogisticRegressionCV` with its defaults. It "
            "keeps the negative part, as flip does, but a new cell needs only its gaps "
            "to the known cells, and no eigenvectors.",
            "Each method learns from four fifths of the cells, where its settings are "
            f"chosen by cross-validation, and is scored on the rest, {FOLDS} times. "
            "All use the same folds. The spectrum is that of the first four fifths.",
        ),
        _state_balls,
        lambda records: [],
    ),
}
"""The cases of the demo by name; the first is the default."""
