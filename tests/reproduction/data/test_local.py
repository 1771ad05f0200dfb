"""Loading of data sets: results, search path, and messages of failures."""

import gzip
import os
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from reproduction.data import available, check, load, local, names, tables
from reproduction.data import registry as registry_module


@pytest.fixture
def stored(tmp_path, tiny, samples, monkeypatch):
    """A folder that holds the tiny data set, which is then the only one known."""
    known = MappingProxyType({"tiny": tiny})
    monkeypatch.setattr(registry_module, "REGISTRY", known)
    monkeypatch.setattr(local, "REGISTRY", known)
    X, y = samples
    rows = {None: slice(0, 4), "train": slice(0, 4), "test": slice(4, 7)}
    for part, chosen in rows.items():
        text = tables.to_text(X[chosen], y[chosen])
        (tmp_path / tiny.file(part)).write_bytes(gzip.compress(text))
    return tmp_path


def test_load_returns_what_was_stored(stored, samples):
    X, y = samples
    bunch = load("tiny", stored)
    np.testing.assert_array_equal(bunch.data, X[:4])
    np.testing.assert_array_equal(bunch.target, y[:4])
    assert bunch.data.dtype == np.float64
    assert bunch.target.dtype.kind == "i"
    assert bunch.name == "tiny"
    assert bunch.feature_names == ["x0", "x1", "x2"]
    for words in ("4 samples, 3 features", "quirk", "http://127.0.0.1:1/7/tiny+set"):
        assert words in bunch.DESCR
    assert "3 samples" in load("tiny", stored, part="test").DESCR
    np.testing.assert_array_equal(load("tiny", stored, part="test").data, X[4:])
    np.testing.assert_array_equal(load("tiny", stored, part="train").data, X[:4])


def test_folder_is_argument_then_variable_then_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KREINLEARN_DATA", str(tmp_path / "variable"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    assert local.folder(tmp_path) == tmp_path
    assert local.folder("~/data") == tmp_path / "user" / "data"
    assert local.folder() == tmp_path / "variable"
    monkeypatch.setenv("KREINLEARN_DATA", "")
    assert local.folder() == tmp_path / "cache" / "kreinlearn"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert local.folder() == tmp_path / "user" / ".cache" / "kreinlearn"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert local.folder() == tmp_path / "user" / ".cache" / "kreinlearn"
    assert os.listdir(tmp_path) == []


def test_missing_file_is_named_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("KREINLEARN_DATA", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError) as caught:
        load("guide1-t", part="train")
    said = str(caught.value)
    assert "guide1.train.csv.gz" in said
    assert str(tmp_path / "none") in said
    assert "python -m reproduction data fetch guide1-t" in said
    assert "KREINLEARN_DATA" in said
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("part", ["train", "all", "validation", 1, ["test"]])
def test_unknown_part(part, tmp_path):
    with pytest.raises(ValueError, match=r"'part' must be None for 'heart', got"):
        load("heart", tmp_path, part=part)
    with pytest.raises(ValueError, match="'part' must be None or 'train' or 'test'"):
        load("monks1", tmp_path, part="all")


def test_unknown_name(tmp_path):
    with pytest.raises(ValueError, match=r"one of 'australian'.*got 'iris'"):
        load("iris", tmp_path)


def test_damaged_file_is_named(stored):
    path = stored / "tiny.csv.gz"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"tiny\.csv\.gz cannot be read: .*gzip"):
        load("tiny", stored)


def test_file_without_its_last_row_is_refused(stored):
    path = stored / "tiny.csv.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-1])))
    with pytest.raises(ValueError, match=r"tiny\.csv\.gz .* 4 rows.* got 3 rows"):
        load("tiny", stored)


def test_available_and_check_on_an_empty_folder(tmp_path):
    assert available(tmp_path) == ()
    records = check(tmp_path)
    assert tuple(record.name for record in records) == names()
    assert {record.status for record in records} == {"missing"}
    assert "australian.csv.gz is not in" in records[0].detail


def test_check_names_every_fault(stored):
    path = stored / "tiny.test.csv.gz"
    good = gzip.decompress(path.read_bytes())

    def status(text):
        path.write_bytes(gzip.compress(text))
        (record,) = check(stored)
        return record

    assert available(stored) == ("tiny",)
    assert status(good) == ("tiny", "ok", "")
    changed = good.replace(b",-1\n", b"5,-1\n")  # one more digit before the label
    assert status(changed).status == "wrong checksum"
    assert "expected sha256" in status(changed).detail
    assert status(good.rstrip().rpartition(b"\n")[0]).status == "wrong counts"
    assert status(b"something else").status == "unreadable"
    assert "tiny.test.csv.gz" in status(b"something else").detail
    path.unlink()
    path.mkdir()
    (record,) = check(stored)
    assert record.status == "unreadable"
    path.rmdir()
    (record,) = check(stored)
    assert record.status == "missing"


def test_real_data_are_right(real_data):
    faults = [record for record in check(real_data) if record.status != "ok"]
    assert faults == []
    assert available(real_data) == names()


@pytest.mark.parametrize("name", names())
def test_real_data_load(name, real_data):
    bunch = load(name)
    entry = registry_module.info(name)
    assert bunch.data.shape == (entry.table(None).n_samples, entry.n_features)
    assert set(np.unique(bunch.target)) == {-1, 1}
    assert Path(entry.file(None)).name == f"{name}.csv.gz"


def test_real_quirks(real_data):
    X = load("breast-cancer").data
    assert np.sum(X[:, 6] == 0) == 16
    assert X[:, 0].min() > 1000  # sample identifiers
    assert set(np.unique(load("climate").data[:, 0])) == {1, 2, 3}
    assert np.ptp(load("ionosphere").data, axis=0).min() > 0
    EEG = load("EEG").data
    assert EEG.max() > 100 * np.median(EEG)
    test = load("guide1-t", part="test")
    np.testing.assert_array_equal(load("guide1-t").data, test.data)
