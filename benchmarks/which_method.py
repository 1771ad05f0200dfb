"""Methods for indefinite similarities, compared by nested cross-validation.

    KREINLEARN_DATA=... python benchmarks/which_method.py [--quick] [--repeats N]
        [--cases CASE ...] [--methods METHOD ...] [--cache FOLDER] [--records FILE]
        [--jobs N] [--out docs]

Matrices come from `cases`, methods from `contenders`. Outer folds give the scores,
inner folds on the training rows choose all settings. All methods see the same folds.
Each record (case, repeat, fold, method) is appended to ``--records`` immediately; run
the same command again to resume. Records of older code are not replaced: use one file
per version of the code. Prints tables and checks; ``--out`` also writes
``results/similarities.csv`` and ``images/which-method.svg`` there.
"""

import sys
import time
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from cases import CACHE_FOLDER, CASES, Matrix, load_matrix, make_fold
from common import parse_options, print_note, run_script
from contenders import METHODS
from findings import (
    average_transforms,
    draw_differences,
    format_checks,
    format_summary,
    format_tables,
    read_rows,
    summarize_records,
    update_page,
    write_rows,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

from kreinlearn import KreinLogisticRegression
from kreinlearn._typing import Array
from kreinlearn.app.runs import FAILED_STATUSES, Cell, progress_bar, read_records, run
from kreinlearn.spectrum import describe
from reproduction.cells import drop_records, grid

OUTER_FOLDS = 5
QUICK_CASE = "cat-cortex:exp"


def main(argv=None):
    names, paths = {"nargs": "+", "metavar": "NAME"}, {"type": Path, "metavar": "FILE"}
    options = parse_options(
        __doc__,
        argv,
        cases=names | {"choices": CASES, "default": CASES},
        methods=names | {"choices": list(METHODS), "default": list(METHODS)},
        cache=paths | {"default": CACHE_FOLDER, "help": "folder of matrices"},
        records=paths | {"help": "by default which-method.jsonl in that folder"},
        jobs={
            "type": int,
            "metavar": "N",
            "help": "processes; one per core if not set",
        },
        out=paths | {"help": "folder that gets a csv file and a figure"},
    )
    wanted = [QUICK_CASE] if options.quick else options.cases
    found = {case: load_matrix(case.split(":")[0], options.cache) for case in wanted}
    cases = [case for case, each in found.items() if each is not None]
    if not cases:
        print_note("Nothing to do: no case has its data.")
        return
    methods = [name for name in options.methods if is_known(name)]
    path = options.records or options.cache / "which-method.jsonl"
    records = measure_cases(cases, methods, options.repeats, path, options)
    about = {case: describe_case(case, found[case]) for case in cases}
    rows = summarize_records(records, about, methods, options.repeats * OUTER_FOLDS)
    print("\n".join([*format_tables(rows), *format_checks(rows)]), flush=True)
    if options.out and rows:
        path = options.out / "results" / "similarities.csv"
        write_rows(rows, path)
        data = average_transforms(read_rows(path))  # rounded as in the file
        draw_differences(data, options.out / "images" / "which-method.svg")
        if (page := options.out / "benchmarks.md").exists():
            update_page(page, {"data sets": format_summary(data)})


def is_known(method: str) -> bool:
    """Return whether our estimators support the norm of a method."""
    if method != "euclidean":
        return True
    try:
        KreinLogisticRegression(kernel="precomputed", norm=method).fit(
            np.eye(4), [0, 1, 0, 1]
        )
    except ValueError as error:
        print_note(f"{method} is left out: {error}")
        return False
    return True


def measure_cases(cases, methods, repeats, path, options) -> list[dict[str, Any]]:
    """Measure all methods on all folds of all cases."""
    cells = grid("similarities", cases, methods, repeats, fold=range(OUTER_FOLDS))
    work = partial(measure_cell, options.cache)
    return run_cells(cells, path, work, options.jobs, "which method")


def run_cells(cells, path, work, jobs, title) -> list[dict[str, Any]]:
    """Run cells without a record, and return the records of all requested cells."""
    asked = {cell.key for cell in cells}
    failed = [
        each["key"] for each in read_records(path) if each["status"] in FAILED_STATUSES
    ]
    drop_records(path, asked.intersection(failed))
    with progress_bar(sys.stderr, title) as progress:
        run(cells, path, work, jobs=jobs, progress=progress)
    records = [each for each in read_records(path) if each["key"] in asked]
    for each in records:
        if each["status"] in FAILED_STATUSES:
            print_note(f"{each['key']}: {each['error']}")
    revisions = {each.get("git") for each in records}
    if len(revisions) > 1:
        listed = ", ".join(map(str, revisions))
        print_note(f"The records are of several revisions: {listed}.")
    return records


def measure_cell(folder: Path, cell: Cell) -> dict[str, Any]:
    """Fit and score one fold: the work of a cell.

    Parameters
    ----------
    folder : Path
        Folder of matrices.
    cell : Cell
        Case, method, repeat and fold.
    """
    found, form = load_case(cell.dataset, folder)
    train, test = select_outer_fold(found.y, cell.run, cell.setting("fold"))
    fold = make_fold(found, form, train, test)
    y_train, y_test = found.y[train], found.y[test]
    began = time.perf_counter()
    with warnings.catch_warnings():
        # A setting that does not converge is evaluated like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        prediction = METHODS[cell.method](fold, y_train)
    seconds = time.perf_counter() - began
    return {
        "status": "done",
        "acc": accuracy_score(y_test, prediction.labels),
        "ll": log_loss(y_test, prediction.proba, labels=np.unique(y_train)),
        "chosen": prediction.chosen,
        "fit_s": seconds,
        "n": len(train),
    }


def select_outer_fold(y: Array, repeat: int, fold: int) -> tuple[Array, Array]:
    """Return training and test rows, the same for all methods."""
    folds = StratifiedKFold(OUTER_FOLDS, shuffle=True, random_state=repeat)
    return list(folds.split(y, y))[fold]


@cache
def load_case(case: str, folder: Path) -> tuple[Matrix, str]:
    """Return the matrix of a case, and its transform."""
    name, _, form = case.partition(":")
    found = load_matrix(name, folder)
    if found is None:
        raise FileNotFoundError(f"The matrix of {case} is not in {folder}.")
    return found, form


def describe_case(case: str, found: Matrix) -> dict[str, Any]:
    """Return properties of a case that do not depend on a method."""
    everything = np.arange(len(found.y))
    form = case.partition(":")[2]
    whole = describe(make_fold(found, form, everything, everything).K_train)
    return {
        "case": case,
        "n": len(found.y),
        "classes": len(np.unique(found.y)),
        "negative_share": round(float(whole["negative_share"]), 4),
        "lam_unique": float(f"{whole['lam_unique']:.2e}"),
        "source": found.source,
    }


if __name__ == "__main__":
    run_script(main)
