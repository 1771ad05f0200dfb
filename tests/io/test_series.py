"""Time series in .ts files and in lines of the UCR archive."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kreinlearn.io import (
    ReadOptions,
    TrainingRecord,
    open_data,
    read,
    read_ts,
    read_ucr,
)
from kreinlearn.io.dataset import ModelInput
from kreinlearn.io.samples import describe_content, describe_samples, read_samples

HEADER = "@problemName x\n@univariate {}\n@classLabel true a b\n"


def test_ts_of_one_channel_and_several(tmp_path):
    path = tmp_path / "x.ts"
    path.write_text(f"# told\n{HEADER.format('true')}\n@data\n1,2.5, 3:a\n4:b\n\n")
    series, y = read_ts(path)
    assert [x.tolist() for x in series] == [[1, 2.5, 3], [4]] and y.tolist() == [
        "a",
        "b",
    ]
    path.write_text(f"{HEADER.format('false')}@DATA\n1,2:3,4:a\n5:6:b\n")
    (one, two), y = read_ts(path)
    assert isinstance(one, tuple) and y.tolist() == ["a", "b"]
    assert_array_equal(one, [[1, 2], [3, 4]])
    assert_array_equal(two, [[5], [6]])
    path.write_text("@classLabel false\n@data\n1,2:3,4\n")
    series, y = read_ts(path)
    assert y is None and len(series[0]) == 2
    table = read(path, labels=None)
    assert (table.kind, describe_samples(table.kind, table.items)) == (
        "series",
        "series of 2 channels and 2 values",
    )


@pytest.mark.parametrize("mark", ["\t", ",", "  "])
def test_lines_of_the_ucr_archive(tmp_path, mark):
    path = tmp_path / "x.txt"
    rows = [["1", "0.5", "-2e-1"], ["2", "3", "NaN"]]
    path.write_text("\r\n".join(mark.join(row) for row in rows))
    series, y = read_ucr(path)
    assert [x.tolist() for x in series] == [[0.5, -0.2], [3]] and y.tolist() == [1, 2]
    assert read_ucr(path, "1")[1].tolist() == [1, 2]
    path.write_text("\n".join(mark.join(row) for row in (["t", "u", "kind"], *rows)))
    series, y = read_ucr(path, "kind")
    assert [x.tolist() for x in series] == [[1, 0.5], [2, 3]]
    path.write_text("\n".join(mark.join(row) for row in (["t", "u", "v"], rows[0])))
    series, y = read_ucr(path, "kind")
    assert y is None and len(series[0]) == 3


def test_aeon_writes_what_we_read(tmp_path, rng):
    aeon = pytest.importorskip("aeon.datasets", reason="aeon is the oracle")
    X, y = rng.standard_normal((5, 2, 7)), np.array(["u", "v", "u", "v", "v"])
    aeon.write_to_ts_file(X, str(tmp_path), y, "made")
    path = next(tmp_path.glob("made*.ts"))
    series, found = read_ts(path)
    assert_array_equal(found, y)
    theirs, labels = aeon.load_from_ts_file(str(path))
    assert_array_equal(np.array(series), theirs)
    assert_array_equal(found, labels)


def test_new_lines_need_a_label_or_a_mark(tmp_path):
    path = tmp_path / "new.tsv"
    model = ModelInput(TrainingRecord(), "series", [1, 2], content="1 channel")
    path.write_text("1.0\t5\t6\n?\t7\t8\n")
    table = open_data(path, ReadOptions(), model=model)
    assert [x.tolist() for x in table.items] == [[5, 6], [7, 8]]
    assert_array_equal(table.y, [1, np.nan])
    assert table.names == ["1", "2"]
    path.write_text("1\t5\t6\n5.5\t7\t8\n")
    with pytest.raises(
        ValueError, match=r"new.tsv, line 2: a label of the model \(1, 2"
    ):
        open_data(path, ReadOptions(), model=model)
    with pytest.raises(ValueError, match="got 'x'"):
        path.write_text("x\t5\t6\n")
        open_data(path, ReadOptions(), model=model)


def test_unknown_formats_raise(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("1\t0.5\n2\t1.5\n")
    with pytest.raises(ValueError, match="'format' must be one of"):
        read_samples(path, "arff", ReadOptions())
    with pytest.raises(ValueError, match="'kind' must be one of"):
        describe_content("images", None)
    with pytest.raises(ValueError, match="'kind' must be one of"):
        describe_samples("images", [])
