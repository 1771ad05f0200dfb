"""Which command makes the numbers of a page, when it ran, and what changed since.

``docs/measure`` is its command line; ``conf.py`` shows the date on the pages. A page is
*stale* if code that its numbers depend on has changed since they were measured.
Comments and docstrings do not count. Neither does the place of the code: a page stays
fresh while definitions only move from file to file, up to imports.

Tables and figures of the paper have a record per cell, and all of them take hours.
``docs/measure --check PAGE`` runs some cells again, drawn at random. If a method gives
other numbers than before, all of its cells are run again. The page says so.
"""

import ast
import gzip
import hashlib
import json
import random
import shlex
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))  # the package reproduction
RECORD = Path("docs", "results", "measured.json")
SOURCE = Path("src", "kreinlearn")
MODEL = ("losses.py", "operators.py", "kernels", "spectrum", "problem", "solvers")
SEARCH = tuple(f"estimators/{name}.py" for name in ("_base", "_fit", "logistic_cv"))
EXACT = (*MODEL, "search", *SEARCH)
LANDMARKS = (*MODEL, "landmarks", "estimators/landmarks.py")
READERS = ("io", "persistence.py", "app/runs.py", "_files.py", "_memory.py")
REPRODUCTION = "reproduction"
PROGRAMS = {"python": [sys.executable]}
MEASURED_CODE = ("src", REPRODUCTION, "benchmarks", "tests/stress")
"""Folders whose changes must be committed before a measurement."""
EARLIER = "measured with an earlier version of the solver"
CHECK = "--check"
CHECKED = 30
"""Cells that a check runs again, and one of every method at least."""
LONGEST = 20.0
"""Seconds of a fit beyond which a cell is not drawn."""
FOUND = ("acc", "status", "mu")
"""What a cell must find again: accuracy, how the fit ended, and both ends of the
spectrum to five digits of the larger. Times may differ, and so may eigenvalues that are
zero but for rounding, which processors do in different ways."""

TIMES = ("fit_s", "gram_s", "pred_s")


class Page(NamedTuple):
    """A page with numbers: what makes them, and the code that they depend on."""

    name: str  # as Sphinx has it, but README
    commands: tuple[str, ...]  # {out} is a folder for records
    sources: tuple[str, ...]  # files and folders, see `source_path`


def _of_paper(name: str, sources: tuple[str, ...]) -> Page:
    command = f"python -m {REPRODUCTION} {name} --out {{out}}"
    return Page(f"results/{name}", (command,), sources)


def _reproduction_files(*names: str) -> tuple[str, ...]:
    return tuple(f"{REPRODUCTION}/{name}.py" for name in names)


def _bench(names: str) -> str:
    return f"python -m benchmarks {names} --out {{out}}"


PROTOCOL = _reproduction_files("methods", "protocol", "splits", "faces", "readings")
FITTED = (*EXACT, "app/methods.py", "features.py", *PROTOCOL)
PAGES = {
    "readme": Page("README", ("python docs/draw_readme.py",), EXACT),
    "speed": Page(
        "speed",
        (
            _bench(
                "machine product kernels spd fit cv search load blocked scaling import"
            ),
            "python benchmarks/page.py {out}",
        ),
        (*EXACT, *LANDMARKS),
    ),
    "which-method": Page(
        "benchmarks",
        (
            "python benchmarks/which_method.py --repeats 1 --out docs "
            "--records {out}/which-method.jsonl",
        ),
        EXACT,
    ),
    "in-the-field": Page(
        "benchmarks",
        (
            "python benchmarks/in_the_field.py --repeats 1 --out docs "
            "--records {out}/in-the-field.jsonl "
            "--reuse docs/results/in-the-field-records.json.gz",
        ),
        EXACT,
    ),
    "landmarks": Page(
        "large",
        (
            "python benchmarks/landmark_curves.py --out {out}",
            "cp {out}/results/landmarks.csv docs/results/landmarks.csv",
            "python benchmarks/landmark_floor.py --out docs",
            "python docs/draw_landmarks.py",
        ),
        LANDMARKS,
    ),
    "plan": Page(
        "cost-model", ("python benchmarks/landmark_costs.py --out docs",), LANDMARKS
    ),
    "large": Page("large", (_bench("landmarks"),), LANDMARKS),
    "dask": Page("large", (_bench("dask"),), LANDMARKS),
    "theory": Page("theory", ("python docs/draw_theory.py",), EXACT),
    "trust": Page(
        "testing",
        (
            "python -m tests.stress --minutes 30 --seed 8101 "
            "--only fits-krein fits-hilbert fits-euclidean edited-models",
            "python -m tests.stress --minutes 60 --seed 8201",
        ),
        (*EXACT, *LANDMARKS, *READERS),
    ),
    "table1": _of_paper(
        "table1", ("kernels", "spectrum", *_reproduction_files("metrics"))
    ),
    "table2": _of_paper(
        "table2", ("kernels", "spectrum", *_reproduction_files("protocol", "splits"))
    ),
    **{f"table{i}": _of_paper(f"table{i}", FITTED) for i in range(3, 8)},
    **{name: _of_paper(name, FITTED) for name in ("fig2", "fig3", "readings")},
}


