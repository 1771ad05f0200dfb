"""``python -m benchmarks``: results are printed and stored, failures are named."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import commands
from kreinlearn.app.cli import run_command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

ROW = {"bench": "made", "work": "tl1", "library": "ours", "n": 10, "dtype": "float64"}
ROWS = [
    ROW | {"median_s": 0.01234, "ours_faster": None},
    ROW | {"library": "other", "median_s": 0.05, "ours_faster": 4.05},
]


def run(capfd, *args):
    """Run the command in this process; return exit code, output and errors."""
    with pytest.raises(SystemExit) as stop:
        run_command(commands.app, commands.PROGRAM, args)
    out, err = capfd.readouterr()
    return stop.value.code, out, err


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
    monkeypatch.setattr(commands, "find_scripts", lambda: found)
    return found


def test_a_table_is_printed(scripts, capfd):
    call = ["made", "--quick", "--repeats", "3", "--data", "there"]
    code, out, err = run(capfd, *call)
    assert code == 0
    first, second, third = out.splitlines()
    assert first.split() == ["made", *commands.COLUMN_TITLES]
    assert second.split() == ["tl1", "ours", "10", "float64", "0.0123"]
    assert third.split() == ["tl1", "other", "10", "float64", "0.05", "4.05"]
    assert err.strip() == "['--quick', '--repeats', '3'] there"


def test_results_are_kept_and_printed_as_json(scripts, capfd, tmp_path):
    folder = tmp_path / "new" / "records"
    for times in (1, 2):
        code, out, _ = run(capfd, "made", "--json", "--out", str(folder))
        assert code == 0
        assert [json.loads(line) for line in out.splitlines()] == ROWS
        kept = (folder / "made.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in kept] == ROWS * times


def test_help_names_every_script(capfd):
    code, out, _ = run(capfd, "--help")
    assert code == 0 and re.search(r"Examples:\s+python -m benchmarks ", out)
    assert set(commands.find_scripts()) >= {"machine", "fit"}
    assert all(name in out for name in commands.find_scripts())


def test_the_module_runs_from_a_checkout():
    call = [sys.executable, "-m", "benchmarks", "moons"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("benchmarks: 'NAME' must be one of ")
