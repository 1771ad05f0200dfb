"""The copy of skops with short lists: what it reads alone, and what it leaves alone."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import kreinlearn
from kreinlearn import KreinLogisticRegression, _skops
from kreinlearn.pipelines import prepare

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
    """Let skops not be imported yet."""
    for name in [name for name in sys.modules if name.split(".")[0] == "skops"]:
        monkeypatch.delitem(sys.modules, name)
    _skops._own_copy.cache_clear()


def test_predictions_import_neither_torch_nor_all_of_scikit_learn(tmp_path):
    """A torch that cannot be imported stands for one that takes seconds."""
    model, new = model_of_a_table(tmp_path)
    (tmp_path / "torch").mkdir()
    fake = "raise SystemExit('torch was imported')"
    (tmp_path / "torch" / "__init__.py").write_text(fake)
    program = (
        "import sys\nfrom kreinlearn.cli import app\n"
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
    assert "skops.io" not in modules.split()  # whose lists are long


def test_whoever_imports_skops_later_gets_the_whole(tmp_path, no_skops):
    model, _ = model_of_a_table(tmp_path)
    kreinlearn.load(model)
    assert "skops.io" not in sys.modules
    import skops.io._trusted_types as lists

    assert len(lists.SKLEARN_ESTIMATOR_TYPE_NAMES) > 100
    assert _skops._short() is sys.modules["skops.io"]


def test_what_the_short_lists_lack_is_read_by_skops_itself(tmp_path, no_skops):
    change = FunctionTransformer(np.log1p)  # skops has a list of such functions
    model = make_pipeline(change, KreinLogisticRegression(kernel="tl1")).fit(X, Y)
    kreinlearn.save(model, tmp_path / "model.krein")
    assert "skops.io" not in sys.modules
    same = kreinlearn.load(tmp_path / "model.krein")
    assert "skops.io" in sys.modules
    assert np.array_equal(same.decision_function(X), model.decision_function(X))


def test_the_same_estimators_of_scikit_learn_are_trusted():
    from skops.io._trusted_types import SKLEARN_ESTIMATOR_TYPE_NAMES as trusted

    assert len(trusted) > 100
    for name in trusted:
        module, _, name = name.rpartition(".")
        assert _skops._is_estimator(module, name), (module, name)


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
    assert not _skops._is_estimator(module, name)