def source_path(source: str, root: Path = ROOT) -> Path:
    """Return the path of a source: of the reproduction, or else of the package."""
    is_ours = source.startswith(f"{REPRODUCTION}/")
    return root / source if is_ours else root / SOURCE / source


def digest(sources: tuple[str, ...], root: Path = ROOT) -> str:
    """Return a digest of the definitions in some files and folders.

    It does not depend on their order or on the files that hold them.
    """
    found: list[str] = []
    for source in sorted(set(sources)):
        path = source_path(source, root)
        for file in path.rglob("*.py") if path.is_dir() else [path]:
            found += _definitions(file, file.stat().st_mtime_ns)
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:16]


@cache
def _definitions(file: Path, changed: int) -> list[str]:
    """Return the statements of a file, as it was at a time, without imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [each for each in body if not _is_ignored(each)]
            node.body = kept  # type: ignore[attr-defined]
    return [ast.dump(each) for each in tree.body]


def _is_ignored(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring, an import or a list of names."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return isinstance(node.value.value, str)
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "__all__"
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def records(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Return what is written about the pages: date, revision, digest of the code."""
    file = root / RECORD
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def is_stale(key: str, root: Path = ROOT) -> bool:
    """Tell whether the code of a page has changed since it was measured."""
    record = records(root).get(key)
    if record is None:
        return True
    code = record.get("checked", record)["code"]
    return bool(code != digest(PAGES[key].sources, root))


def note(name: str, root: Path = ROOT) -> str:
    """Return what a page says about its numbers, in Markdown; empty if it has none."""
    for key, page in PAGES.items():
        if page.name == name and key in records(root):
            record = records(root)[key]
            said = f"{record['date']}, revision {record['revision']}"
            if not is_stale(key, root):
                again = _again(record["checked"]) if "checked" in record else ""
                return f"*Numbers on this page: measured on {said}.{again}*"
            return f"```{{note}}\nNumbers on this page: {EARLIER} ({said}).\n```"
    return ""


def _again(checked: dict[str, Any]) -> str:
    """Return what a page says about a check."""
    when = f"on {checked['date']}, revision {checked['revision']}"
    drawn = f"{checked['drawn']} of {checked['cells']} cells, drawn at random"
    said = f" {drawn}, were run again {when}"
    if not checked["again"]:
        return f"{said}: they found the same."
    methods = ", ".join(checked["again"])
    return f"{said}; so were all cells of {methods}. Seconds are of the first run."


def with_note(name: str, text: str, root: Path = ROOT) -> str:
    """Return the text of a page with its note at the end."""
    remark = note(name, root)
    return f"{text.rstrip()}\n\n{remark}\n" if remark else text


# -- the command line ------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """List all pages, or measure or check those that are named."""
    is_check = arguments[:1] == [CHECK]
    arguments = arguments[is_check:]
    unknown = [each for each in arguments if each not in PAGES]
    if unknown:
        known = ", ".join(PAGES)
        print(f"PAGE must be one of {known}; got {unknown[0]!r}.", file=sys.stderr)
        return 2
    changed = _git("status", "--porcelain", "--", *MEASURED_CODE)
    if arguments and changed:
        print("Commit the code first: numbers need a revision.", file=sys.stderr)
        return 1
    for key in arguments:
        if code := (_check if is_check else _measure)(key):
            return code
    for key in () if arguments else PAGES:
        record = records().get(key, {"date": "never     ", "revision": ""})
        state = "stale" if is_stale(key) else "fresh"
        print(f"{key:<13} {state}  {record['date']}  {record['revision']}")
    return 0


