"""LIBSVM text, parquet and Gram matrices."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from kreinlearn import io as files
from kreinlearn.io import matrices


class Trap:
    """Ends the test run if it is ever unpickled."""

    def __reduce__(self):
        return (sys.exit, (13,))


@pytest.mark.parametrize("zero_based", [False, True])
def test_libsvm_is_read_as_scikit_learn_reads_it(tmp_path, rng, zero_based):
    X = np.where(rng.random((30, 7)) < 0.4, 0.0, rng.standard_normal((30, 7)))
    y = rng.integers(0, 2, 30) * 2 - 1
    path = tmp_path / "t.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, comment="a note")
    expected, labels = load_svmlight_file(str(path), zero_based=zero_based)
    for name in ("t.svm", "t.libsvm", "t.svmlight.gz"):
        raw = path.read_bytes()
        (tmp_path / name).write_bytes(gzip.compress(raw) if ".gz" in name else raw)
        table = files.read(tmp_path / name)
        assert (table.X.to_numpy() == expected.toarray()).all()
        assert (table.y == labels).all() and table.y.dtype.kind == "i"
        first = 0 if zero_based else 1
        assert list(table.X) == [str(i + first) for i in range(7)]


def test_libsvm_as_wide_as_the_training_file(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("+1 qid:3 2:0.5 # a note\n\n-1\n")
    table = files.read(path, labels=False, names=["1", "2", "3", "4"])
    assert table.X.to_numpy().tolist() == [[0, 0.5, 0, 0], [0, 0, 0, 0]]
    assert table.y.tolist() == [1, -1] and table.X.index.tolist() == [1, 2]
    path.write_text("0 2:0.5\n0 1:3\n")
    assert files.read(path, labels=False, names=["0", "1"]).X.shape == (2, 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1 1:2\n0 1:x\n", ["b'x'", "3:0.5"]),
        ("1 1:2\n0 3\n", ["more than 1 value"]),
        ("1 a:2\n", ["b'a'", "3:0.5"]),
        ("1 -1:2\n", ["Invalid index -1"]),
        ("1 2:1 2:3\n", ["sorted and unique"]),
        ("1:2 3:4\n", ["a label and pairs"]),
        ("1,2 3:4\n", ["a label and pairs"]),
        ("", ["is empty"]),
        ("# nothing\n", ["is empty"]),
        ("1\n0\n", ["no features"]),
        ("1 1:2\n1 1:3\n", ["one class only, 1"]),
        ("1 1:inf\n0 1:3\n", ["inf in row 1, column '1'"]),
    ],
)
def test_bad_libsvm(tmp_path, content, words):
    path = tmp_path / "t.svm"
    path.write_text(content)
    with pytest.raises(ValueError) as raised:
        files.read(path)
    assert all(word in str(raised.value) for word in [str(path), *words])


def test_libsvm_too_wide_for_memory(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("1 999999999999:2\n0 1:3\n")
    with pytest.raises(ValueError, match="too large to convert"):
        files.read(path)
    path.write_text("1 2000000000:2\n0 1:3\n")
    with pytest.raises(MemoryError, match=r"\(2, 2000000000\)"):
        files.read(path)


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "f": np.array([0.1, np.nan, 0.3], np.float32),
            "b": [True, False, True],
            "maybe": [True, None, False],
            "t": ["1", None, "x"],
            "c": pd.Categorical(["u", "v", "u"]),
            "y": [2, 1, 2],
        },
        index=[7, 5, 9],
    )
    frame.to_parquet(path)
    table = files.read(path)
    assert list(table.X) == ["n", "f", "b", "maybe", "t", "c"]
    assert table.record.header and table.X.index.tolist() == [1, 2, 3]
    assert table.X.index.name == "row" and table.y.tolist() == [2, 1, 2]
    assert table.X["f"].tolist()[0] == float(np.float32(0.1))
    assert table.X["b"].tolist() == [1, 0, 1] and table.X["maybe"].isna().sum() == 1
    assert table.X["t"].dtype == object and table.X["c"].tolist() == ["u", "v", "u"]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="damaged or not a parquet table"):
        files.read(path)
    frame.assign(y=pd.Timestamp("2020-01-01")).to_parquet(path)
    with pytest.raises(ValueError, match="column 'y' must hold numbers or text, got"):
        files.read(path)


def test_parquet_without_pyarrow_names_the_package(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(ValueError, match=r"pip install 'kreinlearn\[parquet\]'"):
        files.read(path)


K = np.array([[2.0, 1.0, 0.5], [1.0, -2.0, 0.0], [0.5, 0.0, 1.0]])


@pytest.mark.parametrize("name", ["K", "S", "similarities"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path, name, save):
    path = tmp_path / "g.npz"
    save(path, **{name: K}, y=["a", "b", "a"], weight=np.ones(3))
    table = files.read(path)
    assert (table.K == K).all() and table.X is None
    assert table.y.tolist() == ["a", "b", "a"] and table.record.target == "y"
    save(path, **{name: K.astype(np.float32)}, labels=[[1], [0], [1]])
    table = files.read(path, target="labels")
    assert table.K.dtype == np.float32 and table.y.tolist() == [1, 0, 1]
    assert files.read(path, labels=False).y is None


def test_npy_with_labels_beside_it(tmp_path):
    path, text, other = (tmp_path / n for n in ("g.npy", "y.txt", "y.npy"))
    np.save(path, K.astype(int))
    text.write_text("1\n0\n1\n")
    np.save(other, np.array([True, False, True]))
    for target in (text, other):
        table = files.read(path, target=str(target))
        assert table.K.dtype == float and table.y.tolist() == [1, 0, 1]
    assert files.read(path, labels=False).y is None
    with pytest.raises(ValueError, match="holds no labels"):
        files.read(path)
    with pytest.raises(OSError, match="There is no file none"):
        files.read(path, target="none")


def test_rectangular_only_where_it_is_asked_for(tmp_path):
    np.savez(tmp_path / "g.npz", K=K[:2])
    with pytest.raises(ValueError, match=r"\'K\' must be square.*shape \(2, 3\)"):
        files.read(tmp_path / "g.npz", labels=False)
    assert files.read(tmp_path / "g.npz", labels=False, square=False).K.shape == (2, 3)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (
            {"A": K, "B": K, "y": [1, 0, 1]},
            ["named 'K' or 'S'", "'A' (3, 3)", "numpy.savez(path, K=matrix, y=labels)"],
        ),
        ({"y": [1, 0, 1]}, ["named 'K' or 'S'", "'y' (3,)"]),
        ({}, ["got no arrays"]),
        ({"K": K}, ["no labels named 'y'", "'K' (3, 3)"]),
        ({"K": K, "y": [1, 0]}, ["3 labels were expected", "(2,)"]),
        ({"K": K, "y": [1, 1, 1]}, ["one class only, 1"]),
        ({"K": K, "y": [0.5, 1.5, 0.5]}, ["regression target"]),
        ({"K": K, "y": [1, 0, np.nan]}, ["no label in row 3"]),
        ({"K": np.where(K < 0, np.nan, K), "y": [1, 0, 1]}, ["nan in row 2, column 2"]),
        ({"K": np.where(K < 0, np.inf, K), "y": [1, 0, 1]}, ["inf in row 2, column 2"]),
        ({"K": K + 1j, "y": [1, 0, 1]}, ["real numbers", "complex128"]),
        ({"K": K[0], "y": [1, 0, 1]}, ["must be square", "(3,)"]),
        ({"K": K[:0, :0], "y": []}, ["must be square", "(0, 0)"]),
        (
            {"K": K, "y": np.array([Trap()] * 3)},
            ["Python objects", "numpy.asarray(y, dtype='U')"],
        ),
        ({"K": np.array([[Trap()]]), "y": [1]}, ["Python objects"]),
    ],
)
def test_bad_npz(tmp_path, arrays, words):
    path = tmp_path / "g.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError) as raised:
        files.read(path)
    assert all(word in str(raised.value) for word in [str(path), *words])


def test_damaged_npz_and_npy(tmp_path):
    path = tmp_path / "g.npz"
    np.savez(path, K=K, y=[1, 0, 1])
    whole = path.read_bytes()
    for content in (b"", b"K", whole[:200], whole.replace(b"NUMPY", b"NUMPI")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="damaged or not NumPy's"):
            files.read(path)
    path = tmp_path / "g.npy"
    np.save(path, K)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match="is damaged"):
        files.read(path, labels=False)


def test_a_matrix_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "g.npy"
    np.save(path, K)
    raw = path.read_bytes().replace(b"(3, 3), }", b"(9999999, 9999999), }")
    path.write_bytes(raw.replace(b" " * 12 + b"\n", b"\n"))
    monkeypatch.setattr(matrices.np.lib.format, "read_array", None)
    with pytest.raises(MemoryError, match=r"\(9999999, 9999999\)"):
        files.read(path, labels=False)
