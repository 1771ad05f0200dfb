"""The reader of saved models: equal to skops, and without its imports."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import kreinlearn
from kreinlearn import KreinLogisticRegression, _skops
from kreinlearn.persistence import list_trusted
from kreinlearn.pipelines import prepare

MODELS = Path(__file__).parent / "data" / "models"

X = np.random.default_rng(0).uniform(size=(30, 3))
Y = (X[:, 0] > 0.5).astype(int)


def model_of_a_table(folder):
    """Return a file with a model of numbers and text, and a table for it."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["color"] = np.where(X[:, 2] > 0.5, "red", "blue")
    change = prepare(frame, one_hot=True)
    model = make_pipeline(change, KreinLogisticRegression(kernel="tl1"))
    notes = {"text": ["color"]}  # as `krein fit` notes it
    kreinlearn.save(model.fit(frame, Y), folder / "model.krein", notes=notes)
    frame.to_csv(folder / "new.csv", index=False)
    return folder / "model.krein", folder / "new.csv"


@pytest.fixture
def no_skops(monkeypatch):
    """Raise if skops itself reads a file."""

    def fail(*args, **kwargs):
        raise AssertionError("skops read the file")

    monkeypatch.setattr("skops.io.load", fail)


def test_predictions_import_neither_torch_nor_all_of_scikit_learn(tmp_path):
    """A torch that cannot be imported stands for one that takes seconds."""
    model, new = model_of_a_table(tmp_path)
    (tmp_path / "torch").mkdir()
    fake = "raise SystemExit('torch was imported')"
    (tmp_path / "torch" / "__init__.py").write_text(fake)
    program = (
        "import sys\nfrom kreinlearn.app.cli import app\n"
        f"app.main(['predict', {str(model)!r}, {str(new)!r}], standalone_mode=False)\n"
        "print(*sys.modules)"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", ""), *sys.path])
    call = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        call, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    *table, modules = done.stdout.splitlines()
    assert len(table) == 31
    unneeded = {"torch", "matplotlib", "sklearn.ensemble", "sklearn.gaussian_process"}
    assert unneeded.isdisjoint(modules.split())
    assert "skops" not in modules.split()


def get_content(value):
    """Return the nested state of an object, comparable by `==` after `repr`."""
    if isinstance(value, np.ndarray | np.generic):
        return (type(value).__name__, value.dtype.str, value.shape, value.tolist())
    if isinstance(value, dict):
        return {key: get_content(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return (type(value).__name__, [get_content(each) for each in value])
    if hasattr(value, "get_params") and not isinstance(value, type):
        return (type(value).__qualname__, get_content(vars(value)))
    return value


@pytest.mark.filterwarnings("ignore:Trying to unpickle estimator")  # other versions
@pytest.mark.parametrize("path", sorted(MODELS.glob("*.krein")), ids=lambda p: p.stem)
def test_a_model_is_read_as_skops_reads_it(path, monkeypatch, request):
    import skops.io

    names = [*list_trusted(), "tests.test_persistence.inner_product"]
    with path.open("rb") as file:
        expected = skops.io.load(_skops.rename_modules(file), trusted=names)
    request.getfixturevalue("no_skops")
    with path.open("rb") as file:
        found = _skops.load(file, names)
    assert repr(get_content(found)) == repr(get_content(expected))


def test_skops_reads_what_the_reader_does_not_know(tmp_path, monkeypatch):
    change = FunctionTransformer(np.log1p)  # a function that skops trusts
    model = make_pipeline(change, KreinLogisticRegression(kernel="tl1")).fit(X, Y)
    kreinlearn.save(model, tmp_path / "model.krein")
    same = kreinlearn.load(tmp_path / "model.krein")
    assert np.array_equal(same.decision_function(X), model.decision_function(X))
    monkeypatch.setattr("skops.io.load", lambda *args, **kwargs: "by skops")
    with (tmp_path / "model.krein").open("rb") as file:
        assert _skops.load(file, list_trusted()) == "by skops"


@pytest.mark.slow
def test_other_threads_may_import_skops_meanwhile(tmp_path):
    model, _ = model_of_a_table(tmp_path)
    program = (
        "import sys, threading, kreinlearn\n"
        "found = []\n"
        "def work():\n    import skops.io\n    found.append(skops.io)\n"
        "thread = threading.Thread(target=work)\nthread.start()\n"
        f"for _ in range(20): kreinlearn.load({str(model)!r})\n"
        "thread.join()\n"
        "assert found == [sys.modules['skops.io']], found\n"
        "import skops.io._trusted_types as lists\n"
        "assert len(lists.SKLEARN_ESTIMATOR_TYPE_NAMES) > 100"
    )
    call = [sys.executable, "-c", program]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_same_estimators_of_scikit_learn_are_trusted():
    from skops.io._trusted_types import SKLEARN_ESTIMATOR_TYPE_NAMES as trusted

    assert len(trusted) > 100
    for name in trusted:
        module, _, name = name.rpartition(".")
        assert _skops.is_public_estimator(module, name), (module, name)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("sklearn.base", "BaseEstimator"),
        ("sklearn.base", "clone"),
        ("sklearn.feature_selection._base", "SelectorMixin"),  # abstract
        ("sklearn.linear_model", "LogisticRegression"),  # not where it stands
        ("sklearn.svm._base", "BaseLibSVM"),
        ("sklearn.utils._mocking", "CheckingClassifier"),
        ("sklearn.tests.test_base", "MyEstimator"),
        ("sklearn.externals.array_api_compat.torch", "Tensor"),
        ("sklearn.nonsense", "Estimator"),
        ("sklearn..", "Estimator"),
        ("sklearn", "os.system"),
        ("sklearnx", "Estimator"),
    ],
)
def test_nothing_else_is(module, name):
    assert not _skops.is_public_estimator(module, name)
