"""Damaged files for every reader, in processes with a limit of memory and time.

A case is known by the reader, the seed and its number, from which it can be made again.
It survived if the file was read, or refused by an error that a caller expects, in one
sentence that names the file.
"""

import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path

from tests.stress import Batch, Kind, Settings
from tests.stress.mutations import mutated

BATCH = 100
"""Files of one reader in a row."""
SECONDS = 20.0
"""Time for one file."""
MEMORY = 2**30
"""Bytes that a process may take in addition to what it has after all imports."""
KEPT = 3
"""Files that are kept of each way to fail."""
NAMES = (
    *("csv", "tsv", "libsvm", "npz", "npy", "parquet", "fasta", "ts", "ucr", "phylip"),
    *("pairs", "blast", "matrix", "tu", "model", "records", "cache", "checkpoint"),
)


@cache
def _seeds(reader: str) -> list[dict[str, bytes]]:
    from tests.stress.seeds import READERS

    return READERS[reader].seeds()


def case(reader: str, seed: int, number: int, folder: Path) -> Path:
    """Write a damaged file; return it, or its folder if the reader takes one."""
    rng = random.Random(f"{reader} {seed} {number}")
    seeds = _seeds(reader)
    whole = dict(rng.choice(seeds))
    name = rng.choice(sorted(whole))
    other = rng.choice(list(rng.choice(seeds).values()))
    whole[name] = mutated(rng, whole[name], other)
    for each, content in whole.items():
        (folder / each).write_bytes(content)
    return folder if len(whole) > 1 else folder / name


def fault(reader: str, path: Path) -> str:
    """Return what is wrong with how a file was read, or nothing if it survived."""
    from tests.stress.seeds import READERS

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            READERS[reader].read(path)
    except (ValueError, OSError, MemoryError) as error:
        said = str(error)
        is_sentence = said.endswith((".", "?")) and "\n" not in said
        if str(path) in said and is_sentence:
            return ""
        why = "not one sentence with the file"
        return f"{why}: {type(error).__name__}: {said[:300]!r} {_place(error)}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]!r} {_place(error)}"
    return ""


def _place(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"at {Path(last.filename).name}:{last.lineno}"


def _work(pipe: Connection) -> None:
    """Read batches of files on request, and report after each file."""
    import tests.stress.seeds  # noqa: F401  before memory is limited

    _limit_memory()
    with tempfile.TemporaryDirectory() as top:
        for reader, seed, begin in iter(pipe.recv, None):
            for number in range(begin, begin + BATCH):
                pipe.send(_tried(reader, seed, number, Path(top, "case")))


def _tried(reader: str, seed: int, number: int, folder: Path) -> str:
    folder.mkdir()
    try:
        return fault(reader, case(reader, seed, number, folder))
    finally:
        shutil.rmtree(folder)


def _limit_memory() -> None:
    if sys.platform != "linux":
        return
    import resource

    for name in NAMES:  # files that are fine are made without a limit
        _seeds(name)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


class Worker:
    """A process that reads files, and is replaced if it hangs or dies."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(target=_work, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._is_new = True

    def batch(self, reader: str, seed: int, begin: int) -> Iterator[tuple[int, str]]:
        """Yield numbers of files, and what is wrong with each, from ``begin`` on."""
        self._pipe.send((reader, seed, begin))
        for number in range(begin, begin + BATCH):
            patience = SECONDS * (10 if self._is_new else 1)  # imports take long
            try:
                if self._pipe.poll(patience):
                    yield number, self._pipe.recv()
                    self._is_new = False
                    continue
                wrong = f"took more than {patience:.0f} seconds"
            except (EOFError, ConnectionError):
                self._process.join()
                wrong = f"the process died with {self._process.exitcode}"
            yield number, wrong
            self.stop()
            self._start()
            return

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _batches(reader: str, settings: Settings) -> Iterator[Batch]:
    worker, begin = _worker(), 0
    ways = dict[str, int]()
    while True:
        batch = Batch()
        for number, wrong in worker.batch(reader, settings.seed, begin):
            batch.tried += 1
            if wrong:
                batch.failed.append(f"case {number}: {wrong}")
                way = wrong.rpartition(" at ")[2]
                ways[way] = ways.get(way, 0) + 1
                if ways[way] <= KEPT:
                    _keep(reader, settings, number, wrong)
        begin += batch.tried
        yield batch


@cache
def _worker() -> Worker:
    """Return the process that all readers share."""
    return Worker()


def _keep(reader: str, settings: Settings, number: int, wrong: str) -> None:
    folder = settings.keep / f"{reader}-{settings.seed}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    case(reader, settings.seed, number, folder)
    (folder / "why.log").write_text(wrong, encoding="utf-8")


KINDS: dict[str, Kind] = {name: partial(_batches, name) for name in NAMES}
