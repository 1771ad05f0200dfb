"""Rows that are read in blocks, against the same rows in memory."""

import numpy as np
import pandas as pd
import pytest

from kreinlearn import LandmarkLogisticRegression
from kreinlearn.io import table_blocks
from kreinlearn.landmarks.sources import BlockSource
from kreinlearn.pipelines import fit_from

N = 700
NAMES = list("abcd")


def made():
    rng = np.random.default_rng(1)
    X = rng.random((N, 4))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0.8, "yes", "no")
    return X, y


def model(**params):
    return LandmarkLogisticRegression(n_landmarks=30, lam=1e-3, **params)


def table():
    X, y = made()
    return pd.DataFrame(X, columns=NAMES).assign(kind=y)


def parts(size=90):
    X, y = made()
    return [(X[i : i + size], y[i : i + size]) for i in range(0, N, size)]


def parquet(path):
    pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    path.mkdir()
    table().iloc[:300].to_parquet(path / "0.parquet", index=False, row_group_size=70)
    table().iloc[300:].to_parquet(path / "1.parquet", index=False)
    return path


@pytest.fixture(scope="module")
def expected():
    return model().fit(pd.DataFrame(made()[0], columns=NAMES), made()[1])


def assert_same(found, expected):
    # Sums over other chunks differ by rounding.
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found.landmark_indices_, expected.landmark_indices_)
    assert found.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("memory", [0, 30_000, None])
@pytest.mark.parametrize("chunk_size", [17, 64, None])
def test_chunks_are_the_rows(expected, memory, chunk_size):
    found = model(memory=memory, chunk_size=chunk_size).fit(parts())
    assert_same(found, expected)
    assert found.n_features_in_ == 4


def test_a_function_begins_anew(expected):
    assert_same(model().fit(lambda: iter(parts(33))), expected)


def test_parquet_folders_files_and_datasets(expected, tmp_path):
    path = parquet(tmp_path / "rows")
    dataset = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow")
    table().to_parquet(tmp_path / "one.parquet", index=False)
    for source in (path, str(tmp_path / "one.parquet"), dataset.dataset(path)):
        found = model(memory=0).fit(source, "kind")
        assert_same(found, expected)
        assert found.feature_names_in_.tolist() == NAMES


def test_csv(expected, tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    assert_same(model().fit(tmp_path / "t.csv", y="kind"), expected)


def test_weights(tmp_path):
    X, y = made()
    weights = np.arange(N) % 3.0
    expected = model().fit(X, y, weights)
    blocks = [(X[:100], y[:100], weights[:100]), (X[100:], y[100:], weights[100:])]
    assert_same(model().fit(blocks), expected)
    table().assign(w=weights).to_csv(tmp_path / "t.csv", index=False)
    found = model().fit(tmp_path / "t.csv", "kind", "w")
    assert_same(found, expected)


def test_some_columns_of_a_table(tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    some = table_blocks(tmp_path / "t.csv", "kind", columns=["b", "a"])
    expected = model().fit(table()[["b", "a"]], made()[1])
    assert_same(model().fit(some), expected)


def test_a_search_over_blocks(tmp_path):
    X, y = made()
    search = {"lams": [1e-2, 1e-4], "cv": 3}
    expected = model(**search).fit(X, y)
    found = model(**search, chunk_size=50).fit(parts())
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-5)
    assert found.lam_ == expected.lam_


def test_given_landmarks():
    X, y = made()
    expected = model(landmarks=X[:20]).fit(X, y)
    found = model(landmarks=X[:20]).fit(parts())
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="3 features"):
        model(landmarks=X[:20, :3]).fit(parts())


def test_series_in_chunks():
    rng = np.random.default_rng(0)
    series = [rng.normal(size=rng.integers(8, 12)).cumsum() for _ in range(60)]
    y = np.arange(60) % 2
    series = [s + 3 * label for s, label in zip(series, y, strict=True)]
    params = {"kernel": "dtw", "n_landmarks": 10, "lam": 1e-2}
    expected = LandmarkLogisticRegression(**params).fit(series, y)
    blocks = [(series[:25], y[:25]), (series[25:], y[25:])]
    found = LandmarkLogisticRegression(**params).fit(blocks)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-8)


def test_a_class_of_the_last_chunk_is_found():
    X, y = made()
    blocks = [*parts(), (X[:5], np.array(["an unusually long name"] * 5))]
    found = model().fit(blocks)
    assert found.classes_.tolist() == ["an unusually long name", "no", "yes"]
    assert found.predict(X).dtype.kind == "U"


