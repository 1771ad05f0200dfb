"""The script that tries mutants looks at rooms and tests that are there."""

from configparser import ConfigParser
from pathlib import Path

import pytest

from tests import mutants

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def test_settings_name_rooms_and_tests_that_exist(tmp_path):
    mutants.prepare(tmp_path)
    settings = ConfigParser()
    settings.read(tmp_path / "setup.cfg")
    rooms = settings["mutmut"]["only_mutate"].split()
    assert len(rooms) == 4 and all(list(ROOT.glob(room)) for room in rooms)
    tests = settings["mutmut"]["pytest_add_cli_args_test_selection"].split()
    assert tests and all((tmp_path / test).exists() for test in tests)
    assert (tmp_path / "src" / "kreinlearn" / "losses.py").exists()
