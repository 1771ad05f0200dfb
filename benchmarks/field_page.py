"""What the records of `in_the_field` say: rows, tables, claims, and a picture.

The page keeps its prose. What stands between ``<!-- measured: NAME -->`` and ``<!-- end
-->`` is written from the rows.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from common import say
from findings import LABELS, SHARE, Row, cells, findings, update_page
from findings import read_rows as read  # noqa: F401  (for in_the_field)
from findings import write as write
from rivals import EVERYWHERE, MACHINES, OF_KIND

FOLDS, ARCHIVE = "folds", "archive"
TITLES = {
    "series": "Time series, dynamic time warping",
    "covariance": "Covariance matrices, affine-invariant distance",
    "sequences": "Proteins, Smith-Waterman",
    "graphs": "Molecules, Weisfeiler-Lehman assignment and assignment of nodes",
    "sets": "Digits as sets of dots, Wasserstein",
    "distances": "Published distances",
}
OWN = tuple(name for kind in OF_KIND.values() for name in kind)
"""Methods of the domains."""
ORDER = (*EVERYWHERE, *OWN)
NUMBERS = ("accuracy", "log_loss", "seconds")
SHOWN = {
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


def summary(records: list[Row], about: dict[str, Row], n_folds: int) -> list[Row]:
    """Return one row a case, method and split.

    Parameters
    ----------
    records : list of dict
        What was measured.
    about : dict from str to dict
        Properties of each case, first fields of its rows.
    n_folds : int
        Outer folds of all repeats.
    """
    rows: list[Row] = []
    for split in (FOLDS, ARCHIVE):
        measured = [each for each in records if each["exp"] == split and "acc" in each]
        for case, known in about.items():
            of_case = [each for each in measured if each["data"] == case]
            of_case.sort(key=lambda each: ORDER.index(each["method"]))
            methods = list(dict.fromkeys(each["method"] for each in of_case))
            known = {"split": split, **known}
            if split == ARCHIVE:
                rows += [known | archived(each) for each in of_case]
                continue
            for row in findings(of_case, {case: known}, methods, n_folds):
                rows.append(row | errors(row, n_folds))
    return rows


def errors(row: Row, n_folds: int) -> Row:
    """Return standard errors that allow for training rows which folds share."""
    factor = np.sqrt(1 / n_folds + SHARE)
    return {f"{name}_se": factor * row[f"{name}_std"] for name in NUMBERS[:2]}


def archived(record: Row) -> Row:
    """Return what one split says: no spread, and no standard error."""
    return {
        "method": record["method"],
        "accuracy": record["acc"],
        "log_loss": record.get("ll", np.nan),
        "seconds": record["fit_s"],
    }


def pack(records: list[Row], path: Path) -> None:
    """Write the records, in an order and a form that depend on them alone."""
    lines = [json.dumps(each) for each in sorted(records, key=lambda each: each["key"])]
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text, mtime=0))
    say(f"Wrote {path}.")


# -- tables and claims -----------------------------------------------------------------


def regions(rows: list[Row]) -> dict[str, list[str]]:
    """Return the lines of all that the page takes from the rows, by name."""
    return {
        "claims": claims(rows),
        "log-loss": measured(rows, "log_loss", FOLDS),
        "accuracy": measured(rows, "accuracy", FOLDS),
        "seconds": measured(rows, "seconds", FOLDS),
        "archive accuracy": measured(rows, "accuracy", ARCHIVE),
        "archive log-loss": measured(rows, "log_loss", ARCHIVE),
        "archive seconds": measured(rows, "seconds", ARCHIVE),
    }


def tables(rows: list[Row]) -> list[str]:
    """Return all lines, for a terminal."""
    return [line for name, each in regions(rows).items() for line in ("", name, *each)]


def update(rows: list[Row], path: Path) -> None:
    """Write the measured parts of the page."""
    update_page(path, regions(rows))


def measured(rows: list[Row], measure: str, split: str) -> list[str]:
    """Return one table a kind of samples: cases by methods, the best in bold."""
    lines: list[str] = []
    found = [row for row in rows if row["split"] == split]
    for kind in dict.fromkeys(row["kind"] for row in found):
        of_kind = [row for row in found if row["kind"] == kind]
        of_kind = [row for row in of_kind if row[measure] == row[measure]]
        cases = list(dict.fromkeys(row["case"] for row in of_kind))
        present = {row["method"] for row in of_kind}
        order = [name for name in ORDER if name in present]
        lines += [
            "",
            f"{TITLES[kind]}:",
            "",
            f"| case | {' | '.join(LABELS.get(name, name) for name in order)} |",
        ]
        lines += ["| --- " + "| ---: " * len(order) + "|"]
        for case in cases:
            of_case = {row["method"]: row for row in of_kind if row["case"] == case}
            lines.append(f"| {case} | {line(of_case, order, measure)} |")
    return lines[1:]


def line(of_case: dict[str, Row], order: list[str], measure: str) -> str:
    """Return the cells of one case, with standard errors where there are some."""
    values = np.array([of_case.get(m, {}).get(measure, np.nan) for m in order])
    if measure == "seconds":
        return " | ".join(f"{each:.2g}" if each == each else "" for each in values)
    words = cells(values, 1 if measure == "log_loss" else -1).split(" | ")
    spread = [of_case.get(m, {}).get(f"{measure}_se") for m in order]
    return " | ".join(
        word if error is None or not word else f"{word} ± {error:.3f}"
        for word, error in zip(words, spread, strict=True)
    )


def claims(rows: list[Row]) -> list[str]:
    """Return what we wanted to be true, and whether it is."""
    found = [row for row in rows if row["split"] == FOLDS]
    lines = [wins(found, method) for method in MACHINES]
    for method in ("1-NN", "k-NN", *OWN):
        lines += behind([row for row in found if row["method"] == method], method)
    return lines


def wins(rows: list[Row], method: str) -> str:
    """Return on how many cases the default has the smaller log-loss."""
    theirs = [row for row in rows if row["method"] == method]
    lost = [row for row in theirs if row["log_loss_difference"] < 0]
    clear = [r for r in lost if -r["log_loss_difference"] > r["log_loss_difference_se"]]
    better = [
        r for r in theirs if r["log_loss_difference"] > r["log_loss_difference_se"]
    ]
    share = 1 - len(lost) / len(theirs) if theirs else np.nan
    names = ", ".join(
        f"{row['case']} ({row['log_loss'] - row['log_loss_difference']:.3f} "
        f"against {row['log_loss']:.3f})"
        for row in lost
    )
    said = (
        f"* Log-loss below that of {method}, calibrated: {len(theirs) - len(lost)} of "
        f"{len(theirs)} cases ({share:.0%})"
    )
    if not lost:
        return f"{said}."
    return (
        f"{said}; not on {names}. Beyond one standard error it is worse on "
        f"{len(clear)} and better on {len(better)}."
    )


def behind(theirs: list[Row], method: str) -> list[str]:
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


# -- the picture -----------------------------------------------------------------------


def draw(rows: list[Row], path: Path) -> None:
    """Draw how far each method is from the default, with one standard error."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "in-the-field", "svg.fonttype": "none"}
    found = [row for row in rows if row["split"] == FOLDS]
    cases = list(dict.fromkeys(row["case"] for row in found))
    size = (10, 1.6 + 0.55 * len(cases))
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=size)
    for axis, measure in zip(axes, ("log_loss", "accuracy"), strict=True):
        marks(axis, found, cases, measure)
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
    say(f"Wrote {path}.")


def marks(axis: Any, rows: list[Row], cases: list[str], measure: str) -> None:
    """Draw the marks of one measure: a row of the picture for each case."""
    for place, case in enumerate(cases):
        of_case = {row["method"]: row for row in rows if row["case"] == case}
        shown = [name for name in SHOWN if name in of_case]
        for number, name in enumerate(shown):
            row, (color, marker) = of_case[name], SHOWN[name]
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
