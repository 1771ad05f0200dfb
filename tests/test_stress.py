"""The stress tests: failures they found before, and that they find failures."""

import contextlib
import random
import re
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
from tests import stress
from tests.stress import __main__ as program
from tests.stress import disks, edits, fits, kills, readers, resumable

pytestmark = pytest.mark.slow

FOUND = sorted((Path(__file__).parent / "io" / "damaged").iterdir())
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
        batch = worker.batch("csv", 0, 0)
        assert next(batch) == (0, "")
        worker._process.kill()
        worker._process.join()
        with contextlib.suppress(EOFError):  # it may have sent more
            while worker._pipe.poll():
                worker._pipe.recv()
        ((number, wrong),) = batch
        assert number == 1 and "died" in wrong
        assert [wrong for _, wrong in worker.batch("csv", 0, 2)] == ["", ""]
    finally:
        worker.stop()


def test_scores_that_overflow_end_in_a_sentence_or_a_finite_model(monkeypatch):
    assert fits.fault("krein", 2107, 530) == ""
    model, data = fits.case("krein", 2107, 530)

    def fails(*_, **__):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr("kreinlearn.estimators.logistic.fit_dual", fails)
    with pytest.raises(ValueError, match=r"^Scores overflow .* lam=.*; raise lam, or"):
        model.fit(*data)


@pytest.mark.slow
@pytest.mark.parametrize("norm", fits.NORMS)
def test_fits_have_correct_certificates(norm):
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
def test_a_model_with_a_wrong_certificate_is_a_failure(change, words):
    rng = np.random.default_rng(0)
    K, y = fits.similarities(rng, 12), np.arange(12) % 2
    model = KreinLogisticRegression("precomputed", lam=1.0).fit(K, y)
    assert fits.judged(model, K, y, None) == ""
    vars(model).update(change)
    assert re.search(words, fits.judged(model, K, y, None))


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
MODEL = Path(__file__).parent / "data" / "models" / "newton.krein"


def test_edited_models_have_checksums_that_are_right(tmp_path):
    content = MODEL.read_bytes()
    for number in range(40):
        made = edits.edited(random.Random(number), content, content)
        (tmp_path / "m.krein").write_bytes(made)
        with zipfile.ZipFile(tmp_path / "m.krein") as archive:
            assert archive.testzip() is None


@pytest.mark.slow
def test_edited_models_are_refused_or_the_same(tmp_path, monkeypatch):
    path = tmp_path / "m.krein"
    for number in range(60):
        assert edits.fault(random.Random(number), path) == "", number
    monkeypatch.setattr("kreinlearn.persistence._check_digest", lambda *given: None)
    found = [edits.fault(random.Random(number), path) for number in range(60)]
    assert "predicts something else" in found  # so it would be noticed


def test_lines_of_progress_name_records():
    lines = [
        "compare 0/12 (0 found)",
        "compare 1/12 compare/x/SVC clip/0/kernel=tl1 converged 0.917, 0m04s left",
        "table2 2/12 table2/monks1/TL1/5 done",
        "12 cells to run: a minute or less on two cores.",
    ]
    told = {"compare/x/SVC clip/0/kernel=tl1", "table2/monks1/TL1/5"}
    assert resumable._keys(lines) == told


@pytest.mark.parametrize(
    ("told", "held", "words"),
    [
        ("a", ["a", "b"], ""),
        ("ab", ["a"], "lost: ['b']"),
        ("a", ["a", "a"], "doubled"),
        ("", None, "torn"),
    ],
)
def test_what_a_kill_may_not_do_is_a_fault(tmp_path, monkeypatch, told, held, words):
    def look(folder):
        if held is None:
            raise ValueError("half a line")
        return held

    kind = resumable.Resumable(print, print, lambda lines: set(told), look, print, "/")
    monkeypatch.setitem(resumable.RESUMABLE, "cache", kind)
    found = kills.fault("cache", tmp_path)
    assert found.startswith(words) and bool(found) == bool(words)


@LINUX
@pytest.mark.slow  # processes that import everything
@pytest.mark.parametrize("name", ["cache", "landmarks", "compare"])
def test_kills_lose_nothing(tmp_path, name):
    rng, tried = random.Random(1), 0
    while tried < 2:
        batch = kills.a_round(name, rng, tmp_path)
        assert batch.failed == []
        tried += batch.tried


@pytest.mark.parametrize(
    ("change", "told", "words"),
    [
        ({}, "krein: m could not be written: full.", ""),
        ({}, "Traceback (most recent call last):", "ended with 2"),
        ({}, "krein: full", "no sentence"),
        ({".m.krein.partial": b""}, "krein: full.", "leaves"),
        ({"m.krein": b"half"}, "krein: full.", "m.krein has changed"),
        ({"r.jsonl": b"1\n"}, "krein: full.", "r.jsonl has lost records"),
        ({"r.jsonl": b"1\n2\n3"}, "krein: full.", "r.jsonl ends in the middle"),
    ],
)
def test_what_a_full_disk_may_not_do_is_a_fault(tmp_path, change, told, words):
    before = {"m.krein": b"whole", "r.jsonl": b"1\n2\n"}
    for name, content in (before | change).items():
        (tmp_path / name).write_bytes(content)
    found = disks.fault(before, tmp_path, 2, told)
    assert found.startswith(words) and bool(found) == bool(words)


@LINUX
@pytest.mark.slow  # processes that import everything
@pytest.mark.parametrize("kind", disks.NAMES)
def test_disks_and_folders_lose_nothing(tmp_path_factory, kind):
    rng = random.Random(2)
    for _ in range(3):
        name, wrong = disks._case(kind, rng, tmp_path_factory.mktemp("case"))
        assert wrong == "", name
