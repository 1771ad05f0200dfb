"""Everything but `krein reproduce` works in a build without the reproduction."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kreinlearn

EVERYTHING = """
import importlib, pkgutil, sys, kreinlearn
names = [
    each.name
    for each in pkgutil.walk_packages(kreinlearn.__path__, "kreinlearn.")
    if each.name != "kreinlearn.__main__"
]
for name in names:
    importlib.import_module(name)
print(kreinlearn.__file__, len(names))
"""
COMMANDS = """
import sys
from kreinlearn.cli import main
for arguments in (["--help"], ["info"], ["reproduce", "table1"]):
    try:
        main(arguments)
    except SystemExit as end:
        print(f"{arguments[0]}: {end.code}", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Return a folder with a copy of the package that has no `paper`."""
    folder = tmp_path_factory.mktemp("build")
    source = Path(kreinlearn.__file__).parent
    skip = shutil.ignore_patterns("paper", "__pycache__")
    shutil.copytree(source, folder / "kreinlearn", ignore=skip)
    assert not (folder / "kreinlearn" / "paper").exists()
    return folder


def python(build, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(build)},
        cwd=build,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_other_module_can_be_imported(build):
    done = python(build, "-c", EVERYTHING)
    assert done.returncode == 0, done.stderr
    file, count = done.stdout.split()
    assert Path(file).parent == build / "kreinlearn"
    assert int(count) > 80


def test_other_commands_run_and_reproduce_says_that_it_is_left_out(build):
    done = python(build, "-c", COMMANDS)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "--help: 0",
        "info: 0",
        "krein: The reproduction of the paper is not part of this build; install "
        "kreinlearn as it comes.",
        "reproduce: 2",
    ]
    assert "Usage: krein" in done.stdout
    assert "scikit-learn" in done.stdout


def test_notes_are_part_of_the_package():
    assert (Path(kreinlearn.__file__).parent / "paper" / "notes.toml").is_file()
