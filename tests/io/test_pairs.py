"""Lists of pairs, matrices with names, PHYLIP and condensed vectors from files."""

import gzip
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from kreinlearn import io as files
from kreinlearn.io import ReadOptions, pairs, read_pairs
from kreinlearn.io.formats import find_format
from kreinlearn.io.labels import read_labels
from kreinlearn.io.pairs import ScoreTable


def detect(path, format=None, **options):
    """Return the format of a file."""
    return find_format(path, ReadOptions(format=format, **options)).format


NAMES = ["ant", "bee", "cat", "dog"]
D = squareform([1.0, 2.0, 3.0, 4.0, 5.0, 6.5])
S = 10 - D


def write(folder, name, content):
    path = folder / name
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def listed(K, pairs=None, delimiter=",", header=""):
    """Return the text of a list of pairs."""
    pairs = itertools.product(range(len(K)), repeat=2) if pairs is None else pairs
    rows = [
        delimiter.join([NAMES[i], NAMES[j], repr(float(K[i, j]))]) for i, j in pairs
    ]
    return header + "\n".join(rows) + "\n"


def hit(a, b, bits):
    """Return a line of outfmt 6."""
    cells = [a, b, 98.5, 60, 1, 0, 1, 60, 3, 62, "2e-30", bits]
    return "\t".join(map(str, cells)) + "\n"


def square(K, corner="", delimiter=","):
    lines = [delimiter.join([corner, *NAMES])]
    for name, row in zip(NAMES, K, strict=True):
        lines.append(delimiter.join([name, *map(repr, row.tolist())]))
    return "\n".join(lines) + "\n"


def phylip(K, shape, width=0):
    """Return a matrix in the format of PHYLIP."""
    n, lines = len(K), [f"   {len(K)}"]
    for i, name in enumerate(NAMES):
        columns = {
            "square": range(n),
            "lower": range(i),
            "lower, diagonal": range(i + 1),
            "upper": range(i + 1, n),
            "upper, diagonal": range(i, n),
        }[shape]
        lines.append(name.ljust(width) + "".join(f"  {K[i, j]}" for j in columns))
    return "\n".join(lines) + "\n"


UPPER = list(itertools.combinations(range(4), 2))
SAME = {
    "pairs.csv": ("pairs", listed(D, UPPER)),
    "header.csv": ("pairs", listed(D, UPPER, header="from,to,how far\n")),
    "semicolons.csv": ("pairs", listed(D, UPPER, delimiter=";")),
    "pairs.tsv.gz": ("pairs", listed(D, delimiter="\t")),
    "pairs.txt": ("pairs", listed(D, [(j, i) for i, j in UPPER], delimiter="\t")),
    "square.csv": (None, square(D)),
    "corner.tsv": (None, square(D, "id", "\t")),
    "square.txt": ("matrix", square(D)),
    "r.tsv": (None, square(D, "", "\t").removeprefix("\t")),  # R's write.table
    "square.csv.gz": (None, square(D)),
    "a.phylip": (None, phylip(D, "square")),
    "b.phy": (None, phylip(D, "lower")),
    "c.phylip.gz": (None, phylip(D, "lower, diagonal")),
    "d.dist": ("phylip", phylip(D, "upper")),
    "e.phy": ("phylip", phylip(D, "upper, diagonal", 12)),
    "f.phy": (None, phylip(D, "square", 10)),
}


@pytest.mark.parametrize("name", SAME)
def test_every_format_gives_the_same_distances(tmp_path, name):
    said, content = SAME[name]
    path = write(tmp_path, name, content)
    found = read_pairs(path, said, holds="distances")
    order = found.index.tolist()
    assert sorted(order) == NAMES and found.columns.tolist() == order
    assert found.loc[NAMES, NAMES].to_numpy().tolist() == D.tolist()
    assert found.attrs["remark"] == ""
    labels = write(tmp_path, "y.csv", "dog,1\nant,0\ncat,1\nbee,0\n")
    options = {"format": said, "label_file": str(labels)}
    table = files.read(path, holds="distances", **options)
    assert dict(zip(table.names, table.y.tolist(), strict=True)) == dict(
        zip(NAMES, [0, 0, 1, 1], strict=True)
    )


