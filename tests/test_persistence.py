import io
import json
import pickle
import re
import subprocess
import sys
import zipfile
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.svm import SVC

import kreinlearn
from kreinlearn import (
    DCASVC,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    LandmarkLogisticRegression,
    SpectrumRepair,
)
from kreinlearn.features import RegionCovariance
from kreinlearn.kernels import KERNELS, gram, tl1
from kreinlearn.persistence import compute_digest, stamp
from kreinlearn.solvers import CCCP, SGD, DualNewton, GradientDescent

ROOT = Path(__file__).parents[1]
OLDER = sorted((ROOT / "tests" / "data" / "models").glob("*.krein"))
FLOATS = np.random.default_rng(0).uniform(size=(50, 4))
TWO = (FLOATS[:, 0] + FLOATS[:, 1] / 2 > 0.7).astype(int)
THREE = np.digitize(FLOATS[:, 0], [0.3, 0.6])
NEW = np.random.default_rng(1).uniform(size=(9, 4))
IMAGES = np.random.default_rng(2).uniform(size=(16, 12, 12))
WORDS = ["abba", "abab", "baba", "bbaa", "ab", "ba", "aaaa", "bbbb"]
OWN = ["tests.test_persistence.common_letters"]


def common_letters(X, Y):
    return np.array([[float(len(set(x) & set(y))) for y in Y] for x in X])


def table(X):
    frame = pd.DataFrame(X.copy(), columns=["width", "length", "depth", "height"])
    frame["color"] = np.where(X[:, 2] > 0.5, "red", "blue")
    frame["kind"] = frame["color"].astype("category")
    frame.loc[3, "width"] = np.nan
    return frame


def covariances(n, seed):
    A = np.random.default_rng(seed).standard_normal((n, 3, 20))
    return A @ A.transpose(0, 2, 1) / 20


@cache
def new_samples(name):
    if name.startswith("table"):
        return table(NEW)
    if name.startswith("frame"):
        return pd.DataFrame(NEW, columns=list("abcd"))
    if name.startswith("spd"):
        return covariances(9, 1)
    if name.startswith("precomputed"):
        return gram(NEW, FLOATS, "tl1")
    if name.startswith("images"):
        return IMAGES[::3]
    return WORDS[::2] if name.startswith("words") else NEW


def columns():
    numbers = make_pipeline(SimpleImputer(), MinMaxScaler())
    words = OneHotEncoder(handle_unknown="ignore")
    return [
        ("numbers", numbers, make_column_selector(dtype_include="number")),
        ("words", words, ["color", "kind"]),
    ]


def unfitted():
    """Return models by name, each with its training samples and labels."""
    model, search = KreinLogisticRegression, KreinLogisticRegressionCV
    scaled = make_pipeline(MinMaxScaler(), model())
    names = np.array(["no", "yes"])
    Z = pd.DataFrame(FLOATS, columns=list("abcd"))
    single = FLOATS.astype(np.float32)
    few = {"lams": [0.1, 0.01], "cv": 3}
    K = gram(FLOATS, kernel="tl1")
    weights = {np.int64(0): 1.0, 1: 2.0}
    cccp = CCCP(inner=GradientDescent(), init=np.ones(len(FLOATS)))
    grid = {"kreinlogisticregression__lam": [0.1, 0.01]}
    repair = make_pipeline(SpectrumRepair("clip"), SVC(kernel="precomputed"))
    by_row = make_pipeline(RegionCovariance(), model("spd_stein"))
    return {
        "binary": (model(), FLOATS, TWO),
        "multinomial": (model("rbf", class_weight="balanced"), FLOATS, THREE),
        "hilbert": (model(norm="hilbert", class_weight=weights), FLOATS, TWO),
        "single": (model("rbf", dtype=np.dtype("float32")), single, TWO),
        "blocked": (model(operator="blocked"), FLOATS, TWO),
        "newton": (model(solver=DualNewton()), FLOATS, names[TWO]),
        "cccp": (model(solver=cccp), FLOATS, names.astype(object)[TWO]),
        "sgd": (model(solver=CCCP(inner=SGD()), random_state=0), FLOATS, TWO == 1),
        "function": (model(tl1, kernel_params={"ratio": 0.5}), FLOATS, TWO),
        "spd": (model("spd_log_euclid"), covariances(50, 0), THREE),
        "frame": (model(), Z, TWO),
        "cv": (search(**few), FLOATS, THREE),
        "frame cv": (search(**few, average=False), Z, TWO),
        "precomputed cv": (search(**few, kernel="precomputed"), K, TWO),
        "krein svc": (KreinSVC(kernel="rbf"), FLOATS, TWO),
        "dca": (DCASVC(), FLOATS, THREE),
        "precomputed dca": (DCASVC(kernel="precomputed"), K, TWO),
        "precomputed repair": (repair, K, TWO),
        "scaled": (scaled, FLOATS, TWO),
        "grid": (GridSearchCV(scaled, grid, cv=StratifiedKFold(2)), FLOATS, TWO),
        "grid log": (GridSearchCV(scaled, grid, scoring="neg_log_loss"), FLOATS, TWO),
        "table": (
            make_pipeline(ColumnTransformer(columns()), search(**few)),
            table(FLOATS),
            names[TWO],
        ),
        "images": (by_row, IMAGES, TWO[:16]),
        "words": (model(common_letters), WORDS, [0, 1] * 4),
    }


