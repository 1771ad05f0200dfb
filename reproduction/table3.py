"""Table 3: accuracies on small data sets, ranks, and an overview of the methods."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from kreinlearn.app.report import (
    PageTable,
    TableRow,
    format_number,
    make_table,
)
from reproduction import published
from reproduction.entries import (
    Note,
    Spread,
    compute_full_mean,
    format_head,
    format_with_published,
)
from reproduction.ranks import Ranking, rank_methods
from reproduction.summary import (
    Summary,
    describe_halves,
    find_best_accuracy,
    list_names,
)

Found = Mapping[tuple[str, str], Spread | None]
"""Data set and method to accuracy."""
PRINTED_ACCURACIES = {
    (name, method): spread
    for name, row in published.TABLE3.items()
    for method, spread in row.items()
}
"""The published accuracies."""
DOUBTFUL_DATASET = "parkinsons"
"""A published row that nothing reproduces; means are given without it as well."""


def _list_methods(summaries: Sequence[Summary]) -> list[str]:
    """Return the methods that were run, the paper's first."""
    return list_names(
        summaries, "method", published.TABLE3_METHODS + published.TABLE3_OURS
    )


def rank_our_methods(summaries: Sequence[Summary]) -> Ranking | None:
    """Return the ranks of all methods on the data sets that all of them were run on.

    None if there is too little to compare.
    """
    methods = _list_methods(summaries)
    index = {(each.data, each.method): each.mean("acc") for each in summaries}
    datasets = dict.fromkeys(each.data for each in summaries)
    rows = [[index.get((name, method)) for method in methods] for name in datasets]
    full = [row for row in rows if None not in row]
    return rank_methods(np.array(full, dtype=float), methods) if full else None


def rank_published_methods() -> Ranking | None:
    """Return the ranks of the paper's own numbers, the eight columns of Table 3."""
    methods = published.TABLE3_METHODS
    rows = [[row[name].mean for name in methods] for row in published.TABLE3.values()]
    return rank_methods(np.array(rows), methods)


def make_table3(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[PageTable]:
    """Return the paper's methods, ours, and an overview with ranks and statuses."""
    methods = _list_methods(summaries)
    theirs = [name for name in methods if name in published.TABLE3_METHODS]
    ours = [name for name in methods if name not in published.TABLE3_METHODS]
    caption = (
        "Accuracy on the test half, mean ± standard deviation over "
        f"{describe_halves(summaries)}; the best of each row over both tables is bold."
    )
    below = f"{caption} The second line: the published mean, and the difference."
    parts = (
        ("Table 3: the paper's methods", below, theirs),
        ("Table 3: other methods", caption, ours),
    )
    tables = [
        make_table(title, text, *_lay_out_accuracies(columns, summaries, notes))
        for title, text, columns in parts
        if columns
    ]
    return [*tables, _make_methods_table(summaries, notes)]


def _lay_out_accuracies(
    methods: Sequence[str], summaries: Sequence[Summary], notes: Sequence[Note]
) -> tuple[TableRow, list[TableRow], list[TableRow]]:
    """Return heads, rows and means of a table of accuracies."""
    index = {(each.data, each.method): each.spread("acc") for each in summaries}
    datasets = list_names(summaries, "data", published.TABLE3_DATA)
    rows: list[TableRow] = []
    for name in datasets:
        best = find_best_accuracy(each for each in summaries if each.data == name)
        row = [format_head(notes, row=name)]
        for method in methods:
            own = index.get((name, method))
            is_best = own is not None and own.mean >= best
            row.append(
                format_with_published(
                    own, PRINTED_ACCURACIES.get((name, method)), is_best
                )
            )
        rows.append(row)
    others = [name for name in datasets if name != DOUBTFUL_DATASET]
    means = {f"mean of {len(datasets)}": datasets}
    if 0 < len(others) < len(datasets):
        means[f"mean without {DOUBTFUL_DATASET}"] = others
    totals: list[TableRow] = []
    for head, names in means.items():
        row = [
            format_with_published(
                _average_if_complete(index, names, m),
                _average_if_complete(PRINTED_ACCURACIES, names, m),
            )
            for m in methods
        ]
        totals.append((head, *row))
    heads = [format_head(notes, column=method) for method in methods]
    return ("data", *heads), rows, totals


def _average_if_complete(
    found: Found, names: Sequence[str], method: str
) -> Spread | None:
    """Return the mean over data sets, only if the method was run on all of them."""
    own = [found.get((name, method)) for name in names]
    mean = compute_full_mean(None if each is None else each.mean for each in own)
    return None if mean is None else Spread(mean)


def _make_methods_table(
    summaries: Sequence[Summary], notes: Sequence[Note]
) -> PageTable:
    """Return one row per method: mean scores, rank, time, statuses."""
    ranking = rank_our_methods(summaries)
    ranks: dict[str, float] = {}
    caption = "Means over data sets; the time is the median of all fits."
    if ranking is not None:
        ranks = dict(zip(ranking.methods, ranking.ranks, strict=True))
        caption += (
            f" Friedman's test over {ranking.n_datasets} data sets: chi-squared "
            f"{ranking.statistic:.1f}, p = {ranking.pvalue:.2g}; mean ranks less than "
            f"{ranking.distance:.2f} apart do not differ (Nemenyi, 5 %)."
        )
    rows: list[TableRow] = []
    for method in _list_methods(summaries):
        own = [each for each in summaries if each.method == method]
        scores = []
        for measure in ("acc", "bacc", "ll"):
            means = [each.mean(measure) for each in own if each.values(measure)]
            scores.append(format_number(compute_full_mean(means), ".3f"))
        times = [1000 * value for each in own for value in each.values("fit_s")]
        took = format_number(statistics.median(times) if times else None, ".3g")
        rank = format_number(ranks.get(method), ".2f")
        statuses = sum((each.statuses for each in own), Counter[str]())
        cv = sum((each.cv for each in own), Counter[str]())
        head = format_head(notes, column=method)
        rows.append((head, *scores, rank, took, statuses, cv))
    heads = (
        "method, accuracy, balanced accuracy, log-loss, mean rank, fit (ms), "
        "chosen fits, fits in cross-validation"
    )
    return make_table("Table 3: the methods at a glance", caption, heads, rows)