def test_phylip_with_spaces_in_names_and_wrapped_rows(tmp_path):
    rows = [
        "Homo sapie0.0 1.0\n  2.0",
        "Pan panisc1.0 0.0\n  3.0",
        "Pan trogl 2.0 3.0\n  0.0",
    ]
    path = write(tmp_path, "a.phy", "3\n" + "\n".join(rows) + "\n")
    found = read_pairs(path, holds="distances")
    assert found.index.tolist() == ["Homo sapie", "Pan panisc", "Pan trogl"]
    assert found.to_numpy().tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


def naive(lines, names, how):
    """Return the matrix of a list as a loop over its lines makes it."""
    found = {}
    for a, b, score in lines:
        found.setdefault((a, b), []).append(score)
    ways = {"mean": np.mean, "max": max, "min": min}
    K = np.full((len(names), len(names)), np.nan)
    for (i, a), (j, b) in itertools.product(enumerate(names), repeat=2):
        if (a, b) in found:
            K[i, j] = ways[how](found[a, b])
    return K


@pytest.mark.parametrize("how", ["mean", "max", "min"])
def test_a_list_is_what_a_loop_makes_of_it(tmp_path, rng, how):
    names = [f"s{i}" for i in range(12)]
    lines = [
        (names[i], names[j], float(rng.integers(1, 9)))
        for i, j in rng.integers(0, 12, size=(400, 2))
    ]
    path = write(tmp_path, "p.csv", "".join(f"{a},{b},{s}\n" for a, b, s in lines))
    found_pairs = pairs.read_pair_list(path, ReadOptions())
    known = {a for line in lines for a in line[:2]}
    assert sorted(pairs.list_names(found_pairs)) == sorted(known)
    expected = naive(lines, names, how)
    found, repeated = pairs.pivot_pairs(path, found_pairs, names, names, how)
    np.testing.assert_allclose(found, expected)
    assert repeated == 400 - int(np.isfinite(expected).sum())
    reverse = found_pairs.rename(columns={"first": "second", "second": "first"})
    back, _ = pairs.pivot_pairs(path, reverse, names[:5], names, how)
    np.testing.assert_allclose(back, expected.T[:5])


@pytest.mark.parametrize("how", [None, "mean", "max", "min"])
def test_gaps_are_filled_as_a_loop_does(rng, how):
    ways = {"mean": lambda a, b: (a + b) / 2, "max": max, "min": min}
    n = 15
    given = rng.normal(size=(n, n))
    given[rng.uniform(size=(n, n)) < 0.4] = np.nan
    back = np.where(rng.uniform(size=(n, n)) < 0.5, given.T, np.nan)

    def one(a, b, instead):
        if np.isnan(a) and np.isnan(b):
            return instead
        if np.isnan(a) or np.isnan(b):
            return b if np.isnan(a) else a
        return a if how is None else ways[how](a, b)

    options = ReadOptions(missing=-7.0, missing_self=7.0, symmetrize=how)
    rows, columns = range(n), range(n, 2 * n)
    found, remarks = ScoreTable("p", rows, rows, options, True).complete(given, given.T)
    new, _ = ScoreTable("p", rows, columns, options, False).complete(given, back)
    for i, j in itertools.product(range(n), repeat=2):
        assert found[i, j] == one(given[i, j], given[j, i], 7.0 if i == j else -7.0)
        assert new[i, j] == one(given[i, j], back[i, j], -7.0)
    known = np.isfinite(given)
    gaps = int((~(known | known.T)[np.triu_indices(n, 1)]).sum())
    single = int((known ^ known.T).sum()) // 2
    assert f"missing and taken for -7: {gaps} of {n * (n - 1) // 2} pairs" in remarks
    assert any(f"taken for both: {single} of" in remark for remark in remarks)


