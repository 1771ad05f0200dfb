"""Full disks, folders that cannot be written to, and two processes in one folder.

What cannot be done ends with one sentence; what was there before is still there, whole,
and nothing is left behind beside it.
"""

import ctypes
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.stress import Batch, Kind, Settings
from tests.stress.kills import PATIENCE, context, fork_workers

CAPABILITY_VERSION = 0x20080522
"""What ``capset`` calls its third version."""
MOST = 200_000
"""Bytes of the largest limit on files; most files here have fewer."""
ALL = ("fit", "predict", "compare", "reproduce", "landmarks", "cache")


def _krein(*words: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        from kreinlearn.app.cli import main

        main(words)

    return run


def _action(name: str) -> Callable[[Path], None]:
    """Return what writes into a folder."""
    from tests.stress.resumable import RESUMABLE

    if name == "fit":
        return _krein("fit", "t.csv", "--lam", "0.01", "-o", "m.krein", "--force")
    if name == "predict":
        return _krein("predict", "m.krein", "t.csv", "-o", "p.csv", "--force")
    return RESUMABLE[name].run


def _life(name: str, folder: Path, out: Connection, limit: int | None) -> None:
    """Run a command under a limit; its output goes to a pipe, which has none."""
    action = _action(name)
    fork_workers()
    os.chdir(folder)
    os.dup2(out.fileno(), 1)
    os.dup2(out.fileno(), 2)
    sys.stdout = open(1, "w", buffering=1, closefd=False)
    sys.stderr = open(2, "w", buffering=1, closefd=False)
    if limit is not None and limit < 0:
        _bind_by_permissions()
    elif limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        action(folder)
    except (ValueError, OSError, MemoryError) as error:
        sys.exit(f"krein: {error}")


def _bind_by_permissions() -> None:
    """Give up what root may do beyond the permissions of files, if this is root."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    if os.getuid() == 0 and libc.capset(header, (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "capabilities could not be given up")


def start(
    name: str, folder: Path, limit: int | None = None
) -> tuple[BaseProcess, Connection]:
    """Start something in a folder; a limit below zero means no right to write."""
    ours, theirs = context().Pipe(duplex=False)
    process = context().Process(target=_life, args=(name, folder, theirs, limit))
    process.start()
    theirs.close()
    return process, ours


def end(process: BaseProcess, told: Connection) -> tuple[int | None, str]:
    """Wait for the end of a process; return its code and its output."""
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
    os.set_blocking(told.fileno(), False)
    try:
        text = os.read(told.fileno(), 2**20).decode(errors="replace")
    except BlockingIOError:
        text = ""
    told.close()
    return process.exitcode, text


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@cache
def prepared() -> dict[str, bytes]:
    """Return the files that are there before: data, a model, half of the records."""
    from tests.stress.resumable import RESUMABLE

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        RESUMABLE["compare"].prepare(folder)
        RESUMABLE["reproduce"].prepare(folder)
        for name in ("fit", "predict", "compare", "reproduce", "landmarks", "cache"):
            code, told = end(*start(name, folder))
            if code != 0:
                raise RuntimeError(f"{name} fails: {told}")
        found = contents(folder)
    for name in ("out/compare.jsonl", "out/table2.jsonl"):
        lines = found[name].splitlines(keepends=True)
        found[name] = b"".join(lines[: len(lines) // 2])
    return found


def laid_out(folder: Path, names: set[str]) -> None:
    """Write files that are there before."""
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(prepared()[name])


def fault(before: dict[str, bytes], folder: Path, code: int | None, told: str) -> str:
    """Return what is wrong with how something ended, or nothing."""
    after = contents(folder)
    last = told.splitlines()[-1] if told else ""
    if "Traceback" in told or code not in (0, 2, 1):
        return f"ended with {code}: {told[-300:]!r}"
    is_sentence = last.startswith(("krein: ", "reproduction: ")) and last.endswith(".")
    if code and not is_sentence:
        return f"no sentence: {last!r}"
    if strays := [name for name in after if ".partial" in name or ".tmp" in name]:
        return f"leaves {strays}"
    for name, content in before.items():
        if name not in after:
            return f"{name} is gone"
        if code and name.endswith(".jsonl") and not after[name].startswith(content):
            return f"{name} has lost records"
        if code and name.endswith((".krein", ".csv", ".gz")) and after[name] != content:
            return f"{name} has changed"
    for name, content in after.items():
        if name.endswith(".jsonl") and content and not content.endswith(b"\n"):
            return f"{name} ends in the middle of a record"
    return ""


def _case(kind: str, rng: random.Random, folder: Path) -> tuple[str, str]:
    """Try one thing, and return its name and what is wrong, or nothing."""
    name = rng.choice(ALL)
    laid_out(folder, {"t.csv", "data/monks1.csv.gz", "m.krein"})
    if rng.random() < 0.7:
        old = {"p.csv", "out/compare.jsonl", "out/table2.jsonl", "state"}
        laid_out(folder, {each for each in old if rng.random() < 0.7})
    before = contents(folder)
    if kind == "two-at-once":
        first, second = start(name, folder), start(name, folder)
        found = [end(*first), end(*second)]
        wrong = [fault(before, folder, *each) for each in found]
        if all(code for code, _ in found):
            wrong.append(f"both failed: {[told[-200:] for _, told in found]}")
        return name, next(filter(None, [*wrong, *_doubled(folder)]), "")
    limit = -1
    if kind == "full-disk":
        limit = int(MOST ** rng.random())
    else:
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
    code, told = end(*start(name, folder, limit))
    if kind == "read-only":
        folder.chmod(0o755)
        if code == 0 and name != "cache":
            return name, f"wrote where it may not: {told[-200:]!r}"
    return name, fault(before, folder, code, told)


def _doubled(folder: Path) -> Iterator[str]:
    from kreinlearn.app.runs import read_records

    for path in folder.rglob("*.jsonl"):
        keys = [record["key"] for record in read_records(path)]
        if len(keys) != len(set(keys)):
            yield f"{path.name} holds a record twice"


def _batches(kind: str, settings: Settings) -> Iterator[Batch]:
    rng = random.Random(f"{kind} {settings.seed}")
    if sys.platform != "linux":
        print(f"{kind}: left out, needs Linux")
        while True:
            yield Batch()
    with tempfile.TemporaryDirectory(prefix="stress-") as place:
        top = Path(place)
        top.chmod(0o755)
        while True:
            folder = top / "case"
            folder.mkdir()
            name, wrong = _case(kind, rng, folder)
            shutil.rmtree(folder)
            yield Batch(1, [f"{name}: {wrong}"] if wrong else [])


NAMES = ("full-disk", "read-only", "two-at-once")
KINDS: dict[str, Kind] = {name: partial(_batches, name) for name in NAMES}
