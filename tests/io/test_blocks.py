"""Tables in blocks, against the same files read as a whole."""

import gzip
import itertools

import numpy as np
import pandas as pd
import pytest

from kreinlearn import io as files
from kreinlearn.io import tables
from kreinlearn.io.formats import table_blocks

ROWS = 500


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(tables, "MIN_BLOCK_ROWS", 7)
    monkeypatch.setattr(tables, "MAX_BLOCK_ROWS", 61)


def made(n=ROWS):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)).round(3), columns=["a", "b", "c"])
    frame["color"] = rng.choice(["red", "blue", "1"], n)
    frame.loc[[3, n - 1], "b"] = np.nan
    frame.loc[[5, 70], "color"] = None
    frame["kind"] = rng.choice(["x", "y"], n)
    frame.loc[n - 1, "kind"] = "z"  # a class that only the last row has
    return frame


def written(frame, path):
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
        frame.to_parquet(path, index=False, row_group_size=90)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def whole(table):
    parts = [(block.X, block.y, block.weights) for block in table]
    X, y, weights = zip(*parts, strict=True)
    assert len(X) > 2
    weights = None if weights[0] is None else np.concatenate(weights)
    return pd.concat(X), np.concatenate(y), weights


def folder(frame, path, cuts=(0, 100, 101, 300, ROWS)):
    pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    path.mkdir()
    for i, (start, stop) in enumerate(itertools.pairwise(cuts)):
        written(frame.iloc[start:stop], path / f"part-{i}.parquet")
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
def test_blocks_are_the_table(tmp_path, name):
    path = written(made(), tmp_path / name)
    expected, table = files.read(path), table_blocks(path)
    X, y, weights = whole(table)
    pd.testing.assert_frame_equal(X, expected.X)
    np.testing.assert_array_equal(y, expected.y)
    assert weights is None and table.n_rows == ROWS
    assert (table.record.target, table.record.columns) == (
        "kind",
        expected.record.columns,
    )
    assert table.record == expected.record and table.record.text == ["color"]
    assert table.count_labels()[0].tolist() == ["x", "y", "z"]
    assert table.count_labels()[1][2] == 1
    again, _, _ = whole(table)
    pd.testing.assert_frame_equal(again, X)


def test_a_folder_is_one_table(tmp_path):
    path = folder(made(), tmp_path / "rows")
    one = written(made(), tmp_path / "one.parquet")
    X, y, _ = whole(table_blocks(path))
    expected = files.read(one)
    pd.testing.assert_frame_equal(X, expected.X)
    np.testing.assert_array_equal(y, expected.y)


def test_a_dataset_may_be_filtered(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow")
    found = dataset.dataset(folder(made(), tmp_path / "rows"))
    some = found.filter(dataset.field("a") > 0)
    table = table_blocks(some, "kind", columns=["a", "c"])
    frame = made()
    X, y, _ = whole(table)
    expected = frame[frame["a"] > 0]
    np.testing.assert_array_equal(X.to_numpy(), expected[["a", "c"]].to_numpy())
    np.testing.assert_array_equal(y, expected["kind"])
    assert table.n_rows == len(expected) and table.record.columns == ["a", "c"]


def test_columns_of_a_folder_may_be_in_its_names(tmp_path):
    pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    for kind, part in made()[["a", "kind"]].groupby("kind"):
        (tmp_path / "rows" / f"kind={kind}").mkdir(parents=True)
        place = tmp_path / "rows" / f"kind={kind}" / "part.parquet"
        written(part[["a"]], place)
    table = table_blocks(tmp_path / "rows", "kind")
    assert table.count_labels()[0].tolist() == ["x", "y", "z"]
    assert table.record.columns == ["a"]
    assert sum(len(block.y) for block in table) == ROWS


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["1", "2", "a"], ["1", "2", "a"]),  # the last block decides
        (["1", "2.0", "1"], [1.0, 2.0, 1.0]),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_all_labels_decide_what_they_are(tmp_path, ending, labels, expected):
    values = [labels[0]] * 100 + [labels[1]] * 100 + [labels[2]] * 3
    frame = pd.DataFrame({"a": np.arange(203.0), "kind": values})
    path = written(frame, tmp_path / f"t{ending}")
    _, y, _ = whole(table_blocks(path))
    np.testing.assert_array_equal(y, files.read(path).y)
    assert y[[0, 100, 202]].tolist() == expected