def test_hits_of_a_search(tmp_path):
    hits = [hit(a, b, 40 + 10 * (a == b)) for a in NAMES for b in NAMES]
    hits += [hit("ant", "bee", 20), hit("bee", "ant", 55.5)]  # other parts of both
    del hits[3 * 4 + 1], hits[0 * 4 + 2]  # dog to bee, ant to cat
    del hits[2 * 4 - 1]  # cat to ant
    content = "# BLASTP 2.15\n" + "".join(hits)
    path = write(tmp_path, "hits.m8", content)
    with pytest.raises(ValueError, match=r"lacks 1 of 6 pairs.*'ant' and 'cat'.*--mis"):
        read_pairs(path)
    found = read_pairs(path, missing=0, symmetrize="max").loc[NAMES, NAMES]
    expected = np.array(
        [[50, 55.5, 0, 40], [55.5, 50, 40, 40], [0, 40, 50, 40], [40, 40, 40, 50]]
    )
    assert found.to_numpy().tolist() == expected.tolist()
    assert read_pairs(path, missing=0).loc["ant", "bee"] == 40
    remark = read_pairs(path, missing=0, symmetrize="mean").attrs["remark"]
    for words in (
        "4 samples",
        "pairs repeated, the best score is taken: 2 of 15 lines",
        "missing and taken for 0: 1 of 6 pairs",
        "known one way only, which is taken for both: 1 of 5 pairs",
        "different both ways, by up to 15.5, and made the mean: 1 of 6 pairs",
    ):
        assert words in remark
    title = "query\ttarget\tfident\talnlen\tmismatch\tgapopen\tqstart\tqend\ttstart\t"
    write(tmp_path, "fold.tsv.gz", title + "tend\tevalue\tbits\n" + content)
    same = read_pairs(tmp_path / "fold.tsv.gz", "blast", missing=0, symmetrize="max")
    assert same.loc[NAMES, NAMES].equals(found)


def test_what_is_missing(tmp_path):
    path = write(tmp_path, "p.csv", listed(D, UPPER[:-1]) + "cat,dog,NA\n")
    with pytest.raises(ValueError, match="'cat' and 'dog'.*--missing 5, the largest"):
        read_pairs(path, "pairs", holds="distances")
    found = read_pairs(path, "pairs", holds="distances", missing=7)
    assert found.loc["dog", "cat"] == found.loc["cat", "dog"] == 7
    assert found.loc["dog", "dog"] == 0
    path = write(tmp_path, "s.csv", listed(S, UPPER))
    with pytest.raises(ValueError, match="with themselves for all.*'ant'.*-self 9"):
        read_pairs(path, "pairs")
    found = read_pairs(path, "pairs", missing_self=10)
    assert found.to_numpy().tolist() == S.tolist()
    with pytest.raises(ValueError, match="leave out missing_self"):
        read_pairs(path, "pairs", holds="distances", missing_self=0)
    holes = square(D).replace("6.5", "").replace("bee,1.0", "bee,")
    path = write(tmp_path, "holes.csv", holes)
    with pytest.raises(ValueError, match="lacks 1 of 6 pairs"):
        read_pairs(path, holds="distances")
    found = read_pairs(path, holds="distances", missing=6.5)
    assert found.to_numpy().tolist() == D.tolist()


def test_several_judgements_of_a_pair(tmp_path):
    again = "bee,ant,3\nant,bee,2\n"
    path = write(tmp_path, "p.csv", listed(D, UPPER) + again)
    words = "line 8: the pair of 'ant' and 'bee' has the score 2, but 1 in line 1"
    with pytest.raises(ValueError, match=words):
        read_pairs(path, "pairs", holds="distances")
    for how, value in (("mean", 2.25), ("max", 2.5), ("min", 2.0)):
        found = read_pairs(
            path, "pairs", holds="distances", repeated=how, symmetrize="mean"
        )
        assert found.loc["ant", "bee"] == found.loc["bee", "ant"] == value
    with pytest.raises(
        ValueError,
        match="differ for 1 of 6 pairs, most from 'ant' to .* 2, and back, 3",
    ):
        read_pairs(path, "pairs", holds="distances", repeated="max")
    same = write(tmp_path, "same.csv", listed(D, UPPER + UPPER[:2]))
    remark = read_pairs(same, "pairs", holds="distances").attrs["remark"]
    assert "pairs repeated, with the same score: 2 of 8 lines" in remark


