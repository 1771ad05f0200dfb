"""Small runs of each kind that can be interrupted at any moment and resumed.

A run works in a folder and reports on its output the records that it has written.
Reported records must exist after a kill.
"""

import gzip
import hashlib
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kreinlearn._files import replace

SECONDS = {"fit_s", "pred_s", "gram_s", "git"}
"""Fields of a record that runs need not have in common: the source may change, too."""


@dataclass(frozen=True)
class Resumable:
    """A run, and how it is scored."""

    prepare: Callable[[Path], None]
    """Writes what the run reads into an empty folder."""
    run: Callable[[Path], None]
    """Does the work, or what is left of it."""
    told: Callable[[list[str]], set[str]]
    """Says what must be there, after these lines of output."""
    held: Callable[[Path], list[str]]
    """Says what is there; raises if something is torn."""
    result: Callable[[Path], Any]
    """Returns what is to be the same without a kill."""
    marks: str
    """Parts of lines that report a written record."""


def _samples(n: int, n_features: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, n_features))
    f = np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, (f > np.median(f)).astype(int)


def _table(path: Path, n: int, n_features: int) -> None:
    """Write a table of whole numbers, half of it of each class."""
    X, y = _samples(n, n_features)
    lines = [",".join([*(f"x{i}" for i in range(n_features)), "y"])]
    lines += [
        ",".join(map(str, [*row, 2 * label - 1]))
        for row, label in zip((1 + 3 * X).astype(int), y, strict=True)
    ]
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


TOLD = re.compile(r"\S+ \d+/\d+ (.+?) \S+(?: \d\.\d{3})?(?:, \S+ left)?")
"""A line of progress: ``compare 3/12 KEY converged 0.917, 0m04s left``."""


def _keys(lines: list[str]) -> set[str]:
    """Return the keys of the records in lines of progress."""
    found = map(TOLD.fullmatch, lines)
    return {match[1] for match in found if match and not match[1].startswith("(")}


def _essence(name: str) -> Callable[[Path], Any]:
    """Return all records without their seconds, and that no line is torn."""

    def result(folder: Path) -> Any:
        text = (folder / "out" / name).read_text(encoding="utf-8")
        found = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
        kept = [{k: v for k, v in r.items() if k not in SECONDS} for r in found]
        return sorted(kept, key=lambda record: str(record["key"]))

    return result


def _command(name: str, prepare: Callable[[Path], None], words: str) -> Resumable:
    """Return a command that appends records to a file."""

    def run(folder: Path) -> None:
        from kreinlearn.app import cli
        from reproduction import commands

        os.chdir(folder)
        app = {"krein": cli.app, "reproduction": commands.app}
        program, *argv = shlex.split(words)
        cli.run_command(app[program], program, [*argv, "--jobs", "1", "--out", "out"])

    def held(folder: Path) -> list[str]:
        from kreinlearn.app.runs import read_records

        return [record["key"] for record in read_records(folder / "out" / name)]

    return Resumable(prepare, run, _keys, held, _essence(name), "/")


def _prepare_reproduce(folder: Path) -> None:
    (folder / "data").mkdir()
    _table(folder / "data" / "monks1.csv.gz", 124, 6)


def _fit_landmarks(folder: Path, rows: Any = None, labels: Any = None) -> None:
    from kreinlearn import LandmarkLogisticRegression

    def tell(row: dict[str, Any]) -> bool:
        if "iteration" in row:
            print("step", row["stage"], row["iteration"], flush=True)
        return False

    model = LandmarkLogisticRegression(
        "tl1", n_landmarks=60, lam=1e-6, checkpoint=folder / "state", verbose=tell
    )
    if rows is None:
        rows, labels = _samples(20_000)
    model.fit(rows, labels)
    numbers = np.append(model.coef_, model.intercept_)
    replace(folder / "coef.txt", repr(numbers.tolist()).encode())


def _fit_on_cluster(folder: Path) -> None:
    import dask.array as da
    import distributed

    X, y = _samples(20_000)
    try:
        with distributed.Client(
            scheduler_file=str(folder.parent / "scheduler.json"), timeout=60
        ):
            _fit_landmarks(folder, da.from_array(X, chunks=(4000, 5)), y)
    except ConnectionError as error:
        sys.exit(f"krein: {error}")


