"""Kills at random moments: no reported record is lost, duplicated or torn.

Each round runs a resumable command in an empty folder, kills it several times, and
compares the result with that of an undisturbed run. Processes are forked from one that
has imported everything, which makes them cheap.
"""

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.util import find_spec
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.stress import Batch, Kind, Settings

KILLS = 6
"""Most kills of one round."""
PATIENCE = 300.0
"""Seconds after which a run hangs."""
GONE = 10.0
"""Seconds within which processes of a killed one must have ended."""
LIFE = "20 minutes"
"""After which a cluster ends, whatever happens."""
IMPORTED = [
    *("kreinlearn.app.cli.compare", "reproduction.commands", "reproduction.run"),
    "reproduction.page",
    *("kreinlearn.app.comparison.page", "kreinlearn.estimators", "kreinlearn.io"),
    *("kreinlearn.pipelines", "kreinlearn.landmarks.fit", "dask.array", "distributed"),
]


forked = multiprocessing.get_context("fork")


@cache
def context() -> Any:
    """Return what forks processes that have imported everything."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(IMPORTED)
    return made


def fork_workers() -> None:
    """Let workers be forked, too: spawned ones would import everything again."""
    multiprocessing.get_context = lambda method=None: forked  # type: ignore


def _life(name: str, folder: Path) -> None:
    """Run a command; its output goes to a file."""
    from tests.stress.resumable import RESUMABLE

    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout = open(1, "w", buffering=1, closefd=False)
    sys.stderr = open(2, "w", buffering=1, closefd=False)
    fork_workers()
    RESUMABLE[name].run(folder)


def start(name: str, folder: Path) -> BaseProcess:
    """Return a process that runs something in a folder."""
    process: BaseProcess = context().Process(target=_life, args=(name, folder))
    process.start()
    return process


def read_lines(folder: Path) -> list[str]:
    """Return the complete lines of the output."""
    path = folder / "log"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text.split("\n")[:-1]


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = place.read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(place.parent.name))
    found = list(parents.get(pid, []))
    for each in found:
        found += parents.get(each, [])
    return found


def outliving(pids: list[int], seconds: float = GONE) -> list[int]:
    """Return which of some processes have not ended in time."""
    end = time.monotonic() + seconds
    while pids and time.monotonic() < end:
        pids = [pid for pid in pids if _runs(pid)]
        time.sleep(0.02)
    return pids


def _runs(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def wait_for_moment(
    rng: random.Random, process: BaseProcess, name: str, folder: Path, usual: float
) -> bool:
    """Wait for a random moment; return whether the process is still there.

    Half of the moments are random times, the other half shortly after something was
    told, when the next thing is about to be written.
    """
    from tests.stress.resumable import RESUMABLE

    mark = RESUMABLE[name].marks
    if rng.random() < 0.5:
        process.join(rng.uniform(0.0, usual))
        return process.is_alive()
    before = sum(mark in line for line in read_lines(folder))
    more, end = rng.randint(1, 4), time.monotonic() + PATIENCE
    while process.is_alive() and time.monotonic() < end:
        if sum(mark in line for line in read_lines(folder)) >= before + more:
            process.join(rng.choice((0.0, 0.001, 0.01, 0.1)) * rng.random())
            break
        process.join(0.002)
    return process.is_alive()


def fault(name: str, folder: Path) -> str:
    """Return what is wrong with what a killed run has left, or nothing."""
    from tests.stress.resumable import RESUMABLE

    kind = RESUMABLE[name]
    try:
        held = kind.held(folder)
    except Exception as error:
        return f"torn: {type(error).__name__}: {error}"
    if lost := kind.told(read_lines(folder)) - set(held):
        return f"lost: {sorted(lost)[:3]}"
    if len(held) != len(set(held)):
        return "doubled"
    return ""


def ended(process: BaseProcess, folder: Path) -> str:
    """Wait for the end of a run; return what is wrong with it, or nothing."""
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        return f"hangs after {PATIENCE:.0f} seconds"
    if process.exitcode != 0:
        return f"ended with {process.exitcode}: {read_lines(folder)[-3:]}"
    return ""


@cache
def undisturbed(name: str, folder: Path) -> tuple[Any, float]:
    """Return the result and the seconds of a run that is not killed."""
    from tests.stress.resumable import RESUMABLE

    place = folder / "undisturbed"
    place.mkdir()
    RESUMABLE[name].prepare(place)
    first = context().Process(target=time.sleep, args=(0.0,))  # after all imports
    first.start()
    first.join()
    began = time.monotonic()
    wrong = ended(start(name, place), place)
    if wrong:
        raise RuntimeError(f"{name} fails without a kill: {wrong}")
    return RESUMABLE[name].result(place), time.monotonic() - began


def a_round(
    name: str, rng: random.Random, top: Path, cluster: "Cluster | None" = None
) -> Batch:
    """Kill a run several times, let it end, and return what was tried and found."""
    from tests.stress.resumable import RESUMABLE

    kind = RESUMABLE[name]
    expected, usual = undisturbed(name, top)
    folder = top / "killed"
    folder.mkdir()
    kind.prepare(folder)
    batch = Batch()
    process = start(name, folder)
    for _ in range(rng.randint(1, KILLS)):
        if not wait_for_moment(rng, process, name, folder, usual):
            break
        started = descendants(process.pid or 0)
        if cluster is None or rng.random() < 0.5:
            process.kill()
            process.join()
            wrong = fault(name, folder)
            if left := outliving(started):
                wrong = wrong or f"{len(left)} processes outlive their parent"
            process = start(name, folder)
        else:
            wrong, process = cluster.hit(rng, process, folder)
        batch.tried += 1
        if wrong:
            batch.failed.append(wrong)
    wrong = ended(process, folder) or fault(name, folder)
    if not wrong and kind.result(folder) != expected:
        wrong = "another result than without kills"
    if wrong:
        batch.failed.append(wrong)
        batch.tried = max(batch.tried, len(batch.failed))
    shutil.rmtree(folder)
    return batch


class Cluster:
    """A scheduler and two workers in processes of their own, on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.start()

    def start(self) -> None:
        """Start all, and wait until the scheduler is there."""
        self.file.unlink(missing_ok=True)
        said = ["--scheduler-file", str(self.file), "--no-dashboard"]
        ours = ["--host", "127.0.0.1", "--port", "0", "--idle-timeout", LIFE]
        self.scheduler = self._process("dask_scheduler", *said, *ours)
        workers = ["--nworkers", "2", "--nthreads", "1", "--lifetime", LIFE]
        where = ["--local-directory", str(self.folder), "--death-timeout", "60"]
        while not self.file.exists():
            time.sleep(0.05)
        self.workers = self._process("dask_worker", *said, *workers, *where)

    def _process(self, module: str, *words: str) -> subprocess.Popen[bytes]:
        call = [sys.executable, "-m", f"distributed.cli.{module}", *words]
        return subprocess.Popen(
            call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def hit(
        self, rng: random.Random, process: BaseProcess, folder: Path
    ) -> tuple[str, BaseProcess]:
        """Kill a worker, or the scheduler; return what is wrong, and who goes on."""
        workers = [
            pid for pid in descendants(self.workers.pid) if b"spawn_main" in _call(pid)
        ]
        if workers and rng.random() < 0.8:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
            return "", process
        self.stop()
        process.join(PATIENCE)
        wrong = fault("dask", folder)
        if process.is_alive():
            process.kill()
            wrong = wrong or "hangs without its scheduler"
        elif process.exitcode and not read_lines(folder)[-1].startswith("krein: "):
            wrong = wrong or f"no sentence but {read_lines(folder)[-1]}"
        self.start()
        return wrong, start("dask", folder)

    def stop(self) -> None:
        """Kill all of them."""
        started = descendants(self.workers.pid)
        for process in (self.scheduler, self.workers):
            process.kill()
            process.wait()
        for pid in started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _call(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@contextmanager
def _cluster(name: str, top: Path) -> Iterator[Cluster | None]:
    if name != "dask":
        yield None
        return
    cluster = Cluster(top)
    try:
        yield cluster
    finally:
        cluster.stop()


def _batches(name: str, settings: Settings) -> Iterator[Batch]:
    rng = random.Random(f"{name} {settings.seed}")
    if sys.platform != "linux" or (name == "dask" and not find_spec("distributed")):
        print(f"kills-{name}: left out, needs Linux, and the extra dask for dask")
        while True:
            yield Batch()
    with tempfile.TemporaryDirectory(prefix="stress-") as place:
        top = Path(place)
        with _cluster(name, top) as cluster:
            while True:
                yield a_round(name, rng, top, cluster)


NAMES = ("reproduce", "compare", "landmarks", "cache", "dask")
KINDS: dict[str, Kind] = {f"kills-{name}": partial(_batches, name) for name in NAMES}
