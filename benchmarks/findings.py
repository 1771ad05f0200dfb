"""Tables, checks, a csv file and a figure from the records of `which_method`."""

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
from common import print_note
from scipy.stats import rankdata

from kreinlearn._typing import Array

REFERENCE, NEAREST = "default", "1-NN"
"""Our estimator with its defaults, which others are compared with; a baseline."""
METHOD_LABELS = {
    "default": "KreinCV",
    "hilbert": "Hilbert norm",
    "euclidean": "Euclidean norm",
    "krein": "Krein norm",
    "SVC raw": "SVC on the indefinite matrix",
    "KreinSVC": "`KreinSVC`",
    "rows as features": "logistic regression on the rows of K",
    "nearest neighbors": "nearest neighbors, tuned",
}
"""Labels of methods on the page."""
MEASURE_FIELDS = {"log_loss": "ll", "accuracy": "acc"}
TEST_TRAIN_RATIO = 1 / 4
"""Ratio of test rows to training rows of an outer fold."""
METHOD_MARKS = {
    "clip, logistic": ("#009e73", "D"),
    "clip, SVC": ("#e69f00", "s"),
    "flip, SVC": ("#d55e00", "^"),
    "KreinSVC": ("#cc79a7", "v"),
    "nearest neighbors": ("#000000", "x"),
}
"""Color and marker of the methods in the figure."""
INTERVAL_FACTOR = 1.96
"""Standard errors on each side of a 95% interval."""
Row = dict[str, Any]


def summarize_records(
    records: list[Row], about: dict[str, Row], methods: list[str], n_folds: int
) -> list[Row]:
    """Return one row per case and method whose folds are complete.

    Parameters
    ----------
    records : list of dict
        Records of folds.
    about : dict from str to dict
        Properties of each case, first fields of its rows.
    methods : list of str
        Names, in the order of the rows.
    n_folds : int
        Number of outer folds in all repeats.
    """
    scores: dict[tuple[str, str], dict[tuple[int, int], Row]] = {}
    for each in records:
        if "acc" in each:
            place = each["run"], each["set"]["fold"]
            scores.setdefault((each["data"], each["method"]), {})[place] = each
    rows = []
    for case, known in about.items():
        reference = scores.get((case, REFERENCE), {})
        for method in methods:
            found = scores.get((case, method), {})
            if len(found) < n_folds:
                print_note(
                    f"{case}, {method}: {len(found)} of {n_folds} folds, left out."
                )
                continue
            row = known | {"method": method, "outer_folds": n_folds}
            for measure, field in MEASURE_FIELDS.items():
                # Methods without probabilities have no log-loss.
                values = np.array(
                    [found[place].get(field, np.nan) for place in sorted(found)]
                )
                row |= {measure: values.mean(), f"{measure}_std": values.std(ddof=1)}
                if len(reference) == n_folds:
                    row |= compare_with_reference(measure, field, values, reference)
            seconds = np.mean([each["fit_s"] for each in found.values()])
            rows.append(row | {"seconds": seconds})
    return rows


def compare_with_reference(
    measure: str, field: str, values: Array, reference: dict[Any, Row]
) -> Row:
    """Return the mean difference from the reference and its standard error."""
    difference = values - [reference[place][field] for place in sorted(reference)]
    # Nadeau and Bengio: outer folds share training rows and are not independent.
    error = np.sqrt((1 / len(difference) + TEST_TRAIN_RATIO) * difference.var(ddof=1))
    return {
        f"{measure}_difference": difference.mean(),
        f"{measure}_difference_se": float(error),
    }


