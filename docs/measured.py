"""Commands and dates of the numbers on the pages, and changes of their code.

``docs/measure`` is its command line; ``conf.py`` shows the date on the pages. A page is
*stale* if code that its numbers depend on has changed since they were measured.
Comments and docstrings do not count. Neither does the place of the code: a page stays
fresh while definitions only move from file to file, up to imports.

Tables and figures of the paper have a record per cell, and all of them take hours.
``docs/measure --check PAGE`` runs some cells again, drawn at random. If a method gives
other numbers than before, all of its cells are run again. A note on the page reports
the check.
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
RECORD_FILE = Path("docs", "results", "measured.json")
SOURCE_FOLDER = Path("src", "kreinlearn")
MODEL_SOURCES = (
    "losses.py",
    "operators.py",
    "kernels",
    "spectrum",
    "problem",
    "solvers",
)
SEARCH_SOURCES = tuple(
    f"estimators/{name}.py" for name in ("_base", "_fit", "logistic_cv")
)
EXACT_SOURCES = (*MODEL_SOURCES, "search", *SEARCH_SOURCES)
LANDMARK_SOURCES = (*MODEL_SOURCES, "landmarks", "estimators/landmarks.py")
READER_SOURCES = ("io", "persistence.py", "app/runs.py", "_files.py", "_memory.py")
REPRODUCTION = "reproduction"
PROGRAMS = {"python": [sys.executable]}
MEASURED_CODE = ("src", REPRODUCTION, "benchmarks", "tests/stress")
"""Folders whose changes must be committed before a measurement."""
STALE_TEXT = "measured with an earlier version of the solver"
CHECK_OPTION = "--check"
N_CHECKED = 30
"""Number of cells that a check runs again, with at least one per method."""
MAX_FIT_SECONDS = 20.0
"""Seconds of a fit beyond which a cell is not drawn."""
COMPARED_FIELDS = ("acc", "status", "mu")
"""Fields that a check compares: accuracy, status, and extreme eigenvalues to five
digits of the larger one. Times may differ, and so may eigenvalues that are zero up to
rounding."""

TIME_FIELDS = ("fit_s", "gram_s", "pred_s")


class Page(NamedTuple):
    """A page with numbers: their commands, and the code that they depend on."""

    name: str  # the name in Sphinx, or README
    commands: tuple[str, ...]  # {out} is a folder for records
    sources: tuple[str, ...]  # files and folders, see `source_path`


def _make_paper_page(name: str, sources: tuple[str, ...]) -> Page:
    command = f"python -m {REPRODUCTION} {name} --out {{out}}"
    return Page(f"results/{name}", (command,), sources)


def _reproduction_files(*names: str) -> tuple[str, ...]:
    return tuple(f"{REPRODUCTION}/{name}.py" for name in names)


def _make_bench_command(names: str) -> str:
    return f"python -m benchmarks {names} --out {{out}}"


PROTOCOL_SOURCES = _reproduction_files(
    "methods", "protocol", "splits", "faces", "readings"
)
FITTED_SOURCES = (*EXACT_SOURCES, "app/methods.py", "features.py", *PROTOCOL_SOURCES)
PAGES = {
    "readme": Page("README", ("python docs/draw_readme.py",), EXACT_SOURCES),
    "speed": Page(
        "speed",
        (
            _make_bench_command(
                "machine product kernels spd fit cv search load blocked scaling import"
            ),
            "python benchmarks/page.py {out}",
        ),
        (*EXACT_SOURCES, *LANDMARK_SOURCES),
    ),
    "which-method": Page(
        "benchmarks",
        (
            "python benchmarks/which_method.py --repeats 1 --out docs "
            "--records {out}/which-method.jsonl",
        ),
        EXACT_SOURCES,
    ),
    "in-the-field": Page(
        "benchmarks",
        (
            "python benchmarks/in_the_field.py --repeats 1 --out docs "
            "--records {out}/in-the-field.jsonl "
            "--reuse docs/results/in-the-field-records.json.gz",
        ),
        EXACT_SOURCES,
    ),
    "landmarks": Page(
        "large",
        (
            "python benchmarks/landmark_curves.py --out {out}",
            "cp {out}/results/landmarks.csv docs/results/landmarks.csv",
            "python benchmarks/landmark_floor.py --out docs",
            "python docs/draw_landmarks.py",
        ),
        LANDMARK_SOURCES,
    ),
    "plan": Page(
        "cost-model",
        ("python benchmarks/landmark_costs.py --out docs",),
        LANDMARK_SOURCES,
    ),
    "large": Page(
        "large",
        (
            _make_bench_command("landmarks"),
            "python benchmarks/bench_landmarks.py --large --repeats 1",
        ),
        LANDMARK_SOURCES,
    ),
    "dask": Page("large", (_make_bench_command("dask"),), LANDMARK_SOURCES),
    "theory": Page("theory", ("python docs/draw_theory.py",), EXACT_SOURCES),
    "trust": Page(
        "testing",
        (
            "python -m tests.stress --minutes 30 --seed 8101 "
            "--only fits-krein fits-hilbert fits-euclidean edited-models",
            "python -m tests.stress --minutes 60 --seed 8201",
        ),
        (*EXACT_SOURCES, *LANDMARK_SOURCES, *READER_SOURCES),
    ),
    "table1": _make_paper_page(
        "table1", ("kernels", "spectrum", *_reproduction_files("metrics"))
    ),
    "table2": _make_paper_page(
        "table2", ("kernels", "spectrum", *_reproduction_files("protocol", "splits"))
    ),
    **{f"table{i}": _make_paper_page(f"table{i}", FITTED_SOURCES) for i in range(3, 8)},
    **{
        name: _make_paper_page(name, FITTED_SOURCES)
        for name in ("fig2", "fig3", "readings")
    },
}


def source_path(source: str, root: Path = ROOT) -> Path:
    """Return the path of a source: of the reproduction, or else of the package."""
    is_ours = source.startswith(f"{REPRODUCTION}/")
    return root / source if is_ours else root / SOURCE_FOLDER / source


def digest(sources: tuple[str, ...], root: Path = ROOT) -> str:
    """Return a digest of the definitions in some files and folders.

    It does not depend on their order or on the files that hold them.
    """
    found: list[str] = []
    for source in sorted(set(sources)):
        path = source_path(source, root)
        for file in path.rglob("*.py") if path.is_dir() else [path]:
            found += _list_definitions(file, file.stat().st_mtime_ns)
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:16]


@cache
def _list_definitions(file: Path, changed: int) -> list[str]:
    """Return the statements of a file without imports; cached by time of change."""
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


def read_records(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Return the records of the pages: date, revision, digest of the code."""
    file = root / RECORD_FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def is_stale(key: str, root: Path = ROOT) -> bool:
    """Return whether the code of a page has changed since it was measured."""
    record = read_records(root).get(key)
    if record is None:
        return True
    code = record.get("checked", record)["code"]
    return bool(code != digest(PAGES[key].sources, root))