def test_all_cells_decide_what_a_column_is(tmp_path):
    frame = made()[["a", "kind"]].astype({"a": object})
    frame.loc[:200, "a"] = "word"
    table = table_blocks(written(frame, tmp_path / "t.csv"))
    assert table.record.text == ["a"]
    assert whole(table)[0]["a"].dtype.kind not in "fi"
    frame = made()[["a", "kind"]].astype({"a": object})
    frame.loc[ROWS - 3 :, "a"] = "word"
    table = table_blocks(written(frame, tmp_path / "u.csv"))
    assert table.record.text == []
    with pytest.raises(ValueError, match=r"got 'word' in line 499, column 'a'"):
        whole(table)


def test_weights_are_a_column(tmp_path):
    frame = made().assign(w=np.arange(ROWS) % 3)
    path = written(frame, tmp_path / "t.csv")
    table = table_blocks(path, "kind", weight="w")
    np.testing.assert_array_equal(whole(table)[2], np.arange(ROWS) % 3)
    assert "w" not in table.record.columns
    frame.loc[4, "w"] = -1
    table = table_blocks(written(frame, path), "kind", weight="w")
    with pytest.raises(ValueError, match="not negative, was expected in line 6"):
        whole(table)


def test_without_a_header_columns_are_numbered(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{i},{i % 7},{i % 2}\n" for i in range(300)))
    table = table_blocks(path)
    assert (table.record.columns, table.record.target, table.record.header) == (
        ["1", "2"],
        "3",
        False,
    )
    pd.testing.assert_frame_equal(whole(table)[0], files.read(path).X)


def test_only_blocks_are_read(tmp_path, monkeypatch):
    sizes = []
    real = tables.convert_features

    def counted(cells, *rest):
        sizes.append(len(cells.lines))
        return real(cells, *rest)

    monkeypatch.setattr(tables, "convert_features", counted)
    for name in ("t.csv", "t.parquet"):
        for _ in table_blocks(written(made(), tmp_path / name)):
            pass
    assert max(sizes) <= 61


def test_missing_files_are_named(tmp_path):
    path = written(made(), tmp_path / "t.csv")
    with pytest.raises(ValueError, match="no column 'nope'; it has 'a', 'b'"):
        table_blocks(path, "nope")
    with pytest.raises(ValueError, match="no column 'nope'"):
        table_blocks(path, "kind", weight="nope")
    with pytest.raises(ValueError, match="at least one column of features"):
        table_blocks(path, "kind", columns=[])
    with pytest.raises(FileNotFoundError, match="There is no file"):
        table_blocks(tmp_path / "none.parquet", "kind")
    with pytest.raises(ValueError, match="must be matrix or condensed"):
        table_blocks(written(made(), tmp_path / "t.csv").rename(tmp_path / "t.npz"))
    (tmp_path / "u.csv").write_text("a,kind\n")
    with pytest.raises(ValueError, match="holds a header but no samples"):
        table_blocks(tmp_path / "u.csv")


def test_labels_are_those_of_classes(tmp_path):
    frame = made()
    frame.loc[400, "kind"] = None
    with pytest.raises(ValueError, match="no label in line 402"):
        table_blocks(written(frame, tmp_path / "t.csv"))
    with pytest.raises(ValueError, match="regression target"):
        table_blocks(written(made(), tmp_path / "u.csv"), "a")
    with pytest.raises(ValueError, match="one class only"):
        table_blocks(written(made().assign(kind="x"), tmp_path / "v.csv"))


def test_bad_folders_are_named(tmp_path):
    pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="holds no parquet file"):
        table_blocks(tmp_path / "empty", "kind")
    path = folder(made(), tmp_path / "rows")
    written(made().drop(columns="c"), path / "part-9.parquet")
    with pytest.raises(ValueError, match=r"part-9\.parquet differs .* in 'c'"):
        table_blocks(path, "kind")
    path = folder(made(), tmp_path / "others")
    (path / "part-9.parquet").write_text("no table")
    with pytest.raises(ValueError, match="damaged or not a parquet table"):
        table_blocks(path, "kind")
    written(made().iloc[:0], tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="holds no rows"):
        table_blocks(tmp_path / "none.parquet", "kind")


def test_without_pyarrow_the_remedy_is_named(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ValueError, match="needs pyarrow: pip install"):
        table_blocks(path, "kind")


def test_a_file_that_changes_is_noticed(tmp_path):
    path = written(made(), tmp_path / "t.csv")
    table = table_blocks(path)
    written(made().assign(kind="new"), path)
    with pytest.raises(ValueError, match="changed while it was read"):
        whole(table)
