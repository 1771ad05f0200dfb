"""The gallery, and the measurements behind *Which method when*.

Every example runs by itself, without a warning, and draws.
Each runs in a process of its own, as a reader would run it. The documentation builds
all of them; here the short ones run always, the others with the slow tests.
"""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("plot_*.py"))
SHORT = {"plot_certificate", "plot_large", "plot_spectra"}
LIMIT = 60.0
"""Seconds that an example may take."""

CHILD = """
import runpy, sys
import matplotlib.pyplot as plt
runpy.run_path(sys.argv[1], run_name="__main__")
for number in plt.get_fignums():
    figure = plt.figure(number)
    figure.canvas.draw()
    axes = [axis for axis in figure.axes if axis.axison]
    texts = [a.get_xlabel() + a.get_ylabel() + a.get_title() for a in axes]
    print("LABELED", all(texts))
    print("DRAWN", len(axes))
"""


def run(name, folder):
    environment = {
        **os.environ,
        "MPLBACKEND": "Agg",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONWARNINGS": "error,ignore::DeprecationWarning",
    }
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(FOLDER / f"{name}.py")],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment,
        cwd=folder,
    )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in SHORT else pytest.mark.slow)
        for name in EXAMPLES
    ],
)
def test_runs_and_draws(name, tmp_path):
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "DRAWN" in done.stdout, "no figure was drawn"
    assert "LABELED False" not in done.stdout, "an axis has no label"
    assert not list(tmp_path.iterdir()), "the example wrote a file"


def test_gallery_has_its_topics():
    assert len(EXAMPLES) >= 11 and set(EXAMPLES) >= SHORT
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


def test_measurements_need_data(tmp_path):
    done = measure(tmp_path)
    assert done.returncode == 0 and done.stdout == ""
    assert "set KREINLEARN_DATA to a folder that has sim/NAME.npz" in done.stderr


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
