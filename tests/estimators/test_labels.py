"""DataFrames of similarities: columns by label, whatever their order."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import (
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline

import kreinlearn
from kreinlearn import (
    DCASVC,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    SpectrumRepair,
)
from kreinlearn.kernels import gram
from tests.conftest import scaled

N, NEW = 24, 7
STRINGS = [f"s{i}" for i in range(N)]
LABELS = {
    "strings": STRINGS,
    "integers": [3 * i + 1 for i in range(N)],
    "shuffled numbers": [int(i) for i in np.random.default_rng(5).permutation(N)],
    "tuples": [(i // 3, f"s{i % 3}") for i in range(N)],
    "mixed": [i + 1 if i % 2 else f"s{i}" for i in range(N)],
    "dates": list(pd.date_range("2020-01-01", periods=N)),
    "days": [date(2020, 1, 1 + i) for i in range(N)],
    "floats": [i / 4 for i in range(N)],
    "numpy integers": list(np.arange(N, dtype=np.int16) + 100),
}
MODELS = {
    "logistic": KreinLogisticRegression("precomputed"),
    "search": KreinLogisticRegressionCV(lams=[0.1, 0.01], kernel="precomputed", cv=3),
    "svc": KreinSVC(kernel="precomputed"),
    "dca": DCASVC(kernel="precomputed"),
    "repaired": make_pipeline(SpectrumRepair(), KreinLogisticRegression("precomputed")),
}
X, y = make_moons(N + NEW, noise=0.2, random_state=0)
X, y = scaled(X), y[:N]
K, ROWS = gram(X[:N], kernel="tl1"), gram(X[N:], X[:N], "tl1")
SHUFFLED = np.random.default_rng(0).permutation(N)
OTHERWISE = np.random.default_rng(1).permutation(N)


def square(labels=STRINGS):
    return pd.DataFrame(K, index=pd.Index(labels), columns=pd.Index(labels))


def new(labels=STRINGS):
    names = [f"new{i}" for i in range(NEW)]
    return pd.DataFrame(ROWS, index=names, columns=pd.Index(labels))


def fitted(labels=STRINGS):
    return KreinLogisticRegression("precomputed").fit(square(labels), y)


def quietly(function, *arguments):
    """Call a function that must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*arguments)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_a_permuted_frame_is_the_ordered_array(name, kind):
    plain = clone(MODELS[name]).fit(K, y)
    frame = square(LABELS[kind]).iloc[:, SHUFFLED]
    model = quietly(clone(MODELS[name]).fit, frame, pd.Series(y, index=frame.index))
    rows = new(LABELS[kind]).iloc[:, OTHERWISE]
    scores = quietly(model.decision_function, rows)
    np.testing.assert_array_equal(scores, plain.decision_function(ROWS))
    np.testing.assert_array_equal(quietly(model.predict, rows), plain.predict(ROWS))
    last = model[-1] if name == "repaired" else model
    again = plain[-1] if name == "repaired" else plain
    if name != "search":
        np.testing.assert_array_equal(last.dual_coef_, again.dual_coef_)


def test_labels_follow_the_rows():
    # Rows and columns in orders of their own: y goes with the rows.
    frame = square().iloc[SHUFFLED, OTHERWISE]
    model = KreinLogisticRegression("precomputed").fit(frame, y[SHUFFLED])
    assert model.feature_names_in_.tolist() == frame.index.tolist()
    plain = KreinLogisticRegression("precomputed")
    plain.fit(K[np.ix_(SHUFFLED, SHUFFLED)], y[SHUFFLED])
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(
        model.decision_function(new()), plain.decision_function(ROWS[:, SHUFFLED])
    )


@pytest.mark.parametrize("name", ["logistic", "search", "dca"])
@pytest.mark.parametrize("kind", ["strings", "shuffled numbers", "tuples", "numbering"])
def test_columns_of_the_support_by_label(name, kind):
    labels = range(N) if kind == "numbering" else LABELS[kind]
    weights = np.arange(N) % 3 != 0
    model = clone(MODELS[name]).fit(square(labels), y, sample_weight=weights)
    assert 1 < len(model.support_) < N
    part = new(labels).iloc[:, model.support_[::-1]]
    all_of_it = quietly(model.decision_function, new(labels))
    np.testing.assert_array_equal(quietly(model.decision_function, part), all_of_it)


