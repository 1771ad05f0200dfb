import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kreinlearn import (
    KreinLogisticRegression,
    LandmarkLogisticRegression,
    load,
    pipelines,
    save,
)
from kreinlearn.io import table_blocks
from kreinlearn.pipelines import check_complete, prepare, text_columns

NUMBERS = pd.DataFrame({"a": [0.0, 5.0, 10.0, 1.0], "b": [1.0, 2.0, 3.0, 5.0]})
MIXED = NUMBERS.assign(
    c=pd.Series(["red", "blue", np.nan, "red"], dtype=object), b=[1.0, np.nan, 3.0, 5.0]
)


def test_a_table_of_numbers_is_scaled_and_nothing_else():
    step = prepare(NUMBERS)
    assert (
        type(step) is MinMaxScaler and step.get_params() == MinMaxScaler().get_params()
    )
    model = make_pipeline(step, KreinLogisticRegression()).fit(NUMBERS, [0, 1, 1, 0])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    same = make_pipeline(MinMaxScaler(), KreinLogisticRegression())
    same.fit(NUMBERS.to_numpy(), [0, 1, 1, 0])
    expected = same.predict_proba(NUMBERS.to_numpy())
    assert (model.predict_proba(NUMBERS) == expected).all()


def test_without_scaling_names_are_learned_all_the_same():
    step = prepare(NUMBERS, scale="none")
    assert (np.asarray(step.fit_transform(NUMBERS)) == NUMBERS.to_numpy()).all()
    model = make_pipeline(step, KreinLogisticRegression(kernel="linear"))
    model.fit(NUMBERS, [0, 1, 1, 0])
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_filled_encoded_and_scaled_from_training_rows_alone():
    step = prepare(MIXED, impute=True, one_hot=True)
    found = step.fit_transform(MIXED.iloc[:3])
    # a over 10; b: 1, median 2, 3; then blue and red, of equals the first in order.
    expected = [[0, 0, 0, 1], [0.5, 0.5, 1, 0], [1, 1, 1, 0]]
    assert found.tolist() == expected
    new = MIXED.iloc[3:].assign(a=20.0, c="green")
    assert step.transform(new).tolist() == [[2.0, 2.0, 0.0, 0.0]]
    assert step.feature_names_in_.tolist() == ["a", "b", "c"]
    raw = prepare(MIXED, impute=True, one_hot=True, scale="none").fit_transform(MIXED)
    assert raw[:, 1].tolist() == [1, 3, 3, 5]
    words = prepare(MIXED[["c"]], impute=True, one_hot=True).fit_transform(MIXED[["c"]])
    assert words.tolist() == [[0, 1], [1, 0], [0, 1], [0, 1]]


def test_text_and_missing_cells_are_refused_with_what_to_do():
    assert text_columns(MIXED) == ["c"] and text_columns(NUMBERS) == []
    with pytest.raises(ValueError) as raised:
        prepare(MIXED, impute=True)
    assert str(raised.value) == (
        "column 'c' holds text such as 'red'; encode text "
        "with one_hot=True (--one-hot on the command line), leave it out (--drop c), "
        "or, if it holds the labels, use --target c."
    )
    with pytest.raises(ValueError) as raised:
        prepare(MIXED, one_hot=True)
    assert str(raised.value) == (
        "the value in row 1, column 'b' is missing, 2 in all; fill with impute=True "
        "(--impute on the command line)."
    )
    with pytest.raises(ValueError) as raised:
        prepare(MIXED)
    assert str(raised.value) == (
        "column 'c' holds text such as 'red'; the value in row 1, column 'b' is "
        "missing, 2 in all. Use --one-hot --impute (one_hot=True, impute=True)."
    )
    assert raised.value.options == ["--one-hot", "--impute"]
    read = MIXED[["b"]].set_axis(pd.Index([2, 3, 4, 5], name="line"))
    read.attrs["path"] = "t.csv"
    with pytest.raises(
        ValueError, match=r"^t.csv: the value in line 3, .* missing; x\.$"
    ):
        check_complete(read, "x")
    many = pd.DataFrame(
        {f"t{i}": pd.Series(["u", "v"], dtype=object) for i in range(8)}
    )
    with pytest.raises(ValueError, match="columns 't0', .*'t4' and 3 more hold text"):
        prepare(many)


