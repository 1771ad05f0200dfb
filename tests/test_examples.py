"""The gallery.

Every example runs without a warning and draws. The quick tests run one of them, and
check that all compile and import names that exist. The slow tests run the others, as
the build of the documentation does, in one process.
"""

import ast
import importlib
import runpy
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix()
    for path in FOLDER.glob("*/plot_*.py")
)
SHORT = ("inside/plot_certificate", "start/plot_distances")
SECONDS = 60.0
"""Processor time that an example may take."""


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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of other packages
@pytest.mark.parametrize(
    "name",
    SHORT,  # the documentation's build runs all of them
)
def test_runs_and_draws(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = time.process_time()
    draw(str(FOLDER / f"{name}.py"))
    assert time.process_time() - before < SECONDS
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
