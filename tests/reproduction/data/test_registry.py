"""The registry agrees with the paper, with itself, and cannot be changed."""

import dataclasses
import hashlib
import json

import pytest

from reproduction.data import info, names, tables
from reproduction.data.registry import REGISTRY

# Name and number of samples, as printed in the paper.
PAPER = {
    "australian": 690,
    "breast-cancer": 699,
    "parkinsons": 195,
    "climate": 540,
    "diabetic": 1151,
    "fertility": 100,
    "sonar": 208,
    "SPECT": 80,
    "haberman": 306,
    "heart": 270,
    "ionosphere": 351,
    "monks1": 124,
    "monks2": 169,
    "monks3": 122,
    "splice": 1000,
    "transfusion": 748,
    "EEG": 14980,
    "ijcnn1-tr": 35000,
    "guide1-t": 4000,
    "madelon": 2000,
}


def test_names_and_sizes_are_those_of_the_paper_in_its_order():
    assert names() == tuple(PAPER)
    sizes = {name: entry.table(None).n_samples for name, entry in REGISTRY.items()}
    assert sizes == PAPER


@pytest.mark.parametrize("name", PAPER)
def test_entry_is_complete(name):
    entry = info(name)
    assert entry.source.startswith("https://")
    assert set(entry.parts) in ({"all"}, {"train", "test"})
    assert entry.paper_part in entry.parts
    for table in entry.parts.values():
        assert 0 < table.n_positive < table.n_samples
        assert len(table.sha256) == 64
        assert len(table.original) == (2 if entry.layout.label is None else 1)


def test_checksums_are_all_different():
    digests = [t.sha256 for entry in REGISTRY.values() for t in entry.parts.values()]
    assert len(set(digests)) == len(digests)


def test_registry_is_frozen():
    with pytest.raises(TypeError):
        REGISTRY["new"] = info("heart")
    with pytest.raises(dataclasses.FrozenInstanceError):
        info("heart").n_features = 14


@pytest.mark.parametrize("name", ["iris", "Monks1", "", None, ["heart"]])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ValueError, match=r"one of 'australian', .*'madelon', got"):
        info(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("breast-cancer", "identifier"),
        ("breast-cancer", "16 missing values of x6"),
        ("parkinsons", "m = 23"),
        ("climate", "study"),
        ("SPECT", "m = 21"),
        ("EEG", "outliers"),
        ("EEG", "7312.0 printed"),
        ("ijcnn1-tr", "m = 26"),
        ("ijcnn1-tr", "28945 printed"),
        ("splice", "2885.3 printed"),
        ("madelon", "27015 printed"),
        ("guide1-t", "test file"),
        ("monks3", "noise"),
    ],
)
def test_quirks_are_reported(name, words):
    assert words in info(name).note


def test_agrees_with_the_manifest_of_the_data(real_data):
    # The manifest has checksums of the compressed files, the registry of the text:
    # a file with the former must have the latter.
    path = real_data / "MANIFEST.json"
    if not path.is_file():
        pytest.skip("the data folder has no MANIFEST.json")
    records = {r["file"]: r for r in json.loads(path.read_text())["datasets"]}
    for entry in REGISTRY.values():
        for part in entry.keys():
            record, table = records[entry.file(part)], entry.table(part)
            assert (record["n"], record["m"]) == (table.n_samples, entry.n_features)
            assert record["class_counts"]["+1"] == table.n_positive
            packed = (real_data / entry.file(part)).read_bytes()
            assert hashlib.sha256(packed).hexdigest() == record["sha256"]
            text = tables.unpack(real_data / entry.file(part))
            assert tables.digest(text) == table.sha256
