"""Files that are fine, a few of each kind, and how they are read."""

import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kreinlearn import io as files
from kreinlearn import load
from kreinlearn.app.runs import Store, read_records
from kreinlearn.io import ReadOptions, TrainingRecord, open_data, table_blocks
from kreinlearn.io.dataset import ModelInput
from kreinlearn.kernels._cache import MeasureCache
from kreinlearn.landmarks.checkpoint import Checkpoint
from kreinlearn.landmarks.newton import SolverState

TABLE = "width,kind,size,y\n1.5,red,3,a\n2,blue,4,b\n-1e3,red,,a\n0.25,red,7,b\n"
PAIRS = "p,q,1.5\nq,p,1.5\np,p,3\nq,q,3\np,r,0.5\nr,r,2\n"
MATRIX = ",p,q,r\np,2,1,0\nq,1,2,0.5\nr,0,0.5,2\n"
HIT = "p\tq\t98.5\t90\t1\t0\t1\t90\t1\t90\t1e-9\t150\n"
PHYLIP = "3\np 0 1 2\nq 1 0 3\nr 2 3 0\n"
TS = "@problemName t\n@dimensions 2\n@classLabel true a b\n@data\n1,2:3,4:a\n5:6:b\n"
FASTA = ">p in\nMKVLA\nACDE*\n>q out\nmr-t\n>r in\nMM\n"
GRAPHS = {
    "DS_A.txt": b"1, 2\n2, 1\n2, 3\n4, 5\n",
    "DS_graph_indicator.txt": b"1\n1\n1\n2\n2\n",
    "DS_graph_labels.txt": b"-1\n1\n",
    "DS_node_labels.txt": b"0\n1\n0\n2\n1\n",
    "DS_node_attributes.txt": b"0.5, 1\n1, 2\n2, 2\n0, 1e-3\n1, 1\n",
}
RECORDS = "".join(
    json.dumps({"key": f"a|{i}", "exp": "a", "status": "stalled", "acc": i / 7}) + "\n"
    for i in range(5)
)
VALUES = np.add.outer(np.arange(6.0), np.arange(6.0))


@dataclass(frozen=True)
class Reader:
    """How files of a kind are read, and some that are fine: names and contents."""

    read: Callable[[Path], object]
    seeds: Callable[[], list[dict[str, bytes]]]


def _texts(*pairs: tuple[str, str]) -> Callable[[], list[dict[str, bytes]]]:
    found = []
    for name, text in pairs:
        raw = text.encode()
        content = gzip.compress(raw) if name.endswith(".gz") else raw
        found.append({name: content})
    return lambda: found


def _of_table(path: Path) -> None:
    files.read(path)
    for _ in table_blocks(path):
        pass


def _like(path: Path) -> None:
    training = TrainingRecord(["width", "kind", "size"], True, "y", 3, {"kind"})
    open_data(path, ReadOptions(), model=ModelInput(training, "rows"))


def _table(path: Path) -> None:
    """Read as for training, in blocks, and for prediction; all have to be polite."""
    outcomes = []
    for read in (_of_table, _like):
        try:
            read(path)
        except (ValueError, OSError, MemoryError) as error:
            outcomes.append(error)
    if outcomes:
        # The worst of them is scored: one that does not name the file.
        raise min(outcomes, key=lambda error: str(path) in str(error))


def _saved(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def _npz() -> list[dict[str, bytes]]:
    K = np.array([[2.0, 1, 0], [1, 2, 0.5], [0, 0.5, 2]])
    ys = (np.array(["a", "b", "a"]), np.array([b"u", b"v", b"u"]), np.array([0, 1, 0]))
    return [{"g.npz": _saved(K=K.astype(kind), y=y)} for kind in "df" for y in ys]


def _npy() -> list[dict[str, bytes]]:
    found = []
    for kind in ("<f8", ">f4", "<i8", "?"):
        stream = io.BytesIO()
        np.save(stream, np.eye(4).astype(kind))
        found.append({"g.npy": stream.getvalue()})
    return found


def _parquet() -> list[dict[str, bytes]]:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "width": [1.5, np.nan, -2.0, 3.0],
            "kind": ["red", None, "blue", "red"],
            "size": pd.Categorical(["s", "m", "s", "m"]),
            "flag": [True, False, True, None],
            "y": [1, 0, 1, 0],
        }
    )
    found = []
    for compression in (None, "snappy", "gzip"):
        stream = io.BytesIO()
        frame.to_parquet(stream, compression=compression)
        found.append({"t.parquet": stream.getvalue()})
    return found


