"""Shared by the benchmarks: options, timing, separate processes, rows of results.

A row is one JSON line: the work (``bench``, ``work``, ``n``, ``m``, ``dtype``), the
``library``, its seconds (``median_s``, ``min_s`` of ``repeats``), the ratio of the
median to ours in the same run (``ours_faster``), and the machine.
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

CHECKOUT_FOLDER = str(Path(__file__).parents[1])
# Scripts of this folder also import the package `reproduction`.
if CHECKOUT_FOLDER not in sys.path:
    sys.path.append(CHECKOUT_FOLDER)

OURS = "kreinlearn"
REPORTED_PACKAGES = (OURS, "numpy", "scipy", "scikit-learn", "numba")


# -- the command line ------------------------------------------------------------------

PAUSE_SECONDS = 0.1
"""Pause before each timed call. Idle BLAS threads spin for a while, which would slow
down the threads of another BLAS."""


def parse_options(doc: str, argv: list[str] | None = None, **flags: Any) -> Any:
    """Parse the common options of all benchmarks, and additional ones.

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


def run_script(main: Callable[[], None]) -> None:
    """Run a script without a traceback on an interrupt or a closed pipe."""
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_note(text: str) -> None:
    """Print a line to stderr; stdout is reserved for rows."""
    print(text, file=sys.stderr, flush=True)


def print_missing_library(peer: str, extra: str = "bench") -> None:
    """Print that a peer is not installed, and how to install it."""
    print_note(
        f'{peer} is not installed and left out: pip install "kreinlearn[{extra}]"'
    )


# -- the clock -------------------------------------------------------------------------


@dataclass(frozen=True)
class SelfTimed:
    """Work that measures its own time, usually in a separate process.

    Parameters
    ----------
    call : callable
        Returns a dict with ``seconds``, or with a ``status`` if there are none.
    """

    call: Callable[[], dict[str, Any]]


def time_functions(
    functions: dict[str, Any],
    repeats: int,
    *,
    budget: float = float("inf"),
    prepare: dict[str, Callable[[], Any]] | None = None,
    details: dict[str, dict[str, Any]] | None = None,
) -> dict[str, list[float]]:
    """Return the seconds of each repeat by name; the functions take turns.

    Parameters
    ----------
    functions : dict from str to callable or Fresh
        Functions to time. Callables get one untimed run first.
    repeats : int
        Number of turns.
    budget : float
        Seconds after which a name gets no more turns. If the first, untimed run already
        exceeds them, its time is used.
    prepare : dict from str to callable, optional
        Functions to call before each turn of a name; not timed.
    details : dict from str to dict, optional
        Filled with the reports of `SelfTimed` work.

    Returns
    -------
    dict from str to list of float
        Shorter than ``repeats`` if the budget is exceeded, empty if `SelfTimed` work
        fails.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    failed: set[str] = set()
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            if name in failed or sum(seconds[name]) > budget:
                continue
            if prepare and name in prepare:
                prepare[name]()
            if isinstance(function, SelfTimed):
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
            time.sleep(PAUSE_SECONDS)
            start = time.perf_counter()
            result = function()
            elapsed = time.perf_counter() - start
            del result  # not timed; frees memory for the next function
            if repeat > 0 or elapsed > budget:
                seconds[name].append(elapsed)
    return seconds


def check_agreement(
    work: str,
    functions: dict[str, Callable[[], Any]],
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    scaled_atol: float = 0.0,
) -> None:
    """Raise RuntimeError unless all functions return the same array.

    Parameters
    ----------
    work : str
        Name for the error message.
    functions : dict from str to callable
        The first one is the reference.
    rtol, atol : float
        Relative and absolute tolerance of each entry.
    scaled_atol : float
        Absolute tolerance in units of the largest entry of the reference.
    """
    reference, *others = functions
    expected = functions[reference]()
    atol += scaled_atol * np.abs(expected).max()
    for name in others:
        if not np.allclose(functions[name](), expected, rtol=rtol, atol=atol):
            raise RuntimeError(f"{work}: results of {name} and {reference} differ.")


def run_in_process(
    script: str, task: dict[str, Any], timeout: float | None = None
) -> Any:
    """Run a task of a script in a new process, and return its report.

    Parameters
    ----------
    script : str
        Path of the script, which has an option ``--child``.
    task : dict
        Arguments, passed as JSON.
    timeout : float, optional
        Seconds after which the process is stopped.

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


def get_peak_mb() -> float:
    """Return the peak memory of this process in MB.

    Uses ``VmHWM`` if available, since ``ru_maxrss`` starts at the peak of the parent
    process.
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


def describe_machine(*packages: str) -> dict[str, Any]:
    """Return versions, threads and processor.

    Parameters
    ----------
    *packages : str
        Distributions to report besides our dependencies; None if not installed.

    Returns
    -------
    dict
        ``versions``, ``threads``, ``cpu`` and ``cores``.
    """
    import numba

    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in (*REPORTED_PACKAGES, *packages):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = None
    return {
        "versions": versions,
        "threads": numba.get_num_threads(),
        "cpu": get_cpu_name(),
        "cores": os.cpu_count(),
    }


def get_cpu_name() -> str:
    """Return the name of the processor."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def make_rows(
    bench: str,
    work: str,
    seconds: dict[str, list[float]],
    *,
    ours: str | None = OURS,
    details: dict[str, dict[str, Any]] | None = None,
    **fields: Any,
) -> list[dict[str, Any]]:
    """Return one row per library.

    Parameters
    ----------
    bench, work : str
        Names of the benchmark and of the work.
    seconds : dict from str to list of float
        Result of `time_functions`.
    ours : str or None
        Library that ratios are relative to; None for no ratios.
    details : dict from str to dict, optional
        Further fields of a library.
    **fields : dict
        Further fields of all rows: ``n``, ``m``, ``dtype``, ``data``.

    Returns
    -------
    list of dict
        Rows without the machine; medians are None if nothing was timed.
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


def print_rows(found: list[dict[str, Any]], machine: dict[str, Any]) -> None:
    """Print rows with the machine, one JSON line each.

    Parameters
    ----------
    found : list of dict
        Result of `make_rows`. Fields of a row take precedence over the machine.
    machine : dict
        Result of `describe_machine`.
    """
    for row in found:
        print(json.dumps({**row, **machine, **row}), flush=True)


def fit_exponent(sizes: Any, seconds: Any) -> float | None:
    """Return the exponent p of seconds = c n^p by least squares on logarithms.

    Parameters
    ----------
    sizes, seconds : sequence of float
        One pair per point.

    Returns
    -------
    float or None
        None for fewer than two sizes.
    """
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def select_larger_half(points: list[Any]) -> list[Any]:
    """Return the half of the points with the larger sizes, but at least two."""
    ordered = sorted(points)
    return ordered[-max(2, len(ordered) - len(ordered) // 2) :]


# -- the machine -----------------------------------------------------------------------


class ThreadedCopy:
    """Memory copy by several threads, each on its own part.

    Parameters
    ----------
    nbytes : int
        Bytes read, and bytes written, per call.
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