def _told_steps(lines: list[str]) -> set[str]:
    return {line for line in lines if line.startswith("step ")}


def _held_steps(folder: Path) -> list[str]:
    """Return all steps up to the one in the checkpoint, each once."""
    if not (folder / "state").exists():
        return []
    with np.load(folder / "state", allow_pickle=False) as held:
        stage, step = int(held["stage"]), int(held["step"])
        assert all(np.isfinite(held[name]).all() for name in ("u", "d", "value"))
    earlier = [f"step {s} {i}" for s in range(stage) for i in range(200)]
    return [*earlier, *(f"step {stage} {i}" for i in range(step + 1))]


def _coef(folder: Path) -> Any:
    # Sums over rows in another order differ in their last digits.
    found = np.array(json.loads((folder / "coef.txt").read_text()))
    return [float(f"{value:.6g}") for value in found / np.abs(found).max()]


ROWS = list(range(640))
SLOW = 0.05
"""Seconds of a block: a measure that takes less than a second is not kept."""


def _absolute(X: list[int], Y: list[int] | None = None) -> np.ndarray:
    return np.abs(np.subtract.outer(X, X if Y is None else Y)).astype(float)


def _slow(X: list[int], Y: list[int] | None = None) -> np.ndarray:
    time.sleep(SLOW if len(X) > 1 else 0.0)
    return _absolute(X, Y)


def _measure(folder: Path) -> None:
    from kreinlearn.kernels import _cache
    from kreinlearn.kernels._records import Measure

    _cache.MIN_CACHED_SECONDS = 0.0

    def tell(name: str, share: float, left: float) -> None:
        print("share", share, flush=True)

    with _cache.measuring(cache=folder / "cache", progress=tell):
        D = _cache.compute_measure(Measure("slow", _slow, len), ROWS, {})
    print("found", hashlib.sha256(D.tobytes()).hexdigest(), flush=True)


def _told_rows(lines: list[str]) -> set[str]:
    """Return rows of stored blocks; the last reported one may be missing."""
    shares = [float(line.split()[1]) for line in lines if line.startswith("share ")]
    n = len(ROWS)
    known = [round(n - n * (1 - share) ** 0.5) for share in shares[:-1]]
    return {f"row {i}" for i in range(max(known, default=0))}


def _held_rows(folder: Path) -> list[str]:
    from kreinlearn.kernels import _cache
    from kreinlearn.kernels._records import Measure
    from kreinlearn.operators import split_rows

    found = []
    measure = Measure("slow", _slow, len)
    cache = _cache.open_cache(folder / "cache", measure, ROWS, {})
    assert cache is not None
    for rows in split_rows(len(ROWS), _cache._choose_height(len(ROWS))):
        values = cache.read(rows)
        if values is None:
            break
        assert (values == _absolute(ROWS[rows], ROWS[rows.start :])).all()
        found += [f"row {i}" for i in range(rows.start, rows.stop)]
    return found


def _nothing(folder: Path) -> None:
    pass


RESUMABLE = {
    "reproduce": _command(
        "table2.jsonl",
        _prepare_reproduce,
        "reproduction table2 --runs 12 --dataset monks1 --data data",
    ),
    "compare": _command(
        "compare.jsonl",
        lambda folder: _table(folder / "t.csv", 60, 4),
        "krein compare t.csv --kernels tl1 --methods 'KreinCV,SVC clip,k-NN' --folds 4",
    ),
    "landmarks": Resumable(
        _nothing, _fit_landmarks, _told_steps, _held_steps, _coef, "step "
    ),
    "cache": Resumable(
        _nothing,
        _measure,
        _told_rows,
        _held_rows,
        lambda folder: (folder / "log").read_text().splitlines()[-1],
        "share ",
    ),
    "dask": Resumable(
        _nothing, _fit_on_cluster, _told_steps, _held_steps, _coef, "step "
    ),
}
