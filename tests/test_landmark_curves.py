"""The scripts behind the page on landmarks, on little data."""

import csv
import runpy
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"


def test_a_run_goes_on_where_it_was_ended(script, tmp_path, monkeypatch):
    curves, calls = script("landmark_curves"), []
    monkeypatch.setattr(
        curves, "measured", lambda *task: calls.append(task) or (9, 1, 0)
    )
    words = ["--quick", "--only", "clusters", "--out", str(tmp_path)]
    curves.main(words)
    assert len(calls) == 7
    curves.main(words)
    assert len(calls) == 7
    with (tmp_path / "results" / "landmarks.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 7


@pytest.mark.slow
def test_the_figures_are_those_of_the_records(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "results").mkdir()
    shutil.copy(DOCS / "results" / "landmarks.csv", tmp_path / "results")
    runpy.run_path(str(DOCS / "draw_landmarks.py"))["main"](tmp_path)
    found = sorted(path.name for path in (tmp_path / "images").iterdir())
    assert found == ["landmarks-choice.svg", "landmarks-number.svg"]
