"""The golden command lines, as scenarios that share a folder of input files."""

import contextlib
import csv
import importlib
import io
import json
import os
import pickle
import pkgutil
import shlex
import shutil
import sys
import tempfile
from fnmatch import fnmatch
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from tests.golden.files import write_inputs
from tests.golden.fits import record_attributes

LABELS = "--labels kinds.csv"
PREDICT = "predict m.krein {} --proba -o p.csv --json"
METHODS = "--methods 'clip + KLR,SVC clip' --folds 2 --jobs 1 --json"


def fit_and_predict(train, new, *more):
    """Return commands that fit, predict with and without probabilities, and more."""
    return [f"fit {train} -o m.krein --json", PREDICT.format(new), *more]


SCENARIOS: dict[str, list[str]] = {
    # Tables
    "csv": fit_and_predict(
        "t.csv --cv 3",
        "new.csv",
        "predict m.krein labeled.csv --json",
        "predict m.krein shuffled.csv -o p.tsv",
        "predict m.krein new.parquet -o p.csv.gz --json",
        "predict m.krein new.csv -o p.parquet --json",
        "predict m.krein new.csv -o p.csv",
        "predict m.krein new.csv -o p.csv --force --safe-csv",
        "predict m.krein three.csv",
        "predict m.krein nothing.csv",
    ),
    "csv-gz": fit_and_predict("t.csv.gz --lam 0.01", "new.csv"),
    "tsv": fit_and_predict("t.tsv --lam 0.01 --norm krein", "new.csv"),
    "parquet": fit_and_predict("t.parquet --kernel rbf --cv 3", "new.parquet"),
    "semicolon": fit_and_predict(
        "semicolon.csv --sep ';' --decimal , --lam 0.1",
        "new-semicolon.csv --sep ';' --decimal ,",
    ),
    "bare": fit_and_predict(
        "bare.csv --no-header --lam 0.1", "new-bare.csv --no-header"
    ),
    "target": fit_and_predict("first.csv --target kind --lam 0.1", "labeled.csv"),
    "target-position": fit_and_predict("first.csv --target 1 --lam 0.1", "labeled.csv"),
    "svm": fit_and_predict("t.svm --lam 0.01", "new.svm"),
    "svm-gz": fit_and_predict("t.svm.gz --kernel laplacian --cv 3", "new.svm"),
    "libsvm": ["fit t.libsvm --lam 0.1 -o m.krein --json"],
    "svmlight": ["fit t.svmlight --lam 0.1 -o m.krein --json"],
    "three": fit_and_predict("three.csv --cv 3 --norm euclidean", "new.csv"),
    "mixed": fit_and_predict(
        "mixed.csv --target kind --id visit --drop patient --lam 0.1 "
        "--impute --one-hot",
        "mixed.csv",
        "fit mixed.csv --target kind --lam 0.1 -o n.krein",
        "fit mixed.csv --target kind --one-hot --lam 0.1 -o n.krein",
    ),
    "groups": fit_and_predict(
        "complete.csv --target kind --id visit --group patient --drop color --cv 3",
        "complete.csv",
    ),
    **{
        f"scale-{scale}": fit_and_predict(f"t.csv --scale {scale} --lam 0.1", "new.csv")
        for scale in ("minmax", "standard", "robust", "none")
    },
    "param": fit_and_predict("t.csv --kernel tl1 --param ratio=0.4 --cv 3", "new.csv"),
    "text-output": ["fit t.csv --lam 0.1 -o m.krein", "predict m.krein new.csv"],
    # Landmarks
    "landmarks": fit_and_predict("t.csv --landmarks 12 --lam 0.001", "new.csv"),
    "landmarks-search": fit_and_predict("t.csv --landmarks 12 --kernel rbf", "new.csv"),
    "landmarks-folder": fit_and_predict(
        "parts --target kind --landmarks 20 --memory 20KB --lam 0.01", "parts"
    ),
    "landmarks-mixed": fit_and_predict(
        "mixed.csv --target kind --id visit --drop patient --impute --one-hot "
        "--landmarks 10 --lam 0.1",
        "mixed.csv",
    ),
    "landmarks-distance": fit_and_predict(
        "D.npz --distance --landmarks 10", "new-D.npz"
    ),
    "landmarks-svm": fit_and_predict("t.svm --landmarks 9 --lam 0.01", "new.svm"),
    # Matrices and pairs
    "gram": fit_and_predict("K.npz --cv 3", "new-K.npz"),
    "gram-krein": fit_and_predict("K.npz --lam 0.01 --norm krein", "new-K.npz"),
    "npy": fit_and_predict("K.npy --target y.npy --lam 0.01", "new-K.npz"),
    "condensed": fit_and_predict(
        "condensed.npy --format condensed --distance --target y.npy --lam 0.1",
        "new-D.npz",
    ),
    "distance": fit_and_predict("D.npz --distance --cv 3", "new-D.npz --distance"),
    **{
        f"form-{form}": fit_and_predict(
            f"D.npz --distance --form {form} --lam 0.1", "new-D.npz"
        )
        for form in ("exponential", "gaussian", "negative", "centered", "truncated")
    },
    **{
        f"symmetrize-{how}": [
            f"fit skew.npz --distance --symmetrize {how} --lam 0.1 -o m.krein --json"
        ]
        for how in ("mean", "max", "min")
    },
    "similarity": fit_and_predict("counts.npz --similarity --lam 1", "counts.npz"),
    "square": fit_and_predict(
        f"square.csv --distance {LABELS} --cv 3",
        "new-square.csv",
        "predict m.krein new-pairs.csv --format pairs -o q.csv --json",
        "predict m.krein all.phylip -o r.csv --json",
    ),
    "about": [
        "fit square.csv --distance --labels about.tsv --target kind --lam 0.1 "
        "-o m.krein --json"
    ],
    "pairs": fit_and_predict(
        f"pairs.csv --format pairs --distance {LABELS} --lam 0.1", "new-pairs.csv"
    ),
    "phylip": fit_and_predict(f"d.phylip --distance {LABELS} --lam 0.1", "all.phylip"),
    "phy": [f"fit d.phy --distance {LABELS} --lam 0.1 -o m.krein --json"],
    "blast": fit_and_predict(
        f"hits.m8 --missing 0 --symmetrize max --repeated max {LABELS} --cv 3",
        "new-hits.m8",
        f"fit hits.m8 {LABELS} -o n.krein",
        f"fit hits.m8 --missing 0 --missing-self 90 {LABELS} --lam 0.1 -o n.krein",
    ),
    # Series, sequences, graphs
    "ts": fit_and_predict("old.ts --cv 3", "new.ts"),
    "ts-wide": fit_and_predict("old-wide.ts --kernel dtw --lam 0.1", "new-wide.ts"),
    "ucr": fit_and_predict("old.tsv --kernel dtw --lam 0.1", "new.tsv"),
    "ucr-said": fit_and_predict("old.txt --format ucr --lam 0.1", "new.txt"),
    "ts-msm": fit_and_predict(
        "old.ts --kernel msm --form gaussian --lam 0.1", "new.ts"
    ),
    "fasta": fit_and_predict("old.fasta --cv 3", "new.fasta"),
    "fa-bar": fit_and_predict("old.fa --target bar --lam 0.1", "new.fa"),
    "faa-labels": fit_and_predict(
        "old-bare.faa --labels old-kinds.tsv --kernel needleman_wunsch --lam 0.1",
        "new-bare.faa",
    ),
    "fasta-levenshtein": fit_and_predict(
        "old.fasta --kernel levenshtein --lam 0.1", "new.fasta"
    ),
    "graphs": fit_and_predict("OLD --cv 3", "NEW"),
    "graphs-rounds": fit_and_predict("OLD --param rounds=2 --lam 0.1", "NEW"),
    # Inspect
    **{
        f"inspect-{name}": [f"inspect {words} --permutations 9 --json"]
        for name, words in {
            "csv": "t.csv",
            "kernel": "t.csv --kernel rbf --param sigma=0.5 --seed 3",
            "three": "three.csv --scale none",
            "svm": "t.svm",
            "gram": "K.npz -o page.html",
            "distance": "D.npz --distance --form negative",
            "skew": "skew.npz --distance --symmetrize mean",
            "square": f"square.csv --distance {LABELS}",
            "unlabeled": "square.csv --distance",
            "blast": f"hits.m8 --missing 0 --symmetrize max {LABELS}",
            "phylip": f"d.phylip --distance {LABELS}",
            "ts": "old.ts",
            "ucr": "old.tsv --kernel dtw",
            "fasta": "old.fasta",
            "graphs": "OLD",
        }.items()
    },
    "inspect-text": ["inspect K.npz --permutations 9"],
    # Compare; each starts a process of its own, hence few of them
    "compare": [
        f"compare t.csv --kernels tl1 {METHODS}",
        f"compare t.csv --kernels tl1 {METHODS}",
        f"compare t.csv --kernels tl1 --seed 1 {METHODS}",
        f"compare t.csv --kernels tl1 --seed 1 --force --repeats 2 {METHODS}",
        "compare t.csv --methods SVM",
    ],
    "compare-gram": [f"compare K.npz --out found {METHODS}"],
    "compare-distance": [f"compare square.csv --distance {LABELS} {METHODS}"],
    "compare-fasta": [f"compare old.fasta {METHODS}"],
    # Others
    "demo": ["demo --out here --json"],
    "info": ["info --json", "info"],
    "data": [
        "data list --data . --json",
        "data check --data . --json",
        "data fetch moons --data .",
    ],
    "reproduce": [
        "reproduce table9 --data .",
        "reproduce table3 --data . --out out",
        "reproduce fig1 --data . --out out",
        "reproduce table1 --runs 1 --dataset '2 x 2' --jobs 1 --out out --json",
    ],
    "bench": ["bench moons", "bench machine --quick"],
    "help": [
        "",
        "--help",
        "--version",
        *(
            f"{name} --help"
            for name in ("demo", "inspect", "fit", "predict", "compare", "info")
        ),
    ],
    "help-paper": ["reproduce --help", "data --help", "bench --help"],
    # Bad calls
    "bad-calls": [
        "nonsense",
        "demo --fast",
        "fit",
        "fit t.csv",
        "fit nothing.csv -o m.krein",
        "fit t.csv -o taken.krein",
        "fit t.csv --target z -o m.krein",
        "fit t.csv --kernel cosine -o m.krein",
        "fit t.csv --kernel tl1 --param width=1 --lam 0.1 -o m.krein",
        "fit t.csv --param ratio=0.5 -o m.krein",
        "fit t.csv --lam 0.1 --cv 3 -o m.krein",
        "fit t.csv --lam -1 -o m.krein",
        "fit t.csv --memory 1GB -o m.krein",
        "fit t.csv --form negative -o m.krein",
        "fit t.csv --distance -o m.krein",
        "fit t.csv --drop z -o m.krein",
        "fit D.npz -o m.krein",
        "fit D.npz --distance --similarity -o m.krein",
        "fit skew.npz --distance -o m.krein",
        "fit square.csv --distance -o m.krein",
        "fit K.npz --kernel tl1 -o m.krein",
        "predict broken.krein new.csv",
        "inspect nothing.npz",
        "compare t.csv --kernels cosine",
    ],
    "bad-files": [
        f"fit {name} --lam 0.1 -o m.krein"
        for name in (
            *("word.csv", "ragged.csv", "gap.csv", "infinite.csv", "twice.csv"),
            *("unlabeled.csv", "empty.csv", "header.csv", "single.csv", "cut.csv.gz"),
            *("broken.svm", "broken.parquet", "sheet.xlsx", "nothing.npz", "wide.npz"),
        )
    ],
}
VOLATILE = ("*seconds*", "*_s", "bytes", "ver", "versions")
VOLATILE += ("sentences", "command", "title")
"""Patterns of JSON keys and csv columns with times, sizes, versions or wording."""