def test_titles_that_are_names_too(tmp_path):
    path = write(tmp_path, "p.csv", "a,b,score\r\na,b,1\r\nb,c,2\r\na,c,3\r\n")
    found = read_pairs(path, "pairs", holds="distances", header=True)
    assert found.to_numpy().tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]


def test_a_table_never_becomes_pairs_in_silence(tmp_path):
    content = "a,b,score\n" + "".join(f"{i},{j},{i == j}\n" for i, j in UPPER * 3)
    path = write(tmp_path, "t.csv", content.replace("False", "no"))
    assert detect(path) == "table"
    path = write(tmp_path, "t.csv", square(D))
    assert detect(path) == "matrix"
    assert detect(path, header=False) == "table"
    assert detect(path, target="dog") == "table"
    for change in (("dog,", "eel,"), ("ant,bee", "1,2"), ("ant,bee,cat", "x,y,z")):
        assert detect(write(tmp_path, "t.csv", square(D).replace(*change))) == "table"


def test_new_samples(tmp_path, rng):
    training = ["t1", "t2", "t3"]
    K = rng.uniform(size=(2, 3))
    frame = pd.DataFrame(K, ["n1", "n2"], training)
    wide = frame[["t3", "t1", "t2"]].assign(other=1.0)
    path = tmp_path / "new.csv"
    wide.to_csv(path)
    found = read_pairs(path, "matrix", training=training)
    pd.testing.assert_frame_equal(found, frame)
    path.write_text(frame.T.to_csv())
    with pytest.raises(ValueError, match="rows are the training samples; transpose"):
        read_pairs(path, "matrix", training=training)
    wide.drop(columns="t1").to_csv(path)
    with pytest.raises(ValueError, match="lacks 1 of 3 training samples.*'t1'"):
        read_pairs(path, "matrix", training=training)
    long = frame.stack()
    ends = [(a, b, s) for (a, b), s in long.items()]
    turned = [(b, a, s) if k % 2 else (a, b, s) for k, (a, b, s) in enumerate(ends)]
    turned += [("n1", "n2", 9.0), ("t1", "t3", 9.0), ("t2", "t2", 9.0)]
    path.write_text("".join(f"{a},{b},{s!r}\n" for a, b, s in turned))
    found = read_pairs(path, "pairs", training=training)
    pd.testing.assert_frame_equal(found.loc[["n1", "n2"]], frame)
    path.write_text("".join(f"{a},{b},{s!r}\n" for a, b, s in turned[1:]))
    with pytest.raises(ValueError, match="lacks 1 of 6 pairs with.*'n1' and 't1'"):
        read_pairs(path, "pairs", training=training)
    found = read_pairs(path, "pairs", training=training, missing=-1)
    assert found.loc["n1", "t1"] == -1
    both = "n,t1,1\nt1,n,3\nn,t2,1\nn,t3,1\n"
    path.write_text(both)
    for how, value in ((None, 1), ("mean", 2), ("max", 3)):
        found = read_pairs(path, "pairs", training=training, symmetrize=how)
        assert found.loc["n", "t1"] == value
    with pytest.raises(ValueError, match="no pair with a training sample.*'x'"):
        read_pairs(path, "pairs", training=["x", "y"])
    # Of a search only queries are new: a data base may hold more than the training.
    hits = "".join(hit("q", name, 50) for name in [*training, "stranger"])
    found = read_pairs(write(tmp_path, "h.m8", hits), training=training)
    assert found.index.tolist() == ["q"]