def test_a_wrong_column_among_those_of_the_support():
    model = KreinLogisticRegression("precomputed")
    model.fit(square(), y, sample_weight=np.arange(N) % 3 != 0)
    part = new().iloc[:, model.support_].rename(columns={"s2": "other"})
    with pytest.raises(ValueError, match="'s2' is missing and 'other' is not one"):
        model.predict(part)


def test_a_numbering_is_no_label_next_to_names():
    plain = fitted().dual_coef_
    for frame in (
        pd.DataFrame(K, columns=STRINGS),
        pd.DataFrame(K, index=STRINGS),
        pd.DataFrame(K),
        pd.DataFrame(K, columns=LABELS["integers"]),
    ):
        model = quietly(KreinLogisticRegression("precomputed").fit, frame, y)
        np.testing.assert_array_equal(model.dual_coef_, plain)
    # But the same numbers in another order are.
    model.fit(pd.DataFrame(K).iloc[:, SHUFFLED], y)
    np.testing.assert_array_equal(model.dual_coef_, plain)


def test_numbered_columns_of_new_samples():
    model = KreinLogisticRegression("precomputed").fit(pd.DataFrame(K), y)
    expected = model.decision_function(ROWS)
    frame = pd.DataFrame(ROWS)
    for given in (frame, frame.iloc[:, SHUFFLED]):
        scores = quietly(model.decision_function, given)
        np.testing.assert_array_equal(scores, expected)
    # As many rows as training samples, numbered alike, do not make it transposed.
    with pytest.warns(UserWarning, match="X has feature names, but .* without"):
        found = model.predict(pd.DataFrame(K, columns=STRINGS))
    np.testing.assert_array_equal(found, model.predict(K))
    with pytest.raises(ValueError, match="0 is missing and 24 is not one"):
        model.predict(frame.rename(columns={0: 24}))
    with pytest.raises(ValueError, match="column 1 occurs more than once"):
        model.predict(frame.rename(columns={0: 1}))


def test_numbers_in_order_after_training_with_the_same_shuffled():
    labels = LABELS["shuffled numbers"]
    rows = new(labels).sort_index(axis=1)
    assert rows.columns.tolist() == list(range(N))
    np.testing.assert_array_equal(
        quietly(fitted(labels).decision_function, rows),
        fitted().decision_function(new()),
    )


@pytest.mark.parametrize("kind", ["strings", "integers", "tuples"])
@pytest.mark.parametrize("name", MODELS)
def test_without_labels_after_training_with_them(name, kind):
    model = clone(MODELS[name]).fit(square(LABELS[kind]), y)
    expected = model.predict(new(LABELS[kind]))
    for given in (ROWS, pd.DataFrame(ROWS)):
        with pytest.warns(
            UserWarning, match="X does not have valid feature names, but"
        ):
            found = model.predict(given)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("table", [np.asarray, pd.DataFrame])
def test_names_after_training_without_them(table):
    model = KreinLogisticRegression("precomputed").fit(table(K), y)
    with pytest.warns(UserWarning, match="X has feature names, but .* without"):
        found = model.predict(new())
    np.testing.assert_array_equal(found, model.predict(ROWS))


def test_a_second_fit_forgets_labels():
    model = fitted(LABELS["tuples"]).fit(K, y)
    assert quietly(model.predict, ROWS).shape == (NEW,)
    assert not hasattr(model.fit(square(LABELS["tuples"]), y), "feature_names_in_")


