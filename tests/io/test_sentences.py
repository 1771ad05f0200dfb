"""Messages about bad lines: place, expected and given content."""

import pytest

from kreinlearn import io as files
from tests.io.test_hostile import refused

SERIES = "@classLabel true a b\n@data\n"
LENGTH = "@equalLength true\n@seriesLength 3\n@classLabel true a b\n@data\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.ts", "@timeStamps true\n" + SERIES, "has time stamps (@timeStamps true)"),
        ("t.ts", "@targetLabel true\n@data\n1,2:3\n", "has numbers to predict"),
        ("t.ts", SERIES + "1,2\n", "line 3: a label was expected after the last colon"),
        ("t.ts", SERIES + "1,2:c\n", "the label 'c' is none of those"),
        ("t.ts", SERIES + "1,?,3:a\n", "the value at time 2 is missing ('?')"),
        ("t.ts", "1,2:a\n", "line 1: a line of the header such as '@data'"),
        ("t.ts", SERIES, "holds no series"),
        ("t.ts", "@data\n1,2:3,x\n", "at time 2 of channel 2 must be a finite"),
        ("t.ts", "@data\n1,inf\n", "must be a finite number, got 'inf'"),
        ("t.ts", SERIES + "1,x:a\n", "must be a finite number, got 'x'"),
        ("t.ts", SERIES + ":a\n", "the series has no values; leave it out"),
        ("t.ts", SERIES + "1,2:a\n1:2:b\n", "channels expected: 1, as in line 3"),
        ("t.ts", SERIES + "1,2:3:a\n", "channels of a series must be equally long"),
        ("t.ts", LENGTH + "1,2:a\n", "3 values were expected, as in @seriesLength"),
    ],
)  # fmt: skip
def test_a_line_that_is_wrong(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    refused(files.read, path, words)
