"""Run the golden cases with the package that this process imports, and keep results."""

import os
import pickle
import sys
from fnmatch import fnmatch
from pathlib import Path

REPORT_EVERY = 50
"""Cases between two lines of progress."""


def run_cases(
    patterns: list[str], kinds: list[str], label: str
) -> dict[str, dict[str, object]]:
    """Run all cases of these kinds that match a pattern; return results by case."""
    from tests.golden import commands, fits

    def is_wanted(case):
        return any(fnmatch(case, each) for each in patterns)

    count = 0

    def report(case):
        nonlocal count
        count += 1
        if count % REPORT_EVERY == 0:
            print(f"{label}: {count} done, now {case}", file=sys.stderr, flush=True)

    found: dict[str, dict[str, object]] = {}
    # Commands are forked, so they run before any thread has started.
    if "commands" in kinds:
        wanted = [
            case.split("/")[1] for case in commands.list_commands() if is_wanted(case)
        ]
        found |= commands.run_scenarios(list(dict.fromkeys(wanted)), report)
    if "fits" in kinds:
        for case in filter(is_wanted, fits.list_cases()):
            report(case)
            found[case] = fits.run_case(case)
    return found


def main():
    import kreinlearn

    installed, target, patterns, kinds = sys.argv[1:5]
    package = Path(kreinlearn.__file__).resolve()
    if not package.is_relative_to(Path(installed).resolve()):
        sys.exit(f"Expected kreinlearn in {installed}, found {package}.")
    label = Path(installed).name
    results = run_cases(patterns.split(","), kinds.split(","), label)
    Path(target).write_bytes(pickle.dumps(results))
    sys.stderr.flush()
    os._exit(0)  # threads of clusters need no farewell


if __name__ == "__main__":
    main()
