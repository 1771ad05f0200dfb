"""Damaged, expanding, endless and unexpected files: one message each."""

import gzip
import io
import os
import subprocess
import sys
import zipfile
from itertools import chain, repeat

import numpy as np
import pytest

from kreinlearn import io as files
from kreinlearn.app.runs import read_records
from kreinlearn.io import table_blocks, tables, text

K = np.eye(3) + 0.5


def refused(read, path, *words, kind=ValueError):
    """Assert that reading a file ends with one sentence that names it."""
    with pytest.raises(kind) as raised:
        read(path)
    said = str(raised.value)
    assert str(path) in said and said.endswith((".", "?")) and "\n" not in said
    for word in words:
        assert word in said


def make_header(shape, dtype):
    stream = io.BytesIO()
    form = {"shape": shape, "fortran_order": False, "descr": dtype}
    np.lib.format.write_array_header_1_0(stream, form)
    return stream.getvalue()


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def array_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("letter", [0x110000, 0xFFFFFFFF, 0xD800])
@pytest.mark.parametrize("order", "<>")
def test_text_whose_letters_do_not_exist(tmp_path, letter, order):
    path = tmp_path / "g.npz"
    codes = np.array([97, letter, 98], f"{order}u4")
    text = make_header((3,), f"{order}U1") + codes.tobytes()
    archive(path, K=array_bytes(K), y=text)
    refused(files.read, path, "damaged or not NumPy's")


def test_text_of_either_byte_order(tmp_path):
    path = tmp_path / "g.npz"
    np.savez(path, K=K, y=np.array(["a", "b", "a"], ">U1"))
    assert files.read(path).y.tolist() == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array([b"a", b"\xff", b"a"]), "ascii"),
        (np.array([1, 2, 1], "M8[D]"), "datetime64"),
        (np.zeros(3, [("a", "f8")]), "must hold real numbers or text"),
    ],
)
def test_labels_of_other_kinds(tmp_path, y, words):
    path = tmp_path / "g.npz"
    np.savez(path, K=K, y=y)
    refused(files.read, path, words)


def test_headers_that_lie(tmp_path):
    path = tmp_path / "g.npz"
    y = array_bytes(np.array([0, 1, 0]))
    endless = b"\x93NUMPY\x02\x00" + (2**32 - 1).to_bytes(4, "little") + b" " * 10**6
    refused(files.read, archive(path, K=endless, y=y), "4,294,967,295 bytes")
    for shape in [(10**6, 10**6), (10**12, 2), (2, 10**12)]:
        liar = archive(path, K=make_header(shape, "<f8"), y=y)
        refused(files.read, liar, "available", kind=MemoryError)
    refused(files.read, archive(path, K=make_header((-3, 3), "<f8"), y=y), "(-3, 3)")
    refused(files.read, archive(path, K=make_header((3, 3), "<f8"), y=y), "damaged")
    single = tmp_path / "g.npy"
    single.write_bytes(make_header((10**12, 2), "<f8"))
    refused(lambda p: files.read(p, labels=False), single, kind=MemoryError)


def test_parquet_of_other_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    for column, words in [
        (pa.array([[1.0], [2.0, 3.0], None]), "list<"),
        (pa.array([{"a": 1}, {"a": 2}, None]), "struct<"),
        (pa.array([b"a", b"\xff", None]), "binary"),
        (pa.array([1, 2, 3], pa.timestamp("us")), "timestamp"),
        (pa.array([1, 2, 3], pa.duration("us")), "duration"),
    ]:
        parquet.write_table(pa.table({"a": column, "y": [0, 1, 0]}), path)
        for read in (files.read, table_blocks):
            refused(read, path, "column 'a' must hold numbers or text", words)
    parquet.write_table(pa.table([[1, 2], [0, 1]], names=["a", "a"]), path)
    for read in (files.read, table_blocks):
        refused(read, path, "duplicate field names")


