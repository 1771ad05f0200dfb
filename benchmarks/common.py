"""What the benchmarks share: the clock, the rows, fresh processes, the machine.

A row is one JSON line: what was done (``bench``, ``work``, ``n``, ``m``, ``dtype``), by
whom (``library``), how long it took (``median_s``, ``min_s`` of ``repeats``), how many
times faster we were in the same run (``ours_faster``), and on which machine.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

CHECKOUT = str(Path(__file__).parents[1])
if CHECKOUT not in sys.path:  # a script of this folder also imports `reproduction`
    sys.path.append(CHECKOUT)

OURS = "kreinlearn"
PACKAGES = (OURS, "numpy", "scipy", "scikit-learn", "numba")


# -- the command line ------------------------------------------------------------------

REST = 0.1
"""Seconds before each turn: threads of the last one's BLAS wait by spinning for a
while, and would hold up those of another BLAS."""


def options_of(doc: str, argv: list[str] | None = None, **flags: Any) -> Any:
    """Return the options that every benchmark has, and those of its own.

    Parameters
    ----------
    doc : str
        Docstring of the script; its first line is the help.
    argv : list of str, optional
        Arguments; those of the process by default.
    **flags : dict
        Keyword arguments of ``add_argument`` by name of the option.

    Returns
    -------
    argparse.Namespace
        With ``repeats`` set to 1 if ``quick``.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one repeat")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    for name, settings in flags.items():
        parser.add_argument(f"--{name}", **settings)
    options = parser.parse_args(argv)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {options.repeats}.")
    if options.quick:
        options.repeats = 1
    return options


def start(main: Callable[[], None]) -> None:
    """Run a script; no traceback if it is interrupted or nobody reads on."""
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Print a line for people on stderr; stdout is for rows."""
    print(text, file=sys.stderr, flush=True)


def without(peer: str) -> None:
    """Say that a peer is not installed, and how to get it."""
    say(f'{peer} is not installed and left out: pip install "kreinlearn[bench]"')


# -- the clock -------------------------------------------------------------------------


@dataclass(frozen=True)
class Fresh:
    """Work that is done, and timed, in a process of its own.

    Parameters
    ----------
    call : callable
        Returns a dict with ``seconds``, or with a ``status`` if there are none.
    """

    call: Callable[[], dict[str, Any]]


def measure(
    functions: dict[str, Any],
    repeats: int,
    *,
    budget: float = float("inf"),
    prepare: dict[str, Callable[[], Any]] | None = None,
    details: dict[str, dict[str, Any]] | None = None,
) -> dict[str, list[float]]:
    """Return seconds of each repeat by name; the names take turns.

    Parameters
    ----------
    functions : dict from str to callable or Fresh
        What to time. Callables run once before the clock counts.
    repeats : int
        Number of turns.
    budget : float
        Seconds after which a name gets no more turns, so that one slow competitor does
        not set the time of all; its first turn counts if it is slow already.
    prepare : dict from str to callable, optional
        What to do before each turn of a name, outside the clock.
    details : dict from str to dict, optional
        Takes what a fresh process reports besides its seconds.

    Returns
    -------
    dict from str to list of float
        Shorter than ``repeats`` where the budget was used up, and empty where a fresh
        process has failed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    failed: set[str] = set()
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            if name in failed or sum(seconds[name]) > budget:
                continue
            if prepare and name in prepare:
                prepare[name]()
            if isinstance(function, Fresh):
                if repeat == 0:
                    continue
                found = function.call()
                if details is not None:
                    details.setdefault(name, {}).update(found)
                if "seconds" in found:
                    seconds[name].append(found["seconds"])
                else:
                    failed.add(name)
                continue
            time.sleep(REST)
            start = time.perf_counter()
            result = function()
            elapsed = time.perf_counter() - start
            del result  # outside the clock, and before the next one needs the memory
            if repeat > 0 or elapsed > budget:
                seconds[name].append(elapsed)
    return seconds


def fresh(script: str, task: dict[str, Any], timeout: float | None = None) -> Any:
    """Run a task of a script in a new process, and return what it reports.

    Parameters
    ----------
    script : str
        Path of the script, which has an option ``--child``.
    task : dict
        What to do; handed over as JSON.
    timeout : float, optional
        Seconds after which the process is ended.

    Returns
    -------
    dict
        The last line of its output; or ``status``, and ``error``, if it failed.
    """
    call = [sys.executable, script, "--child", json.dumps(task)]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"status": "timeout", "limit_s": timeout}
    if done.returncode != 0:
        error = (done.stderr.strip().splitlines() or ["no message"])[-1]
        # A negative code is a signal: the system ends processes that take all memory.
        full = "MemoryError" in error or done.returncode == -9
        return {"status": "memory" if full else "error", "error": error}
    return json.loads(done.stdout.splitlines()[-1])