def test_condensed_vectors(tmp_path, rng):
    X = rng.uniform(size=(7, 2))
    vector, y = pdist(X), np.arange(7) % 2
    np.savez(tmp_path / "d.npz", D=vector, y=y)
    np.savez(tmp_path / "any.npz", vector=vector, labels=y)
    np.save(tmp_path / "d.npy", vector)
    (tmp_path / "y.txt").write_text("\n".join(map(str, y)))
    for name, target in (("d.npz", None), ("d.npy", str(tmp_path / "y.txt"))):
        for format in (None, "condensed"):
            table = files.read(
                tmp_path / name, target=target, holds="distances", format=format
            )
            assert table.K.tolist() == squareform(vector).tolist()
            assert table.y.tolist() == y.tolist()
    table = files.read(
        tmp_path / "any.npz", target="labels", holds="distances", format="condensed"
    )
    assert table.K.tolist() == squareform(vector).tolist()
    with pytest.raises(ValueError, match="must be square"):
        files.read(tmp_path / "d.npy", labels=False)
    with pytest.raises(ValueError, match="--missing-self"):
        files.read(tmp_path / "d.npy", labels=False, format="condensed")
    filled = {"format": "condensed", "missing_self": 2.0}
    K = files.read(tmp_path / "d.npy", labels=False, **filled).K
    assert K.diagonal().tolist() == [2.0] * 7
    vector[3] = np.nan
    np.save(tmp_path / "d.npy", vector)
    with pytest.raises(ValueError, match="lacks 1 of 21 pairs, first that of 1 and 5"):
        files.read(tmp_path / "d.npy", labels=False, holds="distances")
    np.save(tmp_path / "d.npy", vector[:-1])
    with pytest.raises(ValueError, match="6 samples have 15 pairs"):
        files.read(tmp_path / "d.npy", labels=False, holds="distances")
    np.save(tmp_path / "d.npy", D)
    with pytest.raises(ValueError, match="which new samples need"):
        files.read(tmp_path / "d.npy", labels=False, square=False, format="condensed")
    with pytest.raises(ValueError, match=r"must be a vector.*\(4, 4\)"):
        files.read(tmp_path / "d.npy", labels=False, format="condensed")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("p.csv", "a,b,1\nb,c,x\n", ["line 2", "'b' and 'c'", "'x'"]),
        ("p.csv", "a,b,inf\nb,c,1\n", ["line 1", "finite", "'inf'"]),
        ("p.csv", "a,b,O.5\nb,c,1\n", ["line 1", "'O.5'", "--header"]),
        ("p.csv", "a,b,1\n,c,1\n", ["line 2", "names of two samples"]),
        ("p.csv", "a,b,1,2\n", ["line 1", "two names and a score", "got 4 cells"]),
        ("p.csv", "a b 1\n", ["line 1", "got 1 cell;"]),
        ("p.csv", "a,b,score\n", ["holds no pairs"]),
        ("p.csv", "", ["is empty"]),
        ("p.csv", "a,a,1\n", ["two samples at least, got 'a'"]),
        ("p.csv", "a,b,NA\n", ["holds no scores"]),
        ("p.csv", "a,b,-1\n", ["not be negative, got -1 between 'a' and 'b'"]),
        ("p.csv", "a,b,1\nb,b,2\n", ["to itself must be 0, got 2 for 'b'"]),
        ("p.csv", "a,a,2\nb,b,2\na,b,1\n", ["there it is largest"]),
        ("h.m8", "a\tb\t50\n", ["line 1", "12 columns", "got 3", "--format pairs"]),
        ("h.m8", hit("a", "b", 9).replace("60", "0.6"), ["line 1", "columns 4 to 10"]),
        ("h.m8", hit("a", "b", "x"), ["bit score was expected in column 12", "'x'"]),
        ("m.csv", "", ["is empty"]),
        ("m.txt", ",a,b\na,0,1\nb,1\n", ["line 3", "3 cells"]),
        ("m.txt", ",a,b\na,,1\nb,,x\n", ["line 3", "'x' in column 'b'"]),
        ("m.txt", ",a,b\na,0,x\nb,1,0\n", ["line 2", "'x' in column 'b'"]),
        ("m.txt", ",a,b\na,0,1\na,1,0\n", ["first column", "got 'a' twice"]),
        ("m.txt", ",a,\na,0,1\n", ["line 1", "2. name is empty"]),
        ("m.txt", ",a,b\na,0,1\n", ["column 'b' has no row", "1 of 2 names agree"]),
        (
            "m.txt",
            ",a,b\na,0,1\nb,1,0\nc,1,2\n",
            ["2 of 3 names agree, but row 'c' has no column"],
        ),
        ("d.phy", "3 60\nx ACGT\n", ["line 1", "'3 60'", "alignment"]),
        ("d.phy", "3\na\nb 1\n", ["3 samples were expected", "got 2"]),
        ("d.phy", "3\na\nb 1\nc 1\n", ["line 4", "2 numbers", "'c'", "got 1"]),
        ("d.phy", "3\na\nb 1\nb 1 2\n", ["line 4", "'b' in line 3"]),
        ("d.phy", "2\na 0 x\nb 1 0\n", ["line 2", "'x' in column 'b'"]),
        ("d.phy", "", ["some samples were expected"]),
    ],
)
def test_bad_files(tmp_path, name, content, words):
    path = write(tmp_path, name, content)
    said = {"p.csv": "pairs", "m.txt": "matrix", "m.csv": "matrix"}.get(name)
    with pytest.raises(ValueError) as raised:
        read_pairs(path, said, holds="distances")
    for each in (name, *words):
        assert each in str(raised.value)


