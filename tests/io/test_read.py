"""Tables of text: values equal those of the file to the last bit."""

import gzip

import numpy as np
import pytest

from kreinlearn import io as files
from kreinlearn._memory import available_bytes
from kreinlearn.io import text


def write(folder, name, content):
    path = folder / name
    raw = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def test_numbers_are_those_of_python(tmp_path, rng):
    # Decimal expansions of all lengths and sizes, where quick parsers are off by one.
    values = rng.standard_normal(3000) * 10.0 ** rng.integers(-300, 300, 3000)
    cells = [repr(float(v)) for v in values]
    cells += [f"{v:.25e}" for v in values[:500]] + ["1e23", "9007199254740993", "-0.0"]
    rows = "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))
    table = files.read(write(tmp_path, "t.csv", f"x,y\n{rows}"))
    assert table.X["x"].tolist() == [float(cell) for cell in cells]
    assert np.signbit(table.X["x"].iloc[-1])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "a,b,y\n1,2.5,no\n3,4,yes\n"),
        ("t.CSV", "a,b,y\n1,2.5,no\n3,4,yes"),
        ("t.csv.gz", "a,b,y\n1,2.5,no\n3,4,yes\n"),
        ("t.tsv", "a\tb\ty\n1\t2.5\tno\n3\t4\tyes\n"),
        ("t.tsv.gz", "a\tb\ty\n1\t2.5\tno\n3\t4\tyes\n"),
        ("t.csv", "a;b;y\n1;2.5;no\n3;4;yes\n"),
        ("t.csv", "\ufeffa,b,y\r\n1,2.5,no\r\n3,4,yes\r\n"),
        ("t.csv", '"a", "b",y\n "1","2.5",no\n3, 4 ,"yes"\n'),
        ("t.csv", "\n\na,b,y\n\n1,2.5,no\n  \n3,4,yes\n\n"),
    ],
)
def test_kinds_of_text(tmp_path, name, content):
    table = files.read(write(tmp_path, name, content))
    assert list(table.X.columns) == ["a", "b"] and table.record.target == "y"
    assert table.record.header and table.K is None and table.record.target_place == 2
    assert table.X.to_numpy().tolist() == [[1, 2.5], [3, 4]]
    assert table.X.to_numpy().flags.c_contiguous
    assert table.y.tolist() == ["no", "yes"]


def test_the_index_is_the_line_of_the_file(tmp_path):
    content = 'a,t,y\n\n1,"two\nlines",0\n\n2,x,1\n'
    table = files.read(write(tmp_path, "t.csv", content))
    assert table.X.index.tolist() == [3, 6] and table.X.index.name == "line"
    assert table.X["t"].tolist() == ["two\nlines", "x"]
    assert table.X["t"].dtype == object


def test_header_is_inferred_or_given(tmp_path):
    path = write(tmp_path, "t.csv", "1,2,a\n3,4,b\n")
    table = files.read(path)
    assert not table.record.header and table.X.columns.tolist() == ["1", "2"]
    assert table.record.target == "3" and len(table.X) == 2
    table = files.read(path, header=True, labels=False)
    assert table.X.columns.tolist() == ["1", "2", "a"] and len(table.X) == 1
    path = write(tmp_path, "u.csv", "red,big,a\nblue,small,b\nred,small,a")
    assert len(files.read(path).y) == 2
    assert len(files.read(path, header=False).y) == 3


@pytest.mark.parametrize(
    ("target", "name"),
    [(None, "3"), ("b", "b"), ("1", "a"), ("-2", "b"), ("3", "3"), ("-1", "3")],
)
def test_target_by_name_before_position(tmp_path, target, name):
    path = write(tmp_path, "t.csv", "a,b,3\n0,1,0\n1,0,1\n")
    table = files.read(path, target=target, header=True)
    assert table.record.target == name and name not in table.X
    everything = files.read(path, header=True, labels=False)
    assert everything.y is None and list(everything.X) == ["a", "b", "3"]


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1", "2", "+1"], [1, 2, 1]),
        (["1.0", "2", "1.0"], [1.0, 2.0, 1.0]),
        (["1", "b", "1"], ["1", "b", "1"]),
        (["grün", "rot", "rot"], ["grün", "rot", "rot"]),
        (["9" * 30, "1", "1"], ["9" * 30, "1", "1"]),
    ],
)
def test_labels_are_of_the_narrowest_kind(tmp_path, cells, labels):
    rows = "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))
    y = files.read(write(tmp_path, "t.csv", f"a,y\n{rows}")).y
    assert y.tolist() == labels
    assert {type(label) for label in y.tolist()} == {type(label) for label in labels}


def test_missing_cells_and_text(tmp_path):
    missing = ["", "NA", "N/A", "nan", "NaN", "null", "None", "?", '""']
    rows = "".join(f"{cell},{cell},1,0\n" for cell in missing)
    path = write(tmp_path, "t.csv", f"a,c,b,y\n1,x,1,1\n2,y,2,0\n{rows}")
    X = files.read(path).X
    assert X["a"].dtype == float and X["a"].isna().tolist() == [False] * 2 + [True] * 9
    assert X["c"].dtype == object and X["c"].isna().sum() == 9
    kept = files.read(path, text={"b"}).X
    assert kept["b"].tolist() == ["1", "2"] + ["1"] * 9


