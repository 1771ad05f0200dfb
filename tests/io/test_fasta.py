"""Sequences from FASTA files, and labels from their headers."""

import gzip

import numpy as np
import pytest

from kreinlearn.io import header_labels, read_fasta

TWO = ">a first one\nMKV\nLAW\n\n>b\nacdx\n"


def written(folder, content, name="s.fasta"):
    path = folder / name
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


@pytest.mark.parametrize("name", ["s.fasta", "s.fa.gz", "s.faa.GZ"])
def test_plain_and_compressed(tmp_path, name):
    path = written(tmp_path, TWO, name.replace("GZ", "gz"))
    path = path.rename(tmp_path / name)
    assert read_fasta(path) == (["a", "b"], ["MKVLAW", "ACDX"], ["first one", ""])
    assert read_fasta(str(path))[0] == ["a", "b"]


@pytest.mark.parametrize(
    ("body", "sequence"),
    [
        ("MKV*\n", "MKV"),
        ("MK*V\n", "MK*V"),
        ("MK\nV\n*\n", "MKV"),
        ("--MK-V..\n", "MKV"),
        ("MKVLA MKVLA\n  MK\t\n", "MKVLAMKVLAMK"),
        ("mkv\r\nla\r\n", "MKVLA"),
        ("MKV", "MKV"),
        ("\n\nM\n\nK\n", "MK"),
    ],
)
def test_letters(tmp_path, body, sequence):
    assert read_fasta(written(tmp_path, f">a\n{body}"))[1] == [sequence]


def test_headers(tmp_path):
    text = "\ufeff\n> a \nM\n>sp|P1|X_Y  Some protein OS=E. coli \nK\n"
    path = written(tmp_path, text)
    names, _, descriptions = read_fasta(path)
    assert names == ["a", "sp|P1|X_Y"]
    assert descriptions == ["", "Some protein OS=E. coli"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["is empty", "'>'"]),
        ("\n \n", ["is empty"]),
        ("MKV\n", ["line 1", "header", "'MKV'"]),
        ("@read\nACGT\n+\nIIII\n", ["line 1", "header", "'@read'"]),
        (">a\nM\n>\nK\n", ["line 3", "name", "'>P12345 nucleus'"]),
        (">a\nM\n>b\n>c\nK\n", ["line 3", "'b'", "no letters", "leave it out"]),
        (">a\nM\n>b\n", ["line 3", "'b'", "no letters"]),
        (">a\n--*\n", ["line 1", "'a'", "no letters"]),
        (">a\nM\n>b\nK\n>a x\nV\n", ["line 5", "'a'", "line 1", "differ"]),
        (">a\nMK\nM1K\n", ["line 3", "'a'", "'1'"]),
        (">a\nMK\n\nMéK\n", ["line 4", "'a'", "'é'"]),
        (">a\nMK;V\n", ["line 2", "';'"]),
        (b">a\nM\xffK\n", ["line 2", "UTF-8", "0xff"]),
    ],
)
def test_bad_files(tmp_path, content, words):
    path = written(tmp_path, content)
    with pytest.raises(ValueError) as raised:
        read_fasta(path)
    said = str(raised.value)
    assert all(word in said for word in [str(path), *words]), said
    assert said.endswith(".") and "\n" not in said


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_fasta(tmp_path / "none.fasta")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_fasta(tmp_path)
    path = tmp_path / "s.fasta.gz"
    path.write_bytes(gzip.compress(TWO.encode())[:-9])
    with pytest.raises(ValueError, match="damaged"):
        read_fasta(path)


def test_labels():
    names, descriptions = ["x|1|in", "y|out"], ["cell membrane", "nucleus"]
    said = header_labels("s.fasta", names, descriptions)
    assert said == ["cell membrane", "nucleus"]
    assert header_labels("s.fasta", names, descriptions, "bar") == ["in", "out"]
    fields = header_labels("s.fasta", names, descriptions, 2)
    assert fields == ["1", "out"]
    assert header_labels("s.fasta", names, descriptions, -1) == ["membrane", "nucleus"]
    for place in (0, 6, -6):
        with pytest.raises(ValueError, match="sequence 0 .*'>x.1.in cell membrane'"):
            header_labels("s.fasta", names, descriptions, place)
    for label, given in (("bar", ["a|b", "c"]), ("bar", ["a|b", "c|"])):
        with pytest.raises(ValueError, match=r"s\.fasta: a label .* sequence 1 .*'>c"):
            header_labels("s.fasta", given, ["", ""], label)
    with pytest.raises(ValueError, match="sequence 0 .*'>a'; .*--labels"):
        header_labels("s.fasta", ["a"], [""])
    with pytest.raises(ValueError, match="'label' must be one of"):
        header_labels("s.fasta", ["a"], ["b"], "word")


def test_biopython_reads_the_same(tmp_path):
    seqio = pytest.importorskip("Bio.SeqIO", reason="Biopython is the oracle")
    rng = np.random.default_rng(0)
    lines = []
    for i in range(200):
        body = "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWYX"), rng.integers(1, 300)))
        lines += [f">s{i} class {i % 3}"]
        lines += [body[j : j + 60] for j in range(0, len(body), 60)]
    path = written(tmp_path, "\n".join(lines))
    names, sequences, descriptions = read_fasta(path)
    with path.open() as stream:
        records = list(seqio.parse(stream, "fasta"))
    assert names == [record.id for record in records]
    assert sequences == [str(record.seq) for record in records]
    both = zip(names, descriptions, strict=True)
    assert [" ".join(each) for each in both] == [r.description for r in records]