def _measure(key: str) -> int:
    """Run what makes a page, and write down that it ran."""
    now = _now(key)
    # Records of one revision: a run that was stopped continues, and none is mixed.
    out = ROOT / ".measured" / now["revision"]
    out.mkdir(parents=True, exist_ok=True)
    for command in PAGES[key].commands:
        words = shlex.split(command.format(out=shlex.quote(str(out))))
        print(shlex.join(words), flush=True)
        words[:1] = PROGRAMS.get(words[0], words[:1])
        if code := subprocess.run(words, cwd=ROOT).returncode:
            return code
    if PAGES[key].name.startswith("results/"):
        _keep(key, (out / f"{key}.jsonl").read_bytes())
    _write(key, now)
    return 0


def _keep(key: str, lines: bytes) -> None:
    """Replace the records of an experiment, and draw its page again."""
    packed = gzip.compress(lines, mtime=0)
    (ROOT / "docs" / "results" / f"{key}.jsonl.gz").write_bytes(packed)
    from draw_results import RESULTS, draw

    draw(RESULTS)


def _check(key: str) -> int:
    """Run some cells of an experiment again, and all of those methods that differ."""
    file = ROOT / "docs" / "results" / f"{key}.jsonl.gz"
    if not file.exists():
        print(f"{key} has no records of cells: measure it again.", file=sys.stderr)
        return 2
    before = list(map(json.loads, gzip.decompress(file.read_bytes()).splitlines()))
    now = _now(key)
    drawn = _drawn(before, now["revision"])
    after = _run_again(key, before, drawn)
    is_other = {name for name in drawn if not _is_same(before, after, name)}
    again = sorted({each["method"] for each in before if each["key"] in is_other})
    print(f"{key}: {len(is_other)} of {len(drawn)} cells differ {again}", flush=True)
    if again:
        rest = {each["key"] for each in before if each["method"] in again}
        after = _run_again(key, before, rest)
        _keep(key, _lines(after))
    checked = now | {"cells": len(before), "drawn": len(drawn), "again": again}
    _write(key, records()[key] | {"checked": checked})
    return 0


def _drawn(cells: list[dict[str, Any]], revision: str) -> set[str]:
    """Return the keys of some cells: one of each method, and others."""
    rng = random.Random(revision)
    short = [each for each in cells if each.get("fit_s", 0.0) <= LONGEST]
    rng.shuffle(short)
    first = {each["method"]: each["key"] for each in reversed(short)}
    others = [each["key"] for each in short if each["key"] not in first.values()]
    return {*first.values(), *others[: max(0, CHECKED - len(first))]}


def _run_again(
    key: str, cells: list[dict[str, Any]], drawn: set[str]
) -> list[dict[str, Any]]:
    """Return the records of an experiment with some cells run again."""
    from kreinlearn.app.runs import run
    from reproduction.catalog import EXPERIMENTS
    from reproduction.run import estimate_cost, evaluate

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{key}.jsonl")
        wanted = [one for one in EXPERIMENTS[key].cells(None, None) if one.key in drawn]
        run(wanted, file, partial(evaluate, data_home=None), cost=estimate_cost)
        found = {each["key"]: each for each in map(json.loads, file.open("rb"))}
    return [_renewed(each, found.get(each["key"])) for each in cells]


def _renewed(cell: dict[str, Any], found: dict[str, Any] | None) -> dict[str, Any]:
    """Return a cell with what was found now, and the times that it had.

    Times of a table are compared with one another, hence all of one run.
    """
    if found is None:
        return cell
    times = {name: cell[name] for name in TIMES if name in cell}
    return found | times | {"git": _git("rev-parse", "--short=12", "HEAD")}


def _is_same(
    before: list[dict[str, Any]], after: list[dict[str, Any]], key: str
) -> bool:
    """Tell whether a cell has found what it had found before."""
    one, two = (
        next(each for each in cells if each["key"] == key) for cells in (before, after)
    )
    return all(_rounded(one.get(name)) == _rounded(two.get(name)) for name in FOUND)


def _rounded(value: Any) -> Any:
    """Return numbers without their last digits; those of a list by the largest."""
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, list):
        largest = max(map(abs, value), default=0.0) or 1.0
        return [round(each / largest, 5) for each in value] + [f"{largest:.4g}"]
    return value


def _lines(cells: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in cells)


def _now(key: str) -> dict[str, Any]:
    """Return date, revision and code of now."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "revision": _git("rev-parse", "--short=12", "HEAD"),
        "code": digest(PAGES[key].sources),
    }


def _write(key: str, record: dict[str, Any]) -> None:
    """Write down that a page was measured or checked."""
    found = records() | {key: record}
    ordered = {each: found[each] for each in PAGES if each in found}
    text = json.dumps(ordered, indent=1) + "\n"
    (ROOT / RECORD).write_text(text, encoding="utf-8")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()
