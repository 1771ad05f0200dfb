"""What importing the package does not do, and interrupts while it is imported."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import kreinlearn
for package in sys.argv[1:]:
    __import__(f"kreinlearn.{package}" if package else "kreinlearn")
    print(json.dumps([package, sorted({name.split(".")[0] for name in sys.modules})]))
"""
MEASURES = ("kernels.graphs", "kernels.transport")
PACKAGES = ("", "kernels", *MEASURES, "kernels.spd", "app.comparison", "app.inspection")


@pytest.fixture(scope="module")
def fresh():
    """Return the output of a process that imports one package after the other."""
    call = [sys.executable, "-W", "error", "-c", PROGRAM, *PACKAGES]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def test_import_is_quiet(fresh):
    assert fresh.returncode == 0 and fresh.stderr == ""
    said = [json.loads(line) for line in fresh.stdout.splitlines()]
    assert [package for package, _ in said] == list(PACKAGES)
    assert "numpy" in said[1][1]


@pytest.mark.parametrize(
    ("heavy", "last"),
    [
        ("numba", "kernels.spd"),  # compilers wait until a kernel is computed
        ("ot", "app.inspection"),  # optional, and slow to import
        ("skops", ""),
        ("numpy", ""),  # names of the package are imported when asked for
        ("sklearn", "kernels.spd"),
        ("matplotlib", "app.inspection"),  # drawing waits until something is drawn
    ],
)
def test_what_is_heavy_is_loaded_when_first_needed(fresh, heavy, last):
    loaded = dict(json.loads(line) for line in fresh.stdout.splitlines())
    for package in PACKAGES[: PACKAGES.index(last) + 1]:
        assert heavy not in loaded[package], package


def test_names_of_the_package_are_there():
    import kreinlearn

    assert set(kreinlearn.__all__) <= set(dir(kreinlearn))
    for name in kreinlearn.__all__:
        assert getattr(kreinlearn, name) is getattr(kreinlearn, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = kreinlearn.nonsense
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = kreinlearn.exceptions.nonsense


def test_the_command_line_answers_without_scikit_learn_and_numba():
    program = (
        "import sys\nfrom kreinlearn.app.cli import app\n"
        "for arguments in (['--version'], ['--help'], ['fit', '--help']):\n"
        "    app.main(arguments, standalone_mode=False)\n"
        "assert {'sklearn', 'numba'}.isdisjoint(sys.modules)"
    )
    call = [sys.executable, "-c", program]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout, done.stderr


INTERRUPTED_IMPORT = """
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
sys.argv = ["krein", "info"]
import kreinlearn.__main__
kreinlearn.__main__.start()
"""


def test_an_interrupt_during_imports_is_a_clean_exit():
    for name in ("kreinlearn.app.cli", "click", "kreinlearn.app.cli.info"):
        call = [sys.executable, "-c", INTERRUPTED_IMPORT.format(name=name)]
        ended = subprocess.run(call, capture_output=True, text=True)
        assert ended.returncode == 130
        assert ended.stderr.strip() == "krein: interrupted."
