"""Tables of the experiments: summaries and published numbers side by side."""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

from kreinlearn.app.report import (
    NO_VALUE,
    Entry,
    PageTable,
    TableRow,
    format_number,
    format_seconds,
    format_signed,
    make_table,
)
from reproduction import published
from reproduction.entries import (
    Note,
    find_marks,
    format_difference,
    format_head,
    format_spread,
    format_with_published,
)
from reproduction.evidence import (
    find_settling_iteration,
    is_monotone,
    make_readings_tables,
)
from reproduction.summary import (
    Summary,
    describe_halves,
    find_best_accuracy,
    find_published,
    list_names,
    sort_summaries,
)
from reproduction.table3 import make_table3

DISTANCE_FORMULAS = {
    "Euclidean": "‖S − T‖",
    "Log-Euclidean": "‖log S − log T‖",
    "Affine-invariant": "‖log(S^−½ T S^−½)‖",
    "Stein": "√(log det ((S + T)/2) − ½ log det (S T))",
}
"""Distances between covariance matrices."""
IMAGE_SETS = {
    "yaleb": "Yale Face Database B, frontal images",
    "digits": "NOT FACES: the digits of scikit-learn, in place of the faces",
}
"""Descriptions of data sets."""
START_LABELS = {"zeros": "0", "ones": "1", "minus-ones": "−1", "uniform": "in (0, 1)"}
"""Labels of first coefficients in the paper."""


def _make_table1(
    summaries: Sequence[Summary], notes: Sequence[Note]
) -> list[PageTable]:
    """Return metrics on covariance matrices, theory and search."""
    index = {(each.data, each.method): each for each in summaries}
    sizes = sorted(list_names(summaries, "data", ()), key=lambda s: int(s.split()[0]))
    rows: list[TableRow] = []
    for name in list_names(summaries, "method", (*published.TABLE1, "Stein")):
        theory = ["no", "for some σ"]
        if name in published.TABLE1:
            theory = ["yes" if each else "no" for each in published.TABLE1[name]]
        found = [_make_search_entry(index.get((size, name))) for size in sizes]
        head = format_head(notes, row=name)
        rows.append((head, DISTANCE_FORMULAS.get(name, ""), *theory, *found))
    caption = (
        "Whether the distance is geodesic, and whether exp(−d²/σ²) is positive "
        "definite for every σ: as printed (Stein: theory). By size of the matrices: "
        "the smallest eigenvalue found, relative to the largest of its kernel matrix; "
        "below it, how many of the kernel matrices are indefinite."
    )
    heads = ("metric", "d(S, T)", "geodesic", "positive definite", *sizes)
    return [make_table("Table 1: metrics on covariance matrices", caption, heads, rows)]


def _make_search_entry(summary: Summary | None) -> Entry:
    if summary is None or not summary.records:
        return Entry(NO_VALUE)
    worst = min(summary.values("mu_ratio"))
    tried, indefinite = (int(sum(summary.values(x))) for x in ("tried", "indefinite"))
    # Records already distinguish negative eigenvalues from rounding errors.
    text = format_signed(worst, ".2g") if indefinite else "≥ 0"
    return Entry(text, worst, f"{indefinite} of {tried}")


def _make_table2(
    summaries: Sequence[Summary], notes: Sequence[Note]
) -> list[PageTable]:
    """Return extreme eigenvalues, published and ours."""
    rows: list[TableRow] = []
    for each in sort_summaries(summaries, tuple(published.TABLE2), ()):
        if not each.records:
            continue
        theirs, last = published.TABLE2[each.data], each.records[-1]
        low, high = (each.values(end) for end in ("mu_min", "mu_max"))
        change = 100 * (statistics.fmean(high) / theirs.mu_max - 1)
        m = f"{theirs.m}" if theirs.m == last["m"] else f"{theirs.m} / {last['m']}"
        head = (format_head(notes, row=each.data), theirs.n, Entry(m, last["m"]))
        tau, mu_min, mu_max = (
            format_number(x, "g") for x in (last["tau"], theirs.mu_min, theirs.mu_max)
        )
        ours = (
            _make_range_entry(low, "≤ " if "mu_bound" in last else ""),
            _make_range_entry(high),
        )
        percent = Entry(f"{format_signed(change, '+.1f')} %", change)
        rows.append((*head, tau, mu_min, ours[0], mu_max, ours[1], percent))
    caption = (
        "Smallest and largest eigenvalue of the TL1 kernel on random halves: mean, and "
        "range below it; difference of the largest. m as printed / in the file."
    )
    heads = "data, n, m, τ, μ min published, ours, μ max published, ours, difference"
    return [make_table("Table 2: eigenvalues of the TL1 kernel", caption, heads, rows)]


