import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kreinlearn import cli
from kreinlearn.experiments import demo

ROOT = Path(__file__).parents[1]


def run(capsys, *args):
    """Run a command in this process; return exit code, output and errors."""
    with pytest.raises(SystemExit) as stop:
        cli.main(args)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def quick(monkeypatch):
    """Shorten the demo to one small data set and two methods."""
    monkeypatch.setattr(demo, "DATA", {"wine": demo.DATA["wine"]})
    short = {name: demo.METHODS[name] for name in ("ours, tl1", "SVC raw")}
    monkeypatch.setattr(demo, "METHODS", short)


def test_demo_prints_a_table(capsys, quick):
    code, out, err = run(capsys, "demo")
    assert code == 0
    row = next(line for line in out.splitlines() if "wine" in line)
    numbers = re.findall(r"\d\.\d{3}", row)
    assert len(numbers) == 2 and all(float(number) > 0.9 for number in numbers)
    assert "mean" in out and "wine: ours, tl1" in err


def test_demo_speaks_json(capsys, quick):
    code, out, _ = run(capsys, "demo", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [row["method"] for row in rows] == ["ours, tl1", "SVC raw"]
    assert rows[0]["n_train"] + rows[0]["n_test"] == 178


def test_info_names_versions_and_threads(capsys):
    code, out, _ = run(capsys, "info")
    assert code == 0
    for word in ("kreinlearn", "numpy", "numba threads", "blas", "python"):
        assert word in out
    code, out, _ = run(capsys, "info", "--json")
    assert code == 0 and json.loads(out)["kreinlearn"]


def test_bad_calls_end_with_two_and_one_sentence(capsys, monkeypatch):
    code, out, err = run(capsys, "nonsense")
    assert code == 2 and out == ""
    assert err == "krein: No such command 'nonsense'.\n"
    code, _, err = run(capsys, "demo", "--fast")
    assert code == 2 and "--fast" in err and len(err.splitlines()) == 1

    def broken():
        raise ValueError("expected rows,\n got none.")

    monkeypatch.setattr(demo, "outcomes", broken)
    code, _, err = run(capsys, "demo")
    assert code == 2 and err == "krein: expected rows, got none.\n"

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "outcomes", interrupted)
    code, _, err = run(capsys, "demo")
    assert code == 130 and err.strip() == "krein: interrupted."


@pytest.mark.parametrize("command", [[], ["demo"], ["info"]])
def test_help_has_an_example(capsys, command):
    code, out, _ = run(capsys, *command, "--help")
    assert code == 0 and "Example:  krein" in out


def test_module_and_script_are_the_same():
    call = [sys.executable, "-m", "kreinlearn", "--version"]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("krein, version ")


def test_the_readme_example_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    exec(compile(blocks[0], "README.md", "exec"), {})
    score = float(capsys.readouterr().out.split()[0])
    assert score > 0.85


def test_import_is_quiet_and_compiles_nothing():
    code = "import sys, kreinlearn; print('numba' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "False"] and done.stderr == ""
