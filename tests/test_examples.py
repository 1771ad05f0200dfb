"""The gallery, and the measurements behind *Which method when*.

Every example runs without a warning and draws. The slow tests run each in a process of
its own, as a reader would. The quick tests run one in this process, and check that all
compile and import names that exist. The documentation builds all of them.
"""

import ast
import csv
import importlib
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("plot_*.py"))
SHORT = ("plot_certificate",)
LIMIT = 60.0
"""Seconds that an example may take."""


def draw(path):
    """Run an example; check that it drew, and that all its axes are labeled."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")  # closes what is open
    runpy.run_path(path, run_name="__main__")
    assert plt.get_fignums(), "no figure was drawn"
    for number in plt.get_fignums():
        figure = plt.figure(number)
        figure.canvas.draw()
        axes = [axis for axis in figure.axes if axis.axison]
        texts = [a.get_xlabel() + a.get_ylabel() + a.get_title() for a in axes]
        assert axes and all(texts), "an axis has no label"
    plt.close("all")


@pytest.mark.parametrize("name", SHORT)
def test_short_ones_run_and_draw(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw(str(FOLDER / f"{name}.py"))
    assert not list(tmp_path.iterdir()), "the example wrote a file"


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_runs_by_itself_and_draws(name, tmp_path):
    environment = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONWARNINGS": "error,ignore::DeprecationWarning",
    }
    done = subprocess.run(
        [sys.executable, __file__, str(FOLDER / f"{name}.py")],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not list(tmp_path.iterdir()), "the example wrote a file"


@pytest.mark.parametrize("name", EXAMPLES)
def test_imports_exist(name):
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    compile(tree, name, "exec")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("kreinlearn"):
            module = importlib.import_module(node.module)
            for each in node.names:
                assert hasattr(module, each.name), f"{node.module}.{each.name}"


def test_gallery_has_its_topics():
    assert len(EXAMPLES) >= 11 and set(EXAMPLES) >= set(SHORT)
    assert (FOLDER / "GALLERY_HEADER.rst").read_text().startswith("Examples\n===")


@pytest.mark.parametrize("name", EXAMPLES)
def test_titles_and_blocks(name):
    text = (FOLDER / f"{name}.py").read_text()
    title, line = text.split('"""')[1].strip().splitlines()[:2]
    assert set(line) == {"="} and len(line) == len(title)
    assert text.count("\n# %%\n") >= 2
    assert "plt.show()" in text


SCRIPT = FOLDER.parent / "benchmarks" / "which_method.py"


def measure(folder, *options):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    environment |= {"KREINLEARN_DATA": str(folder)}
    return subprocess.run(
        [sys.executable, str(SCRIPT), "--quick", *options],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment,
    )


def test_measurements_need_data(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KREINLEARN_DATA", str(tmp_path))
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    known = set(sys.modules)
    try:
        importlib.import_module(SCRIPT.stem).main(["--quick"])
    finally:  # the folder's modules have common names
        for name in {path.stem for path in SCRIPT.parent.glob("*.py")} - known:
            sys.modules.pop(name, None)
    said = capsys.readouterr()
    assert said.out == ""
    assert "set KREINLEARN_DATA to a folder that has sim/NAME.npz" in said.err


@pytest.mark.slow
def test_measurements_compare_all_methods(tmp_path, rng):
    X = rng.standard_normal((40, 2))
    X[20:] += 4.0
    D = np.abs(X[:, None] - X[None]).max(axis=2)
    (tmp_path / "sim").mkdir()
    np.savez(tmp_path / "sim" / "cat-cortex.npz", D=D, y=np.repeat([1, 2], 20))
    done = measure(tmp_path, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr[-2000:]
    with (tmp_path / "out" / "results" / "similarities.csv").open() as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert len(rows) == 14 and len(done.stdout.splitlines()) == 14
    # Two groups far apart: whoever chooses on training rows alone finds them.
    assert all(float(row["accuracy"]) > 0.9 for row in rows.values())
    assert rows["SVC raw"]["log_loss"] == "nan"
    assert float(rows["krein"]["log_loss"]) < 0.3
    assert rows["default"]["difference"] == "0.0"
    assert (tmp_path / "out" / "images" / "which-method.svg").exists()


if __name__ == "__main__":  # how the slow tests run one example in a fresh process
    draw(sys.argv[1])