def format_note(name: str, root: Path = ROOT) -> str:
    """Return the note on the numbers of a page, in Markdown; empty without numbers."""
    for key, page in PAGES.items():
        if page.name == name and key in read_records(root):
            record = read_records(root)[key]
            origin = f"{record['date']}, revision {record['revision']}"
            if not is_stale(key, root):
                again = _format_check(record["checked"]) if "checked" in record else ""
                return f"*Numbers on this page: measured on {origin}.{again}*"
            return f"```{{note}}\nNumbers on this page: {STALE_TEXT} ({origin}).\n```"
    return ""


def _format_check(checked: dict[str, Any]) -> str:
    """Return the sentences of a note about a check."""
    when = f"on {checked['date']}, revision {checked['revision']}"
    drawn = f"{checked['drawn']} of {checked['cells']} cells, drawn at random"
    text = f" {drawn}, were run again {when}"
    if not checked["again"]:
        return f"{text}, with the same results."
    methods = ", ".join(checked["again"])
    return (
        f"{text}; so were all cells of {methods}. Seconds are those of the first run."
    )


def add_note(name: str, text: str, root: Path = ROOT) -> str:
    """Return the text of a page with its note at the end."""
    remark = format_note(name, root)
    return f"{text.rstrip()}\n\n{remark}\n" if remark else text


# -- the command line ------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """List all pages, or measure or check those that are named."""
    is_check = arguments[:1] == [CHECK_OPTION]
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
    return 0 if arguments else _list_pages()


def _list_pages() -> int:
    """Print date and revision of all pages; return 1 if one is stale, else 0."""
    stale = [key for key in PAGES if is_stale(key)]
    for key in PAGES:
        record = read_records().get(key, {"date": "never     ", "revision": ""})
        state = "stale" if key in stale else "fresh"
        print(f"{key:<13} {state}  {record['date']}  {record['revision']}")
    return int(bool(stale))