def list_commands() -> list[str]:
    """Return the names of all cases, one for each command line."""
    return [
        f"command/{name}/{number}"
        for name, lines in SCENARIOS.items()
        for number in range(len(lines))
    ]


def run_scenarios(names: list[str], report) -> dict[str, dict[str, Any]]:
    """Run scenarios, each in a folder of its own and each command in a fork."""
    import_everything()
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as top:
        inputs = Path(top, "inputs")
        inputs.mkdir()
        write_inputs(inputs)
        for name in names:
            report(f"command/{name}")
            folder = Path(top, "run")
            shutil.copytree(inputs, folder)
            for number, line in enumerate(SCENARIOS[name]):
                result = run_forked(shlex.split(line), folder, Path(top, "result"))
                found[f"command/{name}/{number}"] = result
            shutil.rmtree(folder)
    return found


def import_everything():
    """Import all modules of the package and its libraries once, before the forks."""
    import kreinlearn

    for module in pkgutil.walk_packages(kreinlearn.__path__, "kreinlearn."):
        if "__main__" not in module.name:
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    for name in ("matplotlib.figure", "pandas", "pyarrow.dataset", "skops.io", "ot"):
        importlib.import_module(name)


def load_command():
    """Return the function behind ``krein``."""
    (entry,) = (
        each for each in distribution("kreinlearn").entry_points if each.name == "krein"
    )
    return entry.load()


