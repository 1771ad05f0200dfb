"""The script that tries mutants looks at packages and tests that exist."""

from configparser import ConfigParser
from pathlib import Path

import pytest

from tests import mutants

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def test_settings_name_packages_and_tests_that_exist(tmp_path):
    mutants.prepare(tmp_path)
    settings = ConfigParser()
    settings.read(tmp_path / "setup.cfg")
    packages = settings["mutmut"]["only_mutate"].split()
    assert len(packages) == 4 and all(list(ROOT.glob(package)) for package in packages)
    tests = settings["mutmut"]["pytest_add_cli_args_test_selection"].split()
    assert tests and all((tmp_path / test).exists() for test in tests)
    assert (tmp_path / "src" / "kreinlearn" / "losses.py").exists()


def test_the_table_counts_survivors_by_file(tmp_path, monkeypatch, capsys):
    ends = {
        "kreinlearn.losses.x_link_of__mutmut_1": "killed",
        "kreinlearn.problem.dual.x_f__mutmut_1": "survived",
        "kreinlearn.problem.dual.x_f__mutmut_2": "timeout",
    }
    monkeypatch.setattr(mutants, "mutmut", lambda folder, *words: [f"# {words[1]}"])
    mutants.report(tmp_path, 9, ends)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "# kreinlearn.problem.dual.x_f__mutmut_1"
    assert said[3].split() == ["losses", "1", "1"]
    assert said[4].split() == ["problem/dual", "2", "1"]
    assert said[5] == "2 of 3 killed, 66.7%; 9 in all."


def test_mutants_that_took_too_long_are_tried_again_alone(tmp_path, monkeypatch):
    ends, asked = {"a": "killed", "b": "timeout", "c": "timeout"}, []

    def mutmut(folder, *words):
        asked.append(words)
        if len(asked) > 1:
            ends["c"] = "survived"

    monkeypatch.setattr(mutants, "mutmut", mutmut)
    monkeypatch.setattr(
        mutants, "read_results", lambda folder: {**ends, "d": "not checked"}
    )
    found = mutants.outcomes(tmp_path, ["a", "b", "c"], 2)
    assert found == {"a": "killed", "b": "timeout", "c": "survived"}
    assert asked == [
        ("run", "--max-children", "2", "a", "b", "c"),
        ("run", "--max-children", "1", "b", "c"),
    ]
