"""Untrusted input: it runs no code and writes to no other place.

Models are in test_persistence*.py, what else files may hold in files/test_hostile.py.
"""

import ast
import io
import os
import pickle
import stat
import threading
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import kreinlearn
from kreinlearn import (
    KreinLogisticRegression,
    LandmarkLogisticRegression,
    _files,
    _numba_cache,
)
from kreinlearn import io as files
from kreinlearn.app.inspection.page import inspection_page
from kreinlearn.io import table_blocks
from kreinlearn.kernels._cache import MeasureCache
from kreinlearn.landmarks.checkpoint import Checkpoint
from kreinlearn.landmarks.newton import SolverState
from tests.io.test_hostile import archive, array_bytes, make_header, refused
from tests.report import made
from tests.test_cli import run
from tests.test_persistence import rewritten

SOURCES = sorted(Path(kreinlearn.__file__).parent.rglob("*.py"))
SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(1)>"


class Bomb:
    """Touches a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


@pytest.fixture
def bombs(tmp_path):
    """Return bytes that would touch a file if they were trusted; none may do so."""
    mark = tmp_path / "mark"
    objects = io.BytesIO()
    np.save(objects, np.array([Bomb(mark)] * 3, dtype=object), allow_pickle=True)
    together = io.BytesIO()
    np.savez(together, K=np.eye(3), y=np.array([Bomb(mark)] * 3), key=np.array("k"))
    yield [pickle.dumps(Bomb(mark)), objects.getvalue(), together.getvalue()]
    assert not mark.exists()
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()  # they were live


# -- no code on load -------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["m.krein", "t.npz", "t.npy", "t.parquet", "t.csv", "t.ts", "t.fa", "t.svm"],
)
def test_no_reader_runs_code(tmp_path, bombs, name):
    path = tmp_path / name
    for content in bombs:
        path.write_bytes(content)
        read = kreinlearn.load if name.endswith("krein") else files.read
        refused(read, path)
        if name.endswith(("csv", "parquet")):
            refused(table_blocks, path)


def test_no_checkpoint_runs_code(tmp_path, bombs):
    path = tmp_path / "c.npz"
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    model = LandmarkLogisticRegression(n_landmarks=5, checkpoint=path, random_state=0)
    for content in bombs:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"c\.npz could not be read .*; remove it"):
            model.fit(X, X[:, 0] > 0.5)


def test_no_cached_measure_runs_code(tmp_path, bombs):
    """Files of another size are ignored, and others are read as plain numbers."""
    cache, rows = MeasureCache(tmp_path / "m", "dtw", 3), slice(0, 3)
    values = np.arange(9.0).reshape(3, 3)
    cache.write([(rows, values)])
    for content in [*bombs, bytes(71), bytes(73)]:
        cache.get_path(rows).write_bytes(content)
        assert cache.read(rows) is None
    for content in bombs:
        cache.get_path(rows).write_bytes(content[:72].ljust(72))
        assert cache.read(rows).shape == (3, 3)
    cache.write([(rows, values)])
    np.testing.assert_array_equal(cache.read(rows), values)


def test_types_of_parquet_that_packages_register_are_not_built(tmp_path):
    """Not even asked to build themselves: the type is refused by its name."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    class Evil(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.int64(), "tests.evil")

        def __arrow_ext_serialize__(self):
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage_type, serialized):
            return cls()

        def to_pandas_dtype(self):
            raise AssertionError("code of the type was run")

    path = tmp_path / "t.parquet"
    pa.register_extension_type(Evil())
    try:
        column = pa.ExtensionArray.from_storage(Evil(), pa.array([1, 2, 3]))
        parquet.write_table(pa.table({"a": column, "y": [0, 1, 0]}), path)
        for read in (files.read, table_blocks):
            refused(read, path, "must hold numbers or text", "evil")
    finally:
        pa.unregister_extension_type("tests.evil")


CALLS_OF_STRANGERS = {
    "pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml", "joblib.load",
    "read_pickle", "eval", "exec", "extractall", "mktemp", "system", "popen",
}  # fmt: skip