def test_more_landmarks_than_rows_are_all_rows():
    with pytest.warns(UserWarning, match="all of them are landmarks"):
        found = LandmarkLogisticRegression(n_landmarks=900).fit(parts())
    assert len(found.landmarks_) == N


def test_only_a_chunk_is_checked_at_a_time():
    sizes = []

    def check(X):
        sizes.append(len(X))
        return X

    source = BlockSource(parts, check, 40)
    chunks = list(source.chunks())
    assert source.n_rows == N and max(len(chunk.y) for chunk in chunks) == 40
    rest = list(source.chunks(9))
    for one, two in zip(chunks[9:], rest, strict=True):
        np.testing.assert_array_equal(one.X, two.X)
        np.testing.assert_array_equal(one.y, two.y)
    assert sum(sizes) == N + N - 3 * 90  # blocks before the ninth chunk are skipped


def test_kept_similarities_are_reported_before():
    rows = []
    model(verbose=rows.append).fit(parts())
    assert rows[0]["landmarks"] == 30 and "GiB granted" in rows[0]


def bad(change):
    blocks = parts()
    blocks[2] = change(*blocks[2])
    return blocks


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        (bad(lambda X, y: (X[:, :3], y)), "Chunk 3: X has 3 features, .* 4 features"),
        (bad(lambda X, y: (X, y[:-1])), "Chunk 3: one label per sample .* 90 .* 89"),
        (bad(lambda X, y: X), r"Chunk 3 must be \(X, y\) or \(X, y, weights\)"),
        (bad(lambda X, y: (X, y, -np.ones(90))), "Chunk 3: one weight per sample"),
        (bad(lambda X, y: (X, y, np.ones(3))), "Chunk 3: one weight per sample"),
        (bad(lambda X, y: (X, np.ones(90))), "Chunk 3: labels must be text in all"),
        (bad(lambda X, y: (X, [None, *y[1:]])), "Chunk 3 has no label .* sample 1"),
        (bad(lambda X, y: (X * np.nan, y)), "Chunk 3: Input X contains NaN"),
        (bad(lambda X, y: (X, y[:, None])), "Chunk 3: labels must have one dimension"),
        (bad(lambda X, y: (X, X[:, 0])), "Chunk 3: labels of classes were expected"),
        ([], "at least one sample"),
        (iter(parts()), "got a list_iterator, which ends after one pass"),
        ((part for part in parts()), "got a generator, which ends after one pass"),
        ([[1.0, 2.0], [3.0, 4.0]], "Chunk 1 must be"),
    ],
)
def test_bad_chunks_are_one_sentence(blocks, words):
    with pytest.raises(ValueError, match=words):
        model().fit(blocks)


def test_a_function_that_gives_one_iterator_is_found_out():
    one = iter(parts())
    with pytest.raises(ValueError, match="same rows each time it is read"):
        model().fit(lambda: one)
    calls = []

    def growing():
        calls.append(1)
        return parts() + parts() * (len(calls) > 2)

    with pytest.raises(ValueError, match="same rows each time it is read"):
        model(memory=0).fit(growing)


def test_what_a_source_does_not_take(tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match="'y' must be the name of a column, got None"):
        model().fit(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="'y' must be the name .* got ndarray"):
        model().fit(tmp_path / "t.csv", made()[1])
    with pytest.raises(ValueError, match="'sample_weight' must be the name"):
        model().fit(tmp_path / "t.csv", "kind", np.ones(N))
    with pytest.raises(ValueError, match="put weights into the chunks"):
        model().fit(parts(), None, np.ones(N))
    with pytest.raises(ValueError, match="has no column 'nope'"):
        model().fit(tmp_path / "t.csv", "nope")
    with pytest.raises(ValueError, match="'cv'\\s+as a number of folds"):
        model(cv=[([0], [1])]).fit(parts())
    with pytest.raises(ValueError, match="kernel='precomputed'"):
        model(kernel="precomputed").fit(parts())


def test_text_and_missing_cells_name_the_way_out(tmp_path):
    frame = table()
    frame.loc[5, "b"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(
        ValueError, match="column 'b' has no value in line 7; .*fit_from"
    ):
        model().fit(tmp_path / "t.csv", "kind")
    table().assign(a="red").to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=r"column 'a' holds text; .*fit_from"):
        model().fit(tmp_path / "t.csv", "kind")
    with pytest.raises(ValueError, match="encode text with one_hot=True"):
        fit_from(model(), tmp_path / "t.csv", "kind")
