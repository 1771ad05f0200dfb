"""Our default search against what people use on series, sequences, graphs and sets.

    KREINLEARN_DATA=... python benchmarks/in_the_field.py [--quick] [--repeats N]
        [--cases CASE ...] [--methods METHOD ...] [--records FILE] [--jobs N]
        [--reuse FILE] [--out docs]

Samples come from `domains`, methods from `rivals`. Five outer folds, and the archive's
own split where there is one (only that for what is slow); all methods see the same
rows, and choose their settings on training rows alone. The clock runs from the samples
to the predictions, measuring included; compiled code is compiled before. Records are
kept and continued as in `which_method`; ``--reuse`` takes those of other libraries from
an earlier run, since they do not depend on our code. Prints tables; with ``--out``
writes ``results/in-the-field.csv``, ``results/in-the-field-records.json.gz``, the
picture and the tables of ``benchmarks.md``.
"""

import gzip
import json
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cases import CACHE
from common import options_of, say, start
from domains import DOMAINS, Domain, domain
from field_page import draw, pack, read, summary, tables, update, write
from rivals import EVERYWHERE, OF_KIND, obstacle, rivals_of
from sklearn.metrics import accuracy_score, log_loss
from which_method import OUTER, collected, outer_fold

from kreinlearn._typing import Array
from kreinlearn.app.runs import Cell

QUICK = "cat-cortex"
FOLDS, ARCHIVE = "folds", "archive"
RUN_AGAIN = ("default", "SVC", "SVC after clip", "1-NN", "k-NN")
"""Methods that are always measured: they learn from our matrices in seconds."""
FEW = 8
"""Samples of a class that are enough to have everything compiled."""
ONCE = ("1-NN, aeon", "1-NN, tslearn", "GAK SVC", "RDST", "Proximity Forest")
"""Measured on the archive's split only: slow, or 1-NN again by another library."""
SLOW = {
    *((case, "GAK SVC") for case in ("ACSF1", "OSULeaf", "JapaneseVowels")),
    *((case, "Proximity Forest") for case in ("ACSF1", "OSULeaf", "Trace")),
}
"""What takes many minutes even once: left out, and the page says so."""
LONG = ("ACSF1",)
"""Data sets that are measured on the archive's split only."""


def main(argv=None):
    names, paths = {"nargs": "+", "metavar": "NAME"}, {"type": Path, "metavar": "FILE"}
    known = list(
        dict.fromkeys([*EVERYWHERE, *(n for k in OF_KIND.values() for n in k)])
    )
    options = options_of(
        __doc__,
        argv,
        cases=names | {"choices": list(DOMAINS), "default": list(DOMAINS)},
        methods=names | {"choices": known, "default": known},
        records=paths | {"default": CACHE / "in-the-field.jsonl"},
        jobs={"type": int, "metavar": "N", "default": 1, "help": "processes"},
        reuse=paths | {"help": "packed records, for methods of other libraries"},
        out=paths | {"help": "folder that gets records, tables and a picture"},
    )
    wanted = [QUICK] if options.quick else options.cases
    cases = {case: domain(case) for case in wanted}
    found = {case: data for case, data in cases.items() if data is not None}
    cells = [
        cell
        for case, data in found.items()
        for method in compared(case, data, options.methods)
        for cell in cells_of(case, data, method, options.repeats)
    ]
    if not cells:
        say("Nothing to do: no case has its data.")
        return
    if options.reuse and not options.records.exists():
        reuse_records(options.reuse, options.records)
    title = "in the field"
    records = collected(cells, options.records, measure, options.jobs, title)
    about = {case: properties(case, data) for case, data in found.items()}
    rows = summary(records, about, options.repeats * OUTER)
    print("\n".join(tables(rows)), flush=True)
    if options.out:
        path = options.out / "results" / "in-the-field.csv"
        write(rows, path)
        rows = read(path)  # the page has what a reader of the table finds
        pack(records, options.out / "results" / "in-the-field-records.json.gz")
        draw(rows, options.out / "images" / "in-the-field.svg")
        update(rows, options.out / "benchmarks.md")


def reuse_records(source: Path, target: Path) -> None:
    """Copy the records of methods whose predictions do not depend on our code."""
    lines = gzip.decompress(source.read_bytes()).splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["method"] not in RUN_AGAIN]
    target.write_bytes(b"".join(kept))


def compared(case: str, data: Domain, methods: list[str]) -> list[str]:
    """Return the methods that can be measured on a case, after a word on others."""
    for name in {**EVERYWHERE, **OF_KIND[data.kind]}:
        if name in methods and (why := obstacle(name, data)):
            say(f"{case}, {name} is left out: {why}.")
    return [name for name in rivals_of(data) if name in methods]


def cells_of(case: str, data: Domain, method: str, repeats: int) -> list[Cell]:
    """Return the folds of a case, and the archive's own split."""
    cells = []
    if case not in LONG and method not in ONCE:
        cells = [
            Cell(FOLDS, case, method, repeat, (("fold", fold),))
            for repeat in range(repeats)
            for fold in range(OUTER)
        ]
    if data.n_train is not None and (case, method) not in SLOW:
        cells.append(Cell(ARCHIVE, case, method))
    return cells


def measure(cell: Cell) -> dict[str, Any]:
    """Learn and judge one fold, or the archive's split: the work of a cell."""
    data = domain(cell.dataset)
    if data is None:
        raise FileNotFoundError(f"The data of {cell.dataset} are missing.")
    learn = rivals_of(data)[cell.method]
    warm(cell.dataset, cell.method)
    train, test = rows_of(cell, data)
    with warnings.catch_warnings():
        # A setting that does not converge is evaluated like any other.
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        learned = learn(data, train, test)
        seconds = time.perf_counter() - began
    y_train, y_test = data.y[train], data.y[test]
    outcome = {
        "status": "done",
        "acc": accuracy_score(y_test, learned.labels),
        "chosen": learned.chosen,
        "fit_s": seconds,
        "n": len(train),
    }
    if learned.proba is not None:
        outcome["ll"] = log_loss(y_test, learned.proba, labels=np.unique(y_train))
    return outcome


def rows_of(cell: Cell, data: Domain) -> tuple[Array, Array]:
    """Return training and test rows of a cell, the same for all methods."""
    if cell.experiment == FOLDS:
        kept = data.folded()
        train, test = outer_fold(data.y[kept], cell.run, cell.setting("fold"))
        return kept[train], kept[test]
    rows = np.arange(len(data.y))
    return rows[: data.n_train], rows[data.n_train :]


@cache
def warm(case: str, method: str) -> None:
    """Learn a few samples of three classes once, so that code is compiled."""
    data = domain(case)
    rows = [np.flatnonzero(data.y == each)[:FEW] for each in np.unique(data.y)[:3]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rivals_of(data)[method](data, np.concatenate(rows), np.concatenate(rows)[::4])


def properties(case: str, data: Domain) -> dict[str, Any]:
    """Return what is known of a case before anything is learned."""
    return {
        "case": case,
        "kind": data.kind,
        "kernel": data.kernel,
        "n": len(data.y),
        "folded": len(data.folded()),
        "classes": len(np.unique(data.y)),
    }


if __name__ == "__main__":
    start(main)