def collect_values(rows: list[Row], measure: str) -> tuple[list[str], list[str], Array]:
    """Return cases, methods and values; NaN where a method has no row."""
    cases = list(dict.fromkeys(row["case"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    values = np.full((len(cases), len(methods)), np.nan)
    for row in rows:
        place = cases.index(row["case"]), methods.index(row["method"])
        values[place] = row[measure]
    return cases, methods, values


def format_tables(rows: list[Row]) -> list[str]:
    """Return the lines of Markdown tables of both scores, the best in bold."""
    lines: list[str] = []
    for measure in MEASURE_FIELDS:
        cases, methods, values = collect_values(rows, measure)
        sign = 1 if measure == "log_loss" else -1
        ranks = rankdata(sign * values, axis=1, nan_policy="omit").mean(axis=0)
        lines += ["", f"{measure.replace('_', '-')}, mean over the outer folds", ""]
        lines += [f"| case | {' | '.join(methods)} |"]
        lines += ["| --- " + "| ---: " * len(methods) + "|"]
        for case, each in zip(cases, values, strict=True):
            lines.append(f"| {case} | {format_cells(each, sign)} |")
        lines.append(f"| mean | {format_cells(values.mean(axis=0), sign)} |")
        lines.append(f"| mean rank | {format_cells(ranks, 1, digits=1)} |")
        lines += ["", f"{measure.replace('_', '-')}, difference from {REFERENCE}", ""]
        lines += format_differences(rows, measure)
    return lines


def format_cells(values: Array, sign: int, digits: int = 3) -> str:
    """Return the cells of one row of a table; NaN gives an empty cell."""
    words = [f"{each:.{digits}f}" if each == each else "" for each in values]
    if any(words):
        best = words[int(np.nanargmin(sign * values))]
        words = [f"**{word}**" if word == best else word for word in words]
    return " | ".join(words)


def format_differences(rows: list[Row], measure: str) -> list[str]:
    """Return one line per method: mean difference, and cases beyond two errors."""
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        found = [row for row in rows if row["method"] == method]
        found = [row for row in found if f"{measure}_difference" in row]
        if method == REFERENCE or not found:
            continue
        all_of = np.array([row[f"{measure}_difference"] for row in found])
        errors = np.array([row[f"{measure}_difference_se"] for row in found])
        lines.append(
            f"{method:<18} {all_of.mean():+.4f}; below by two standard errors in "
            f"{(all_of < -2 * errors).sum()}, above in {(all_of > 2 * errors).sum()} "
            f"of {len(found)} cases"
        )
    return lines


def average_transforms(rows: list[Row]) -> list[Row]:
    """Average the two transforms of distances; return one row per data set and method.

    Transforms share samples and folds, so their standard errors are averaged as well.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        name = row["case"].partition(":")[0]
        groups.setdefault((name, row["method"]), []).append(row)
    found = []
    for (name, method), own in groups.items():
        numbers = [key for key, value in own[0].items() if isinstance(value, float)]
        means = {key: float(np.mean([row[key] for row in own])) for key in numbers}
        found.append({"case": name, "method": method, **means})
    return found


def format_summary(rows: list[Row]) -> list[str]:
    """Return the lines of a table: means and mean ranks over the data sets."""
    columns: list[Array] = []
    for measure, sign in (("log_loss", 1), ("accuracy", -1)):
        _, methods, values = collect_values(rows, measure)
        ranks = rankdata(sign * values, axis=1).mean(axis=0)
        columns += [values.mean(axis=0), ranks]
    signs, digits = (1, 1, -1, 1), (3, 1, 3, 1)
    text = [
        format_cells(each, sign, digit).split(" | ")
        for each, sign, digit in zip(columns, signs, digits, strict=True)
    ]
    head = "| method | mean log-loss | mean rank | mean accuracy | mean rank |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: |"]
    for place in np.argsort(columns[0], kind="stable"):
        name = METHOD_LABELS.get(
            methods[place], methods[place].replace(", ", ", then ")
        )
        name = name.replace("then logistic", "then logistic regression")
        lines.append(f"| {name} | {' | '.join(each[place] for each in text)} |")
    return lines


def update_page(path: Path, parts: dict[str, list[str]]) -> None:
    """Replace the measured parts of a page, which are delimited by comments."""
    page = path.read_text(encoding="utf-8")
    for name, lines in parts.items():
        part = re.compile(rf"(<!-- measured: {name} -->\n).*?(\n<!-- end -->)", re.S)
        text = "\n".join(["", *lines, ""])
        page = part.sub(lambda found, text=text: found[1] + text + found[2], page)
    path.write_text(page, encoding="utf-8")
    print_note(f"Wrote {path}.")


def format_checks(rows: list[Row]) -> list[str]:
    """Return lines that compare the default with other methods."""
    _, methods, losses = collect_values(rows, "log_loss")
    known = {method: losses[:, place] for place, method in enumerate(methods)}
    lines = ["", "checks", ""]
    whole = [method for method in methods if np.isfinite(known[method]).all()]
    if whole:
        ranks = rankdata([known[method] for method in whole], axis=0).mean(axis=1)
        order = [f"{whole[place]} {ranks[place]:.2f}" for place in np.argsort(ranks)]
        lines.append(f"mean ranks by log-loss: {', '.join(order)}")
    return lines + format_nearest_checks(rows)


def format_nearest_checks(rows: list[Row]) -> list[str]:
    """Return lines that name the cases where one neighbor is better than the default.

    Its accuracy may exceed that of the default by one standard error of the difference.
    """
    found = [row for row in rows if row["method"] == NEAREST]
    found = [row for row in found if "accuracy_difference" in row]
    lost = [
        f"{row['case']} ({row['accuracy'] - row['accuracy_difference']:.3f}, "
        f"{row['accuracy']:.3f}, standard error {row['accuracy_difference_se']:.3f})"
        for row in found
        if row["accuracy_difference"] > row["accuracy_difference_se"]
    ]
    text = (
        f"accuracy of {REFERENCE} at least that of {NEAREST} minus one standard error"
    )
    where = f"; not on {', '.join(lost)}" if lost else ""
    return [f"{text}: {len(found) - len(lost)} of {len(found)} cases{where}"]


def write_rows(rows: list[Row], path: Path) -> None:
    """Write the rows to a csv file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {
                    name: f"{each:.4g}" if isinstance(each, float) else each
                    for name, each in row.items()
                }
            )
    print_note(f"Wrote {path}.")


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a file written by `write_rows`, with numbers as float."""

    def convert(cell: str) -> float | str:
        try:
            return float(cell)
        except ValueError:
            return cell

    with path.open() as file:
        return [
            {name: convert(cell) for name, cell in row.items() if cell}
            for row in csv.DictReader(file)
        ]


def draw_differences(rows: list[Row], path: Path) -> None:
    """Draw differences from the default with 95% intervals, by data set."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "which-method", "svg.fonttype": "none"}
    cases = list(dict.fromkeys(row["case"] for row in rows))
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=(10, 1.4 + 0.5 * len(cases)))
    labels = {"log_loss": "log-loss, difference from KreinCV (right: worse)"}
    labels["accuracy"] = "accuracy, difference from KreinCV (left: worse)"
    for axis, (measure, label) in zip(axes, labels.items(), strict=True):
        for place, (method, (color, marker)) in enumerate(METHOD_MARKS.items()):
            below = 0.15 * (
                place - len(METHOD_MARKS) // 2
            )  # marks do not cover each other
            found = [row for row in rows if row["method"] == method]
            axis.errorbar(
                [row[f"{measure}_difference"] for row in found],
                [cases.index(row["case"]) + below for row in found],
                xerr=[
                    INTERVAL_FACTOR * row[f"{measure}_difference_se"] for row in found
                ],
                fmt=marker,
                color=color,
                label=METHOD_LABELS.get(method, method).strip("`"),
                markersize=5,
                linewidth=1,
                fillstyle="none",
            )
        axis.axvline(0, color="#0072b2", linewidth=1.2)
        axis.grid(axis="x", color="0.9")
        for line in range(1, len(cases)):
            axis.axhline(line - 0.5, color="0.9", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.set_xlabel(label)
    axes[0].set_yticks(range(len(cases)), cases)
    axes[0].set_ylim(len(cases) - 0.5, -0.5)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5
    )
    figure.set_layout_engine("constrained")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print_note(f"Wrote {path}.")
