"""The stored format is exact, the same everywhere, and refuses what is not it."""

import gzip

import pytest

from reproduction.data import tables


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
