"""Columns of a new file, matched to those that a model was trained on."""

import re

import numpy as np
import pandas as pd
import pytest

from kreinlearn.io import ReadOptions, TrainingRecord, open_data
from kreinlearn.io.dataset import ModelInput

NAMED = TrainingRecord(["a", "b"], target="y", target_place=2)
NUMBERED = TrainingRecord(["1", "2"], header=False, target="3", target_place=2)


def read_like(path, training, header=None):
    model = ModelInput(training, "rows")
    return open_data(path, ReadOptions(header=header), model=model)


def read_similarities(path, n_train, support=(), **known):
    model = ModelInput(
        TrainingRecord(), "matrix", n_train=n_train, support=support, **known
    )
    return open_data(path, ReadOptions(), model=model)


def matched(tmp_path, content, training, name="t.csv", header=None):
    path = tmp_path / name
    path.write_text(content)
    table = read_like(path, training, header)
    return table, re.findall("'(.*?)'", table.remark)


@pytest.mark.parametrize(
    ("content", "left_out", "y"),
    [
        ("a,b\n1,2\n3,4\n", [], None),
        ("b,a\n2,1\n4,3\n", [], None),
        ("a,b,y\n1,2,u\n3,4,v\n", [], ["u", "v"]),
        ("y,b,a\nu,2,1\n,4,3\n", [], ["u", ""]),
        ("id,a,note,b\nx,1,inf,2\ny,3,,4\n", ["id", "note"], None),
        ("id,b,y,a\nx,2,7,1\ny,4,8,3\n", ["id"], [7, 8]),
    ],
)
def test_by_name_in_any_order_with_others(tmp_path, content, left_out, y):
    table, others = matched(tmp_path, content, NAMED)
    assert list(table.X.columns) == ["a", "b"] and others == left_out
    assert table.X.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert (table.y if y is None else table.y.tolist()) == y


@pytest.mark.parametrize(
    ("content", "y"), [("1,2\n3,4\n", None), ("1,2,0\n3,4,1\n", [0, 1])]
)
@pytest.mark.parametrize("training", [NAMED, NUMBERED])
def test_by_order_without_a_header(tmp_path, content, y, training):
    table, left_out = matched(tmp_path, content, training)
    assert table.X.to_numpy().tolist() == [[1, 2], [3, 4]] and left_out == []
    assert (table.y if y is None else table.y.tolist()) == y


def test_a_target_in_the_middle_is_taken_out(tmp_path):
    training = TrainingRecord(["1", "3"], header=False, target="2", target_place=1)
    table, _ = matched(tmp_path, "1,u,2\n3,v,4\n", training)
    assert table.X.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert table.y.tolist() == ["u", "v"]


def test_names_do_not_count_if_the_model_knows_none(tmp_path):
    table, left_out = matched(tmp_path, "b,a\n1,2\n3,4\n", NUMBERED)
    assert table.X.to_numpy().tolist() == [[1, 2], [3, 4]] and left_out == []


def test_libsvm_text_by_index(tmp_path):
    content = "1 1:1 2:2 5:9\n0 1:3\n"
    table, left_out = matched(tmp_path, content, NUMBERED, "t.svm")
    assert table.X.to_numpy().tolist() == [[1, 2], [3, 0]]
    assert left_out == ["3", "4", "5"] and table.y.tolist() == [1, 0]
    table, _ = matched(tmp_path, "1 1:1 2:2\n", NAMED, "t.svm")
    assert table.X.to_numpy().tolist() == [[1, 2]]


def test_text_stays_text_and_labels_stay_what_they_were(tmp_path):
    training = TrainingRecord(["a", "b"], target="y", text=["b"], text_labels=True)
    table, _ = matched(tmp_path, "a,b,y\n1,01,7\n3,2,8\n", training)
    assert table.X["b"].tolist() == ["01", "2"] and table.y.tolist() == ["7", "8"]
    frame = pd.DataFrame({"b": ["01", "2"], "a": [1, 3], "y": [7, 8]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_like(tmp_path / "t.parquet", training)
    assert table.X["b"].tolist() == ["01", "2"] and table.y.tolist() == ["7", "8"]


BAD = {
    "one missing": (NAMED, "a,y\n1,0\n", ["lacks column 'b', which"]),
    "two missing": (NAMED, "c,y\n1,0\n", ["lacks columns 'a', 'b', which"]),
    "doubled": (NAMED, "a,b,b\n1,2,3\n", ["must differ, got 'b' 2 times"]),
    "doubled elsewhere": (NAMED, "a,b,c,c\n1,2,3,4\n", ["got 'c' 2 times"]),
    "too many": (NUMBERED, "1,2,3,4\n", ["2 columns or, with labels, 3", "got 4"]),
    "too few": (
        TrainingRecord(["1", "2"], header=False),
        "1\n",
        ["2 columns,", "got 1"],
    ),
    "text": (NAMED, "a,b\n1,2\n3,low\n", ["'low' in line 3, column 'b'"]),
    "infinite": (NAMED, "a,b\n1,2\n3,inf\n", ["inf in line 3, column 'b'"]),
    "empty": (NAMED, "a,b\n", ["no samples"]),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_match_gets_one_sentence(tmp_path, case):
    training, content, words = BAD[case]
    with pytest.raises(ValueError) as raised:
        matched(tmp_path, content, training)
    said = str(raised.value)
    assert str(tmp_path) in said and said.endswith(".") and "\n" not in said
    assert all(word in said for word in words)


def test_a_matrix_is_no_table(tmp_path):
    np.savez(tmp_path / "g.npz", K=np.eye(3))
    with pytest.raises(ValueError, match=r"a table with 2 features, but .* a matrix"):
        read_like(tmp_path / "g.npz", NAMED)


def test_similarities_with_all_training_samples_or_with_those_needed(tmp_path):
    path, table = tmp_path / "g.npy", tmp_path / "t.csv"
    np.save(path, np.ones((4, 3)))
    assert read_similarities(path, 3).K.shape == (4, 3)
    assert read_similarities(path, 20, [0, 4, 7]).K.shape == (4, 3)
    with pytest.raises(ValueError, match=r"5 columns, .* training sample, got shape"):
        read_similarities(path, 5)
    with pytest.raises(ValueError, match=r"or 2 columns, .* from 1: 1, 5\), got shape"):
        read_similarities(path, 20, [0, 4])
    table.write_text("1,2\n,4\n")
    model = ModelInput(TrainingRecord(), "matrix", n_train=2)
    found = open_data(table, ReadOptions(missing=3.0), model=model)
    assert found.K.tolist() == [[1, 2], [3, 4]] and "taken for 3" in found.remark
    table.write_text("a,b\n1,2\n")
    with pytest.raises(
        ValueError, match=r"on a matrix of similarities, but .* a table; give"
    ):
        read_similarities(table, 5)
