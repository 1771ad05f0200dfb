"""Saved models are read back, and loaded ones are what was saved."""

import json
import zipfile

import numpy as np
import pytest

import kreinlearn
from kreinlearn import (
    KreinLogisticRegression,
)
from kreinlearn.kernels import KERNELS
from kreinlearn.persistence import stamp
from tests.test_persistence import covariances, rewritten

X = np.random.default_rng(0).uniform(size=(40, 3))
Y = (X[:, 0] > 0.5).astype(int)
THREE = np.digitize(X[:, 0], [0.3, 0.6])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("checks") / "model.krein"
    kreinlearn.save(KreinLogisticRegression().fit(X, Y), path, notes={"target": "y"})
    return path


def read_members(path):
    with zipfile.ZipFile(path) as members:
        return {name: members.read(name) for name in members.namelist()}


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr("kreinlearn.persistence.list_trusted", lambda: [])
    monkeypatch.setattr("skops.io.get_untrusted_types", lambda **file: [])
    model = KreinLogisticRegression().fit(X, Y)
    words = r"This KreinLogisticRegression was not saved, for it could not be loaded"
    with pytest.raises(ValueError, match=words):
        kreinlearn.save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_keeps_something_else_raises(tmp_path, monkeypatch):
    def forgets(path, content):
        path.write_bytes(content[:-1])

    monkeypatch.setattr("kreinlearn.persistence.replace", forgets)
    with pytest.raises(OSError, match=r"m does not hold what was written to it"):
        kreinlearn.save(KreinLogisticRegression().fit(X, Y), tmp_path / "m")


def test_without_memory_to_read_it_back_a_model_is_saved(tmp_path, monkeypatch):
    model = KreinLogisticRegression().fit(X, Y)
    with monkeypatch.context() as scarce:
        scarce.setattr("kreinlearn._memory.available_bytes", lambda: 1000)
        kreinlearn.save(model, tmp_path / "model")
    again = kreinlearn.load(tmp_path / "model")
    np.testing.assert_array_equal(model.dual_coef_, again.dual_coef_)


def test_an_edited_archive_is_refused(saved, tmp_path):
    """Any byte of any member, with a checksum that fits."""
    contents = read_members(saved)
    rng = np.random.default_rng(0)
    tried = 0
    for name, content in contents.items():
        for place in rng.integers(len(content), size=4):
            edited = bytearray(content)
            edited[place] ^= 1 << int(rng.integers(8))
            path = tmp_path / "edited"
            with zipfile.ZipFile(path, "w") as new:
                for each, kept in contents.items():
                    new.writestr(each, bytes(edited) if each == name else kept)
            try:  # spaces between entries of the stamp mean nothing
                same = json.loads(bytes(edited)) == json.loads(content)
            except ValueError:
                same = False
            if name == "kreinlearn.json" and same:
                continue
            with pytest.raises(ValueError, match=r"was changed after|is not a model"):
                kreinlearn.load(path)
            tried += 1
    assert tried > 10


@pytest.mark.parametrize("signed", [False, True])
def test_changed_notes_are_reported(signed, saved, tmp_path):
    text = json.dumps(stamp(saved) | {"notes": {"target": "x"}})
    change = {"kreinlearn.json": text}
    path = rewritten(saved, tmp_path / "model", change, signed=signed)
    if signed:
        kreinlearn.load(path)
    else:
        with pytest.raises(ValueError, match=r"model was changed after it was saved"):
            kreinlearn.load(path)


def test_an_archive_of_format_1_needs_no_digest(saved, tmp_path):
    said = stamp(saved) | {"format": 1}
    del said["digest"]
    path = rewritten(saved, tmp_path / "model", {"kreinlearn.json": json.dumps(said)})
    expected = kreinlearn.load(saved).decision_function(X)
    np.testing.assert_array_equal(kreinlearn.load(path).decision_function(X), expected)
    said["format"] = 2
    path = rewritten(saved, tmp_path / "new", {"kreinlearn.json": json.dumps(said)})
    with pytest.raises(ValueError, match=r"new is not .*its stamp is incomplete"):
        kreinlearn.load(path)


@pytest.mark.parametrize("number", [0, -5])
def test_a_format_that_never_was_is_refused(number, saved, tmp_path):
    text = json.dumps(stamp(saved) | {"format": number})
    path = rewritten(saved, tmp_path / "model", {"kreinlearn.json": text})
    with pytest.raises(ValueError, match=rf"there is no format {number}\)"):
        kreinlearn.load(path)


@pytest.mark.filterwarnings("ignore::kreinlearn.exceptions.IndefiniteKernelWarning")
@pytest.mark.parametrize("name", [k for k, v in KERNELS.items() if v.check is None])
def test_the_training_array_itself_gets_the_bits_of_a_copy(name):
    is_stack = KERNELS[name].samples == "matrices"
    Z = covariances(40, 0) if is_stack else X
    model = KreinLogisticRegression(name, lam=0.1).fit(Z, Y)
    assert model.X_fit_ is Z
    expected = model.decision_function(Z.copy())
    np.testing.assert_array_equal(model.decision_function(Z), expected)