FAULTS = {
    "row without a column": (
        lambda K: K.drop(columns="s3"),
        "row 's3' has no column: add the column",
    ),
    "column without a row": (
        lambda K: K.drop(index="s3"),
        "column 's3' has no row: add the row",
    ),
    "renamed": (lambda K: K.rename(columns={"s3": "t"}), "row 's3' has no column"),
    "doubled column": (
        lambda K: K.rename(columns={"s3": "s4"}),
        "column 's4' occurs more than once",
    ),
    "doubled row": (
        lambda K: K.rename(index={"s3": "s4"}),
        "row 's4' occurs more than once",
    ),
    "doubled column, rows without labels": (
        lambda K: K.rename(columns={"s3": "s4"}).reset_index(drop=True),
        "column 's4' occurs more than once",
    ),
    "nothing in common": (
        lambda K: K.set_axis(range(5, N + 5), axis=0),
        "row 5 has no column: .* or pass X.to_numpy()",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", MODELS)
def test_training_matrices_whose_labels_do_not_match(name, fault):
    change, words = FAULTS[fault]
    frame = change(square().iloc[:, SHUFFLED])
    with pytest.raises(ValueError, match=words):
        clone(MODELS[name]).fit(frame, y[: len(frame)])


NEW_FAULTS = {
    "missing": (lambda R: R.drop(columns="s3"), "'s3' is missing: add"),
    "extra": (lambda R: R.assign(other=0.0), "'other' is not one: drop"),
    "renamed": (
        lambda R: R.rename(columns={"s3": "t"}),
        "'s3' is missing and 't' is not one: add what is missing and drop",
    ),
    "doubled": (
        lambda R: R.rename(columns={"s3": "s4"}),
        "column 's4' occurs more than once",
    ),
    "both": (
        lambda R: pd.concat([R, R[["s3"]]], axis=1),
        "column 's3' occurs more than once",
    ),
    "transposed": (lambda R: R.T, "and column 'new0' is not one: pass X.T"),
    "transposed, without names of new samples": (
        lambda R: R.T.set_axis(range(NEW), axis=1),
        "and column 0 is not one: pass X.T",
    ),
}


@pytest.mark.parametrize("fault", NEW_FAULTS)
@pytest.mark.parametrize("name", MODELS)
def test_new_samples_whose_columns_are_not_those_of_training(name, fault):
    change, words = NEW_FAULTS[fault]
    model = clone(MODELS[name]).fit(square(), y)
    with pytest.raises(ValueError, match=words):
        model.predict(change(new().iloc[:, SHUFFLED]))


def test_a_transposed_square_is_seen_by_its_labels():
    more = pd.DataFrame(K, index=[f"new{i}" for i in range(N)], columns=STRINGS)
    with pytest.raises(ValueError, match="pass X.T"):
        fitted().predict(more.T)
    # Rows of training samples alone are accepted: they may be predicted, too.
    with pytest.raises(ValueError, match="'s3' is missing"):
        fitted().predict(square().drop(columns="s3"))


@pytest.mark.parametrize("table", [np.asarray, pd.DataFrame, np.ndarray.tolist])
@pytest.mark.parametrize("name", MODELS)
def test_a_transposed_matrix_is_seen_by_its_shape(name, table):
    model = clone(MODELS[name]).fit(table(K), y)
    with pytest.raises(ValueError, match=r"X has 7 features.*its transpose, K\.T"):
        model.predict(table(ROWS.T.copy()))
    with pytest.raises(ValueError, match="X has 23 features.*one column per training"):
        model.predict(ROWS[:, 1:])


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_labels_of_y_in_another_order(name, kind):
    frame = square(LABELS[kind])
    series = pd.Series(y, index=frame.index)
    shuffled = series.iloc[::-1]
    with pytest.raises(ValueError, match=r"'y' must be .*y\.loc\[X\.index\], or y\.to"):
        clone(MODELS[name]).fit(frame, shuffled)
    with pytest.raises(ValueError, match="'y' must be in the order"):
        clone(MODELS[name]).fit(frame, shuffled.to_frame())
    clone(MODELS[name]).fit(frame, shuffled.loc[frame.index])


def test_the_first_label_that_differs_is_named():
    swapped = pd.Series(y, index=STRINGS).iloc[[0, 2, 1, *range(3, N)]]
    with pytest.raises(
        ValueError, match="entry 1 belongs to 's1' in X and to 's2' in y"
    ):
        KreinSVC(kernel="precomputed").fit(square(), swapped)
    # Without row labels, samples are identified by the columns or by their number.
    nameless = square().reset_index(drop=True)
    with pytest.raises(ValueError, match=r"pass y\.loc\[X\.columns\]"):
        KreinSVC(kernel="precomputed").fit(nameless, swapped)
    with pytest.raises(ValueError, match=r"entry 1 belongs to 1 .* and to 2 in y"):
        KreinSVC(kernel="precomputed").fit(
            nameless, swapped.set_axis([0, 2, 1, *range(3, N)])
        )
    with pytest.raises(ValueError, match=r"pass y\.loc\[X\.index\]"):
        KreinSVC(kernel="precomputed").fit(
            pd.DataFrame(K).iloc[:, SHUFFLED], swapped.set_axis(range(N)).iloc[::-1]
        )
    # One label that X does not know, among others that it does.
    with pytest.raises(ValueError, match="entry 3 belongs to 's3' in X and to 'other'"):
        other = pd.Series(y, index=STRINGS).rename(index={"s3": "other"})
        KreinSVC(kernel="precomputed").fit(square(), other)


def test_labels_of_y_that_have_nothing_to_do_with_x_are_ignored():
    for index in (range(N), [f"t{i}" for i in range(N)]):
        quietly(KreinSVC(kernel="precomputed").fit, square(), pd.Series(y, index))
    # A numbering shares some numbers with other integers by chance.
    frame = square(LABELS["integers"])
    quietly(KreinSVC(kernel="precomputed").fit, frame, pd.Series(y))
    table = pd.DataFrame(X[:N], index=STRINGS)
    KreinSVC().fit(table, pd.Series(y, STRINGS[::-1]))  # features, not similarities


@pytest.mark.parametrize("name", ["logistic", "search", "svc", "dca"])
def test_weights_and_groups_in_another_order(name):
    model = clone(MODELS[name])
    ones = pd.Series(1.0, index=STRINGS)
    model.fit(square(), y, sample_weight=ones)
    with pytest.raises(ValueError, match="'sample_weight' must be in the order of the"):
        model.fit(square(), y, sample_weight=ones.iloc[::-1])
    if name == "search":
        with pytest.raises(ValueError, match="'groups' must be in the order of the"):
            model.fit(square(), y, groups=ones.iloc[::-1])


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_knows_its_labels(name, kind, tmp_path):
    model = clone(MODELS[name]).fit(square(LABELS[kind]), y)
    kreinlearn.save(model, tmp_path / "model")
    again = kreinlearn.load(tmp_path / "model")
    rows = new(LABELS[kind]).iloc[:, SHUFFLED]
    np.testing.assert_array_equal(
        quietly(again.decision_function, rows), model.decision_function(rows)
    )
    with pytest.raises(ValueError, match="is missing"):
        again.predict(rows.iloc[:, 1:])


@pytest.mark.parametrize("mode", ["exact", "none"])
def test_repaired_matrices_in_the_order_of_the_rows(mode):
    plain = SpectrumRepair(out_of_sample=mode)
    repair = SpectrumRepair(out_of_sample=mode)
    expected = plain.fit_transform(K)
    found = repair.fit_transform(square().iloc[:, SHUFFLED])
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, expected)
    rows = repair.transform(new().iloc[:, SHUFFLED])
    np.testing.assert_allclose(rows, plain.transform(ROWS), rtol=1e-12)
    repair.set_output(transform="pandas")
    frame = repair.fit_transform(square().iloc[:, SHUFFLED])
    assert frame.columns.tolist() == frame.index.tolist() == STRINGS
    assert repair.transform(new().iloc[:, SHUFFLED]).columns.tolist() == STRINGS


def test_pipelines_whose_steps_hand_on_frames():
    pipeline = clone(MODELS["repaired"]).set_output(transform="pandas")
    plain = clone(MODELS["repaired"]).fit(K, y)
    pipeline.fit(square().iloc[:, SHUFFLED], y)
    assert pipeline[-1].feature_names_in_.tolist() == STRINGS
    np.testing.assert_allclose(
        pipeline.decision_function(new().iloc[:, SHUFFLED]),
        plain.decision_function(ROWS),
        rtol=1e-9,
    )


FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def test_polars():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.DataFrame(K, schema=STRINGS)
    model = KreinLogisticRegression("precomputed").fit(frame, y)
    rows = pl.DataFrame(ROWS, schema=STRINGS)
    names = [STRINGS[i] for i in SHUFFLED]
    np.testing.assert_array_equal(
        quietly(model.decision_function, rows.select(names)),
        fitted().decision_function(new()),
    )
    with pytest.raises(ValueError, match="'s3' is missing"):
        model.predict(rows.drop("s3"))
    series = pd.Series(y, index=STRINGS)
    with pytest.raises(ValueError, match=r"y\.loc\[X\.columns\]"):
        model.fit(frame, series.iloc[::-1])