def peak_mb() -> float:
    """Return the largest memory that this process has held, in MB.

    From ``VmHWM`` where the system has it: ``ru_maxrss`` begins with the peak of the
    process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def limit_memory() -> None:
    """Make this process raise MemoryError before the machine runs out of memory."""
    import resource

    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    resource.setrlimit(resource.RLIMIT_AS, (total, total))


# -- the rows --------------------------------------------------------------------------


def environment(*packages: str) -> dict[str, Any]:
    """Return versions, threads and processor.

    Parameters
    ----------
    *packages : str
        Distributions to name besides those that we stand on; None if not installed.

    Returns
    -------
    dict
        ``versions``, ``threads``, ``cpu`` and ``cores``.
    """
    import numba

    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in (*PACKAGES, *packages):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = None
    return {
        "versions": versions,
        "threads": numba.get_num_threads(),
        "cpu": processor(),
        "cores": os.cpu_count(),
    }


def processor() -> str:
    """Return the name of the processor."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def rows(
    bench: str,
    work: str,
    seconds: dict[str, list[float]],
    *,
    ours: str | None = OURS,
    details: dict[str, dict[str, Any]] | None = None,
    **fields: Any,
) -> list[dict[str, Any]]:
    """Return one row a library.

    Parameters
    ----------
    bench, work : str
        What was measured.
    seconds : dict from str to list of float
        What `measure` returns.
    ours : str or None
        The name that ratios are taken to; None for no ratios.
    details : dict from str to dict, optional
        Further fields of a library.
    **fields : dict
        Further fields of all: ``n``, ``m``, ``dtype``, ``data``.

    Returns
    -------
    list of dict
        Rows without the machine; medians are None where there is no time.
    """
    found = []
    base = statistics.median(seconds[ours]) if ours and seconds.get(ours) else None
    for library, times in seconds.items():
        own = dict((details or {}).get(library, {}))
        own.pop("seconds", None)
        median = statistics.median(times) if times else None
        row = {"bench": bench, "work": work, "library": library, **fields}
        row |= {
            "median_s": None if median is None else round(median, 6),
            "min_s": round(min(times), 6) if times else None,
            "repeats": len(times),
            "ours_faster": round(median / base, 3) if median and base else None,
        }
        found.append(row | own)
    return found


def emit(found: list[dict[str, Any]], machine: dict[str, Any]) -> None:
    """Print rows with the machine, one JSON line each.

    Parameters
    ----------
    found : list of dict
        What `rows` returns. A field of the row wins over one of the machine.
    machine : dict
        What `environment` returns.
    """
    for row in found:
        print(json.dumps({**row, **machine, **row}), flush=True)


def slope(sizes: Any, seconds: Any) -> float | None:
    """Return the exponent p of seconds = c n^p by least squares on logarithms.

    Parameters
    ----------
    sizes, seconds : sequence of float
        One pair a point.

    Returns
    -------
    float or None
        None for fewer than two sizes.
    """
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def larger_half(points: list[Any]) -> list[Any]:
    """Return the points of the larger sizes: half of them, but at least two."""
    ordered = sorted(points)
    return ordered[-max(2, len(ordered) - len(ordered) // 2) :]


# -- the machine -----------------------------------------------------------------------


class Copy:
    """A copy of memory by several threads, each on its own part.

    Parameters
    ----------
    nbytes : int
        Bytes that are read, and written, by a call.
    threads : int
        Number of threads.
    """

    def __init__(self, nbytes: int, threads: int) -> None:
        source = np.ones(nbytes // 8)
        target = np.ones(nbytes // 8)  # touched, so that its pages exist
        parts = [np.array_split(array, threads) for array in (target, source)]
        self.parts = list(zip(*parts, strict=True))
        self.pool = ThreadPoolExecutor(threads)
        self.moved = 2 * source.nbytes

    def __call__(self) -> None:
        """Copy once."""
        for done in [self.pool.submit(np.copyto, *part) for part in self.parts]:
            done.result()