def _make_range_entry(values: list[float], prefix: str = "") -> Entry:
    mean = statistics.fmean(values)
    detail = f"{min(values):.4g} to {max(values):.4g}" if len(values) > 1 else ""
    return Entry(f"{prefix}{mean:.5g}", mean, detail)


def _make_cost_tables(
    summaries: Sequence[Summary], notes: Sequence[Note], name: str, order: Sequence[str]
) -> list[PageTable]:
    """Return Table 4 or 7: accuracy and seconds."""
    rows: list[TableRow] = []
    for each in sort_summaries(summaries, published.TABLE4_DATA, order):
        ours, theirs = each.spread("acc"), find_published(name, each)
        marks = find_marks(notes, each.data, each.method)
        times = []
        for measure in ("fit_s", "pred_s"):
            stated = find_published(name, each, measure)
            times += [None if stated is None else stated.mean, each.mean(measure)]
        head = _format_heads(each, notes)
        scores = (format_spread(theirs, marks=marks), format_spread(ours))
        change = format_difference(ours, theirs)
        balanced = format_number(each.mean("bacc"), ".3f")
        took = map(format_seconds, times)
        rows.append((*head, *scores, change, balanced, *took, each.statuses))
    caption = (
        "Accuracy on the test half, mean ± standard deviation over "
        f"{describe_halves(summaries)} at most; balanced accuracy; and mean seconds of "
        "one fit and of the prediction, kernel matrices given."
    )
    heads = (
        "data, method, accuracy published, ours, difference, balanced, "
        "training (s) published, ours, test (s) published, ours, fits"
    )
    title = f"Table {name[-1]}: accuracy and time on larger data sets"
    return [make_table(title, caption, heads, rows)]


def _format_heads(summary: Summary, notes: Sequence[Note]) -> tuple[Entry, Entry]:
    """Return data set and method, with their notes."""
    data = format_head(notes, row=summary.data)
    return data, format_head(notes, column=summary.method)


def _make_table5(
    summaries: Sequence[Summary], notes: Sequence[Note]
) -> list[PageTable]:
    """Return one table per data set: accuracy on faces, published and ours."""
    tables = []
    for data in list_names(summaries, "data", tuple(IMAGE_SETS)):
        is_face = data in published.TABLE5_DATA
        own = [each for each in summaries if each.data == data]
        best = find_best_accuracy(own)
        rows: list[TableRow] = []
        for each in sort_summaries(
            own, (), (*published.TABLE5, *published.TABLE5_OURS)
        ):
            ours, theirs = each.spread("acc"), find_published("table5", each)
            is_best = ours is not None and ours.mean >= best
            scores = (format_spread(theirs), format_spread(ours, is_best=is_best))
            change = format_difference(ours, theirs)
            loss = format_number(each.mean("ll"), ".3f")
            took = format_seconds(each.mean("fit_s"))
            low = format_number(each.mean("mu_min"), ".3g")
            high = format_number(each.mean("mu_max"), ".4g")
            head = format_head(notes, row=each.method)
            found = (loss, took, low, high, each.statuses, each.cv)
            rows.append((head, *scores, change, *found))
        caption = (
            f"{IMAGE_SETS.get(data, data)}. Accuracy on the test half, mean ± standard "
            f"deviation over {describe_halves(own)}; seconds of one fit (KreinCV: of "
            "its whole cross-validation), given distances; smallest and largest "
            "eigenvalue of the chosen kernel matrix, mean."
        )
        if is_face:
            ends = " and ".join(map(str, published.TABLE5_MU))
            caption += f" The paper prints {ends} for the affine-invariant."
        heads = (
            "method, published, ours, difference, log-loss, fit (s), μ min, μ max, "
            "chosen fits, fits in cross-validation"
        )
        title = f"Table 5: {'accuracy on faces' if is_face else data}"
        tables.append(make_table(title, caption, heads, rows))
    return tables