def answers(model, X):
    """Return all predictions of a model for new samples, as arrays."""
    said = [model.decision_function(X), np.asarray(model.predict(X)).astype(str)]
    if hasattr(model, "predict_proba"):
        said.append(model.predict_proba(X))
    return said


IN_ANOTHER_PROCESS = """
import sys, numpy as np, kreinlearn
from tests.test_persistence import OWN, answers, new_samples
for path in sys.argv[1:]:
    name = path.rpartition("/")[2]
    trusted = OWN if name == "words" else ()
    said = answers(kreinlearn.load(path, trusted=trusted), new_samples(name))
    np.savez(path + ".npz", *said)
"""


@pytest.fixture(scope="module")
def fitted():
    return {name: model.fit(X, y) for name, (model, X, y) in unfitted().items()}


@pytest.fixture(scope="module")
def folder(fitted, tmp_path_factory):
    """Return a folder with every model, and what another process had from it."""
    place = tmp_path_factory.mktemp("models")
    for name, model in fitted.items():
        kreinlearn.save(model, place / name)
    files = [str(place / name) for name in fitted]
    command = [sys.executable, "-W", "error", "-c", IN_ANOTHER_PROCESS, *files]
    subprocess.run(command, check=True, cwd=ROOT)
    return place


pytestmark = pytest.mark.filterwarnings(
    # Small data, and procedures that stop early by design.
    "ignore::kreinlearn.exceptions.ConvergenceWarning",
    "ignore::kreinlearn.exceptions.IndefiniteKernelWarning",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", unfitted())
def test_the_same_bits_in_another_process(name, fitted, folder):
    expected = answers(fitted[name], new_samples(name))
    with np.load(folder / f"{name}.npz") as archive:
        found = list(archive.values())
    assert len(found) == len(expected)
    for a, b in zip(expected, found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def settings(model):
    return re.sub("0x[0-9a-f]+", "", repr(clone(model)))


def shapes(path):
    """Return the types and shapes of all arrays in a file."""
    with zipfile.ZipFile(path) as members:
        names = [name for name in members.namelist() if name.endswith(".npy")]
        arrays = [np.load(io.BytesIO(members.read(name))) for name in names]
    return sorted((array.dtype.str, array.shape) for array in arrays)


@pytest.mark.parametrize("name", unfitted())
def test_a_loaded_model_is_like_the_saved_one(name, fitted, folder, tmp_path):
    trusted = OWN if name == "words" else ()
    once = kreinlearn.load(folder / name, trusted=trusted)
    assert type(once) is type(fitted[name])
    assert settings(once) == settings(fitted[name])
    assert set(vars(once)) == set(vars(fitted[name]))
    for attribute in ("classes_", "feature_names_in_", "support_"):
        if hasattr(fitted[name], attribute):
            a, b = getattr(fitted[name], attribute), getattr(once, attribute)
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
    kreinlearn.save(once, tmp_path / "again")
    twice = kreinlearn.load(tmp_path / "again", trusted=trusted)
    for a, b in zip(
        answers(fitted[name], new_samples(name)),
        answers(twice, new_samples(name)),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    assert shapes(tmp_path / "again") == shapes(folder / name)


def test_a_loaded_model_can_be_fitted_again(fitted, folder):
    model = kreinlearn.load(folder / "table")
    _, X, y = unfitted()["table"]
    again = answers(model.fit(X, y), new_samples("table"))
    for a, b in zip(answers(fitted["table"], new_samples("table")), again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_samples_shared_by_estimators_are_stored_once(fitted, folder):
    assert len(fitted["cv"].estimators_) > 1
    assert shapes(folder / "cv").count(("<f8", FLOATS.shape)) == 1
    held = {id(model.X_fit_) for model in kreinlearn.load(folder / "cv").estimators_}
    assert len(held) == 1


def test_only_samples_with_a_coefficient_are_stored(fitted, folder):
    n_support = len(fitted["krein svc"].support_)
    assert 0 < n_support < len(FLOATS)
    loaded = kreinlearn.load(folder / "krein svc")
    np.testing.assert_array_equal(loaded.X_fit_, FLOATS[loaded.support_])
    assert loaded.dual_coef_.shape == (1, len(FLOATS))


def test_stamp_and_notes(fitted, tmp_path):
    notes = {"target": "class", "columns": ["a", "b"]}
    kreinlearn.save(fitted["binary"], tmp_path / "model", notes=notes)
    found = stamp(tmp_path / "model")
    assert found["format"] == 2
    assert found["kreinlearn"] == kreinlearn.__version__
    assert found["numpy"] == np.__version__
    assert found["notes"] == notes
    with pytest.raises(ValueError, match="'notes' must .* that JSON can express"):
        kreinlearn.save(fitted["binary"], tmp_path / "other", notes={"a": object()})
    assert not (tmp_path / "other").exists()


def test_an_existing_file_is_kept(fitted, tmp_path):
    path = tmp_path / "model"
    path.write_text("precious")
    with pytest.raises(FileExistsError, match="model exists already"):
        kreinlearn.save(fitted["binary"], path)
    assert path.read_text() == "precious"
    kreinlearn.save(fitted["binary"], path, overwrite=True)
    assert kreinlearn.load(path).n_features_in_ == 4


def test_unfitted_models_and_other_things_are_not_saved(tmp_path):
    for model in (KreinSVC(), make_pipeline(MinMaxScaler(), KreinSVC())):
        with pytest.raises(NotFittedError, match=r"is not fitted yet"):
            kreinlearn.save(model, tmp_path / "model")
    with pytest.raises(TypeError, match=r"must be a fitted estimator, got \{'a': 1\}"):
        kreinlearn.save({"a": 1}, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def local_kernel():
    def common_letters(X, Y):  # the name of another function
        return X @ Y.T

    return common_letters


class Local(BaseEstimator):
    class Inner(KreinSVC):
        pass


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KreinSVC(kernel=lambda X, Y: X @ Y.T), r"<lambda> could not be loaded"),
        (KreinSVC(kernel=local_kernel()), r"local_kernel.<locals>.common_letters"),
        (make_pipeline(KreinSVC(kernel=local_kernel())), r"<locals>.common_letters"),
        (KreinSVC(kernel=partial(local_kernel())), r"<locals>.common_letters"),
        (
            KreinLogisticRegressionCV(kernel=["tl1", local_kernel()], kernel_grid={}),
            r"<locals>.common_letters",
        ),
        (Local.Inner(), r"test_persistence.Local.Inner could not"),
        (KreinSVC(class_weight={False: 1, True: 2}), r"got False of type bool"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(model, words, tmp_path):
    y = TWO == 1
    with pytest.raises(ValueError, match=words):
        kreinlearn.save(model.fit(FLOATS, y), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_generator_is_not_saved(tmp_path):
    splits = StratifiedKFold(2).split(FLOATS, TWO)
    model = KreinLogisticRegressionCV(kernel="tl1", kernel_grid={}, cv=splits)
    with pytest.raises(ValueError, match=r"KreinLogisticRegressionCV holds something"):
        kreinlearn.save(model.fit(FLOATS, TWO), tmp_path / "model")


def test_a_function_of_ones_own_must_be_trusted(folder):
    with pytest.raises(ValueError) as caught:
        kreinlearn.load(folder / "words")
    assert str(caught.value) == (
        f"{folder / 'words'} holds {OWN[0]}, not known to be harmless; if you trust "
        f"the file and know what these are, pass trusted={OWN!r} to kreinlearn.load."
    )
    with pytest.raises(TypeError, match=r"'trusted' must be a list of names, got 'a'"):
        kreinlearn.load(folder / "words", trusted="a")


def rewritten(source, target, change, *, signed=True):
    """Copy an archive; ``change`` maps names to new content, or None to leave out.

    ``signed`` gives it a digest that fits, as an attacker would.
    """
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        contents = {name: change.get(name, old.read(name)) for name in old.namelist()}
        text = contents.pop("kreinlearn.json")
        for name, content in contents.items():
            if content is not None:
                new.writestr(name, content)
        if text is not None:
            said = json.loads(text)
            if signed and "digest" in said:
                said["digest"] = compute_digest(new, said)
            new.writestr("kreinlearn.json", json.dumps(said))
    return target


def read_schema(path):
    with zipfile.ZipFile(path) as members:
        return json.loads(members.read("schema.json"))


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def test_a_pickle_is_not_opened(fitted, tmp_path):
    mark = tmp_path / "mark"
    (tmp_path / "model").write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(ValueError, match=r"model is not a model that kreinlearn.save"):
        kreinlearn.load(tmp_path / "model")
    assert not mark.exists()
    pickle.loads((tmp_path / "model").read_bytes())
    assert mark.exists()  # the bomb was live


def test_a_pickle_inside_the_archive_is_not_opened(folder, tmp_path):
    mark = tmp_path / "mark"
    with zipfile.ZipFile(folder / "binary") as members:
        arrays = [name for name in members.namelist() if name.endswith(".npy")]
    array = io.BytesIO()
    np.save(array, np.array([Bomb(mark)], dtype=object), allow_pickle=True)
    for content in (array.getvalue(), pickle.dumps(Bomb(mark))):
        change = dict.fromkeys(arrays, content)
        path = rewritten(folder / "binary", tmp_path / "model", change)
        with pytest.raises(ValueError, match=r"model is damaged \(.*pickle"):
            kreinlearn.load(path)
    assert not mark.exists()


def reduced(module, name, mark):
    """Return a node that would call a function while it is constructed."""
    word = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(f"touch {mark}"),
    }
    words = {
        "__class__": "tuple",
        "__module__": "builtins",
        "__loader__": "TupleNode",
        "content": [word],
    }
    node = {"__class__": name, "__module__": module, "content": words}
    return node | {"__loader__": "ConstructorFromReduceNode"}


@pytest.mark.parametrize(
    ("module", "name"), [("os", "system"), ("builtins", "eval"), ("posix", "system")]
)
@pytest.mark.parametrize("loader", ["FunctionNode", "TypeNode", "ObjectNode", "call"])
@pytest.mark.parametrize("protocol", [0, 1, 2])
def test_dangerous_names_are_refused(module, name, loader, protocol, folder, tmp_path):
    mark = tmp_path / "mark"
    schema = read_schema(folder / "binary")
    node = reduced(module, name, mark)
    if loader != "call":
        node = {"__class__": name, "__module__": module, "__loader__": loader}
    if (loader, protocol) == ("FunctionNode", 0):
        node["content"] = {"module_path": module, "function": name}
    schema["content"]["content"]["kernel"] = node
    schema["protocol"] = protocol
    change = {"schema.json": json.dumps(schema)}
    path = rewritten(folder / "binary", tmp_path / "model", change)
    with pytest.raises(ValueError, match=rf"model holds {module}.{name}, not known"):
        kreinlearn.load(path)
    assert not mark.exists()


def test_a_module_that_is_not_trusted_is_not_imported(folder, tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    schema = read_schema(folder / "binary")
    kernel = {"__class__": "f", "__module__": "evil", "__loader__": "FunctionNode"}
    schema["content"]["content"]["kernel"] = kernel
    change = {"schema.json": json.dumps(schema)}
    path = rewritten(folder / "binary", tmp_path / "model", change)
    with pytest.raises(ValueError, match=r"model holds evil.f, not known"):
        kreinlearn.load(path)
    with pytest.raises(ValueError, match=r"model is damaged \(imported\)"):
        kreinlearn.load(path, trusted=["evil.f"])


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("nowhere", "No module named 'nowhere'"),
        ("json", "module 'json' has no attribute 'f'"),
    ],
)
def test_a_trusted_name_that_is_not_there(module, words, folder, tmp_path):
    schema = read_schema(folder / "binary")
    kernel = {"__class__": "f", "__module__": module, "__loader__": "FunctionNode"}
    schema["content"]["content"]["kernel"] = kernel
    change = {"schema.json": json.dumps(schema)}
    path = rewritten(folder / "binary", tmp_path / "model", change)
    with pytest.raises(ValueError, match=rf"cannot be imported here \({words}\)\.$"):
        kreinlearn.load(path, trusted=[f"{module}.f"])


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04" + 99 * b"\0"])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    for read in (kreinlearn.load, stamp):
        with pytest.raises(
            ValueError, match=r"data.csv is not a model that kreinlearn.*comes first in"
        ):
            read(path)
    renamed = path.rename(tmp_path / "data.krein")
    with pytest.raises(ValueError, match=r"data.krein is not a model.*\)\.$"):
        kreinlearn.load(renamed)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.$"):
        kreinlearn.load(tmp_path / "none")
    with pytest.raises(IsADirectoryError, match=r"is a folder, not a saved model"):
        kreinlearn.load(tmp_path)


def test_truncated_files_are_refused(folder, tmp_path):
    whole = (folder / "binary").read_bytes()
    path = tmp_path / "model"
    for size in np.linspace(1, len(whole) - 1, 20).astype(int):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"model is not a model that"):
            kreinlearn.load(path)


def test_flipped_bytes_are_refused_or_harmless(fitted, folder, tmp_path):
    whole = (folder / "binary").read_bytes()
    path = tmp_path / "model"
    expected = answers(fitted["binary"], NEW)
    refused = 0
    for place in np.linspace(0, len(whole) - 1, 150).astype(int):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            loaded = kreinlearn.load(path)
        except ValueError as error:
            assert str(error).startswith(str(path))
            assert "\n" not in str(error)
            refused += 1
        else:  # a date, or another unused field
            for a, b in zip(expected, answers(loaded, NEW), strict=True):
                np.testing.assert_array_equal(a, b)
    assert refused > 100


def test_a_file_of_skops_alone_is_refused(folder, tmp_path):
    path = rewritten(folder / "binary", tmp_path / "m", {"kreinlearn.json": None})
    with pytest.raises(
        ValueError, match=r"m is not a model that kreinlearn.save wrote"
    ):
        kreinlearn.load(path)


@pytest.mark.parametrize("member", ["schema.json", ".npy"])
@pytest.mark.parametrize("content", [None, b"", b"nonsense", b"[1]"])
def test_damaged_members_are_refused(member, content, folder, tmp_path):
    with zipfile.ZipFile(folder / "binary") as members:
        names = [name for name in members.namelist() if name.endswith(member)]
    change = dict.fromkeys(names, content)
    path = rewritten(folder / "binary", tmp_path / "model", change)
    with pytest.raises(ValueError, match=r"model is damaged \(.+\)\.$"):
        kreinlearn.load(path)


def test_something_other_than_an_estimator_is_refused(folder, tmp_path):
    schema = read_schema(folder / "binary")
    schema = schema["content"] | {"protocol": schema["protocol"]}  # its attributes
    change = {"schema.json": json.dumps(schema)}
    path = rewritten(folder / "binary", tmp_path / "model", change)
    with pytest.raises(
        ValueError, match=r"damaged \(it holds a dict, not an estimator\)"
    ):
        kreinlearn.load(path)


def with_stamp(folder, tmp_path, **entries):
    text = json.dumps(stamp(folder / "scaled") | entries)
    change = {"kreinlearn.json": text}
    return rewritten(folder / "scaled", tmp_path / "model", change)


def test_a_newer_format_asks_for_an_upgrade(folder, tmp_path):
    path = with_stamp(folder, tmp_path, format=3, kreinlearn="9.1")
    words = r"written by the newer kreinlearn 9\.1, and this is .*: upgrade kreinlearn"
    with pytest.raises(ValueError, match=words):
        kreinlearn.load(path)


@pytest.mark.parametrize(
    "entries",
    [
        {"format": "1"},
        {"format": None},
        {"format": True},
        {"format": 1.0},
        {"notes": []},
        {"scikit-learn": 1},
    ],
)
def test_a_wrong_stamp_is_refused(entries, folder, tmp_path):
    path = with_stamp(folder, tmp_path, **entries)
    with pytest.raises(ValueError, match=r"its stamp is incomplete"):
        kreinlearn.load(path)


def test_another_scikit_learn_warns_once(fitted, folder, tmp_path):
    path = with_stamp(folder, tmp_path, **{"scikit-learn": "1.0"})
    with zipfile.ZipFile(path) as members:
        schema = members.read("schema.json").decode()
    older = schema.replace(json.dumps(json.dumps(sklearn.__version__)), '"\\"1.0\\""')
    assert older != schema
    path = rewritten(path, tmp_path / "older", {"schema.json": older})
    with pytest.warns(UserWarning) as told:
        loaded = kreinlearn.load(path)
    assert len(told) == 1
    assert "older was written with scikit-learn 1.0, and this" in str(told[0].message)
    assert told[0].filename == __file__
    for a, b in zip(answers(fitted["scaled"], NEW), answers(loaded, NEW), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("path", OLDER, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore:.* was written with scikit-learn:UserWarning")
def test_models_of_an_earlier_version_predict_the_same(path):
    model = kreinlearn.load(path)
    with np.load(path.with_suffix(".npz")) as expected:
        X = expected["X"]
        if X.dtype.kind == "U":  # a table as csv
            X = pd.read_csv(io.StringIO(str(X)))
        if "transform" in expected:
            said = {"transform": model.transform(X)}
        else:
            np.testing.assert_array_equal(model.predict(X), expected["labels"])
            said = {"decision": model.decision_function(X)}
            if hasattr(model, "predict_proba"):
                said["proba"] = model.predict_proba(X)
        assert set(expected.files) - {"X", "labels"} == set(said)
        for name, found in said.items():
            # The last bits depend on the processor and its linear algebra.
            atol = 1e-12 * np.abs(expected[name]).max()
            np.testing.assert_allclose(found, expected[name], 1e-12, atol)


@pytest.mark.filterwarnings("ignore:.* was written with scikit-learn:UserWarning")
def test_models_of_an_earlier_version_are_of_every_kind():
    models = [kreinlearn.load(path) for path in OLDER]
    last = {type(each[-1] if hasattr(each, "steps") else each) for each in models}
    public = {getattr(kreinlearn, name) for name in kreinlearn.__all__}
    assert {each for each in public if isinstance(each, type)} == last


def test_a_file_larger_than_memory_is_refused(folder, monkeypatch):
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match=r"but only 1,000 bytes .* available. Load"):
        kreinlearn.load(folder / "binary")


def test_a_record_of_a_kernel_is_refused_by_name(tmp_path, rings):
    model = KreinLogisticRegression(kernel=KERNELS["tl1"]).fit(*rings)
    with pytest.raises(ValueError, match=r"fit it with kernel='tl1', the name"):
        kreinlearn.save(model, tmp_path / "model.krein")
    assert list(tmp_path.iterdir()) == []


def test_series_that_end_early_are_saved(tmp_path):
    """In arrays, NaN stands for the end of a series."""
    X = np.random.default_rng(0).standard_normal((12, 6)).cumsum(axis=1)
    X[::2, 4:] = np.nan
    y = np.arange(12) % 3 > 0
    for model in (
        KreinLogisticRegression("dtw", kernel_params={"form": "negative"}),
        LandmarkLogisticRegression("dtw", n_landmarks=5, lam=0.1),
    ):
        path = tmp_path / f"{type(model).__name__}.krein"
        kreinlearn.save(model.fit(X, y), path)
        found = kreinlearn.load(path)
        np.testing.assert_array_equal(found.predict(X), model.predict(X))


def test_landmarks_of_a_given_matrix_are_saved(tmp_path):
    X = np.random.default_rng(0).uniform(size=(30, 2))
    D = np.abs(X[:, None] - X).sum(axis=2)
    model = LandmarkLogisticRegression("distance", n_landmarks=9, lam=0.1)
    model.fit(D, X[:, 0] > 0.5)
    kreinlearn.save(model, tmp_path / "model.krein")
    found = kreinlearn.load(tmp_path / "model.krein")
    np.testing.assert_array_equal(found.predict(D), model.predict(D))
