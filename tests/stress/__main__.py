"""Take batches of all kinds in turn, until time is over, and print the table."""

import argparse
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

from tests.stress import Batch, Kind, Settings, table

MODULES = tuple(
    f"tests.stress.{name}" for name in ("readers", "fits", "edits", "kills", "disks")
)


def all_kinds() -> dict[str, Kind]:
    """Return the kinds of all modules by name."""
    return {
        name: kind
        for module in MODULES
        for name, kind in import_module(module).KINDS.items()
    }


def run(kinds: dict[str, Kind], settings: Settings, seconds: float) -> dict[str, Batch]:
    """Return what was found; every kind has at least one batch."""
    end = time.monotonic() + seconds
    going = {name: kind(settings) for name, kind in kinds.items()}
    found = {name: Batch() for name in kinds}
    is_over = False
    try:
        while not is_over:
            for name, batches in going.items():
                batch = next(batches)
                found[name].tried += batch.tried
                found[name].failed += batch.failed
                for line in batch.failed:
                    print(f"{name}: {line}", file=sys.stderr, flush=True)
            is_over = time.monotonic() >= end
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        for batches in going.values():
            batches.close()  # type: ignore[attr-defined]
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for, and return 1 if something failed."""
    kinds = all_kinds()
    parser = argparse.ArgumentParser(prog="python -m tests.stress")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", nargs="+", choices=list(kinds), metavar="KIND", help=", ".join(kinds)
    )
    parser.add_argument(
        "--keep", type=Path, default=Path("stress-failures"), help="folder for failures"
    )
    given = parser.parse_args(arguments)
    chosen = {name: kinds[name] for name in given.only or kinds}
    settings = Settings(given.seed, given.keep)
    found = run(chosen, settings, 60 * given.minutes)
    print(table(found))
    failed = sum(len(batch.failed) for batch in found.values())
    print(f"seed {given.seed}" + f"; failures are in {given.keep}" * bool(failed))
    return int(failed > 0)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # the table is printed nevertheless
        signal.signal(number, signal.default_int_handler)
    sys.exit(main())