def test_labels_by_name(tmp_path):
    for content, title in (
        ("dog,d\nant,a\nbee,a\ncat,d\n", None),
        ("id,kind\ndog,d\nant,a\nbee,a\ncat,d\n", "kind"),
        ("dog\td\nant\ta\nbee\ta\ncat\td\nant\ta\n", None),
    ):
        path = write(tmp_path, "y.csv", content)
        y, target, note = read_labels(path, NAMES, "p.csv")
        assert y.tolist() == ["a", "a", "d", "d"] and note == ""
        assert target == (title or str(path))
    path = write(tmp_path, "y.csv", "id,w,legs\ndog,9,4\nant,1,6\nbee,1,6\ncat,5,4\n")
    assert read_labels(path, NAMES, "p.csv", "legs")[0].tolist() == [6, 6, 4, 4]
    assert read_labels(path, NAMES, "p.csv", "3")[0].tolist() == [6, 6, 4, 4]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("ant,a\nbee,a\ndog,d\n", "no label for 1 of the 4 samples in p.csv.*'cat'"),
        ("ANT,a\nBEE,a\nCAT,d\nDOG,d\n", "4 of the 4 .*'ANT', which differs in upper"),
        (
            "eel,a\nfox,d\n",
            r"No name in .*y.csv \('fox', ...\) is a sample of p.csv \('.*', ...\)",
        ),
        ("ant,a\nant,b\nbee,a\ncat,d\ndog,d\n", "line 2: 'ant' has the label 'b', but"),
        ("ant,a\nbee,a\ncat,\ndog,d\n", "no label in line 3"),
        ("ant,a\nbee,a\ncat,a\ndog,a\n", "one class only"),
        ("ant\nbee\n", "two columns.*got 1; separate"),
        ("id,x,y\nant,1,2\n", "two columns.*got 3; name the column of the labels"),
    ],
)
def test_bad_labels(tmp_path, content, words):
    path = write(tmp_path, "y.csv", content)
    with pytest.raises(ValueError, match=words):
        read_labels(path, NAMES, "p.csv")


def test_formats_that_contradict_the_name(tmp_path):
    for name, said in (("a.npz", "pairs"), ("a.csv", "condensed"), ("a.svm", "blast")):
        with pytest.raises(ValueError, match=f"format of .*{name} must be"):
            detect(write(tmp_path, name, "x"), said)
    with pytest.raises(ValueError, match="or name the format by --format"):
        detect(write(tmp_path, "a.out", "x"))
    with pytest.raises(ValueError, match="not a text with pairs"):
        read_pairs(write(tmp_path, "a.csv", "a,b\n1,2\n"))