def test_libsvm_with_hardly_any_feature(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("1 200000:1\n0 3:1\n1 7:1\n0 1:2\n")
    refused(files.read, path, "largest index is 200,000", "4 different", "4 lines")
    path.write_text("1 9000:1\n0 3:1\n")
    assert files.read(path).X.shape == (2, 9000)


def test_labels_that_are_numbers_written_otherwise(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,01\n2,1\n3,2\n4,2\n")
    for read in (files.read, table_blocks):
        refused(read, path, "'01' and '1'", "column 'y'")
    path.write_text("a,y\n1,01\n2,02\n3,01\n4,02\n")
    assert files.read(path).y.tolist() == ["01", "02", "01", "02"]
    assert table_blocks(path).count_labels()[0].tolist() == ["01", "02"]


def test_long_labels_are_weighed(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,0\n" * 2000 + f"1,{'x' * 100_000}\n")
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 2**29)
    words = "2,001 labels of up to 100,000 letters"
    refused(files.read, path, words, kind=MemoryError)


@pytest.mark.parametrize(
    "name", ["t.csv", "t.svm", "t.fasta", "t.ts", "t.phy", "t.npz"]
)
def test_devices_and_pipes_never_end(tmp_path, name):
    path = tmp_path / name
    path.symlink_to("/dev/zero")
    refused(files.read, path, "device or a pipe", kind=OSError)
    path.unlink()
    os.mkfifo(path)
    refused(files.read, path, "device or a pipe", kind=OSError)
    refused(read_records, path, "device or a pipe", kind=OSError)


@pytest.mark.parametrize("byte", [b"1", b",", b"\0"])
def test_one_endless_line(tmp_path, byte, monkeypatch):
    monkeypatch.setattr(text, "MAX_LINE_BYTES", 10**6)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + byte * 10**7))
    refused(files.read, path, "line 2 is longer than 1,000,000 bytes")
    refused(table_blocks, path, "line 2 is longer than 1,000,000 bytes")


def test_cells_of_a_long_line_are_weighed(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1," * 10**6 + b"2\n"))
    monkeypatch.setattr(text, "available_bytes", lambda: 2**26)
    refused(files.read, path, "line 1 is too long", "1,000,001 cells", kind=MemoryError)


@pytest.mark.parametrize(
    ("name", "line"),
    [("t.csv.gz", b"1,0\n"), ("t.fa.gz", b">a b\nA\n"), ("t.svm.gz", b"1 1:1\n")],
)
def test_text_that_expands_is_not_read_to_its_end(tmp_path, monkeypatch, name, line):
    path = tmp_path / name
    path.write_bytes(gzip.compress(line[:5] + line[5:] * 10_000 + line * 10_000))
    left = chain([2**30], repeat(2**28))
    monkeypatch.setattr(text, "MEMORY_CHECK_BYTES", 2**12)
    monkeypatch.setattr(tables, "MEMORY_CHECK_ROWS", 10**9)
    monkeypatch.setattr(text, "available_bytes", lambda: next(left))
    refused(files.read, path, "bytes are left of the", kind=MemoryError)


BOMBS = """
import gzip, resource, sys, zlib
from kreinlearn import io as files
free = 2**27  # after all imports
import pandas, pyarrow.parquet
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + free, size + free))
for path in sys.argv[1:]:
    try:
        files.read(path)
    except (MemoryError, ValueError) as error:
        assert path in str(error), repr(error)
        print(type(error).__name__)
"""


@pytest.mark.slow
def test_bombs_under_a_limit_of_memory(tmp_path):
    pytest.importorskip("pyarrow")
    paths = [tmp_path / name for name in ("a.csv.gz", "b.csv.gz", "c.npz", "d.fa.gz")]
    paths[0].write_bytes(gzip.compress(b"1" * 2**25, 1))
    paths[1].write_bytes(gzip.compress(b"a,y\n" + b"1,0\n" * 2**21, 1))
    archive(paths[2], K=make_header((2**12, 2**13), "<f8") + bytes(2**20))
    paths[3].write_bytes(gzip.compress(b">a b\n" + b"A\n" * 2**21, 1))
    done = subprocess.run(
        [sys.executable, "-c", BOMBS, *map(str, paths)], capture_output=True, text=True
    )
    expected = ["ValueError", "MemoryError", "MemoryError", "MemoryError"]
    assert done.stdout.split() == expected, done.stderr


def test_records_that_are_none(tmp_path):
    path = tmp_path / "r.jsonl"
    for line in ['{"key": [1]}', "[" * 100_000, "[]", '{"key": 3}', "3"]:
        path.write_text(line + '\n{"key": "a"}\n')
        refused(read_records, path, "Line 1")
