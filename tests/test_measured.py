"""Numbers of the docs: which command makes them, and whether the code has changed."""

import gzip
import json
import shlex
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture
def measured(monkeypatch):
    """Return the module, which stays imported: it has read all files."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return __import__("measured")


@pytest.fixture
def copy(measured, tmp_path):
    """Return a copy of the code whose pages were all measured with it."""
    source = tmp_path / measured.SOURCE_FOLDER
    shutil.copytree(ROOT / measured.SOURCE_FOLDER, source)
    shutil.copytree(ROOT / measured.REPRODUCTION, tmp_path / measured.REPRODUCTION)
    code = {key: measured.digest(page.sources) for key, page in measured.PAGES.items()}
    record = {"date": "2026-01-02", "revision": "0123456789ab"}
    (tmp_path / measured.RECORD_FILE).parent.mkdir(parents=True)
    (tmp_path / measured.RECORD_FILE).write_text(
        json.dumps({key: record | {"code": each} for key, each in code.items()})
    )
    return tmp_path


def test_every_page_exists_and_has_a_record(measured):
    assert set(measured.read_records()) == set(measured.PAGES)
    for key, page in measured.PAGES.items():
        folder = ROOT if page.name == "README" else ROOT / "docs"
        assert (folder / f"{page.name}.md").is_file(), key
        for source in page.sources:
            assert measured.source_path(source).exists(), source
        record = measured.read_records()[key]
        assert set(record) - {"checked"} == {"date", "revision", "code"}


def test_commands_exist(measured):
    for page in measured.PAGES.values():
        for command in page.commands:
            words = shlex.split(command)
            if words[:2] == ["python", "-m"]:
                folder = ROOT.joinpath(*words[2].split("."))
                assert (folder / "__main__.py").is_file(), command
            elif words[0] == "python":
                assert (ROOT / words[1]).is_file(), command


def test_a_page_has_the_note_exactly_when_it_is_stale(measured, copy):
    text = "# Theory\n\nText.\n"
    said = measured.add_note("theory", text, copy)
    assert said.startswith(f"{text}\n*Numbers on this page: measured on 2026-01-02, ")
    assert said.endswith("revision 0123456789ab.*\n")
    file = copy / measured.SOURCE_FOLDER / "solvers" / "newton.py"
    code = file.read_text(encoding="utf-8")
    file.write_text(f"# a comment\n{code}", encoding="utf-8")
    assert measured.add_note("theory", text, copy) == said
    file.write_text(code.replace('"""', '"""Or: ', 1), encoding="utf-8")
    assert measured.add_note("theory", text, copy) == said
    file.write_text(f"{code}\nSTEPS = 7\n", encoding="utf-8")
    stale = measured.add_note("theory", text, copy)
    assert stale.startswith(
        f"{text}\n```{{note}}\nNumbers on this page: measured with "
    )
    assert "an earlier version of the solver (2026-01-02, revision" in stale
    assert "earlier" not in measured.add_note("results/table1", text, copy)
    assert measured.add_note("quickstart", text, copy) == text


def test_code_that_only_moves_leaves_a_page_fresh(measured, copy):
    source = copy / measured.SOURCE_FOLDER / "solvers"
    code = (source / "monitor.py").read_text(encoding="utf-8")
    (source / "monitor.py").write_text('"""Empty."""\n', encoding="utf-8")
    assert measured.is_stale("theory", copy)
    (source / "moved.py").write_text(f"import os\n{code}", encoding="utf-8")
    assert not measured.is_stale("theory", copy)
    (source / "moved.py").write_text(f"{code}\nSTEPS = 7\n", encoding="utf-8")
    assert measured.is_stale("theory", copy)


@pytest.mark.parametrize("stale", [(), ("speed", "table3")])
def test_the_list_marks_stale_pages(measured, monkeypatch, capsys, stale):
    monkeypatch.setattr(measured, "is_stale", lambda key: key in stale)
    assert measured.main([]) == (1 if stale else 0)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines] == list(measured.PAGES)
    assert [line[0] for line in lines if line[1] == "stale"] == list(stale)


def test_what_cannot_be_measured(measured, monkeypatch, capsys):
    assert measured.main(["nonsense"]) == 2
    assert "got 'nonsense'" in capsys.readouterr().err
    monkeypatch.setattr(measured, "_git", lambda *words: " M src/kreinlearn/losses.py")
    assert measured.main(["theory"]) == 1
    assert "Commit the code first" in capsys.readouterr().err


def test_what_was_measured_is_written_down(measured, copy, monkeypatch, capsys):
    monkeypatch.setattr(measured, "ROOT", copy)
    monkeypatch.setattr(
        measured, "_git", lambda *words: "" if words[0] == "status" else "abc"
    )
    page = measured.Page("theory", ("python -c 'print(1)'",), ("losses.py",))
    monkeypatch.setitem(measured.PAGES, "theory", page)
    assert measured.main(["theory"]) == 0
    written = measured.read_records(copy)
    assert written["theory"]["revision"] == "abc"
    assert written["theory"]["code"] == measured.digest(("losses.py",), copy)
    assert list(written) == list(measured.PAGES)
    broken = page._replace(commands=("python -c 'raise SystemExit(3)'",))
    monkeypatch.setitem(measured.PAGES, "theory", broken)
    assert measured.main(["theory"]) == 3


@pytest.fixture
def cells(measured, copy, monkeypatch):
    """Return cells of table 7, two methods on 30 runs; "b" finds something else now."""
    monkeypatch.setattr(measured, "ROOT", copy)
    monkeypatch.setattr(
        measured, "_git", lambda *words: "" if words[0] == "status" else "abc"
    )
    kept = []
    monkeypatch.setattr(
        measured, "_store_records", lambda key, lines: kept.append(lines)
    )
    cells = [
        {"key": f"{method}/{run}", "method": method, "acc": 0.5 + run / 100}
        for method in "ab"
        for run in range(30)
    ]
    lines = measured._encode_cells(cells)
    file = copy / "docs" / "results" / "table7.jsonl.gz"
    file.write_bytes(gzip.compress(lines))
    return cells, kept


def test_a_check_that_finds_the_same_changes_no_number(
    measured, cells, copy, monkeypatch
):
    before, kept = cells
    asked = []

    def run_again(key, all_cells, drawn):
        asked.append(drawn)
        return [each | {"fit_s": 2.0} for each in all_cells]

    monkeypatch.setattr(measured, "_run_again", run_again)
    assert measured.main(["--check", "table7"]) == 0
    (drawn,) = asked
    assert len(drawn) == measured.N_CHECKED and kept == []
    assert {name[0] for name in drawn} == {"a", "b"}
    record = measured.read_records(copy)["table7"]
    assert record["checked"]["cells"] == 60 and record["checked"]["again"] == []
    said = measured.format_note("results/table7", copy)
    assert "30 of 60 cells, drawn at random, were run again" in said
    assert said.endswith("with the same results.*")


def test_a_method_that_finds_something_else_is_run_again_whole(
    measured, cells, copy, monkeypatch
):
    before, kept = cells
    asked = []

    def run_again(key, all_cells, drawn):
        asked.append(drawn)
        return [
            each | {"acc": 0.1}
            if each["key"] in drawn and each["method"] == "b"
            else each
            for each in all_cells
        ]

    monkeypatch.setattr(measured, "_run_again", run_again)
    assert measured.main(["--check", "table7"]) == 0
    assert asked[1] == {f"b/{run}" for run in range(30)}
    (lines,) = kept
    after = [json.loads(line) for line in lines.splitlines()]
    assert [each["acc"] for each in after[30:]] == 30 * [0.1]
    assert after[:30] == before[:30]
    assert (
        "so were all cells of b. Seconds are those of the first run.*"
        in measured.format_note("results/table7", copy)
    )