def ten(cell, column="x3"):
    """Return a table with one odd cell, in line 7, among numbers."""
    rows = [f"{i},{i % 3},{i % 2}" for i in range(19)]
    rows[5] = f"5,{cell},1"
    return f"x1,{column},y\n" + "\n".join(rows)


BAD = {
    "text in numbers": ("t.csv", ten("abc"), ["'abc' in line 7, column 'x3'"]),
    "underscore": ("t.csv", ten("1_000"), ["'1_000' in line 7, column 'x3'"]),
    "infinite": ("t.csv", ten("-inf"), ["-inf in line 7, column 'x3'"]),
    "too large": ("t.csv", ten("1e999"), ["inf in line 7, column 'x3'"]),
    "ragged": ("t.csv", "a,b,y\n1,2,0\n1,2\n", ["line 3", "3 cells", "got 2"]),
    "too wide": ("t.csv", "a,y\n\n1,2\n1,2,3\n", ["line 4", "2 cells", "got 3"]),
    "empty": ("t.csv", "", ["is empty"]),
    "blank": ("t.csv", "\n \n\n", ["is empty"]),
    "header only": ("t.csv", "a,b,y\n", ["no samples"]),
    "one column": ("t.csv", "a\n1\n2\n", ["one column only", "delimiter"]),
    "twice": ("t.csv", "a,a,y\n1,2,0\n", ["must differ, got 'a' 2 times"]),
    "no name": ("t.csv", ",a,y\n0,1,0\n", ["column 1 of the header has no name"]),
    "binary": ("t.csv", b"PK\x03\x04\0\0\n1,2", ["line 1", "zero bytes"]),
    "latin": ("t.csv", "a,y\n1,gr\xfcn\n".encode("latin1"), ["line 2", "0xfc"]),
    "utf-16": ("t.csv", "a,y\n1,2\n".encode("utf-16"), ["line 1", "UTF-16"]),
    "open quote": ("t.csv", 'a,y\n1,"2\n3,4\n', ["line 2", "unexpected end"]),
    "one class": ("t.csv", "a,y\n1,5\n2,5\n", ["column 'y'", "one class only, 5"]),
    "no label": ("t.csv", "a,y\n1,5\n2,\n", ["column 'y'", "no label in line 3"]),
    "no label text": ("t.csv", "a,y\n1,u\n2,?\n3,v", ["no label in line 3"]),
    "fractions": ("t.csv", "a,y\n1,.5\n2,1.25\n", ["regression target", "2 diff"]),
    "many numbers": (
        "t.csv",
        "a,y\n" + "".join(f"1,{7 * i}\n" for i in range(30)),
        ["looks like a regression target", "30 different values such as 0, 7, 14"],
    ),
    "many words": (
        "t.csv",
        "a,y\n" + "".join(f"1,n{i}\n" for i in range(30)),
        ["looks like a name of each sample", "'n0'"],
    ),
    "ending": ("t.xlsx", "a,y\n", [".csv, .tsv", ".npz or .npy"]),
    "no ending": ("table", "a,y\n", [".csv, .tsv"]),
    "npz.gz": ("t.npz.gz", "a,y\n", [".csv, .tsv"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_get_one_sentence(tmp_path, case):
    name, content, words = BAD[case]
    path = write(tmp_path, name, content)
    with pytest.raises(ValueError) as raised:
        files.read(path)
    said = str(raised.value)
    assert str(path) in said and said.endswith((".", "?")) and "\n" not in said
    for word in words:
        assert word in said


def test_bad_targets_and_places(tmp_path):
    path = write(tmp_path, "t.csv", "a,b,y\n1,2,0\n1,2,1\n")
    with pytest.raises(ValueError, match=r"no column 'z'; it has 'a', 'b', 'y'\."):
        files.read(path, target="z")
    for place in ("0", "4", "-4"):
        with pytest.raises(ValueError, match=rf"from 1 to 3.* got {place}\."):
            files.read(path, target=place)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        files.read(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        files.read(tmp_path)


def test_bad_compression(tmp_path):
    whole = gzip.compress(("a,y\n" + "1,0\n2,1\n" * 4000).encode())
    for content, words in [
        (b"a,y\n1,0\n", "not compressed by gzip"),
        (whole[: len(whole) // 2], "is damaged after line"),
        (whole[:-8] + b"\0" * 8, "is damaged after line 8001"),
    ]:
        path = tmp_path / "t.csv.gz"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=words):
            files.read(path)


def test_a_table_that_does_not_fit_is_not_read_on(tmp_path, monkeypatch):
    path = write(tmp_path, "t.csv", "a,y\n" + "1,0\n2,1\n" * 8000)
    assert available_bytes() is None or len(files.read(path).y) == 16000
    for free in (10**6, 0):
        monkeypatch.setattr(text, "available_bytes", lambda free=free: free)
        with pytest.raises(MemoryError, match="its first 16,000 rows of 2 cells"):
            files.read(path)
