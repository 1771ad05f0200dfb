"""Input files of every format for the golden commands, written from seeds."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd

from tests.golden.samples import make_rows, make_sequences, make_series

N, NEW = 36, 6


def write_inputs(folder: Path) -> None:
    """Write all input files into a folder that exists."""
    write_tables(folder)
    write_matrices(folder)
    write_samples(folder)
    write_damaged(folder)


def write_tables(folder):
    """Write one table in all formats, and one with text, ids, groups and gaps."""
    rows = make_rows(N + NEW)
    names = np.array(["no", "yes"])[rows.y]
    table = pd.DataFrame(rows.X.round(4), columns=list("abcd")).assign(kind=names)
    old, new = table[:N], table[N:]
    for ending in ("csv", "csv.gz"):
        old.to_csv(folder / f"t.{ending}", index=False)
    old.to_csv(folder / "t.tsv", sep="\t", index=False)
    old.to_csv(folder / "semicolon.csv", sep=";", decimal=",", index=False)
    old.to_csv(folder / "bare.csv", header=False, index=False)
    old[["kind", *"abcd"]].to_csv(folder / "first.csv", index=False)
    old.to_parquet(folder / "t.parquet", index=False)
    new.drop(columns="kind").to_csv(folder / "new.csv", index=False)
    new.to_csv(folder / "labeled.csv", index=False)
    new[["kind", *"dcba"]].assign(z=1).to_csv(folder / "shuffled.csv", index=False)
    new.drop(columns="kind").to_parquet(folder / "new.parquet", index=False)
    new.to_csv(folder / "new-semicolon.csv", sep=";", decimal=",", index=False)
    new.to_csv(folder / "new-bare.csv", header=False, index=False)
    lines = [
        " ".join([str(y), *(f"{j}:{v:.4f}" for j, v in enumerate(x, 1))]) + "\n"
        for x, y in zip(rows.X, rows.y, strict=True)
    ]
    for ending in ("svm", "libsvm", "svmlight"):
        (folder / f"t.{ending}").write_text("".join(lines[:N]))
    (folder / "t.svm.gz").write_bytes(
        gzip.compress("".join(lines[:N]).encode(), mtime=0)
    )
    (folder / "new.svm").write_text("".join(lines[N:]))
    three = make_rows(N, 3)
    table = pd.DataFrame(three.X.round(4), columns=list("abcd")).assign(kind=three.y)
    table.to_csv(folder / "three.csv", index=False)
    rng = np.random.default_rng(7)
    mixed = old.assign(color=rng.choice(["red", "blue", "green"], N))
    mixed.insert(0, "visit", [f"v{i}" for i in range(N)])
    mixed["patient"] = [f"p{i // 3}" for i in range(N)]
    mixed.to_csv(folder / "complete.csv", index=False)
    mixed.loc[[3, 11], "b"] = np.nan
    mixed.to_csv(folder / "mixed.csv", index=False)
    (folder / "parts").mkdir()
    for i in range(2):
        part = pd.concat([old] * 3)[i * 50 : (i + 1) * 50]
        part.to_parquet(folder / "parts" / f"{i}.parquet", index=False)


def write_matrices(folder):
    """Write one matrix of distances in all formats, with labels beside it."""
    rows = make_rows(N + NEW)
    old, new = [f"s{i}" for i in range(N)], [f"n{i}" for i in range(NEW)]
    D = np.abs(rows.X[:, None] - rows.X).sum(axis=2).round(4)
    y = np.array(["in", "out"])[rows.y]
    D, K = D.astype(float), np.maximum(1.2 - D, -0.1)
    np.savez(folder / "D.npz", D=D[:N, :N], y=y[:N])
    np.savez(folder / "new-D.npz", D=D[N:, :N])
    np.savez(folder / "K.npz", K=K[:N, :N], y=y[:N])
    np.savez(folder / "new-K.npz", K=K[N:, :N])
    skew = np.triu(np.random.default_rng(1).uniform(size=(N, N)), 1)
    np.savez(folder / "skew.npz", D=D[:N, :N] + skew, y=y[:N])
    np.savez(folder / "counts.npz", K=np.round(5 * D[:N, :N]), y=y[:N])
    np.save(folder / "K.npy", K[:N, :N])
    np.save(folder / "y.npy", y[:N])
    np.save(folder / "condensed.npy", D[:N, :N][np.triu_indices(N, 1)])
    frame = pd.DataFrame(D, old + new, old + new)
    frame.loc[old, old].to_csv(folder / "square.csv")
    frame.loc[new, old[::-1]].to_csv(folder / "new-square.csv")
    labels = pd.DataFrame({"id": old, "kind": y[:N], "age": 7})
    labels[["id", "kind"]].to_csv(folder / "kinds.csv", index=False)
    labels.to_csv(folder / "about.tsv", sep="\t", index=False)
    for name, samples in (("d", old), ("all", new + old)):
        lines = [
            f"{a:<10}" + "".join(f" {v:.4f}" for v in frame.loc[a, samples[:i]])
            for i, a in enumerate(samples)
        ]
        text = f"{len(samples)}\n" + "\n".join(lines) + "\n"
        (folder / f"{name}.phylip").write_text(text)
    (folder / "d.phy").write_text((folder / "d.phylip").read_text())
    for name, samples in (("", old), ("new-", new)):
        pairs = [(a, b) for a in samples for b in old if samples is new or a > b]
        lines = [f"{a},{b},{frame.loc[a, b]:.4f}\n" for a, b in pairs]
        (folder / f"{name}pairs.csv").write_text(
            "one,other,distance\n" + "".join(lines)
        )
        hits = [(a, b, 100 - 40 * frame.loc[a, b]) for a in samples for b in old]
        lines = [
            f"{a}\t{b}\t98.5\t60\t1\t0\t1\t60\t3\t62\t2e-30\t{bits:.1f}\n"
            for a, b, bits in hits
            if bits > 40
        ]
        (folder / f"{name}hits.m8").write_text("# BLASTP 2.15.0+\n" + "".join(lines))


def write_samples(folder):
    """Write series, sequences and graphs."""
    rng = np.random.default_rng(5)
    series, wide = make_series(N).X, make_series(N, 2).X
    words = make_sequences(N).X
    for name, part in (("old", slice(0, 24)), ("new", slice(24, 24 + NEW))):
        places = range(N)[part]
        head = (
            "@problemName waves\n@timeStamps false\n@classLabel true calm wild\n@data\n"
        )
        for file, items in ((name, series), (f"{name}-wide", wide)):
            lines = []
            for i in places:
                channels = np.atleast_2d(items[i].T)
                cells = [",".join(f"{v:.3f}" for v in each) for each in channels]
                lines.append(":".join([*cells, ("calm", "wild")[i % 2]]) + "\n")
            (folder / f"{file}.ts").write_text(head + "".join(lines))
        for ending, mark in (("tsv", "\t"), ("txt", ",")):
            lines = [
                mark.join([str(1 + i % 2), *(f"{v:.3f}" for v in series[i][:8])]) + "\n"
                for i in places
            ]
            (folder / f"{name}.{ending}").write_text("".join(lines))
        for ending, mark in (("fasta", " "), ("fa", "|")):
            lines = [f">{name}{i}{mark}{i % 2}\n{words[i]}\n" for i in places]
            (folder / f"{name}.{ending}").write_text("".join(lines))
        bare = [f">{name}{i}\n{words[i]}\n" for i in places]
        (folder / f"{name}-bare.faa").write_text("".join(bare))
        kinds = [f"{name}{i}\t{i % 2}\n" for i in places]
        (folder / f"{name}-kinds.tsv").write_text("id\tkind\n" + "".join(kinds))
        write_graphs(folder / name.upper(), rng, len(places))


def write_graphs(folder, rng, n):
    edges, owner, labels, y = [], [], [], []
    for g in range(n):
        size, first = int(rng.integers(5, 8)), len(owner) + 1
        edges += [f"{a}, {a + 1}" for a in range(first, first + size - 1)]
        edges += [f"{first}, {first + size - 1 if g % 2 else first + 2}"]
        owner += [g + 1] * size
        labels += rng.choice([6, 6, 7], size).tolist()
        y.append((-1, 1)[g % 2])
    folder.mkdir()
    contents = {"A": edges, "graph_indicator": owner, "graph_labels": y}
    for name, values in (contents | {"node_labels": labels}).items():
        text = "".join(f"{value}\n" for value in values)
        (folder / f"DS_{name}.txt").write_text(text)


def write_damaged(folder):
    """Write files that commands must reject."""
    lines = (folder / "t.csv").read_text().splitlines(keepends=True)
    for name, number, line in (
        ("word", 7, "0.1,abc,0.2,0.3,no\n"),
        ("ragged", 9, "0.1,0.2\n"),
        ("gap", 5, "0.1,,0.2,0.3,no\n"),
        ("infinite", 3, "0.1,inf,0.2,0.3,no\n"),
        ("twice", 0, "a,a,c,d,kind\n"),
        ("unlabeled", 4, "0.1,0.1,0.2,0.3,\n"),
    ):
        changed = [*lines[:number], line, *lines[number + 1 :]]
        (folder / f"{name}.csv").write_text("".join(changed))
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text(lines[0])
    single = [line.replace("yes", "no") for line in lines]
    (folder / "single.csv").write_text("".join(single))
    (folder / "cut.csv.gz").write_bytes((folder / "t.csv.gz").read_bytes()[:-30])
    (folder / "broken.svm").write_text("1 1:0.5\n0 1:x\n")
    (folder / "broken.parquet").write_bytes(b"PAR1 and no more")
    (folder / "broken.krein").write_text("not a model\n")
    (folder / "sheet.xlsx").write_text("a,b\n")
    np.savez(folder / "nothing.npz", y=np.arange(4))
    np.savez(folder / "wide.npz", K=np.ones((4, 6)), y=np.arange(4) % 2)
    (folder / "taken.krein").write_text("taken")
