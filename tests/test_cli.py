import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from kreinlearn.app import cli
from kreinlearn.app.comparison import demo

ROOT = Path(__file__).parents[1]
SLOW = pytest.mark.slow


def run(capsys, *args):
    """Run a command in this process; return exit code, output and errors."""
    with pytest.raises(SystemExit) as stop:
        cli.main(args)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """Shorten the demo to three methods, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    case = demo.DEMO_CASES["balls"]
    names = ("SVC raw", "SVC clip", "KreinCV", "flip + KLR")
    shown = {name: case["methods"][name] for name in names}
    monkeypatch.setitem(demo.DEMO_CASES, "balls", case | {"methods": shown})


def test_demo_prints_its_results_and_writes_a_page(capsys, quick, tmp_path):
    code, out, err = run(capsys, "demo", "--case", "balls", "--out", "here")
    assert code == 0
    page = (tmp_path / "here" / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "gaps" in page and "SVC raw" in page
    assert "<code>krein demo --case balls --out here</code>" in page
    lines = out.splitlines()
    assert lines[0].startswith("KreinCV classifies ")  # the verdict
    assert len(lines) < 25 and max(map(len, lines)) <= 80
    assert lines[-2].startswith("  krein inspect ") and "--distance" in lines[-2]
    assert lines[-1].startswith("  krein fit ") and lines[-1].endswith("model.krein")
    accuracies = []
    for method in demo.DEMO_CASES["balls"]["methods"]:
        told = next(line for line in lines if line.strip().startswith(f"{method}  "))
        [found] = re.findall(r" (\d\.\d{3})  (\d\.\d\d)-(\d\.\d\d)", told)
        mean, low, high = map(float, found)
        assert low - 0.005 <= mean <= high + 0.005 and 0.02 < high - low < 0.5
        accuracies.append(mean)
    assert accuracies[2] > 0.95 > accuracies[1] > 0.8 > 0.6 > accuracies[0]
    assert "KreinCV, accuracy 0." in err and "no better than chance" in page


@pytest.mark.slow
def test_demo_classifies_digits_and_prints_json(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "demo", "--json", "--out", "new/folder")
    rows = {row["method"]: row for row in map(json.loads, out.splitlines())}
    assert code == 0 and list(rows) == list(demo.DEMO_CASES["digits"]["methods"])
    ours = rows["KreinCV"]
    assert ours["n"] == 400 and ours["log_loss"] < 0.15
    assert ours["accuracy_low"] < ours["accuracy"] < ours["accuracy_high"]
    assert rows["SVC clip + Platt"]["log_loss"] > 0.2 > rows["clip + KLR"]["log_loss"]
    assert rows["k-NN"]["log_loss"] is None
    page = (tmp_path / "new" / "folder" / "report.html").read_text()
    assert "<code>krein demo --out new/folder</code>" in page
    for title in ("What a person should check", "Why", "Errors left after a review"):
        assert title in page


def test_demo_replaces_no_page_by_accident(capsys, quick, tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("mine")
    monkeypatch.setattr(demo, "run_methods", lambda case: pytest.fail("work was done"))
    code, out, err = run(capsys, "demo")
    assert code == 2 and out == "" and len(err.splitlines()) == 1
    assert "report.html exists already" in err and "--force" in err and "--out" in err
    assert (tmp_path / "report.html").read_text() == "mine"


def test_info_names_versions_and_threads(capsys):
    code, out, _ = run(capsys, "info")
    assert code == 0
    for word in ("kreinlearn", "numpy", "numba threads", "blas", "kept measures"):
        assert word in out
    code, out, _ = run(capsys, "info", "--json")
    assert code == 0 and json.loads(out)["kreinlearn"]


def test_bad_calls_end_with_two_and_one_sentence(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "nonsense")
    assert code == 2 and out == ""
    assert err == "krein: No such command 'nonsense'.\n"
    code, _, err = run(capsys, "demo", "--fast")
    assert code == 2 and "--fast" in err and len(err.splitlines()) == 1

    def broken(case):
        raise ValueError("expected rows,\n got none.")

    monkeypatch.setattr(demo, "run_methods", broken)
    code, _, err = run(capsys, "demo")
    assert code == 2 and err == "krein: expected rows, got none.\n"

    def interrupted(case):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run_methods", interrupted)
    code, _, err = run(capsys, "demo")
    assert code == 130 and err.strip() == "krein: interrupted."


@pytest.mark.parametrize("name", cli.MOVED_COMMANDS)
def test_former_commands_name_their_replacement(capsys, name):
    for words in ([name], [name, "--help"], [name, "fetch", "--data", "here"]):
        code, out, err = run(capsys, *words)
        assert (code, out) == (2, "")
        assert err == (
            f"krein: `krein {name}` is now `{cli.MOVED_COMMANDS[name]}`, run from a "
            "checkout of the source.\n"
        )
    _, out, _ = run(capsys, "--help")
    assert not re.search(rf"^  {name}\b", out, re.M)


@pytest.mark.parametrize(
    "command",
    [[], *([name] for name in cli.COMMAND_NAMES)],
)
def test_help_has_an_example(capsys, command):
    code, out, _ = run(capsys, *command, "--help")
    assert code == 0 and re.search(r"Examples?[^\n]*:\s+krein ", out)


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert code == 0 and out.startswith("krein, version ")


@SLOW  # bad calls go through the module in the quick tier
def test_module_and_script_are_the_same():
    call = [sys.executable, "-m", "kreinlearn", "--version"]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("krein, version ")


@SLOW  # test_docs runs the same lines, and asks for no score
def test_the_readme_example_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    exec(compile(blocks[0], "README.md", "exec"), {})
    numbers = re.findall(r"[\d.]+", capsys.readouterr().out)
    proba = np.array(numbers, float).reshape(89, 3)
    assert np.abs(proba.sum(axis=1) - 1).max() < 0.02
    expected = load_wine().target[1::2]
    assert (proba.argmax(axis=1) == expected).mean() > 0.9
