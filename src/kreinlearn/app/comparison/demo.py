"""The cases of `krein demo`: data, methods, figures and sentences about results.

Digits: handwritten digits, compared by the modified Hausdorff distance of their dark
pixels. Balls: a published recipe for non-Euclidean distances, whose negative part
matters. The data, methods, folds and figures of both were fixed before the first run.
All sentences about results are computed from them; other texts are in ``demo.toml``.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.spatial.distance import cdist

from kreinlearn._typing import Array
from kreinlearn.app import report
from kreinlearn.app.comparison import summary
from kreinlearn.app.comparison.plan import GRAM_KERNEL, Job, repeat_folds
from kreinlearn.app.comparison.run import fit_fold, score_fold
from kreinlearn.app.methods import ALL_METHODS, KREIN_CV
from kreinlearn.app.report import Drawing, Figure, Section, TableRow
from kreinlearn.app.runs import Cell, Record, describe_environment, make_record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

DEMO_CASES: dict[str, Record] = tomllib.loads(
    files(__package__).joinpath("demo.toml").read_text("utf-8")
)
"""Title, methods with their use of the matrix, drawn methods, facts and story of each
case by name; the first is the default."""
N_FOLDS = 5
SURE_PROBABILITY = 0.9
"""Probability from which a prediction counts as sure."""
IMAGES_PER_DIGIT = 40
DARK_LEVEL = 8
"""Pixels of at least this gray level, of 16, are dark."""
REVIEWED_FRACTION = 0.2
"""Fraction of predictions that a person reviews in the story of the digits."""
DOUBTFUL_SHOWN = 8
CONTRIBUTIONS_SHOWN = 4
"""Training images for, and as many against, a prediction."""
BOX_SIDE = 100.0
CELL_RADII = (1.0, 2.0)
"""Radii of small and of large cells."""
N_CELLS = 200


@cache
def make_job(case: str) -> Job:
    """Return the distances of a case, and the folds."""
    if case == "digits":
        images, y = load_digit_images()
        D = compare_dark_pixels(images >= DARK_LEVEL)
        folds = repeat_folds(y, folds=N_FOLDS, repeats=1, seed=0)
        return Job("digits", D, y, tuple(range(10)), folds, "distances")
    D, y = make_gaps()
    folds = repeat_folds(y, folds=N_FOLDS, repeats=1, seed=0)
    return Job("gaps", D, y, ("small", "large"), folds, "distances", form="centered")


def run_methods(case: str) -> Iterator[tuple[list[Record], float]]:
    """Yield the records of each method on all folds, and the finished fraction."""
    job, methods = make_job(case), DEMO_CASES[case]["methods"]
    total, done = sum(ALL_METHODS[method].weight for method in methods), 0.0
    for method in methods:
        records = []
        for place in job.splits:
            cell = _make_cell(job, method, *place)
            outcome = score_fold(job, cell)
            records.append(make_record(cell, outcome, **describe_environment()))
        done += ALL_METHODS[method].weight
        yield records, done / total


def _make_cell(job: Job, method: str, run: int, fold: int) -> Cell:
    settings = (("kernel", GRAM_KERNEL), ("fold", fold))
    return Cell("demo", job.name, method, run, settings)


def summarize_method(records: Sequence[Record]) -> Record:
    """Return mean scores of a method, with a 95% interval, and its total seconds."""
    names = ("accuracy", "accuracy_low", "accuracy_high", "log_loss")
    row = summary.summarize_scores(records)
    return {
        "data": records[0]["data"],
        "method": records[0]["method"],
        "n": sum(len(record["truth"]) for record in records),
        **{name: row[name] for name in names},
        "seconds": sum(record["fit_s"] for record in records),
    }


def summarize_demo(case: str, records: Sequence[Record]) -> Record:
    """Return the summary of all records; "lead" holds the sentences to begin with."""
    texts = DEMO_CASES[case]
    found = summary.summarize(make_job(case), records, title=texts["title"])
    rows = {row["method"]: row for row in found["rows"]}
    state = _state_digits if case == "digits" else _state_balls
    lead = [*state(rows, _state_spectrum(found)), _state_reliability(case, records)]
    more = {"lead": lead, "sentences": [*lead, *texts["story"]], "verdict": lead[0]}
    return found | more | {"shown": texts["drawn"], "facts": texts["facts"]}


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
    radii = np.asarray(CELL_RADII)[y]
    centers = np.empty((0, 3))
    while (k := len(centers)) < n:
        center = rng.uniform(0, BOX_SIDE, 3)
        gaps = np.linalg.norm(centers - center, axis=1) - radii[:k] - radii[k]
        if (gaps > 0).all():
            centers = np.vstack([centers, center])
    D = cdist(centers, centers) - np.add.outer(radii, radii)
    np.fill_diagonal(D, 0)
    return D, y


def _state_digits(rows: Mapping[str, Record], spectrum: str) -> list[str]:
    n = np.sum(rows[KREIN_CV]["confusion"])
    wrong = {name: n - _count_right(row) for name, row in rows.items()}
    left = {name: count_left(row) for name, row in rows.items()}
    others = [f"{m}: {left[m]:.0f} of {wrong[m]}" for m in rows if m != KREIN_CV]
    machines = [row for name, row in rows.items() if name.startswith("SVC")]
    rival = rows["clip + KLR"]
    behind = _find_behind(rows[KREIN_CV], rival)
    is_gain = all(summary.is_clear(row, "log_loss") for row in machines)
    gain = ", so the gain over the SVMs comes from the logistic model"
    return [
        f"{KREIN_CV} classifies {n - wrong[KREIN_CV]} of {n} handwritten digits "
        "correctly, from the distances between them alone.",
        f"A review of the {REVIEWED_FRACTION:.0%} that it is least certain of leaves "
        f"{left[KREIN_CV]:.0f} of its {wrong[KREIN_CV]} errors ({'; '.join(others)}).",
        f"{KREIN_CV} has a log-loss of {rows[KREIN_CV]['log_loss']:.3f}, and "
        f"{rival['method']}, logistic regression without the negative part, has "
        f"{rival['log_loss']:.3f}; {_state_margin(behind, 'log_loss')}"
        f"{gain * (is_gain and not summary.is_clear(behind, 'log_loss'))}.",
        spectrum,
    ]


def _state_balls(rows: Mapping[str, Record], spectrum: str) -> list[str]:
    right = {name: _count_right(row) for name, row in rows.items()}
    low, n = rows["SVC raw"]["accuracy_low"], np.sum(rows[KREIN_CV]["confusion"])
    is_chance = low is not None and low <= 0.5
    clipped, rival = rows["SVC clip"], rows["flip + KLR"]
    losses = _state_margin(_find_behind(rows[KREIN_CV], rival), "log_loss")
    return [
        f"{KREIN_CV} classifies {right[KREIN_CV]} of {n} cells correctly. An SVM on "
        f"the same matrix gets {right['SVC raw']}"
        f"{', no better than chance' if is_chance else ''}.",
        f"{spectrum} Without them ({clipped['method']}), {right['SVC clip']} cells are "
        f"correct; {_state_margin(clipped, 'accuracy', 'from the best ')}.",
        _state_others(rows, right),
        f"Two of these methods give probabilities: {KREIN_CV}, with a log-loss of "
        f"{rows[KREIN_CV]['log_loss']:.3f}, and {rival['method']}, with "
        f"{rival['log_loss']:.3f}; {losses}.",
    ]


def _state_others(rows: Mapping[str, Record], right: Mapping[str, int]) -> str:
    ours, most = right[KREIN_CV], max(n for m, n in right.items() if m != KREIN_CV)
    best = [name for name, n in right.items() if n == most and name != KREIN_CV]
    names = f"{' and '.join(best)} ({most}) {'are' if len(best) > 1 else 'is'}"
    if most == ours:
        return f"Of the others, {names} the best, as good as {KREIN_CV}."
    margin = _state_margin(rows[KREIN_CV if most > ours else best[0]], "accuracy")
    if most > ours:
        return f"{KREIN_CV} is not the best here: {names} ahead; {margin}."
    return f"Of the others, {names} the best; {margin}."


def _state_spectrum(found: Record) -> str:
    (about,) = found["data"]["kernels"].values()
    negative, n = about["signature"][1], sum(about["signature"])
    return (
        f"{negative} of {n} eigenvalues of the similarities are negative, "
        f"{100 * about['negative_share']:.2g}% of the total absolute value."
    )


def _state_reliability(case: str, records: Sequence[Record]) -> str:
    what = "digit" if case == "digits" else "cell"
    own = [record for record in records if record["method"] == KREIN_CV]
    truth, given, predicted, _ = summary.read_predictions(own)
    largest = given.max(axis=1) if given.ndim == 2 else np.maximum(given, 1 - given)
    is_sure = largest >= SURE_PROBABILITY
    if not is_sure.any():
        return f"{KREIN_CV} was never {SURE_PROBABILITY:.0%} sure of a {what}."
    return (
        f"{KREIN_CV} was at least {SURE_PROBABILITY:.0%} sure of {is_sure.sum()} "
        f"{what}s, and right about {(predicted == truth)[is_sure].sum()} of them."
    )


def count_left(row: Record) -> float:
    """Return the errors that are left after the review of the least certain samples."""
    curve = row["review"]
    return float(np.interp(REVIEWED_FRACTION, curve["fraction"], curve["left"]))


def _find_behind(ours: Record, rival: Record) -> Record:
    """Return the row with the larger log-loss."""
    return rival if ours["log_loss"] < rival["log_loss"] else ours


def _state_margin(behind: Record, measure: str, whose: str = "") -> str:
    place = "beyond" if summary.is_clear(behind, measure) else "within"
    return f"the difference {whose}is {place} the margin of error"


def _count_right(row: Record) -> int:
    return int(np.trace(row["confusion"]))


def make_sections(case: str, records: Sequence[Record]) -> list[Section]:
    """Return the most doubtful images, and the training images behind one prediction.

    Parameters
    ----------
    case : str
        Only "digits" has such a section.
    records : sequence of dict
        Records of the case; those of KreinCV are used.
    """
    if case != "digits":
        return []
    job = make_job(case)
    own = [record for record in records if record["method"] == KREIN_CV]
    held = [job.splits[each["run"], each["set"]["fold"]][1] for each in own]
    rows, proba = np.concatenate(held), np.vstack([each["proba"] for each in own])
    doubtful = np.argsort(proba.max(axis=1), kind="stable")[:DOUBTFUL_SHOWN]
    first = _make_doubtful_figure(rows[doubtful], proba[doubtful])
    second = _make_contribution_figure(job, rows[doubtful[0]])
    return [Section("The doubtful cases", [first, second])]


def _make_doubtful_figure(rows: Array, proba: Array) -> Figure:
    _, y = load_digit_images()
    body, titles, heads = [], [], "image, true digit, probabilities"
    for row, p in zip(rows, proba, strict=True):
        text = ", ".join(f"{i}: {p[i]:.0%}" for i in np.argsort(-p)[:2])
        titles.append(f"{text}\nit is {y[row]}")
        body.append((str(row), str(y[row]), text))
    return _make_image_figure(
        "What a person should check",
        f"The {len(rows)} images that {KREIN_CV} is least certain of, when they are "
        "held out; above each, the two most probable digits and the true one.",
        "Images with the most probable digits",
        rows,
        titles,
        ("The two most probable digits of each image.", heads, body),
    )


def _make_contribution_figure(job: Job, row: int) -> Figure:
    """Return the training images that count for and against the prediction of one."""
    _, y = load_digit_images()
    place = next(each for each, (_, test) in job.splits.items() if row in test)
    train, test = job.splits[place]
    fitted, _, X_test = fit_fold(job, _make_cell(job, KREIN_CV, *place))
    sample = X_test[test == row]
    predicted = fitted.model.predict(sample)[0]
    found = fitted.model.explain(sample, top=None)
    found = found[found["class"] == predicted].sort_values("contribution")
    k, heads = CONTRIBUTIONS_SHOWN, "training image, digit, contribution"
    shown = [*found[::-1][:k].itertuples(), *found[:k].itertuples()]
    known = [int(train[each.training_sample]) for each in shown]
    sizes = [each.contribution for each in shown]
    body = [(str(i), str(y[i]), f"{x:+.3f}") for i, x in zip(known, sizes, strict=True)]
    return _make_image_figure(
        "Why",
        f"The most doubtful image shows the digit {y[row]} and is predicted as "
        f"{predicted}. The {k} training images that count most for {predicted} come "
        f"first, then the {k} that count most against it. All contributions and the "
        "intercept sum to the score.",
        f"Contributions to the score of {predicted}",
        known,
        [f"{x:+.2f}\ndigit {y[i]}" for i, x in zip(known, sizes, strict=True)],
        (f"Contributions to the score of {predicted}.", heads, body),
    )


def _make_image_figure(
    title: str,
    caption: str,
    alt: str,
    rows: Array | list[int],
    titles: Sequence[str],
    numbers: tuple[str, str, Sequence[TableRow]],
) -> Figure:
    """Return images of digits in two lines, with a title above each."""
    images = load_digit_images()[0][rows]

    def make_drawing(columns: int, width: float) -> Drawing:
        n_lines = -(-len(images) // columns)

        def draw(figure: "Canvas") -> None:
            panels = figure.subplots(n_lines, columns, squeeze=False).ravel()
            for axes, image, text in zip(panels, images, titles, strict=True):
                axes.imshow(image, cmap="gray_r", interpolation="nearest")
                axes.set_title(text, loc="center", weight="normal")
                axes.set_axis_off()

        return draw, (width, n_lines * (width / columns + 0.35))

    listed = "; ".join(text.replace("\n", ", ") for text in titles)
    return Figure(
        title,
        caption,
        f"{alt}: {listed}",
        make_drawing(4, report.COLUMN_INCHES),
        make_drawing(2, report.PHONE_INCHES),
        numbers=numbers,
    )
