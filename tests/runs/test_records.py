import json
import os

import numpy as np
import pytest

from kreinlearn.app.runs import (
    Cell,
    Store,
    make_record,
    read_records,
    to_json,
)
from reproduction.cells import drop_records


def record(run, **outcome):
    return make_record(Cell("toy", "a", "m", run), {"status": "converged", **outcome})


def test_numbers_are_rounded_and_plain():
    value = {"a": np.float64(1 / 3), "b": (np.int64(2), float("nan")), "c": True}
    assert to_json(value) == {"a": 0.333333, "b": [2, None], "c": True}
    assert to_json(np.array([1.23456789e-7, np.inf])) == [1.23457e-07, None]
    assert json.dumps(to_json({"n": np.bool_(True)})) == '{"n": true}'


def test_no_record_twice(tmp_path):
    path = tmp_path / "toy.jsonl"
    with Store(path) as store:
        store.append(record(0))
        with pytest.raises(ValueError, match="already has a record 'toy/a/m/0'"):
            store.append(record(0))
    with Store(path) as store:
        assert store.keys == {"toy/a/m/0"}
        with pytest.raises(ValueError, match="already has"):
            store.append(record(0))
    assert len(read_records(path)) == 1


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_last_line_cut_short_is_left_out_and_repaired(tmp_path, cut):
    path = tmp_path / "toy.jsonl"
    with Store(path) as store:
        for run in range(3):
            store.append(record(run))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert [each["run"] for each in read_records(path)] == [0, 1]
    with Store(path) as store:
        assert store.keys == {"toy/a/m/0", "toy/a/m/1"}
        store.append(record(2))
    assert path.read_bytes() == whole


def test_damage_elsewhere_is_named(tmp_path):
    path = tmp_path / "toy.jsonl"
    with Store(path) as store:
        for run in range(3):
            store.append(record(run))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{broken\n" + lines[2])
    with pytest.raises(ValueError, match=r"Line 2 of .*toy.jsonl is not a record"):
        read_records(path)
    with pytest.raises(ValueError, match="Line 2"):
        Store(path)


def test_two_writers_are_refused(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "toy.jsonl"
    with Store(path), pytest.raises(BlockingIOError, match="by another run"):
        Store(path)
    with Store(path):
        pass


def test_forget(tmp_path):
    path = tmp_path / "toy.jsonl"
    with Store(path) as store:
        for run in range(3):
            store.append(record(run))
    drop_records(path, ["toy/a/m/1", "not there"])
    assert [each["run"] for each in read_records(path)] == [0, 2]
    drop_records(path, [])
    assert os.listdir(tmp_path) == ["toy.jsonl"]


def test_a_disk_that_takes_half_a_record_holds_what_it_held(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "r.jsonl"
    with Store(path) as store:
        store.append({"key": "a"})
        whole = path.read_bytes()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 5, hard))
        try:  # five bytes are written without an error, and then no more
            with pytest.raises(OSError, match=r"r\.jsonl could not be written: File"):
                store.append({"key": "b"})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.read_bytes() == whole and store.keys == {"a"}
        store.append({"key": "b"})
    assert [record["key"] for record in read_records(path)] == ["a", "b"]