def names_in(source):
    """Yield every name that a module imports or calls."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module or ""
        elif isinstance(node, ast.Call):
            function = node.func
            yield getattr(function, "attr", getattr(function, "id", ""))
            is_trusting = any(
                word.arg in ("allow_pickle", "shell")
                and getattr(word.value, "value", None) is not False
                for word in node.keywords
            )
            yield "allow_pickle or shell" if is_trusting else ""


def dangers(source):
    return CALLS_OF_STRANGERS.union(["allow_pickle or shell"]) & set(names_in(source))


@pytest.mark.slow
def test_nothing_in_the_package_could_run_what_it_reads():
    found = {p.name: dangers(p.read_text(encoding="utf-8")) for p in SOURCES}
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.parametrize(
    "line",
    ["import pickle", "np.load(f, allow_pickle=True)", "z.extractall()", "eval(x)",
     "from joblib import load", "run(x, shell=True)", "tempfile.mktemp()"],
)  # fmt: skip
def test_the_rule_bites(line):
    assert dangers(line)


# -- archives --------------------------------------------------------------------------


def test_names_of_members_lead_nowhere(tmp_path, capsys, monkeypatch):
    """Members are read, never unpacked, whatever they are called."""
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    X = np.random.default_rng(0).uniform(size=(30, 2))
    model = KreinLogisticRegression().fit(X, X[:, 0] > 0.5)
    kreinlearn.save(model, "m.krein")
    np.savez("g.npz", K=np.eye(3) + 0.5, y=[0, 1, 0])
    for name in ("m.krein", "g.npz"):
        with zipfile.ZipFile(name, "a") as members:
            for escape in ("../escaped", "/tmp/kreinlearn-escaped", "..\\escaped"):
                members.writestr(escape, b"x")
    before = sorted(tmp_path.rglob("*"))
    files.read("g.npz")
    with pytest.raises(ValueError, match="m.krein"):
        kreinlearn.load("m.krein")  # its digest is over all members
    assert sorted(tmp_path.rglob("*")) == before
    assert not Path("/tmp/kreinlearn-escaped").exists()


def test_a_model_that_claims_a_trillion_rows(tmp_path):
    X = np.random.default_rng(0).uniform(size=(30, 2))
    path = tmp_path / "m.krein"
    kreinlearn.save(KreinLogisticRegression().fit(X, X[:, 0] > 0.5), path)
    with zipfile.ZipFile(path) as members:
        arrays = [name for name in members.namelist() if name.endswith(".npy")]
    liar = make_header((10**12, 2), "<f8") + bytes(64)
    other = rewritten(path, tmp_path / "liar.krein", dict.fromkeys(arrays, liar))
    with pytest.raises((ValueError, MemoryError), match=r"liar\.krein"):
        kreinlearn.load(other)


def state_like():
    rng = np.random.default_rng(0)
    fields = SolverState.__dataclass_fields__
    return SolverState(**{name: rng.uniform(size=2) for name in fields})


def test_a_checkpoint_that_expands_or_lies(tmp_path, monkeypatch):
    path = tmp_path / "c.npz"
    key = array_bytes(np.array("k"))
    like = state_like()
    archive(path, key=key, u=make_header((10**12, 2), "<f8") + bytes(64))
    with pytest.raises(ValueError, match=r"c\.npz could not be read .*; remove it"):
        Checkpoint(path, "k").read(like)
    archive(path, key=key, u=make_header((2**18, 2), "<f8") + bytes(2**22))
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 2**22)
    with pytest.raises(
        ValueError, match=r"needs 4,\d+,\d+ bytes .* than a state does\)"
    ):
        Checkpoint(path, "k").read(like)


def test_a_cached_block_of_the_wrong_size_is_not_read(tmp_path, monkeypatch):
    cache, rows = MeasureCache(tmp_path, "dtw", 10**6), slice(0, 64)
    cache.get_path(rows).write_bytes(b"{" * 2**22)
    monkeypatch.setattr(np, "fromfile", lambda *_: pytest.fail("was read"))
    assert cache.read(rows) is None


def test_a_small_parquet_of_very_many_rows(tmp_path, monkeypatch):
    """A column of one value takes hardly any room in a file."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    table = pa.table({"a": np.zeros(10**6), "y": np.zeros(10**6, int)})
    parquet.write_table(table, path)
    assert path.stat().st_size < 10**5
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 10**6)
    refused(files.read, path, "(1000000, 2)", kind=MemoryError)


# -- files of our own ------------------------------------------------------------------


