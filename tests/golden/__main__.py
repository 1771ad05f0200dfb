"""Compare results of the working tree with those of another revision.

python -m tests.golden --against REV [--only PATTERN] [--fits] [--commands]
python -m tests.golden --store        add values of new cases, which CI compares
python -m tests.golden --inventory    write the list of what users can see
"""

import argparse
import pickle
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.golden import compare, install

LEVELS = {
    "bits": "equal in bits",
    "tolerance": "equal within tolerance",
    "intended": "intended",
    "different": "different",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    parser.add_argument("--against", metavar="REV", help="revision to compare with")
    parser.add_argument("--only", metavar="PATTERN", action="append", default=[])
    parser.add_argument("--fits", action="store_true", help="fits only")
    parser.add_argument("--commands", action="store_true", help="commands only")
    parser.add_argument("--store", action="store_true", help="add values for CI")
    parser.add_argument("--inventory", action="store_true", help="write the inventory")
    given = parser.parse_args()
    sys.path.insert(0, str(install.ROOT / "src"))  # whatever is installed
    if given.store:
        from tests.golden import stored

        stored.write()
    if given.inventory:
        from tests.golden import inventory

        inventory.write()
    if given.against:
        kinds = [name for name in ("fits", "commands") if getattr(given, name)]
        return compare_with(given.against, given.only, kinds or ["fits", "commands"])
    if not (given.store or given.inventory):
        parser.print_usage(sys.stderr)
        return 2
    return 0


def compare_with(revision: str, only: list[str], kinds: list[str]) -> int:
    """Run both revisions, print a table and all differences; return the exit code."""
    changes = compare.read_changes()
    folders = [install.install_revision(revision), install.install_tree()]
    start = time.monotonic()
    before, after = run_both(folders, only or ["*"], kinds)
    differences, levels = compare.compare_cases(before, after, changes)
    for each in differences:
        if each.level == "different":
            print(f"{each.case}  {each.field}: {each.text}")
    new = sorted({name for case in after for name in after[case].keys() - before[case]})
    if new:
        print(f"Only in the new version: {', '.join(new)}")
    for line in compare.list_unused(changes, not only and len(kinds) == 2):
        print(line)
    counts = Counter(levels.values())
    print(f"{len(levels)} cases in {time.monotonic() - start:.0f} s")
    for level, words in LEVELS.items():
        print(f"{counts[level]:6d}  {words}")
    return 1 if counts["different"] or not levels else 0


def run_both(folders: list[Path], only: list[str], kinds: list[str]):
    """Run the cases in one process for each folder; return both results."""
    with tempfile.TemporaryDirectory() as top:
        targets = [Path(top, str(number)) for number in range(len(folders))]
        processes = []
        for folder, target in zip(folders, targets, strict=True):
            words = [str(folder), str(target), ",".join(only), ",".join(kinds)]
            call = [sys.executable, "-m", "tests.golden.child", *words]
            environment = install.make_environment(folder)
            processes.append(subprocess.Popen(call, cwd=install.ROOT, env=environment))
        if any([process.wait() for process in processes]):
            sys.exit("A run ended early; see its message above.")
        return [pickle.loads(target.read_bytes()) for target in targets]


if __name__ == "__main__":
    sys.exit(main())
