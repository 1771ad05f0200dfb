"""A catalogue of bad calls: one line each, and nothing is written.

Every call ends with exit code 2 and one line on stderr that names what is wrong; the
folder it ran in holds the same files, byte for byte, as before.
"""

import contextlib
import io
import json
import os
import pickle
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kreinlearn import KreinSVC, save
from kreinlearn.app import cli
from tests.test_cli import run
from tests.test_persistence import rewritten

try:
    import resource
except ImportError:  # not on Windows
    resource = None

TOO_LARGE = 1000
"""Bytes that a file may have on a full disk."""


class Trap:
    """Writes a file if it is ever unpickled."""

    def __reduce__(self):
        return (os.mkdir, ("code-was-run",))


def rows(n, cells):
    """Return n lines of a table, each cell made from the number of the line."""
    return "".join(",".join(str(cell(i)) for cell in cells) + "\n" for i in range(n))


def A(i):
    return i * i % 7 / 4


def B(i):
    return i * 5 % 11


def KIND(i):
    return "yes" if i % 7 < 3 else "no"


GOOD = "a,b,kind\n" + rows(24, [A, B, KIND])
LINES = GOOD.splitlines(keepends=True)


def with_line(number, line):
    """Return the good table with another line, counted from 1."""
    return "".join([*LINES[: number - 1], line + "\n", *LINES[number:]])