def _make_table6(
    summaries: Sequence[Summary], notes: Sequence[Note]
) -> list[PageTable]:
    """Return accuracy by first coefficients."""
    index = {(s.method, s.data, s.settings["init"]): s for s in summaries}
    methods = published.TABLE6_METHODS + published.TABLE6_OURS
    places = [
        place
        for place in product(methods, published.TABLE6_DATA)
        if any(place == (each.method, each.data) for each in summaries)
    ]
    heads = [
        Entry(f"{method}, {name}", marks=find_marks(notes, column=method))
        for method, name in places
    ]
    rows: list[TableRow] = []
    for init in published.INITS:
        row = [Entry(START_LABELS[init])]
        for place in places:
            summary = index.get((*place, init))
            ours = None if summary is None else summary.spread("acc")
            row.append(format_with_published(ours, published.TABLE6[init].get(place)))
        rows.append(row)
    caption = (
        "Accuracy on one fixed set of test samples, mean ± standard deviation over "
        "runs; below it the published mean, and the difference."
    )
    title = "Table 6: different first coefficients"
    return [make_table(title, caption, ("first coefficients", *heads), rows)]


def _make_fig1(summaries: Sequence[Summary], _: Sequence[Note]) -> list[PageTable]:
    """Return the sources of the images in Figure 1."""
    rows: list[TableRow] = []
    for each in summaries:
        for record in each.records:
            height, width, *_sizes = record["shape"]
            words = IMAGE_SETS.get(each.data, each.data)
            rows.append((each.data, words, record["n"], height * width))
    caption, heads = "Where the examples come from.", "data, what, images, shown"
    return [make_table("Figure 1: example faces", caption, heads, rows)]


def _make_fig2(summaries: Sequence[Summary], _: Sequence[Note]) -> list[PageTable]:
    """Return the numbers behind Figure 2."""
    rows: list[TableRow] = []
    for each in sorted(summaries, key=lambda s: (s.data, s.method, s.settings["eps"])):
        eps = format_number(each.settings["eps"], "g")
        took = format_seconds(each.mean("fit_s"))
        place = (each.data, each.method, eps)
        accuracy = format_spread(each.spread("acc"))
        rows.append((*place, accuracy, took, each.statuses))
    caption = "CCICP-GD: accuracy and seconds of one fit by the inexact parameter eps."
    heads = "data, method, eps, accuracy, training (s), fits"
    return [make_table("Figure 2: influence of eps", caption, heads, rows)]


def _make_fig3(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[PageTable]:
    """Return the numbers behind Figure 3."""
    rows: list[TableRow] = []
    methods = published.FIG3_METHODS + published.FIG3_OURS
    for each in sort_summaries(summaries, published.FIG3_DATA, methods):
        if not each.records:
            continue
        record = each.records[0]
        curve = [value for value in record["curve"] if value is not None]
        lam = format_number(record["chosen"]["lam"], "g")
        ends = [format_number(x, ".4g") for x in (curve[0], min(curve), curve[-1])]
        place = _format_heads(each, notes)
        found = (find_settling_iteration(curve), "yes" if is_monotone(curve) else "no")
        rows.append((*place, lam, *ends, *found, record["n_iter"], each.statuses))
    caption = (
        "First run: the objective before, at its lowest, and after the last step; "
        "the outer iteration after which it stays within a hundredth of its range "
        "from the last value, and whether it never increases, both from the first "
        "iteration on. lam is that of the summed loss."
    )
    heads = (
        "data, method, lam, first, lowest, last, settled after, monotone, iterations, "
        "fits"
    )
    title = "Figure 3: the objective after each outer iteration"
    return [make_table(title, caption, heads, rows)]


TABLE_MAKERS: dict[
    str, Callable[[Sequence[Summary], Sequence[Note]], list[PageTable]]
] = {
    "table1": _make_table1,
    "table2": _make_table2,
    "table3": make_table3,
    "table4": partial(
        _make_cost_tables,
        name="table4",
        order=published.TABLE4_METHODS + published.TABLE4_OURS,
    ),
    "table5": _make_table5,
    "table6": _make_table6,
    "table7": partial(
        _make_cost_tables,
        name="table7",
        order=published.TABLE7_METHODS + published.TABLE7_OURS,
    ),
    "fig1": _make_fig1,
    "fig2": _make_fig2,
    "fig3": _make_fig3,
    "readings": make_readings_tables,
}
"""Experiment to the function that lays out its tables."""
