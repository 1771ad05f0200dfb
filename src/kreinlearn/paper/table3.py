"""Table 3: accuracies on small data sets, ranks, and the methods at a glance."""

import statistics
from collections.abc import Sequence

import numpy as np

from kreinlearn.pages.ranks import Comparison, compare
from kreinlearn.pages.tables import (
    Entry,
    Note,
    Spread,
    Table,
    beside,
    heads,
    marks_for,
    number_entry,
    statuses_text,
)
from kreinlearn.paper import published
from kreinlearn.paper.summary import Summary, names_in, total

DOUBTFUL = "parkinsons"
"""A published row that nothing reproduces; means are given without it as well."""
TIE = 1e-9

Index = dict[tuple[str, str], Summary]


def methods_in(summaries: Sequence[Summary]) -> list[str]:
    """Return the methods that were run, the paper's first.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.

    Returns
    -------
    list of str
        Names.
    """
    return names_in(summaries, "method", published.TABLE3_METHODS + published.OURS)


def comparison(summaries: Sequence[Summary]) -> Comparison | None:
    """Return the ranks of all methods on the data sets that all of them were run on.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.

    Returns
    -------
    Comparison or None
        None if there is too little to compare.
    """
    methods = methods_in(summaries)
    index = {(each.data, each.method): each.mean("acc") for each in summaries}
    rows = []
    for name in dict.fromkeys(each.data for each in summaries):
        means = [index.get((name, method)) for method in methods]
        if None not in means:
            rows.append(means)
    return compare(np.array(rows, dtype=float), methods) if rows else None


def published_comparison() -> Comparison | None:
    """Return the ranks of the paper's own numbers.

    Returns
    -------
    Comparison or None
        Of the eight columns of Table 3.
    """
    methods = list(published.TABLE3_METHODS)
    rows = [
        [row[method].mean for method in methods] for row in published.TABLE3.values()
    ]
    return compare(np.array(rows), methods)


def table3(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
    """Return Table 3 in three parts.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the table.

    Returns
    -------
    list of Table
        The paper's methods, ours, and an overview with ranks and statuses.
    """
    methods = methods_in(summaries)
    runs = max((len(each.values("acc")) for each in summaries), default=0)
    over = f"{runs} random halves" if runs != 1 else "one random half"
    caption = (
        f"Accuracy on the test half, mean ± standard deviation over {over}; bold is "
        "the best of the row over both tables."
    )
    parts = (
        (
            "Table 3: the paper's methods",
            f"{caption} Below it the published mean, and the difference.",
            [name for name in methods if name in published.TABLE3_METHODS],
        ),
        (
            "Table 3: other methods beside them",
            caption,
            [name for name in methods if name not in published.TABLE3_METHODS],
        ),
    )
    tables = [
        _accuracies(title, text, columns, summaries, notes)
        for title, text, columns in parts
        if columns
    ]
    return [*tables, overview(summaries, notes)]


def _accuracies(
    title: str,
    caption: str,
    methods: Sequence[str],
    summaries: Sequence[Summary],
    notes: Sequence[Note],
) -> Table:
    index = {(each.data, each.method): each for each in summaries}
    datasets = names_in(summaries, "data", published.TABLE3_DATA)
    rows = []
    for name in datasets:
        everyone = [each.mean("acc") for each in summaries if each.data == name]
        best = max((mean for mean in everyone if mean is not None), default=np.inf)
        row = [Entry(name, marks=marks_for(notes, row=name))]
        for method in methods:
            summary = index.get((name, method))
            ours = None if summary is None else summary.spread("acc")
            printed = published.TABLE3.get(name, {}).get(method)
            is_best = ours is not None and ours.mean >= best - TIE
            row.append(beside(ours, printed, is_best))
        rows.append(row)
    totals = [_means(index, datasets, methods, f"mean of {len(datasets)}")]
    others = [name for name in datasets if name != DOUBTFUL]
    if 0 < len(others) < len(datasets):
        totals.append(_means(index, others, methods, f"mean without {DOUBTFUL}"))
    return Table(title, caption, heads(notes, "data", methods), rows, totals)


def _means(
    index: Index, datasets: Sequence[str], methods: Sequence[str], head: str
) -> list[Entry]:
    """Return means over data sets, only for methods that were run on all of them."""
    row = [Entry(head)]
    for method in methods:
        found = [index.get((name, method)) for name in datasets]
        ours = [None if each is None else each.mean("acc") for each in found]
        printed = [published.TABLE3.get(name, {}).get(method) for name in datasets]
        theirs = [None if each is None else each.mean for each in printed]
        row.append(beside(_mean(ours), _mean(theirs)))
    return row


def _mean(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread(statistics.fmean(known)) if len(known) == len(values) else None


def overview(summaries: Sequence[Summary], notes: Sequence[Note]) -> Table:
    """Return one row for each method: mean scores, rank, time, statuses.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the table.

    Returns
    -------
    Table
        With the tests of Friedman and Nemenyi in the caption.
    """
    ranking = comparison(summaries)
    ranks: dict[str, float] = {}
    if ranking is not None:
        ranks = dict(zip(ranking.methods, ranking.ranks, strict=True))
    rows = []
    for method in methods_in(summaries):
        own = [each for each in summaries if each.method == method]
        row = [Entry(method, marks=marks_for(notes, column=method))]
        for measure in ("acc", "bacc", "ll"):
            means = [each.mean(measure) for each in own]
            known = [mean for mean in means if mean is not None]
            row.append(number_entry(statistics.fmean(known) if known else None, ".3f"))
        row.append(number_entry(ranks.get(method), ".2f"))
        times = [1000 * value for each in own for value in each.values("fit_s")]
        row.append(number_entry(statistics.median(times) if times else None, ".3g"))
        row.append(Entry(statuses_text(total(each.statuses for each in own))))
        row.append(Entry(statuses_text(total(each.cv for each in own))))
        rows.append(row)
    caption = "Means over data sets; the time is the median of all fits."
    if ranking is not None:
        caption += (
            f" Friedman's test over {ranking.n_datasets} data sets: chi-squared "
            f"{ranking.statistic:.1f}, p = {ranking.pvalue:.2g}; mean ranks less than "
            f"{ranking.distance:.2f} apart do not differ (Nemenyi, 5 %)."
        )
    columns = (
        "method",
        "accuracy",
        "balanced accuracy",
        "log-loss",
        "mean rank",
        "fit (ms)",
        "chosen fits",
        "fits in cross-validation",
    )
    title = "Table 3: the methods at a glance"
    return Table(title, caption, tuple(Entry(head) for head in columns), rows)
