"""A small registry entry, and the real data where they are installed."""

import os
from pathlib import Path

import numpy as np
import pytest

from reproduction.data import tables
from reproduction.data.entries import Dataset, Format, Part


@pytest.fixture
def real_data():
    folder = os.environ.get("KREINLEARN_DATA")
    if not folder or not Path(folder, "monks1.csv.gz").is_file():
        pytest.skip("needs KREINLEARN_DATA to name a folder with the real data")
    return Path(folder)


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 3)).round(3)
    return X, np.array([1, -1, 1, -1, -1, 1, -1])


@pytest.fixture
def tiny(samples):
    """Entry of a data set with a train and a test part, published in a zip file."""
    X, y = samples
    parts = {}
    for part, rows in {"train": slice(0, 4), "test": slice(4, 7)}.items():
        checksum = tables.digest(tables.to_text(X[rows], y[rows]))
        n_positive = int(np.sum(y[rows] == 1))
        published = (f"{part}.data", f"{part}.labels")
        parts[part] = Part(len(y[rows]), n_positive, published, sha256=checksum)
    return Dataset(
        "tiny",
        "A tiny data set",
        3,
        parts,
        Format(delimiter=None, label=None, negative="-1"),
        "http://127.0.0.1:1/",
        "7/tiny+set.zip",
        "It has a quirk.",
        "train",
    )
