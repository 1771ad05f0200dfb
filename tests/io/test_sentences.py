"""What a reader says of a line that is wrong: where, what was expected, what came."""

import pytest

from kreinlearn import io as files
from tests.io.test_hostile import refused

SERIES = "@classLabel true a b\n@data\n"
LENGTH = "@equalLength true\n@seriesLength 3\n@classLabel true a b\n@data\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.fa", "\n\n", "is empty; FASTA was expected"),
        ("t.fa", "MKV\n>a x\nMK\n", "line 1: a header that starts with '>'"),
        ("t.fa", "> \nMKV\n", "line 1: a name was expected after '>'"),
        ("t.fa", ">a x\nMK\n>a y\nMK\n", "line 3: the name 'a' was in line 1 already"),
        ("t.fa", ">a x\n-.-\n", "the sequence 'a' has no letters; leave it out"),
        ("t.fa", ">a x\nMK\nM7K\n", "line 3: letters were expected in the"),
        ("t.svm", "# nothing\n", "is empty; LIBSVM text was expected"),
        ("t.svm", "1:2 2:3\n", "a label and pairs such as 3:0.5"),
        ("t.svm", "1 2:1\n0 3:1 2:1\n", "should be sorted and unique"),
        ("t.svm", "1 x:1\n", "a label and pairs such as 3:0.5"),
        ("t.svm", "1\n0\n", "holds labels but no features"),
        ("t.ts", "@timeStamps true\n" + SERIES, "has time stamps (@timeStamps true)"),
        ("t.ts", "@targetLabel true\n@data\n1,2:3\n", "has numbers to predict"),
        ("t.ts", SERIES + "1,2\n", "line 3: a label was expected after the last colon"),
        ("t.ts", SERIES + "1,2:c\n", "the label 'c' is none of those"),
        ("t.ts", SERIES + "1,?,3:a\n", "the value at time 2 is missing ('?')"),
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


GRAPHS = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "1\n0\n"}


@pytest.mark.parametrize(
    ("part", "text", "words"),
    [
        ("graph_indicator", "", "is empty; the graph of each node was expected"),
        ("graph_labels", "", "is empty; the label of each graph was expected"),
        ("graph_indicator", "0\n1\n2\n", "line 1: graphs are counted from 1, got 0"),
        ("graph_indicator", "1\n1\n3\n", "line 3: the node belongs to graph 3"),
        ("graph_indicator", "1\n1\n1\n", "graph 2 has no nodes"),
        ("graph_labels", "1, 2\n0\n", "line 1: a label was expected, got '1, 2'"),
        ("graph_labels", "1\nnan\n", "line 2: a label was expected"),
        ("A", "1, 3\n", "line 1: an edge must join two nodes of one graph"),
        ("A", "1, 9\n", "line 1: nodes are numbers from 1 to 3"),
    ],
)
def test_a_folder_of_graphs_that_is_wrong(tmp_path, part, text, words):
    for name, content in (GRAPHS | {part: text}).items():
        (tmp_path / f"DS_{name}.txt").write_text(content)
    with pytest.raises(ValueError) as raised:
        files.read(tmp_path)
    said = str(raised.value)
    assert f"DS_{part}.txt" in said and words in said