def test_columns_without_information():
    empty = NUMBERS.assign(a=np.nan)
    with pytest.raises(ValueError, match="column 'a' has no value at all; remove it"):
        prepare(empty, impute=True)
    constant = NUMBERS.assign(a=3.0)
    with pytest.warns(UserWarning, match="same value for all samples in column 'a'"):
        step = prepare(constant)
    assert (step.fit_transform(constant)[:, 0] == 0).all()


def test_a_column_that_one_fold_does_not_know_keeps_its_place():
    X = NUMBERS.assign(a=[np.nan, np.nan, np.nan, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same value in all samples that have one
        step = prepare(X, impute=True)
    assert step.fit(X.iloc[:3]).transform(X).shape == (4, 2)


def test_a_drawn_part_of_a_long_table_teaches_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    n = 20_000
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame["word"] = rng.choice(["red", "blue"], n)
    frame.loc[n - 1, "word"] = "rare"
    frame.loc[12_345, "b"] = np.nan
    frame.index = pd.Index(range(2, n + 2), name="line")
    monkeypatch.setattr(pipelines, "DRAWN_BYTES", 8 * 4 * 2000)
    blocks = [frame.iloc[i : i + 700] for i in range(0, n, 700)]
    drawn = pipelines._draw_rows(iter(blocks))
    assert 2000 <= len(drawn) < 2200 and drawn.index.is_monotonic_increasing
    steps = {"impute": True, "one_hot": True}
    some = prepare(drawn, **steps).fit(drawn).transform(frame)
    every = prepare(frame, **steps).fit(frame).transform(frame)
    known = frame["b"].notna().to_numpy()  # medians are those of the drawn rows
    np.testing.assert_array_equal(some[known], every[known])
    np.testing.assert_allclose(some, every, atol=0.02)
    with pytest.raises(ValueError, match="line 12347, column 'b' is missing"):
        prepare(drawn, one_hot=True)


def test_all_rows_of_a_short_table_are_drawn():
    drawn = pipelines._draw_rows(iter([MIXED.iloc[:1], MIXED.iloc[1:]]))
    pd.testing.assert_frame_equal(drawn, MIXED)


@pytest.mark.parametrize("scale", ["minmax", "standard", "robust", "none"])
def test_a_model_of_blocks_is_the_model_of_the_table(tmp_path, scale, monkeypatch):
    monkeypatch.setattr("kreinlearn.io.tables.MIN_BLOCK_ROWS", 40)
    monkeypatch.setattr("kreinlearn.io.tables.MAX_BLOCK_ROWS", 70)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((300, 3)), columns=list("abc"))
    frame["word"] = rng.choice(["red", "blue"], 300)
    y = np.where(frame["a"] > frame["b"], "p", "q")
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    model = partial(LandmarkLogisticRegression, n_landmarks=20, lam=1e-2)
    steps = {"scale": scale, "one_hot": True}
    found = pipelines.fit_from(model(), tmp_path / "t.csv", "y", **steps)
    expected = make_pipeline(prepare(frame, **steps), model()).fit(frame, y)
    proba = found.predict_proba(frame)
    np.testing.assert_allclose(proba, expected.predict_proba(frame), atol=1e-6)
    save(found, tmp_path / "m.krein")
    assert (load(tmp_path / "m.krein").predict_proba(frame) == proba).all()


@pytest.mark.parametrize(("most", "n_reads"), [(2**28, 1), (100, 3)])
def test_small_tables_are_read_once(tmp_path, monkeypatch, most, n_reads):
    monkeypatch.setattr(pipelines, "MAX_KEPT_BYTES", most)
    pd.DataFrame({"a": range(50, 0, -1), "y": [0, 1] * 25}).to_csv(
        tmp_path / "t.csv", index=False
    )
    table = table_blocks(tmp_path / "t.csv")
    blocks, _, _ = pipelines.prepare_blocks(table)
    reads = []
    counted = replace(table, blocks=lambda: reads.append(1) or iter(table))
    blocks.table = counted
    found = [np.concatenate([X for X, _, _ in blocks]) for _ in range(3)]
    assert len(reads) == n_reads and (found[0] == found[2]).all()