def _read_pairs(path: Path) -> None:
    is_list = path.suffix == ".m8" or path.name.startswith("list")
    files.read_pairs(
        path,
        "blast" if path.suffix == ".m8" else "pairs" if is_list else "matrix",
        missing=0.0 if is_list else None,
        missing_self=1.0 if is_list else None,
        symmetrize="mean",
    )


def _model() -> list[dict[str, bytes]]:
    # Stored, because skops writes different bytes each time.
    found = Path(__file__).parents[1] / "data" / "models"
    return [{path.name: path.read_bytes()} for path in sorted(found.glob("*.krein"))]


def _read_records(path: Path) -> None:
    read_records(path)
    with Store(path) as store:
        store.append({"key": "new"})
    assert read_records(path)[-1]["key"] == "new"


def _cache() -> list[dict[str, bytes]]:
    return [{"0-6.f8": VALUES.tobytes()}]


def _read_cache(path: Path) -> None:
    """A damaged cache is not an error: a block of another size is computed again."""
    cache, rows = MeasureCache(path.parent, "dtw", 6), slice(0, 6)
    values = cache.read(rows)
    assert values is None or values.shape == VALUES.shape
    cache.write([(rows, VALUES)])
    again = cache.read(rows)
    assert again is not None and (again == VALUES).all()


def _checkpoint() -> list[dict[str, bytes]]:
    state = SolverState.start(np.zeros((4, 1, 1)))
    return [{"c.npz": _saved(key=np.array("k"), **vars(state))}]


def _read_checkpoint(path: Path) -> None:
    Checkpoint(path, "k").read(SolverState.start(np.zeros((4, 1, 1))))


def _alone(path: Path) -> None:
    files.read(path, labels=None)


TABLES = TABLE.replace(",", ";"), TABLE.replace(",", "\t")
LIBSVM = "1 1:0.5 3:2\n-1 2:1 # c\n1 qid:3 1:1\n"
UCR = "1\t0.5\t0.25\n2\t1.5\tNaN\n1\t3\t4\n"
YEARS = "country,2019,2020,y\nA,1,2,a\nB,2,3,b\nA,3,4,a\nB,1,1,b\n"
READERS = {
    "csv": Reader(
        _table,
        _texts(
            ("t.csv", TABLE),
            ("t.csv", TABLES[0]),
            ("t.csv.gz", TABLE),
            ("t.csv", TABLES[1]),
            ("t.csv", YEARS),
        ),
    ),
    "tsv": Reader(_table, _texts(("t.tsv", TABLES[1]), ("t.tsv.gz", TABLES[1]))),
    "libsvm": Reader(_alone, _texts(("t.svm", LIBSVM), ("t.libsvm.gz", LIBSVM))),
    "npz": Reader(_alone, _npz),
    "npy": Reader(_alone, _npy),
    "parquet": Reader(_table, _parquet),
    "fasta": Reader(_alone, _texts(("s.fasta", FASTA), ("s.fa.gz", FASTA))),
    "ts": Reader(_alone, _texts(("s.ts", TS), ("s.ts.gz", TS))),
    "ucr": Reader(files.read_ucr, _texts(("s.tsv", UCR), ("s.csv", YEARS))),
    "phylip": Reader(files.read_pairs, _texts(("m.phy", PHYLIP), ("m.phy.gz", PHYLIP))),
    "pairs": Reader(
        _read_pairs,
        _texts(("list.csv", PAIRS), ("list.tsv.gz", PAIRS.replace(",", "\t"))),
    ),
    "blast": Reader(_read_pairs, _texts(("h.m8", HIT + HIT.replace("p\tq", "q\tp")))),
    "matrix": Reader(_read_pairs, _texts(("m.csv", MATRIX), ("m.csv", MATRIX[1:]))),
    "tu": Reader(_alone, lambda: [GRAPHS]),
    "model": Reader(load, _model),
    "records": Reader(_read_records, _texts(("r.jsonl", RECORDS))),
    "cache": Reader(_read_cache, _cache),
    "checkpoint": Reader(_read_checkpoint, _checkpoint),
}
