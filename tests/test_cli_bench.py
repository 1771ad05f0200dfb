"""krein bench: results are passed on as they come, and failures are named."""

import json

import pytest

from kreinlearn.cli import bench
from tests.test_cli import run

ROW = {"bench": "made", "work": "tl1", "library": "ours", "n": 10, "dtype": "float64"}
ROWS = [
    ROW | {"median_s": 0.01234, "ours_faster": None},
    ROW | {"library": "other", "median_s": 0.05, "ours_faster": 4.05},
]


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Let the benchmarks be one that prints what it was asked, and one that fails."""
    good, bad = tmp_path / "bench_made.py", tmp_path / "bench_broken.py"
    lines = "\n".join(map(json.dumps, ROWS))
    good.write_text(
        "import os, sys\n"
        f"print({lines!r})\n"
        "print(sys.argv[1:], os.environ.get('KREINLEARN_DATA'), file=sys.stderr)\n"
    )
    bad.write_text("raise SystemExit(3)\n")
    found = {"broken": bad, "made": good}
    monkeypatch.setattr(bench, "_benchmarks", lambda: found)
    return found


def test_a_table_is_printed(scripts, capfd):
    call = ["made", "--quick", "--repeats", "3", "--data", "there"]
    code, out, err = run(capfd, "bench", *call)
    assert code == 0
    first, second, third = out.splitlines()
    assert first.split() == ["made", *bench.TITLES]
    assert second.split() == ["tl1", "ours", "10", "float64", "0.0123"]
    assert third.split() == ["tl1", "other", "10", "float64", "0.05", "4.05"]
    assert err.strip() == "['--quick', '--repeats', '3'] there"


def test_results_are_kept_and_printed_as_json(scripts, capfd, tmp_path):
    folder = tmp_path / "new" / "records"
    for times in (1, 2):
        code, out, _ = run(capfd, "bench", "made", "--json", "--out", str(folder))
        assert code == 0
        assert [json.loads(line) for line in out.splitlines()] == ROWS
        kept = (folder / "made.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in kept] == ROWS * times


def test_what_fails_is_named_and_the_others_run(scripts, capfd):
    code, out, err = run(capfd, "bench")
    assert code == 1
    assert "krein: broken failed, see above." in err
    assert "0.0123" in out


def test_an_unknown_name_is_refused_before_anything_runs(scripts, capfd):
    code, out, err = run(capfd, "bench", "made", "mad")
    assert (code, out) == (2, "")
    assert "must be one of 'broken', 'made', got 'mad'" in err