def _measure(key: str) -> int:
    """Run the commands of a page, and record date, revision and code."""
    now = _describe_now(key)
    # One folder per revision: an interrupted run resumes, and revisions do not mix.
    out = ROOT / ".measured" / now["revision"]
    out.mkdir(parents=True, exist_ok=True)
    for command in PAGES[key].commands:
        words = shlex.split(command.format(out=shlex.quote(str(out))))
        print(shlex.join(words), flush=True)
        words[:1] = PROGRAMS.get(words[0], words[:1])
        if code := subprocess.run(words, cwd=ROOT).returncode:
            return code
    if PAGES[key].name.startswith("results/"):
        _store_records(key, (out / f"{key}.jsonl").read_bytes())
    _write_record(key, now)
    return 0


def _store_records(key: str, lines: bytes) -> None:
    """Replace the records of an experiment, and update its page."""
    packed = gzip.compress(lines, mtime=0)
    (ROOT / "docs" / "results" / f"{key}.jsonl.gz").write_bytes(packed)
    from draw_results import RESULTS, draw

    draw(RESULTS)


def _check(key: str) -> int:
    """Run some cells of an experiment again, and all cells of methods that differ."""
    file = ROOT / "docs" / "results" / f"{key}.jsonl.gz"
    if not file.exists():
        print(f"{key} has no records of cells: measure it again.", file=sys.stderr)
        return 2
    before = list(map(json.loads, gzip.decompress(file.read_bytes()).splitlines()))
    now = _describe_now(key)
    drawn = _draw_cells(before, now["revision"])
    after = _run_again(key, before, drawn)
    is_other = {name for name in drawn if not _is_same(before, after, name)}
    again = sorted({each["method"] for each in before if each["key"] in is_other})
    print(f"{key}: {len(is_other)} of {len(drawn)} cells differ {again}", flush=True)
    if again:
        rest = {each["key"] for each in before if each["method"] in again}
        after = _run_again(key, before, rest)
        _store_records(key, _encode_cells(after))
    checked = now | {"cells": len(before), "drawn": len(drawn), "again": again}
    _write_record(key, read_records()[key] | {"checked": checked})
    return 0


def _draw_cells(cells: list[dict[str, Any]], revision: str) -> set[str]:
    """Return the keys of a random sample of cells, at least one per method."""
    rng = random.Random(revision)
    short = [each for each in cells if each.get("fit_s", 0.0) <= MAX_FIT_SECONDS]
    rng.shuffle(short)
    first = {each["method"]: each["key"] for each in reversed(short)}
    others = [each["key"] for each in short if each["key"] not in first.values()]
    return {*first.values(), *others[: max(0, N_CHECKED - len(first))]}


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
    return [_update_cell(each, found.get(each["key"])) for each in cells]


def _update_cell(cell: dict[str, Any], found: dict[str, Any] | None) -> dict[str, Any]:
    """Return a cell with the new results and its previous times.

    Times in a table are compared with each other, so all must come from one run.
    """
    if found is None:
        return cell
    times = {name: cell[name] for name in TIME_FIELDS if name in cell}
    return found | times | {"git": _git("rev-parse", "--short=12", "HEAD")}


def _is_same(
    before: list[dict[str, Any]], after: list[dict[str, Any]], key: str
) -> bool:
    """Return whether a cell has the same results as before."""
    one, two = (
        next(each for each in cells if each["key"] == key) for cells in (before, after)
    )
    return all(
        _round_value(one.get(name)) == _round_value(two.get(name))
        for name in COMPARED_FIELDS
    )


def _round_value(value: Any) -> Any:
    """Round numbers to five digits; scale those of a list by the largest."""
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, list):
        largest = max(map(abs, value), default=0.0) or 1.0
        return [round(each / largest, 5) for each in value] + [f"{largest:.4g}"]
    return value


def _encode_cells(cells: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in cells)


def _describe_now(key: str) -> dict[str, Any]:
    """Return the current date, revision and digest of the code."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "revision": _git("rev-parse", "--short=12", "HEAD"),
        "code": digest(PAGES[key].sources),
    }


def _write_record(key: str, record: dict[str, Any]) -> None:
    """Store the record of a page that was measured or checked."""
    found = read_records() | {key: record}
    ordered = {each: found[each] for each in PAGES if each in found}
    text = json.dumps(ordered, indent=1) + "\n"
    (ROOT / RECORD_FILE).write_text(text, encoding="utf-8")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()
