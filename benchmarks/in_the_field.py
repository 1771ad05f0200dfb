"""Our default search, compared with established methods for structured samples.

    KREINLEARN_DATA=... python benchmarks/in_the_field.py [--quick] [--repeats N]
        [--cases CASE ...] [--methods METHOD ...] [--records FILE] [--jobs N]
        [--reuse FILE] [--out docs]

Samples come from `domains`, methods from `rivals`. There are five outer folds, and the
split of the archive if it has one (only that for slow methods). All methods see the
same rows and choose their settings on training rows. The time is that from samples to
predictions, including distances but not compilation. Records are resumed as in
`which_method`; ``--reuse`` copies those of other libraries from an earlier run, since
they do not depend on our code. Prints tables; ``--out`` writes
``results/in-the-field.csv``, ``results/in-the-field-records.json.gz``, the figure and
the tables of ``benchmarks.md``.
"""

import gzip
import json
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cases import CACHE_FOLDER
from common import parse_options, print_note, run_script
from domains import DOMAIN_LOADERS, Domain, load_domain
from field_page import (
    ARCHIVE,
    FOLDS,
    draw_differences,
    format_tables,
    summarize_splits,
    update_regions,
    write_packed,
)
from findings import read_rows, write_rows
from rivals import GENERAL_RIVALS, KIND_RIVALS, explain_exclusion, list_rivals
from sklearn.metrics import accuracy_score, log_loss
from which_method import OUTER_FOLDS, run_cells, select_outer_fold

from kreinlearn._typing import Array
from kreinlearn.app.runs import Cell

QUICK_CASE = "cat-cortex"
RUN_AGAIN = ("default", "SVC", "SVC after clip", "1-NN", "k-NN")
"""Methods that are always measured again: they use our matrices and take seconds."""
WARM_UP_SAMPLES = 8
"""Samples per class of the untimed fit that compiles all code."""
ARCHIVE_ONLY_METHODS = (
    "1-NN, aeon",
    "1-NN, tslearn",
    "GAK SVC",
    "RDST",
    "Proximity Forest",
)
"""Measured on the split of the archive only: slow, or 1-NN by another library."""
SKIPPED_PAIRS = {
    *((case, "GAK SVC") for case in ("ACSF1", "OSULeaf", "JapaneseVowels")),
    *((case, "Proximity Forest") for case in ("ACSF1", "OSULeaf", "Trace")),
}
"""Cases and methods that take many minutes even once; the page lists them."""
ARCHIVE_ONLY_CASES = ("ACSF1",)
"""Data sets that are measured on the split of the archive only."""


def main(argv=None):
    names, paths = {"nargs": "+", "metavar": "NAME"}, {"type": Path, "metavar": "FILE"}
    known = list(
        dict.fromkeys([*GENERAL_RIVALS, *(n for k in KIND_RIVALS.values() for n in k)])
    )
    options = parse_options(
        __doc__,
        argv,
        cases=names
        | {"choices": list(DOMAIN_LOADERS), "default": list(DOMAIN_LOADERS)},
        methods=names | {"choices": known, "default": known},
        records=paths | {"default": CACHE_FOLDER / "in-the-field.jsonl"},
        jobs={"type": int, "metavar": "N", "default": 1, "help": "processes"},
        reuse=paths | {"help": "packed records, for methods of other libraries"},
        out=paths | {"help": "folder that gets records, tables and a picture"},
    )
    wanted = [QUICK_CASE] if options.quick else options.cases
    cases = {case: load_domain(case) for case in wanted}
    found = {case: data for case, data in cases.items() if data is not None}
    cells = [
        cell
        for case, data in found.items()
        for method in list_methods(case, data, options.methods)
        for cell in list_cells(case, data, method, options.repeats)
    ]
    if not cells:
        print_note("Nothing to do: no case has its data.")
        return
    if options.reuse and not options.records.exists():
        reuse_records(options.reuse, options.records)
    title = "in the field"
    records = run_cells(cells, options.records, measure_cell, options.jobs, title)
    about = {case: describe_case(case, data) for case, data in found.items()}
    records.sort(key=lambda each: each["key"])  # sums as in the packed file
    rows = summarize_splits(records, about, options.repeats * OUTER_FOLDS)
    print("\n".join(format_tables(rows)), flush=True)
    if options.out:
        path = options.out / "results" / "in-the-field.csv"
        write_rows(rows, path)
        rows = read_rows(path)  # rounded as in the file
        write_packed(records, options.out / "results" / "in-the-field-records.json.gz")
        draw_differences(rows, options.out / "images" / "in-the-field.svg")
        update_regions(rows, options.out / "benchmarks.md")


