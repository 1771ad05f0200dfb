"""The stored format is exact, the same everywhere, and refuses what is not it."""

import gzip

import numpy as np
import pytest

from reproduction.data import tables
from reproduction.data.entries import Part


def test_text_round_trip_is_exact():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 4)) * 10.0 ** rng.integers(-300, 300, (20, 4))
    X[0] = [0.0, -1.0, 7e-05, 2.0**70]
    y = np.where(rng.random(20) < 0.5, -1, 1)
    X_read, y_read = tables.from_text(tables.to_text(X, y))
    np.testing.assert_array_equal(X_read, X)
    np.testing.assert_array_equal(y_read, y)
    assert X_read.dtype == np.float64
    assert y_read.dtype.kind == "i"


def test_text_is_short_and_plain():
    text = tables.to_text(np.array([[1.0, 0.5], [-0.0, 7e-05]]), np.array([1, -1]))
    assert text == b"x0,x1,y\n1,0.5,1\n0,7e-05,-1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "first line is ''"),
        (b"y\n1\n", "first line is 'y'"),
        (b"a,b,y\n1,2,1\n", "first line is 'a,b,y'"),
        (b"x0,y\n", "no rows"),
        (b"x0,y\n1,2,1\n", "rows have 3 cells, not 2"),
        (b"x0,y\n1,1\n1\n", "columns"),
        (b"x0,y\nnan,1\n", "not finite"),
        (b"x0,y\none,1\n", "one"),
        (b"x0,y\n5,0\n", "labels other than"),
        ("x0,y\n5,µ\n".encode(), "ascii"),
    ],
)
def test_other_text_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        tables.from_text(text)


def test_cut_or_foreign_file_is_refused(tmp_path):
    path = tmp_path / "a.csv.gz"
    packed = gzip.compress(b"x0,y\n" + b"1,1\n" * 1000)
    for content in (b"", packed[:-9], packed[:30], b"plain", packed[:-8] + b"damaged!"):
        path.write_bytes(content)
        if content:
            with pytest.raises(ValueError, match="not a complete gzip file"):
                tables.unpack(path)
        else:  # no bytes at all are a valid, empty gzip stream
            assert tables.unpack(path) == b""


def test_mismatch_gives_both_counts(samples):
    X, y = samples
    assert tables.describe_mismatch(X, y, Part(7, 3, ()), 3) == ""
    said = tables.describe_mismatch(X, y, Part(8, 3, ()), 4)
    assert "expected 8 rows, 4 features, 3 labels +1 and 5 labels -1" in said
    assert "got 7 rows, 3 features, 3 labels +1 and 4 labels -1" in said