def run_forked(words: list[str], folder: Path, result: Path) -> dict[str, Any]:
    """Run a command in a child process; return what it printed and wrote."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        found = pickle.loads(result.read_bytes()) if result.exists() else {}
        result.unlink(missing_ok=True)
        return found or {"exit code": "crashed"}
    try:
        os.chdir(folder)
        result.write_bytes(pickle.dumps(run_command(words)))
    finally:
        os._exit(0)


def run_command(words: list[str]) -> dict[str, Any]:
    """Run a command in the current folder; return exit code, JSON and files."""
    before = stat_files()
    sys.argv = ["krein", *words]
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        code: Any = 0
        try:
            load_command()()
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException as error:
            code = f"{type(error).__name__}: {error}"
    after = stat_files()
    written = sorted(name for name in after if after[name] != before.get(name))
    found: dict[str, Any] = {"exit code": code, "files": written}
    if code == 2:
        found["one line on stderr"] = len(err.getvalue().splitlines()) == 1
    if "--json" in words and code == 0:
        lines = out.getvalue().splitlines()
        found["json:"] = [drop_volatile(json.loads(line)) for line in lines]
    for name in written:
        found |= read_output(name)
    return found


def stat_files() -> dict[str, tuple[int, int]]:
    paths = [path for path in Path().rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino) for path in paths}


def read_output(name: str) -> dict[str, Any]:
    """Return the content of a file that a command wrote, by field."""
    if name.endswith(".krein"):
        import kreinlearn

        model = kreinlearn.load(name)
        return {
            f"{name}: {key}": each for key, each in record_attributes(model).items()
        }
    if name.endswith((".csv", ".tsv")):
        mark = "\t" if name.endswith(".tsv") else ","
        rows = csv.DictReader(Path(name).read_text().splitlines(), delimiter=mark)
        return {f"{name}:": [drop_volatile(parse_cells(row)) for row in rows]}
    if name.endswith((".json", ".jsonl")):
        lines = Path(name).read_text().splitlines()
        return {f"{name}:": [drop_volatile(json.loads(line)) for line in lines]}
    if name.endswith(".parquet"):
        import pandas as pd

        return {f"{name}:": pd.read_parquet(name).to_dict("list")}
    return {}


def parse_cells(row: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, cell in row.items():
        try:
            found[key] = float(cell)
        except ValueError:
            found[key] = cell
    return found


def drop_volatile(value: Any) -> Any:
    """Return parsed JSON without keys whose values vary from run to run."""
    if isinstance(value, dict):
        names = [k for k in value if not any(fnmatch(k, each) for each in VOLATILE)]
        return {name: drop_volatile(value[name]) for name in names}
    if isinstance(value, list):
        return [drop_volatile(each) for each in value]
    return value
