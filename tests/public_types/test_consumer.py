"""The public API as type checkers see it from the outside, in a program of a user."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONSUMER = Path(__file__).with_name("consumer.py")


def check(call, folder, **environ):
    """Run a type checker in an empty folder; return its code and its output."""
    environ = os.environ | environ
    done = subprocess.run(call, capture_output=True, text=True, cwd=folder, env=environ)
    return done.returncode, done.stdout + done.stderr


def program(folder, code=""):
    """Return a copy of the program, with a line more."""
    path = folder / "consumer.py"
    path.write_text(CONSUMER.read_text(encoding="utf-8") + code, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Return a folder for what mypy knows about other packages."""
    return str(tmp_path_factory.mktemp("mypy"))


WRONG = "\nKreinLogisticRegression(lam='small').fit(3, 4).nonsense_()\n"


@pytest.mark.slow
@pytest.mark.parametrize("code", ["", WRONG])
def test_mypy(tmp_path, cache, code):
    pytest.importorskip("mypy", reason="needs mypy: pip install '.[dev]'")
    call = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir"]
    call += [cache, program(tmp_path, code)]
    failed, said = check(call, tmp_path, MYPYPATH="")
    assert bool(failed) == bool(code), said
    if code:
        assert 'Argument "lam" to "KreinLogisticRegression" has incompatible' in said


@pytest.mark.slow
@pytest.mark.parametrize("code", ["", WRONG])
def test_pyright(tmp_path, code):
    if importlib.util.find_spec("pyright") is None or shutil.which("node") is None:
        pytest.skip("needs pyright and Node: pip install '.[dev]'")
    call = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    failed, said = check([*call, program(tmp_path, code)], tmp_path)
    if "npm" in said and "error" in said and "consumer.py" not in said:
        pytest.skip("pyright cannot be fetched: no network")
    assert bool(failed) == bool(code), said
    if code:
        assert 'cannot be assigned to parameter "lam" of type "float"' in said
        assert 'Cannot access attribute "nonsense_"' in said
