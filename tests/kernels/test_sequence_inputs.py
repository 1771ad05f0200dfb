"""Sequences and parameters that come in: containers, and a sentence for each fault."""

import numpy as np
import pytest

from kreinlearn.kernels import check_sequences, needleman_wunsch, smith_waterman


class Record:
    """Stands for Biopython's SeqRecord, which has a Seq, which has bytes."""

    def __init__(self, text):
        self.seq = Seq(text)


class Seq:
    def __init__(self, text):
        self.text = text

    def __bytes__(self):
        return self.text.encode()


@pytest.mark.parametrize(
    "given",
    [
        ["MKV", "mrv"],
        ("MKV", "mrv"),
        np.array(["MKV", "mrv"]),
        np.array(["MKV", "mrv"], dtype=object),
        [b"MKV", np.str_("mrv")],
        [Record("MKV"), Seq("mrv")],
    ],
    ids=["list", "tuple", "array", "objects", "bytes", "biopython"],
)
def test_containers(given):
    found = check_sequences(given)
    assert found == ["MKV", "mrv"] and {type(each) for each in found} == {str}
    assert check_sequences(given, matrix="blosum62") == ["MKV", "MRV"]
    assert smith_waterman(given).shape == (2, 2)


def test_containers_of_libraries():
    pd = pytest.importorskip("pandas")
    assert check_sequences(pd.Series(["A", "C"], index=[7, 3])) == ["A", "C"]
    with pytest.raises(TypeError, match=r"DataFrame of shape \(2, 1\)"):
        check_sequences(pd.DataFrame({"s": ["A", "C"]}))
    with pytest.raises(TypeError, match="Sequence 1 .* got nan"):
        check_sequences(pd.Series(["A", float("nan")]))
    biopython = pytest.importorskip("Bio.SeqRecord", reason="Biopython is not there")
    from Bio.Seq import Seq

    assert check_sequences([Seq("MK"), biopython.SeqRecord(Seq("A"))]) == ["MK", "A"]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("MKV", TypeError, ["'X'", "list of sequences", "got str"]),
        ({"a": "MKV"}, TypeError, ["got dict"]),
        (7, TypeError, ["got int"]),
        (np.array([["MKV"]]), TypeError, ["(1, 1)", "one-dimensional"]),
        ([], ValueError, ["at least one"]),
        (["A", ""], ValueError, ["Sequence 1", "is empty", "leave it out"]),
        (["A", "C", None], TypeError, ["Sequence 2", "None", "NoneType"]),
        (["A", 3], TypeError, ["Sequence 1", "3"]),
        (["A", ["C"]], TypeError, ["Sequence 1", "list"]),
        (["A", b"\xff"], TypeError, ["Sequence 1"]),
        (["AA", "AC", "ACU"], ValueError, ["Sequence 2", "'U' as letter 3", "X, any"]),
        (
            ["A", "A-C"],
            ValueError,
            ["Sequence 1", "'-' as letter 2", "gaps", "replace"],
        ),
        (["A", "Aé"], ValueError, ["Sequence 1", "'é' as letter 2"]),
        (["A", "日本"], ValueError, ["Sequence 1", "'日' as letter 1"]),
        (["A", "A?"], ValueError, ["Sequence 1", "'?' as letter 2"]),
        (["A", "A C"], ValueError, ["Sequence 1", "' ' as letter 2"]),
    ],
)
def test_bad_sequences(given, error, words):
    for call in (
        lambda: smith_waterman(given),
        lambda: check_sequences(given, matrix="blosum62"),
    ):
        with pytest.raises(error) as raised:
            call()
        said = str(raised.value)
        assert all(word in said for word in words), said
        assert said.endswith(".") and "\n" not in said
    with pytest.raises(error, match="'Y'"):
        needleman_wunsch(["A"], given)


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"matrix": "blosum1"}, ValueError, "'matrix' must be one of"),
        ({"gap_open": 1.5}, TypeError, "'gap_open' must be a whole number, got 1.5"),
        ({"gap_extend": True}, TypeError, "'gap_extend' must be a whole number"),
        ({"gap_open": -1}, ValueError, "'gap_open' is a cost.*got -1"),
        ({"gap_open": 2000}, ValueError, "0 to 1000, got 2000"),
        ({"gap_open": 1, "gap_extend": 2}, ValueError, "gap_open=1 and gap_extend=2"),
    ],
)
def test_bad_parameters(params, error, words):
    with pytest.raises(error, match=words):
        smith_waterman(["A"], **params)


def test_scores_that_nothing_can_be_divided_by():
    with pytest.raises(ValueError, match=r"Sequence 1 of 'Y'.*'X'.*normalized=False"):
        smith_waterman(["A"], ["A", "X"])
    with pytest.raises(ValueError, match="Sequence 0 of 'X'.*score -5 with itself"):
        needleman_wunsch(["AXXXXXXXXX"])
    assert smith_waterman(["X"], normalized=False) == 0
