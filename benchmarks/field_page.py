"""Rows, tables, claims and a figure from the records of `in_the_field`.

Only the parts of the page between ``<!-- measured: NAME -->`` and ``<!-- end -->`` are
replaced.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from common import print_note
from findings import (
    METHOD_LABELS,
    TEST_TRAIN_RATIO,
    Row,
    format_cells,
    summarize_records,
    update_page,
)
from rivals import GENERAL_RIVALS, KIND_RIVALS, SVC_METHODS

FOLDS, ARCHIVE = "folds", "archive"
KIND_TITLES = {
    "series": "Time series, dynamic time warping",
    "covariance": "Covariance matrices, affine-invariant distance",
    "sequences": "Proteins, Smith-Waterman",
    "graphs": "Molecules, Weisfeiler-Lehman assignment and assignment of nodes",
    "sets": "Digits as sets of dots, Wasserstein",
    "distances": "Published distances",
}
KIND_METHODS = tuple(name for kind in KIND_RIVALS.values() for name in kind)
"""Methods for one kind of samples."""
METHOD_ORDER = (*GENERAL_RIVALS, *KIND_METHODS)
SCORE_FIELDS = ("accuracy", "log_loss")
METHOD_MARKS = {
    "SVC": ("#e69f00", "s"),
    "SVC after clip": ("#d55e00", "D"),
    "1-NN": ("#000000", "x"),
    "GAK SVC": ("#cc79a7", "v"),
    "MiniRocket": ("#009e73", "^"),
    "RDST": ("#56b4e9", "<"),
    "MultiRocket-Hydra": ("#009e73", ">"),
    "QUANT": ("#56b4e9", "h"),
    "Proximity Forest": ("#cc79a7", "d"),
    "tangent space": ("#009e73", "P"),
    "rows, boosting": ("#999999", "o"),
    "k-mers": ("#0072b2", "P"),
    "WL SVC": ("#0072b2", "*"),
    "RBF SVC": ("#0072b2", "p"),
}


# -- rows ------------------------------------------------------------------------------


def summarize_splits(
    records: list[Row], about: dict[str, Row], n_folds: int
) -> list[Row]:
    """Return one row per case, method and split.

    Parameters
    ----------
    records : list of dict
        Records of folds.
    about : dict from str to dict
        Properties of each case, first fields of its rows.
    n_folds : int
        Number of outer folds in all repeats.
    """
    rows: list[Row] = []
    for split in (FOLDS, ARCHIVE):
        measured = [each for each in records if each["exp"] == split and "acc" in each]
        for case, known in about.items():
            of_case = [each for each in measured if each["data"] == case]
            of_case.sort(key=lambda each: METHOD_ORDER.index(each["method"]))
            methods = list(dict.fromkeys(each["method"] for each in of_case))
            known = {"split": split, **known}
            if split == ARCHIVE:
                rows += [known | make_archive_row(each) for each in of_case]
                continue
            for row in summarize_records(of_case, {case: known}, methods, n_folds):
                rows.append(row | compute_errors(row, n_folds))
    return rows


def compute_errors(row: Row, n_folds: int) -> Row:
    """Return standard errors, corrected for the overlap of training rows."""
    factor = np.sqrt(1 / n_folds + TEST_TRAIN_RATIO)
    return {f"{name}_se": factor * row[f"{name}_std"] for name in SCORE_FIELDS}


def make_archive_row(record: Row) -> Row:
    """Return the row of a single split, without standard errors."""
    return {
        "method": record["method"],
        "accuracy": record["acc"],
        "log_loss": record.get("ll", np.nan),
        "seconds": record["fit_s"],
    }


def write_packed(records: list[Row], path: Path) -> None:
    """Write compressed records, with reproducible order and bytes."""
    lines = [json.dumps(each) for each in sorted(records, key=lambda each: each["key"])]
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text, mtime=0))
    print_note(f"Wrote {path}.")


# -- tables and claims -----------------------------------------------------------------


def format_regions(rows: list[Row]) -> dict[str, list[str]]:
    """Return the lines of the measured parts of the page, by name."""
    return {
        "claims": format_claims(rows),
        "log-loss": format_measure(rows, "log_loss", FOLDS),
        "accuracy": format_measure(rows, "accuracy", FOLDS),
        "seconds": format_measure(rows, "seconds", FOLDS),
        "archive accuracy": format_measure(rows, "accuracy", ARCHIVE),
        "archive log-loss": format_measure(rows, "log_loss", ARCHIVE),
        "archive seconds": format_measure(rows, "seconds", ARCHIVE),
    }


def format_tables(rows: list[Row]) -> list[str]:
    """Return all lines, for a terminal."""
    return [
        line
        for name, each in format_regions(rows).items()
        for line in ("", name, *each)
    ]


def update_regions(rows: list[Row], path: Path) -> None:
    """Write the measured parts of the page."""
    update_page(path, format_regions(rows))


def format_measure(rows: list[Row], measure: str, split: str) -> list[str]:
    """Return one table per kind of samples: cases by methods, the best in bold."""
    lines: list[str] = []
    found = [row for row in rows if row["split"] == split]
    for kind in dict.fromkeys(row["kind"] for row in found):
        of_kind = [row for row in found if row["kind"] == kind]
        of_kind = [row for row in of_kind if row[measure] == row[measure]]
        cases = list(dict.fromkeys(row["case"] for row in of_kind))
        present = {row["method"] for row in of_kind}
        order = [name for name in METHOD_ORDER if name in present]
        lines += [
            "",
            f"{KIND_TITLES[kind]}:",
            "",
            f"| case | {' | '.join(METHOD_LABELS.get(name, name) for name in order)} |",
        ]
        lines += ["| --- " + "| ---: " * len(order) + "|"]
        for case in cases:
            of_case = {row["method"]: row for row in of_kind if row["case"] == case}
            lines.append(f"| {case} | {format_line(of_case, order, measure)} |")
    return lines[1:]


def format_line(of_case: dict[str, Row], order: list[str], measure: str) -> str:
    """Return the cells of one case, with standard errors if available."""
    values = np.array([of_case.get(m, {}).get(measure, np.nan) for m in order])
    if measure == "seconds":
        return " | ".join(f"{each:.2g}" if each == each else "" for each in values)
    words = format_cells(values, 1 if measure == "log_loss" else -1).split(" | ")
    spread = [of_case.get(m, {}).get(f"{measure}_se") for m in order]
    return " | ".join(
        word if error is None or not word else f"{word} ± {error:.3f}"
        for word, error in zip(words, spread, strict=True)
    )


def format_claims(rows: list[Row]) -> list[str]:
    """Return claims about the default, and the cases that contradict them."""
    found = [row for row in rows if row["split"] == FOLDS]
    lines = [format_wins(found, method) for method in SVC_METHODS]
    for method in ("1-NN", "k-NN", *KIND_METHODS):
        lines += format_losses(
            [row for row in found if row["method"] == method], method
        )
    return lines


def format_wins(rows: list[Row], method: str) -> str:
    """Return on how many cases the default has the lower log-loss."""
    theirs = [row for row in rows if row["method"] == method]
    lost = [row for row in theirs if row["log_loss_difference"] < 0]
    clear = [r for r in lost if -r["log_loss_difference"] > r["log_loss_difference_se"]]
    better = [
        r for r in theirs if r["log_loss_difference"] > r["log_loss_difference_se"]
    ]
    fraction = 1 - len(lost) / len(theirs) if theirs else np.nan
    names = ", ".join(
        f"{row['case']} ({row['log_loss'] - row['log_loss_difference']:.3f} "
        f"against {row['log_loss']:.3f})"
        for row in lost
    )
    text = (
        f"* Log-loss below that of {method}, calibrated: {len(theirs) - len(lost)} of "
        f"{len(theirs)} cases ({fraction:.0%})"
    )
    if not lost:
        return f"{text}."
    return (
        f"{text}; not on {names}. Beyond one standard error it is worse on "
        f"{len(clear)} and better on {len(better)}."
    )


def format_losses(theirs: list[Row], method: str) -> list[str]:
    """Return where the default is less accurate by more than one standard error."""
    if not theirs:
        return []
    ahead = [
        f"{row['case']} ({row['accuracy'] - row['accuracy_difference']:.3f} "
        f"against {row['accuracy']:.3f})"
        for row in theirs
        if row["accuracy_difference"] > row["accuracy_difference_se"]
    ]
    worse = sum(
        -row["accuracy_difference"] > row["accuracy_difference_se"] for row in theirs
    )
    return [
        f"* Accuracy against {method}, by more than one standard error: above on "
        f"{worse} of {len(theirs)} cases, below on {len(ahead)}"
        f"{': ' + ', '.join(ahead) if ahead else ''}."
    ]


# -- the figure ------------------------------------------------------------------------


def draw_differences(rows: list[Row], path: Path) -> None:
    """Draw differences from the default, with one standard error."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "in-the-field", "svg.fonttype": "none"}
    found = [row for row in rows if row["split"] == FOLDS]
    cases = list(dict.fromkeys(row["case"] for row in found))
    size = (10, 1.6 + 0.55 * len(cases))
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=size)
    for axis, measure in zip(axes, ("log_loss", "accuracy"), strict=True):
        draw_marks(axis, found, cases, measure)
    axes[0].set_xscale("symlog", linthresh=0.1)
    ticks = (-0.3, -0.1, 0, 0.1, 0.3, 1)
    axes[0].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes[0].minorticks_off()
    axes[0].set_xlabel("log-loss minus that of KreinCV\n(right: KreinCV better)")
    axes[1].set_xlabel("accuracy minus that of KreinCV\n(left: KreinCV better)")
    axes[0].set_yticks(range(len(cases)), cases)
    axes[0].set_ylim(len(cases) - 0.5, -0.5)
    handles = dict(zip(*axes[0].get_legend_handles_labels()[::-1], strict=True))
    legend = handles.values(), handles.keys()
    figure.legend(*legend, loc="outside upper center", ncols=5)
    figure.set_layout_engine("constrained")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print_note(f"Wrote {path}.")


def draw_marks(axis: Any, rows: list[Row], cases: list[str], measure: str) -> None:
    """Draw the marks of one score, with one row per case."""
    for place, case in enumerate(cases):
        of_case = {row["method"]: row for row in rows if row["case"] == case}
        shown = [name for name in METHOD_MARKS if name in of_case]
        for number, name in enumerate(shown):
            row, (color, marker) = of_case[name], METHOD_MARKS[name]
            axis.errorbar(
                row[f"{measure}_difference"],
                place + 0.7 * ((number + 0.5) / len(shown) - 0.5),
                xerr=row[f"{measure}_difference_se"],
                fmt=marker,
                color=color,
                markersize=5,
                linewidth=1,
                label=name,
            )
    axis.axvline(0, color="#0072b2", linewidth=1.5)
    for border in range(1, len(cases)):
        axis.axhline(border - 0.5, color="0.9", linewidth=0.8)
    axis.grid(axis="x", color="0.93")
    axis.set_axisbelow(True)
