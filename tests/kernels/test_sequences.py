"""Alignments and edit distances, against plain Python, parasail, Opal and RapidFuzz."""

import itertools
import sys

import numpy as np
import pytest

from kreinlearn.kernels import (
    check_sequences,
    jaro_winkler,
    levenshtein,
    needleman_wunsch,
    smith_waterman,
)
from kreinlearn.kernels import sequences as alignment
from tests.kernels.test_plain import assert_same_without_compiler

AMINO = "ARNDCQEGHILKMFPSTWYV"
MEASURES = {"local": smith_waterman, "global": needleman_wunsch}


def draw(n, shortest, longest, letters=AMINO, seed=0):
    """Return random sequences; every fourth is a mutated part of the one before."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        size = rng.integers(shortest, longest + 1)
        if i % 4 == 3 and len(found[-1]) > 1:
            start = rng.integers(0, len(found[-1]) // 2)
            copy = list(found[-1][start:])
            copy[rng.integers(len(copy))] = str(rng.choice(list(letters)))
            found.append("".join(copy))
        else:
            found.append("".join(rng.choice(list(letters), size)))
    return found


def edges():
    """Return sequences of length 1, repeats, copies, ambiguous letters, long ones."""
    repeats = ["W", "A", "X", "WX", "AXXXXA", "WWW", "C" * 33, "AW" * 40, "*", "BZX*"]
    return [*repeats, "MKVLA", "MKVLA", "mkvla", "W" * 130, "W" * 3000]


def naive(x, z, matrix, first, further, is_local):
    """Return the score of the best alignment: all gaps of all lengths, one by one."""
    letters, scores, _ = alignment.load_substitution(matrix)
    x, z = x.upper(), z.upper()
    cost = [0] + [first + k * further for k in range(max(len(x), len(z)))]
    h = np.zeros((len(x) + 1, len(z) + 1), dtype=int)
    if not is_local:
        h[:, 0] = [-cost[i] for i in range(len(x) + 1)]
        h[0, :] = [-cost[j] for j in range(len(z) + 1)]
    for i, j in itertools.product(range(1, len(x) + 1), range(1, len(z) + 1)):
        score = int(scores[letters.index(x[i - 1]), letters.index(z[j - 1])])
        h[i, j] = max(
            h[i - 1, j - 1] + score,
            *(h[i - k, j] - cost[k] for k in range(1, i + 1)),
            *(h[i, j - k] - cost[k] for k in range(1, j + 1)),
            *([0] if is_local else []),
        )
    return h.max() if is_local else h[-1, -1]


def parasail_scores(X, Y, matrix, first, further, is_local):
    parasail = pytest.importorskip("parasail", reason="parasail is the oracle")
    align, scores = (
        parasail.sw if is_local else parasail.nw,
        getattr(parasail, matrix),
    )
    return [[align(x, z, first, further, scores).score for z in Y] for x in X]


@pytest.mark.parametrize("kind", MEASURES)
@pytest.mark.parametrize("gaps", [(12, 1), (3, 3), (1, 0), (0, 0), (200, 1)])
def test_all_gaps_in_plain_python(kind, gaps):
    X = [*draw(12, 1, 12), "AXXXXA", "W" * 12]
    Y = [*draw(9, 1, 10, seed=1), "W" * 11]
    costs = {"gap_open": gaps[0], "gap_extend": gaps[1], "normalized": False}
    expected = [[naive(x, z, "blosum62", *gaps, kind == "local") for z in Y] for x in X]
    np.testing.assert_array_equal(MEASURES[kind](X, Y, **costs), expected)


@pytest.mark.parametrize("kind", MEASURES)
@pytest.mark.parametrize("matrix", alignment.MATRIX_NAMES)
def test_parasail_finds_the_same(kind, matrix):
    letters = alignment.load_substitution(matrix).letters
    X = draw(45, 1, 60, letters, seed=2)
    X += [letters[0], letters[-1], letters[0] * 300]
    gaps = (12, 1) if matrix in ("blosum62", "nuc44") else (10, 2)
    costs = {"gap_open": gaps[0], "gap_extend": gaps[1], "matrix": matrix}
    S = MEASURES[kind](X, normalized=False, **costs)
    expected = parasail_scores(X, X, matrix, *gaps, kind == "local")
    np.testing.assert_array_equal(S, expected)  # 48 * 48 pairs


@pytest.mark.parametrize("kind", MEASURES)
def test_edges_and_wide_integers(kind):
    # 130 and 3,000 tryptophans have the scores 1,430 and 33,000 with themselves.
    X = edges()
    S = MEASURES[kind](X, normalized=False)
    upper = [x.upper() for x in X]
    expected = parasail_scores(upper, upper, "blosum62", 12, 1, kind == "local")
    np.testing.assert_array_equal(S, expected)
    assert S.max() == 33_000
    np.testing.assert_array_equal(MEASURES[kind](X[:3], X, normalized=False), S[:3])


@pytest.mark.parametrize("kind", MEASURES)
def test_costly_gaps_need_wide_integers_too(kind):
    X = ["W" * 40, "W" * 7, *draw(5, 20, 60)]
    costs = {"gap_open": 1000, "gap_extend": 900, "normalized": False}
    expected = parasail_scores(X, X, "blosum62", 1000, 900, kind == "local")
    np.testing.assert_array_equal(MEASURES[kind](X, **costs), expected)


def test_scores_that_no_integer_holds_are_refused(monkeypatch):
    """Sequences that need more than 32 bits are too long for a test."""
    from kreinlearn.kernels._compiled import sequences as alignments

    def make_fill(is_local):
        return lambda out, *args: out.fill(np.nan)

    monkeypatch.setattr(alignments, "make_fill", make_fill)
    with pytest.raises(ValueError, match=r"below 2 billion in size; use shorter"):
        needleman_wunsch(["W" * 3000, "W"], normalized=False)


@pytest.mark.parametrize(("kind", "algorithm"), [("local", "sw"), ("global", "nw")])
def test_opal_finds_the_same(kind, algorithm):
    pyopal = pytest.importorskip("pyopal", reason="Opal is the second oracle")
    X, Y = draw(20, 1, 90, seed=3), draw(60, 1, 200, seed=4)
    matrices = pytest.importorskip("scoring_matrices", reason="comes with Opal")
    aligner = pyopal.Aligner(matrices.ScoringMatrix.from_name("BLOSUM62"), 12, 1)
    expected = [
        [hit.score for hit in aligner.align(x, pyopal.Database(Y), algorithm=algorithm)]
        for x in X
    ]
    np.testing.assert_array_equal(MEASURES[kind](X, Y, normalized=False), expected)


@pytest.mark.parametrize("kind", MEASURES)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 70), (70, 1), (33, 64), (64, 33)])
def test_blocks_and_halves_have_the_same_bits(kind, n, k):
    measure = MEASURES[kind]
    X, Y = draw(n, 1, 150, seed=5), draw(k, 1, 150, seed=6)
    both = measure(X + Y)
    assert (both == both.T).all() and (both.diagonal() == 1).all()
    assert both.dtype == np.float64
    S = measure(X, Y)
    assert S.shape == (n, k) and S.flags.c_contiguous
    np.testing.assert_array_equal(S, both[:n, n:])
    np.testing.assert_array_equal(measure(Y, X), S.T)
    np.testing.assert_array_equal(measure(X, X), both[:n, :n])


@pytest.mark.parametrize("kind", MEASURES)
@pytest.mark.parametrize("matrix", alignment.MATRIX_NAMES)
@pytest.mark.parametrize("gaps", [(12, 1), (1, 1), (4, 0), (0, 0)])
def test_normalized_scores(kind, matrix, gaps):
    letters = alignment.load_substitution(matrix).letters
    unknown = "N" if matrix == "nuc44" else "X"
    X = draw(25, 1, 30, letters + unknown * 40, seed=8) + draw(7, 1, 20, letters)
    given = {"gap_open": gaps[0], "gap_extend": gaps[1], "matrix": matrix}
    raw = MEASURES[kind](X, normalized=False, **given)
    used = np.flatnonzero(raw.diagonal() > 0)
    assert len(used) >= 5
    raw, own = raw[np.ix_(used, used)], raw.diagonal()[used]
    S = MEASURES[kind]([X[i] for i in used], **given)
    np.testing.assert_allclose(S, raw / np.sqrt(np.outer(own, own)), rtol=1e-15)


@pytest.mark.parametrize("matrix", alignment.MATRIX_NAMES)
def test_matrices_are_those_that_others_have(matrix):
    letters, scores, codes = alignment.load_substitution(matrix)
    assert (scores == scores.T).all() and scores.shape == (len(letters),) * 2
    # What scores of sequences with themselves rest on.
    diagonal = scores.diagonal().astype(int)
    assert (2 * scores <= np.add.outer(diagonal, diagonal)).all()
    assert alignment.END_SCORE + 20 < scores.min() and scores.max() <= 20
    assert [letters[codes[ord(each)]] for each in letters] == list(letters)
    parasail = pytest.importorskip("parasail", reason="parasail is the oracle")
    theirs = getattr(parasail, matrix).matrix
    np.testing.assert_array_equal(scores, theirs[: len(letters), : len(letters)])


def test_rna_is_dna_and_case_does_not_matter():
    given = ["ACGUUGCA", "acgttgca", "ACGTTGCA"]
    assert (smith_waterman(given, matrix="nuc44") == 1).all()


# -- edit distances --------------------------------------------------------------------


def edits(x, z):
    row = list(range(len(z) + 1))
    for i, a in enumerate(x, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(z, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


def jaro(x, z):
    """Return the Jaro-Winkler similarity by its definition."""
    reach = max(max(len(x), len(z)) // 2 - 1, 0)
    taken, matched = set(), []
    for i, letter in enumerate(x):
        for j in range(max(i - reach, 0), min(i + reach + 1, len(z))):
            if j not in taken and z[j] == letter:
                taken.add(j)
                matched.append(letter)
                break
    if not matched:
        return 0.0
    m = len(matched)
    others = [z[j] for j in sorted(taken)]
    moved = sum(a != b for a, b in zip(matched, others, strict=True)) // 2
    value = (m / len(x) + m / len(z) + (m - moved) / m) / 3
    prefix = next((k for k in range(4) if x[k : k + 1] != z[k : k + 1]), 4)
    prefix = min(prefix, len(x), len(z))
    return value + prefix * 0.1 * (1 - value) if value > 0.7 else value


@pytest.mark.parametrize(
    ("measure", "twin"), [(levenshtein, edits), (jaro_winkler, jaro)]
)
def test_edit_distances_in_plain_python(measure, twin):
    pytest.importorskip("rapidfuzz", reason="the extra 'sequences' is not installed")
    X = [*draw(30, 1, 12, "abAB é", seed=9), "a", "é", "abc" * 30, "ab" * 50]
    Y = [*draw(30, 1, 9, "abAB é", seed=10), "a", "abc" * 30]
    expected = [[twin(x, z) for z in Y] for x in X]  # 34 * 32 pairs
    np.testing.assert_allclose(measure(X, Y), expected, rtol=1e-14)
    assert measure(X, Y).dtype == np.float64


@pytest.mark.parametrize("measure", [levenshtein, jaro_winkler])
def test_edit_distances_in_bands(measure):
    pytest.importorskip("rapidfuzz", reason="the extra 'sequences' is not installed")
    X = draw(300, 1, 20, "abcd", seed=11)
    S = measure(X)
    assert (S == S.T).all()
    np.testing.assert_array_equal(S, measure(X, list(X)))
    np.testing.assert_array_equal(S[5:9], measure(X[5:9], X))


def test_without_rapidfuzz(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(ImportError, match=r'pip install "kreinlearn\[sequences\]"'):
        levenshtein(["a"])
    assert smith_waterman(["W"]) == 1


# -- containers and bad input ----------------------------------------------------------


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


# -- the vector code turned off --------------------------------------------------------


def compute_results():
    X = [*draw(6, 1, 14, seed=12), "W" * 13]
    return {kind: measure(X, normalized=False) for kind, measure in MEASURES.items()}


@pytest.mark.parametrize("jit", ["0", pytest.param("1", marks=pytest.mark.slow)])
def test_plain_loops_give_the_same(jit, tmp_path):
    assert_same_without_compiler(__name__, tmp_path, lambda key: 0.0, jit)