TABLES = {
    "good.csv": GOOD,
    "empty.csv": "",
    "one.csv": "a\n1\n2\n",
    "nan.csv": with_line(6, "1,,yes"),
    "word.csv": with_line(17, "1,abc,yes"),
    "color.csv": "a,color,kind\n" + rows(24, [A, lambda i: "rgb"[i % 3], KIND]),
    "single.csv": "a,b,kind\n" + rows(24, [A, B, lambda i: "yes"]),
    "hollow.csv": "a,b,kind\n" + rows(24, [A, lambda i: "", KIND]),
    "rare.csv": with_line(9, "1,2,rare"),
    "two.csv": "a,b,kind\n1,2,yes\n3,5,no\n",
    "only-a.csv": "a\n1\n2\n",
    "bare.csv": rows(5, [A] * 4),
    "words.csv": "a,b\nlow,1\nhigh,2\n",
    "holes.csv": "a,b\n1,2\n1,\n",
    "broken.svm": "1 1:0.5\n0 1:x\n",
    "text.krein": "this is no model\n",
    "taken.krein": "something else",
    "taken.csv": "something else",
}
K = np.array([[2.0, 1.0], [1.0, -2.0]]).repeat(6, 0).repeat(6, 1)
Y = np.arange(12) // 3 % 2
GRAMS = {
    "gram.npz": {"K": K, "y": Y},
    "wide.npz": {"K": K[:6], "y": Y[:6]},
    "skew.npz": {"K": K + np.triu(K), "y": Y},
    "objects.npz": {"K": K, "y": np.array([Trap()] * 12, dtype=object)},
    "bare.npz": {"K": K},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with good and bad files of all kinds."""
    folder = tmp_path_factory.mktemp("calls")
    for name, content in TABLES.items():
        raw = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(raw)
    for name, arrays in GRAMS.items():
        np.savez(folder / name, **arrays)
    np.save(folder / "alone.npy", K)
    whole = (folder / "gram.npz").read_bytes()
    (folder / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (folder / "a-folder").mkdir()
    pd.DataFrame({"a": [1.0]}).to_parquet(folder / "good.parquet")
    with contextlib.redirect_stdout(io.StringIO()):
        for train, out in (("good.csv", "good.krein"), ("gram.npz", "gram.krein")):
            call = ["fit", str(folder / train), "-o", str(folder / out), "--lam", "0.1"]
            with pytest.raises(SystemExit, match="0"):
                cli.main(call)
    X = pd.read_csv(folder / "good.csv")
    save(KreinSVC().fit(X[["a", "b"]] / 11, X["kind"]), folder / "svc.krein")
    bad_models(folder)
    return folder


def bad_models(folder):
    """Write files that look like models, more or less."""
    good = folder / "good.krein"
    whole = good.read_bytes()
    (folder / "cut.krein").write_bytes(whole[: len(whole) // 2])
    (folder / "pickle.krein").write_bytes(pickle.dumps(Trap()))
    stamp = "kreinlearn.json"
    for name in ("future.krein", "unsigned.krein", "changed.krein"):
        with zipfile.ZipFile(good) as old, zipfile.ZipFile(folder / name, "w") as new:
            for member in old.namelist():
                content = old.read(member)
                if member == stamp and name == "unsigned.krein":
                    continue
                if member == stamp and name == "future.krein":
                    content = json.dumps(json.loads(content) | {"format": 99}).encode()
                if member == "schema.json" and name == "changed.krein":
                    content = content.replace(b"MinMaxScaler", b"MaxMinScaler")
                new.writestr(member, content)
    with zipfile.ZipFile(good) as old:
        schema = old.read("schema.json").replace(b"MinMaxScaler", b"MaxMinScaler")
    rewritten(good, folder / "evil.krein", {"schema.json": schema})


FIT = "fit {} -o new.krein"
LAM = "fit good.csv --lam 0.1 -o "
# What the call is: the call, and words of the line that it must get.
CALLS = {
    # files
    "no such file": (FIT.format("none.csv"), ["no file none.csv"]),
    "a folder": (FIT.format("a-folder"), ["a-folder is a folder"]),
    "empty": (FIT.format("empty.csv"), ["empty.csv is empty"]),
    "missing value": (FIT.format("nan.csv"), ["line 6, column 'b'", "--impute"]),
    "word in numbers": (FIT.format("word.csv"), ["'abc' in line 17, column 'b'"]),
    "categories": (FIT.format("color.csv"), ["'color'", "'r'", "--one-hot"]),
    "empty column": (FIT.format("hollow.csv --impute"), ["'b' has no value"]),
    "target of libsvm": (
        FIT.format("broken.svm --target 1"),
        ["labels first", "leave out --target"],
    ),
    # Gram matrices
    "asymmetric": (
        FIT.format("skew.npz") + " --norm hilbert",
        ["symmetric", "symmetrize='mean'", "'euclidean'"],
    ),
    "pickled labels": (FIT.format("objects.npz"), ["'y'", "could run code"]),
    "no labels": (FIT.format("bare.npz"), ["no labels named 'y'", "--target"]),
    "kernel of matrix": (FIT.format("gram.npz --kernel rbf"), ["a matrix", "--kernel"]),
    "npy, no such labels": (FIT.format("alone.npy --target y.txt"), ["file y.txt"]),
    # settings
    "no such column": (FIT.format("good.csv --target z"), ["'z'", "'a', 'b', 'kind'"]),
    "no such kernel": (FIT.format("good.csv --kernel moon"), ["'moon'", "'tl1'"]),
    "SPD kernel": (FIT.format("good.csv --kernel spd_stein"), ["'spd_stein'"]),
    "parameter": (
        FIT.format("good.csv --kernel rbf --param tau=1"),
        ["'rbf' takes 'sigma'", "got 'tau'"],
    ),
    "bad parameter": (
        FIT.format("good.csv --kernel rbf --param sigma=-1"),
        ["'sigma' must be a positive number", "-1"],
    ),
    "no =": (FIT.format("good.csv --kernel rbf --param sigma"), ["NAME=", "'sigma'"]),
    "= word": (FIT.format("good.csv --kernel rbf --param sigma=x"), ["'sigma=x'"]),
    "param alone": (FIT.format("good.csv --param sigma=1"), ["needs --kernel"]),
    "lam 0": (FIT.format("good.csv --lam 0"), ["'lam'", "positive", "0.0"]),
    "lam negative": (FIT.format("good.csv --lam -2"), ["'lam'", "positive", "-2.0"]),
    "lam NaN": (FIT.format("good.csv --lam nan"), ["'lam'", "positive", "nan"]),
    "lam word": (FIT.format("good.csv --lam small"), ["--lam", "'small'"]),
    "lam and cv": (FIT.format("good.csv --lam 1 --cv 5"), ["leave out --cv"]),
    "cv 1": (FIT.format("good.csv --cv 1"), ["--cv", "x>=2"]),
    "cv 20": (FIT.format("good.csv --cv 20"), ["20 folds", "'no'", "--cv 12"]),
    "rare class": (FIT.format("rare.csv"), ["'rare' has 1 sample;", "remove it"]),
    "no such norm": (FIT.format("good.csv --norm l2"), ["'l2'", "'hilbert'"]),
    "no TRAIN": ("fit -o new.krein", ["TRAIN"]),
    "two samples": (FIT.format("two.csv"), ["two.csv holds two samples", "too few"]),
    "unknown option": (FIT.format("good.csv --fast"), ["--fast"]),
    # output
    "output exists": (LAM + "taken.krein", ["taken.krein exists", "--force"]),
    "output is a folder": (LAM + "a-folder", ["a-folder is a folder"]),
    "no such folder": (LAM + "none/new.krein", ["folder none does not exist"]),
    "below a file": (LAM + "good.csv/new.krein", ["good.csv is not a folder"]),
    "unwritable": (LAM + "/proc/new.krein", ["/proc/new.krein could not be written"]),
    # models
    "no such model": ("predict none.krein good.csv", ["no file none.krein"]),
    "model is a folder": ("predict a-folder good.csv", ["a-folder is a folder"]),
    "text as model": ("predict text.krein good.csv", ["text.krein is not a model"]),
    "table as model": ("predict good.csv good.csv", ["good.csv is not a model"]),
    "cut model": ("predict cut.krein good.csv", ["cut.krein", "damaged"]),
    "model of tomorrow": ("predict future.krein good.csv", ["newer", "upgrade"]),
    "pickle": ("predict pickle.krein good.csv", ["pickle.krein is not a model"]),
    "no stamp": ("predict unsigned.krein good.csv", ["unsigned.krein is not a model"]),
    "changed model": ("predict changed.krein good.csv", ["changed.krein", "digest"]),
    "unknown type": ("predict evil.krein good.csv", ["evil.krein", "MaxMinScaler"]),
    "no probabilities": (
        "predict svc.krein good.csv --proba",
        ["KreinSVC", "no predi"],
    ),
    # data for a model
    "no such data": ("predict good.krein none.csv", ["no file none.csv"]),
    "empty data": ("predict good.krein empty.csv", ["empty.csv is empty"]),
    "missing column": ("predict good.krein only-a.csv", ["lacks column 'b'"]),
    "too many columns": (
        "predict good.krein bare.csv",
        ["2 columns or, with", "got 4"],
    ),
    "word in data": ("predict good.krein words.csv", ["'low' in line 2, column 'a'"]),
    "hole in data": (
        "predict good.krein holes.csv",
        ["line 3, column 'b'", "--impute"],
    ),
    "matrix for table": ("predict good.krein gram.npz", ["a table with 2 features"]),
    "table for matrix": (
        "predict gram.krein good.csv",
        ["a column for each training sample", "npz"],
    ),
    "matrix too wide": ("predict gram.krein alone.npy -o x.xlsx", [".csv", "'x.xlsx'"]),
    "narrow matrix": ("predict good.krein wide.npz", ["table"]),
    "result exists": (
        "predict good.krein good.csv -o taken.csv",
        ["exists", "--force"],
    ),
    "no DATA": ("predict good.krein", ["DATA"]),
    # other commands
    "unknown command": ("moon", ["'moon'"]),
    "demo, option": ("demo --fast", ["--fast"]),
    "demo into a file": ("demo --out taken.csv", ["taken.csv"]),
    "former data": ("data fetch moons", ["python -m reproduction data"]),
    "former reproduce": ("reproduce table3", ["python -m reproduction"]),
    "former bench": ("bench --quick", ["python -m benchmarks", "checkout"]),
    "info, option": ("info --all", ["--all"]),
    # compare
    "compare, no file": ("compare none.csv", ["no file none.csv"]),
    "compare, no DATA": ("compare", ["DATA"]),
    "compare, method": ("compare good.csv --methods nonsense", ["'nonsense'"]),
    "compare, kernel": ("compare good.csv --kernels moon", ["'moon'"]),
    "compare, one fold": ("compare good.csv --folds 1", ["1"]),
    "compare, words": ("compare color.csv", ["'color'", "--one-hot"]),
    "compare, holes": ("compare nan.csv", ["line 6, column 'b'", "--impute"]),
    "compare, jobs": ("compare good.csv --jobs 0", ["--jobs"]),
    "compare, one class": ("compare single.csv", ["one class only"]),
    "compare, into a file": ("compare good.csv --out taken.csv", ["taken.csv"]),
    # inspect
    "inspect, no file": ("inspect none.csv", ["no file none.csv"]),
    "inspect, no DATA": ("inspect", ["DATA"]),
    "inspect, not square": ("inspect wide.npz", ["square", "(6, 12)"]),
    "inspect, kernel": ("inspect good.csv --kernel moon", ["'moon'"]),
    "inspect, parameter": (
        "inspect good.csv --target kind --kernel rbf --param tau=1",
        ["got 'tau'"],
    ),
    "inspect, words": ("inspect color.csv --target kind", ["'color'", "--one-hot"]),
    "inspect, holes": ("inspect nan.csv --target kind", ["line 6, column 'b'"]),
    "inspect, target": ("inspect good.csv --target z", ["'z'"]),
    "inspect, page": ("inspect gram.npz -o taken.csv", ["taken.csv exists"]),
    "inspect, permutations": ("inspect gram.npz --permutations -1", ["permutations"]),
    "inspect, damaged": ("inspect cut.npz", ["cut.npz is damaged"]),
}

SLOW = pytest.mark.slow


def contents(folder):
    """Return names and bytes of all that is in a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def check(said, before, folder, code, out, err):
    assert code == 2, err
    assert out == "" and err.startswith("krein: ") and err.endswith("\n")
    assert len(err.splitlines()) == 1 and "Traceback" not in err
    assert contents(folder) == before
    for word in said:
        assert word in err


@pytest.mark.parametrize("what", CALLS)
def test_bad_calls(capsys, folder, monkeypatch, what):
    call, said = CALLS[what]
    if "/proc/" in call and not Path("/proc/self").exists():
        pytest.skip("needs a folder without write access")
    monkeypatch.chdir(folder)
    before = contents(folder)
    check(said, before, folder, *run(capsys, *shlex.split(call)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "what",
    ["pickle", *(pytest.param(w, marks=SLOW) for w in ("word in numbers", "lam 0"))],
)
def test_bad_calls_from_a_shell(folder, what):
    call, said = CALLS[what]
    before = contents(folder)
    done = subprocess.run(
        [sys.executable, "-m", "kreinlearn", *shlex.split(call)],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    check(said, before, folder, done.returncode, done.stdout, done.stderr)


def test_there_are_many_of_them():
    commands = {call.split()[0] for call, _ in CALLS.values()}
    assert len(CALLS) >= 60
    assert {"fit", "predict", "compare", "demo", "inspect", "info"} <= commands


@pytest.mark.skipif(resource is None, reason="needs a limit of the size of files")
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (LAM + "new.krein", "new.krein"),
        (LAM + "taken.krein --force", "taken.krein"),
        ("predict good.krein good.csv --proba -o new.csv", "new.csv"),
    ],
)
def test_a_full_disk_leaves_what_was_there(capsys, folder, monkeypatch, call, name):
    monkeypatch.chdir(folder)
    # What is compiled for the first time is written as well, and to another place.
    assert run(capsys, *shlex.split(call.replace(name, f"warm-{name}")))[0] == 0
    (folder / f"warm-{name}").unlink()
    before = contents(folder)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (TOO_LARGE, hard))
    try:
        code, out, err = run(capsys, *shlex.split(call))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    last = err.splitlines()[-1]
    assert code == 2 and out == "" and contents(folder) == before
    assert last == f"krein: {name} could not be written: File too large."


def test_without_pyarrow(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = contents(folder)
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    said = ["pyarrow", "pip install 'kreinlearn[parquet]'"]
    call = shlex.split(FIT.format("good.parquet"))
    check(said, before, folder, *run(capsys, *call))
