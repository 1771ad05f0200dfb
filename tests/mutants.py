"""Mutation tests of the model and its solvers.

    python -m pip install mutmut "pytest<9"
    python -m tests.mutants --sample 150 --seed 0

A mutant is a copy of one function with one small change: another operator, another
number, an argument left out. A good test fails with it, which kills the mutant. Here a
random sample of all mutants of `PACKAGES` is tried by those tests in `TESTS` that
run the function, in a copy of this checkout. Survivors are printed with their change.

mutmut skips functions with a decorator (mostly properties) and code outside functions
(mostly constants). A mutant takes effect after all imports: code that runs during an
import needs a test that calls it.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("problem/*", "solvers/*", "spectrum/*", "losses.py")
TESTS = (
    "tests/problem",
    "tests/solvers",
    "tests/spectrum",
    "tests/test_losses.py",
    "tests/properties/test_decompositions.py",
    "tests/properties/test_objectives.py",
    "tests/estimators/test_extreme_scales.py",
)
KILLED = ("killed", "timeout", "segfault", "suspicious")
"""Results that count as noticed."""
SETTINGS = """[mutmut]
source_paths=src
only_mutate=
{packages}
also_copy=
    benchmarks
    reproduction
pytest_add_cli_args=
    -n0
pytest_add_cli_args_test_selection=
{tests}
timeout_multiplier=4
timeout_constant=5
"""


def prepare(folder: Path) -> None:
    """Copy what mutmut needs to a folder of its own, which it fills with mutants."""
    for name in ("src", "tests", "benchmarks", "reproduction"):
        ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    packages = "\n".join(f"    src/kreinlearn/{package}" for package in PACKAGES)
    tests = "\n".join(f"    {test}" for test in TESTS)
    settings = SETTINGS.format(packages=packages, tests=tests)
    (folder / "setup.cfg").write_text(settings, encoding="utf-8")


def mutmut(folder: Path, *words: str, but: str | None = None) -> list[str]:
    """Return the lines that a command of mutmut prints; it may end with ``but``."""
    command = Path(sys.executable).with_name("mutmut")  # of this environment
    done = subprocess.run(
        [command, *words], cwd=folder, capture_output=True, encoding="utf-8"
    )
    if done.returncode and (but is None or but not in done.stderr):
        sys.exit(f"mutmut {words[0]} has failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout.splitlines()


def read_results(folder: Path) -> dict[str, str]:
    """Return what has become of each mutant."""
    lines = mutmut(folder, "results", "--all", "true")
    return {
        name.strip(): end for name, _, end in (each.partition(": ") for each in lines)
    }


def find_file(mutant: str) -> str:
    """Return the file of a mutant, `kreinlearn.package.file.x_function__mutmut_1`."""
    return "/".join(mutant.split(".")[1:-1])


def outcomes(folder: Path, chosen: list[str], processes: int) -> dict[str, str]:
    """Try the chosen mutants, and return what has become of each.

    On a busy machine a timeout may be no fault of the mutant, so that those are tried
    again, one at a time.
    """
    mutmut(folder, "run", "--max-children", str(processes), *chosen)
    ends = read_results(folder)
    if late := [name for name in chosen if ends[name] == "timeout"]:
        mutmut(folder, "run", "--max-children", "1", *late)
        ends = read_results(folder)
    return {name: ends[name] for name in chosen}


def main() -> None:
    """Try a sample of mutants, and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="new folder to keep mutants in")
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp(prefix="mutants-"))
    prepare(folder)
    # It makes mutants, and learns which test runs which function, before it looks for
    # those that it was asked for.
    mutmut(folder, "run", "none of them", but="nothing matches")
    mutants = sorted(read_results(folder))
    chosen = random.Random(args.seed).sample(mutants, min(args.sample, len(mutants)))
    report(folder, len(mutants), outcomes(folder, sorted(chosen), args.processes))
    if args.folder is None:
        shutil.rmtree(folder)


def report(folder: Path, total: int, ends: dict[str, str]) -> None:
    """Print a table by file, and the change of every survivor."""
    survivors = [name for name, end in ends.items() if end not in KILLED]
    tried = Counter(map(find_file, ends))
    left = Counter(map(find_file, survivors))
    for name in survivors:
        print("\n".join(mutmut(folder, "show", name)), end="\n\n")
    print(f"{'file':32} tried killed")
    for file, count in sorted(tried.items()):
        print(f"{file:32} {count:5} {count - left[file]:6}")
    killed = len(ends) - len(survivors)
    print(f"{killed} of {len(ends)} killed, {killed / len(ends):.1%}; {total} in all.")
    print(dict(Counter(ends.values())))


if __name__ == "__main__":
    main()
