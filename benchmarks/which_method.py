"""Which method for an indefinite similarity: nested cross-validation on real ones.

    KREINLEARN_DATA=... python benchmarks/which_method.py [--quick] [--repeats N]
        [--cases CASE ...] [--methods METHOD ...] [--cache FOLDER] [--records FILE]
        [--jobs N] [--out docs]

Matrices come from `cases`, methods from `contenders`. Outer folds measure, inner folds
on the training rows choose all settings; all methods see the same folds. One record a
case, repeat, fold and method is appended to ``--records`` as soon as it is there, and
the same command continues. (Records of older code are not made again: give each state
of the code a file of its own.) Prints tables and checks; with ``--out`` also writes
``results/similarities.csv`` and ``images/which-method.svg`` there.
"""

import sys
import time
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from cases import CACHE, CASES, Matrix, fold_of, matrix
from common import options_of, say, start
from contenders import METHODS
from findings import (
    average_transforms,
    checks,
    draw,
    findings,
    read_rows,
    summary,
    tables,
    update_page,
    write,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

from kreinlearn import KreinLogisticRegression
from kreinlearn._typing import Array
from kreinlearn.app.runs import FAILED_STATUSES, Cell, progress_bar, read_records, run
from kreinlearn.spectrum import describe
from reproduction.cells import drop_records, grid

OUTER = 5
QUICK = "cat-cortex:exp"


def main(argv=None):
    names, paths = {"nargs": "+", "metavar": "NAME"}, {"type": Path, "metavar": "FILE"}
    options = options_of(
        __doc__,
        argv,
        cases=names | {"choices": CASES, "default": CASES},
        methods=names | {"choices": list(METHODS), "default": list(METHODS)},
        cache=paths | {"default": CACHE, "help": "folder of matrices"},
        records=paths | {"help": "by default which-method.jsonl in that folder"},
        jobs={
            "type": int,
            "metavar": "N",
            "help": "processes; one per core if not set",
        },
        out=paths | {"help": "folder that gets a csv file and a figure"},
    )
    wanted = [QUICK] if options.quick else options.cases
    found = {case: matrix(case.split(":")[0], options.cache) for case in wanted}
    cases = [case for case, each in found.items() if each is not None]
    if not cases:
        say("Nothing to do: no case has its data.")
        return
    methods = [name for name in options.methods if is_known(name)]
    path = options.records or options.cache / "which-method.jsonl"
    records = measured(cases, methods, options.repeats, path, options)
    about = {case: properties(case, found[case]) for case in cases}
    rows = findings(records, about, methods, options.repeats * OUTER)
    print("\n".join([*tables(rows), *checks(rows)]), flush=True)
    if options.out and rows:
        path = options.out / "results" / "similarities.csv"
        write(rows, path)
        data = average_transforms(read_rows(path))  # what a reader of the table finds
        draw(data, options.out / "images" / "which-method.svg")
        if (page := options.out / "benchmarks.md").exists():
            update_page(page, {"data sets": summary(data)})


def is_known(method: str) -> bool:
    """Return whether our estimators have the norm that a method is named for."""
    if method != "euclidean":
        return True
    try:
        KreinLogisticRegression(kernel="precomputed", norm=method).fit(
            np.eye(4), [0, 1, 0, 1]
        )
    except ValueError as error:
        say(f"{method} is left out: {error}")
        return False
    return True


def measured(cases, methods, repeats, path, options) -> list[dict[str, Any]]:
    """Measure all methods on all folds of all cases."""
    cells = grid("similarities", cases, methods, repeats, fold=range(OUTER))
    work = partial(measure, options.cache)
    return collected(cells, path, work, options.jobs, "which method")


def collected(cells, path, work, jobs, title) -> list[dict[str, Any]]:
    """Run what has no record yet, and return the records of what was asked for."""
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
            say(f"{each['key']}: {each['error']}")
    revisions = {each.get("git") for each in records}
    if len(revisions) > 1:
        said = ", ".join(map(str, revisions))
        say(f"The records are of several revisions: {said}.")
    return records


def measure(folder: Path, cell: Cell) -> dict[str, Any]:
    """Learn and judge one fold: the work of a cell.

    Parameters
    ----------
    folder : Path
        Folder of matrices.
    cell : Cell
        Case, method, repeat and fold.
    """
    found, form = loaded(cell.dataset, folder)
    train, test = outer_fold(found.y, cell.run, cell.setting("fold"))
    fold = fold_of(found, form, train, test)
    y_train, y_test = found.y[train], found.y[test]
    began = time.perf_counter()
    with warnings.catch_warnings():
        # A setting that does not converge is evaluate like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        learned = METHODS[cell.method](fold, y_train)
    seconds = time.perf_counter() - began
    return {
        "status": "done",
        "acc": accuracy_score(y_test, learned.labels),
        "ll": log_loss(y_test, learned.proba, labels=np.unique(y_train)),
        "chosen": learned.chosen,
        "fit_s": seconds,
        "n": len(train),
    }


def outer_fold(y: Array, repeat: int, fold: int) -> tuple[Array, Array]:
    """Return training and test rows, the same for all methods."""
    folds = StratifiedKFold(OUTER, shuffle=True, random_state=repeat)
    return list(folds.split(y, y))[fold]


@cache
def loaded(case: str, folder: Path) -> tuple[Matrix, str]:
    """Return the matrix of a case, and its form."""
    name, _, form = case.partition(":")
    found = matrix(name, folder)
    if found is None:
        raise FileNotFoundError(f"The matrix of {case} is not in {folder}.")
    return found, form


def properties(case: str, found: Matrix) -> dict[str, Any]:
    """Return what is known of a case before anything is learned."""
    everything = np.arange(len(found.y))
    form = case.partition(":")[2]
    whole = describe(fold_of(found, form, everything, everything).K_train)
    return {
        "case": case,
        "n": len(found.y),
        "classes": len(np.unique(found.y)),
        "negative_share": round(float(whole["negative_share"]), 4),
        "lam_unique": float(f"{whole['lam_unique']:.2e}"),
        "source": found.source,
    }


if __name__ == "__main__":
    start(main)
