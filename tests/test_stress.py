"""The program that damages files: what it found before, and that it finds something."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
from tests import stress
from tests.stress import __main__ as program
from tests.stress import fits, readers

FOUND = sorted((Path(__file__).parent / "files" / "damaged").iterdir())
"""Each was a traceback, or a sentence without the file, once."""


@pytest.mark.parametrize("folder", FOUND, ids=lambda folder: folder.name)
def test_what_was_found_before(tmp_path, folder):
    reader = folder.name.split("-")[0]
    if reader == "parquet":
        pytest.importorskip("pyarrow")
    place = tmp_path / folder.name  # some readers write
    shutil.copytree(folder, place)
    inside = list(place.iterdir())
    assert readers.fault(reader, place if len(inside) > 1 else inside[0]) == ""


@pytest.mark.parametrize("reader", readers.NAMES)
def test_damaged_files_are_read_or_refused(tmp_path, reader):
    if reader == "parquet":
        pytest.importorskip("pyarrow")
    for number in range(15):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = readers.case(reader, 1, number, folder)
        assert readers.fault(reader, path) == "", number


def test_cases_can_be_made_again(tmp_path):
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        made.append(readers.case("csv", 3, 7, tmp_path / name).read_bytes())
    assert made[0] == made[1]


def test_what_is_no_sentence_with_the_file_is_a_fault(tmp_path, monkeypatch):
    from tests.stress.seeds import READERS, Reader

    def raises(error):
        def read(path):
            raise error

        return Reader(read, list)

    path = tmp_path / "t.csv"
    for error, words in [
        (ValueError("A sentence without the file."), "not one sentence"),
        (ValueError(f"{path} without a stop"), "not one sentence"),
        (KeyError(f"{path}."), "KeyError"),
        (MemoryError(), "MemoryError"),
    ]:
        monkeypatch.setitem(READERS, "csv", raises(error))
        assert words in readers.fault("csv", path)
    monkeypatch.setitem(READERS, "csv", raises(ValueError(f"{path} is bad.")))
    assert readers.fault("csv", path) == ""


def test_the_program_counts(monkeypatch, capsys, tmp_path):
    def kind(settings):
        assert settings.seed == 5
        while True:
            yield stress.Batch(1000, ["case 3: it broke"])

    monkeypatch.setattr(program, "all_kinds", lambda: {"one": kind, "two": kind})
    given = ["--minutes", "0", "--seed", "5", "--only", "two", "--keep", str(tmp_path)]
    assert program.main(given) == 1
    out, err = capsys.readouterr()
    assert [line.split() for line in out.splitlines()[:2]] == [
        ["kind", "tried", "survived", "failed"],
        ["two", "1,000", "999", "1"],
    ]
    assert "seed 5" in out and "two: case 3: it broke" in err


@pytest.mark.slow  # a process that imports everything
def test_a_process_that_dies_is_a_fault_and_replaced(monkeypatch, tmp_path):
    monkeypatch.setattr(readers, "BATCH", 2)
    worker = readers.Worker()
    try:
        assert [wrong for _, wrong in worker.batch("csv", 0, 0)] == ["", ""]
        worker._process.kill()
        found = list(worker.batch("csv", 0, 2))
        assert len(found) == 1 and "died" in found[0][1]
    finally:
        worker.stop()


@pytest.mark.slow
@pytest.mark.parametrize("norm", fits.NORMS)
def test_fits_are_what_they_say(norm):
    for number in range(12):
        assert fits.fault(norm, 1, number) == "", number


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"intercept_": np.array([np.nan])}, "not finite"),
        ({"residual_": 1.0}, "converged with residual"),
        ({"dual_coef_": np.ones((1, 12))}, "residual .* instead of"),
    ],
)
def test_a_model_that_is_not_what_it_says_is_a_fault(change, words):
    rng = np.random.default_rng(0)
    K, y = fits.similarities(rng, 12), np.arange(12) % 2
    model = KreinLogisticRegression("precomputed", lam=1.0).fit(K, y)
    assert fits.judged(model, K, y, None) == ""
    vars(model).update(change)
    assert re.search(words, fits.judged(model, K, y, None))
