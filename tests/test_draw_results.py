"""The script that draws the pages of results, on a copy of some records."""

import runpy
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"


def test_a_page_is_drawn_from_its_records(tmp_path):
    shutil.copy(DOCS / "results" / "table1.jsonl.gz", tmp_path)
    (tmp_path / "table1.md").touch()
    draw = runpy.run_path(str(DOCS / "draw_results.py"))["draw"]
    draw(tmp_path, only_pages=True)
    assert (tmp_path / "table1.md").read_bytes() == b""
    assert "<table" in (tmp_path / "table1.html").read_text(encoding="utf-8")
    draw(tmp_path)
    written, committed = tmp_path / "table1.md", DOCS / "results" / "table1.md"
    assert written.read_bytes() == committed.read_bytes()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["table1.html", "table1.jsonl.gz", "table1.md"]