def reuse_records(source: Path, target: Path) -> None:
    """Copy the records of methods whose predictions do not depend on our code."""
    lines = gzip.decompress(source.read_bytes()).splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["method"] not in RUN_AGAIN]
    target.write_bytes(b"".join(kept))


def list_methods(case: str, data: Domain, methods: list[str]) -> list[str]:
    """Return the methods for a case, after a note on those left out."""
    for name in {**GENERAL_RIVALS, **KIND_RIVALS[data.kind]}:
        if name in methods and (why := explain_exclusion(name, data)):
            print_note(f"{case}, {name} is left out: {why}.")
    return [name for name in list_rivals(data) if name in methods]


def list_cells(case: str, data: Domain, method: str, repeats: int) -> list[Cell]:
    """Return the folds of a case, and the split of the archive."""
    cells = []
    if case not in ARCHIVE_ONLY_CASES and method not in ARCHIVE_ONLY_METHODS:
        cells = [
            Cell(FOLDS, case, method, repeat, (("fold", fold),))
            for repeat in range(repeats)
            for fold in range(OUTER_FOLDS)
        ]
    if data.n_train is not None and (case, method) not in SKIPPED_PAIRS:
        cells.append(Cell(ARCHIVE, case, method))
    return cells


def measure_cell(cell: Cell) -> dict[str, Any]:
    """Fit and score one fold, or the split of the archive: the work of a cell."""
    data = load_domain(cell.dataset)
    if data is None:
        raise FileNotFoundError(f"The data of {cell.dataset} are missing.")
    fit = list_rivals(data)[cell.method]
    warm_up(cell.dataset, cell.method)
    train, test = select_rows(cell, data)
    with warnings.catch_warnings():
        # A setting that does not converge is evaluated like any other.
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        prediction = fit(data, train, test)
        seconds = time.perf_counter() - began
    y_train, y_test = data.y[train], data.y[test]
    outcome = {
        "status": "done",
        "acc": accuracy_score(y_test, prediction.labels),
        "chosen": prediction.chosen,
        "fit_s": seconds,
        "n": len(train),
    }
    if prediction.proba is not None:
        outcome["ll"] = log_loss(y_test, prediction.proba, labels=np.unique(y_train))
    return outcome


def select_rows(cell: Cell, data: Domain) -> tuple[Array, Array]:
    """Return training and test rows of a cell, the same for all methods."""
    if cell.experiment == FOLDS:
        kept = data.select_fold_rows()
        train, test = select_outer_fold(data.y[kept], cell.run, cell.setting("fold"))
        return kept[train], kept[test]
    rows = np.arange(len(data.y))
    return rows[: data.n_train], rows[data.n_train :]


@cache
def warm_up(case: str, method: str) -> None:
    """Fit a few samples of three classes once, such that code is compiled."""
    data = load_domain(case)
    rows = [
        np.flatnonzero(data.y == each)[:WARM_UP_SAMPLES]
        for each in np.unique(data.y)[:3]
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list_rivals(data)[method](data, np.concatenate(rows), np.concatenate(rows)[::4])


def describe_case(case: str, data: Domain) -> dict[str, Any]:
    """Return properties of a case that do not depend on a method."""
    return {
        "case": case,
        "kind": data.kind,
        "kernel": data.kernel,
        "n": len(data.y),
        "folded": len(data.select_fold_rows()),
        "classes": len(np.unique(data.y)),
    }


if __name__ == "__main__":
    run_script(main)