def test_nobody_can_plant_a_file_where_we_write(tmp_path, monkeypatch):
    """A link with the name of our partial file is not written through."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr(_files, "token_hex", lambda _: "guessed")
    (tmp_path / ".out.csv.guessed.partial").symlink_to(victim)
    with pytest.raises(OSError, match=r"out\.csv could not be written"):
        _files.replace(tmp_path / "out.csv", b"theirs")
    assert victim.read_text() == "mine"


def test_partial_files_have_other_names_each_time(tmp_path, monkeypatch):
    seen, opened = [], open

    def spy(path, mode):
        seen.append((Path(path).name, mode))
        return opened(path, mode)

    monkeypatch.setattr(_files, "open", spy, raising=False)
    for _ in range(3):
        _files.replace(tmp_path / "out.csv", b"x")
    assert len({name for name, _ in seen}) == 3
    assert {mode for _, mode in seen} == {"xb"}  # never one that is there


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_folder_of_compiled_code_belongs_to_us(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    user = os.getuid()
    mine = tmp_path / f"kreinlearn-numba-{user}"
    mine.mkdir(mode=0o700)
    assert _numba_cache._make_private_folder() == str(mine)
    monkeypatch.setattr(os, "getuid", lambda: user + 1)  # now it is another's
    mine.rename(tmp_path / f"kreinlearn-numba-{user + 1}")
    other = Path(_numba_cache._make_private_folder())
    assert other.name != f"kreinlearn-numba-{user + 1}" and other.parent == tmp_path
    assert stat.S_IMODE(other.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_processes_that_start_together_share_that_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    begin, found = threading.Barrier(8), []

    def ask():
        begin.wait()
        found.append(_numba_cache._make_private_folder())

    callers = [threading.Thread(target=ask) for _ in range(8)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert found == [str(tmp_path / f"kreinlearn-numba-{os.getuid()}")] * 8


def test_only_one_file_knows_the_shared_temporary_folder():
    sharing = [p.name for p in SOURCES if "gettempdir" in p.read_text(encoding="utf-8")]
    assert sharing == ["_numba_cache.py"]


# -- pages -----------------------------------------------------------------------------


class Elements(HTMLParser):
    """Counts elements, and keeps attributes that would run code."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.handlers, self.addresses = {}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.addresses += [
            value for name, value in attrs if name in ("src", "href") and value
        ]


def check_harmless(text, like):
    """Assert that a page has the elements that run code of a harmless one, no more."""
    ours, theirs = Elements(text), Elements(like)
    for tag in ("script", "img", "iframe", "object", "style", "link"):
        assert ours.tags.get(tag, 0) == theirs.tags.get(tag, 0), tag
    assert ours.handlers == theirs.handlers
    assert "javascript:" not in " ".join(ours.addresses)
    assert SCRIPT not in text and IMAGE not in text


@pytest.mark.parametrize(
    "name",
    [
        SCRIPT,
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (IMAGE, '"><svg onload=alert(1)>', "]]>", "-->")
        ),
    ],
)
def test_no_name_on_a_page_becomes_code(name, monkeypatch):
    plain = inspection_page(made.inspection())
    monkeypatch.setattr(made, "NASTY", name)
    text = inspection_page(made.inspection(nasty=True))
    check_harmless(text, plain)
    for part in text.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + part.split("</svg>")[0] + "</svg>")


def hostile_table(folder, n=40):
    """Write a table whose name, columns and labels are markup."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    table = pd.DataFrame(X, columns=[IMAGE, SCRIPT])
    table["y" + SCRIPT] = np.where(X.sum(axis=1) > 1, SCRIPT, IMAGE)
    path = folder / f"{IMAGE}.csv"
    table.to_csv(path, index=False)
    table.set_axis(["a", "b", "y"], axis=1).replace({SCRIPT: "u", IMAGE: "v"}).to_csv(
        folder / "plain.csv", index=False
    )
    return path.name


@pytest.mark.slow
def test_an_inspection_of_a_hostile_table(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = []
    for name in (hostile_table(tmp_path), "plain.csv"):
        code, _, err = run(capsys, "inspect", name, "-o", "i.html", "--force")
        assert code == 0, err
        pages.append(Path("i.html").read_text(encoding="utf-8"))
    check_harmless(*pages)
    assert "&lt;img src=x onerror=alert(1)&gt;.csv" in pages[0]


@pytest.mark.slow
def test_a_comparison_of_a_hostile_table(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = []
    for folder, name in enumerate((hostile_table(tmp_path), "plain.csv")):
        call = ["compare", name, "--methods", "KreinCV,SVC raw", "--out", str(folder)]
        code, _, err = run(capsys, *call)
        assert code == 0, err
        pages.append(Path(str(folder), "report.html").read_text(encoding="utf-8"))
    check_harmless(*pages)
    assert "&lt;img src=x onerror=alert(1)&gt;" in pages[0]
