"""Compiled code is kept somewhere even if neither package nor home can be written."""

import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import kreinlearn
from kreinlearn import _numba_cache

PROGRAM = """
import logging
import numpy as np
from kreinlearn import kernels
messages = []
class Handler(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())
logger = logging.getLogger("kreinlearn")
logger.addHandler(Handler())
logger.setLevel(logging.INFO)
for name in ("tl1", "rbf"):
    kernels.gram(np.eye(3), kernel=name)
print(kernels.__file__, len(messages), *messages)
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


@pytest.fixture
def nowhere(tmp_path):
    """Return the environment of a process without a folder of its own.

    Files in place of folders cannot be written to by anyone, not even by root.
    """
    package = tmp_path / "lib" / "kreinlearn"
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(kreinlearn.__file__).parent, package, ignore=left_out)
    (package / "kernels/_compiled/__pycache__").write_text("")
    (tmp_path / "tmp").mkdir()
    gone = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in gone}
    places = {"HOME": "/dev/null", "TMPDIR": str(tmp_path / "tmp")}
    return kept | places | {"PYTHONPATH": str(tmp_path / "lib")}


def test_import_creates_no_folder_and_sets_no_variable(nowhere, tmp_path):
    program = (
        "import os, sklearn\n"  # which sets variables of its own
        "before = dict(os.environ)\n"
        "from kreinlearn import KreinLogisticRegression, kernels\n"
        "assert dict(os.environ) == before"
    )
    call = [sys.executable, "-c", program]
    done = subprocess.run(
        call, env=nowhere, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.slow
def test_the_second_process_compiles_and_announces_nothing(nowhere, tmp_path):
    for messages in (["1", *_numba_cache.COMPILE_NOTICE.split()], ["0"]):
        call = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(
            call, env=nowhere, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        file, *found = done.stdout.split()
        assert file.startswith(str(tmp_path)) and found == messages


FULL = """
import resource, signal
from kreinlearn.kernels._compiled import rows
import numba
import numpy as np

@numba.njit(cache=True)
def not_ours(x):
    return x + 1

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
rows.mirror_upper(np.zeros((2, 2)), 0, 1)
print("ran", sum(rows.mirror_upper.stats.cache_misses.values()))
try:
    not_ours(1)
except OSError as error:
    print(error.errno)
"""


@pytest.mark.slow
def test_code_that_cannot_be_kept_is_run(tmp_path):
    script = tmp_path / "full.py"
    script.write_text(FULL)
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["ran", "1", str(errno.EFBIG)], done.stderr
    assert not list((tmp_path / "cache").rglob("*.tmp.*"))


def test_a_folder_of_others_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = Path(_numba_cache._make_private_folder())
    assert mine.parent == tmp_path and stat.S_IMODE(mine.stat().st_mode) == 0o700
    assert _numba_cache._make_private_folder() == str(mine)
    mine.chmod(0o777)
    assert _numba_cache._make_private_folder() != str(mine)
    mine.rmdir()
    mine.symlink_to(tmp_path)
    assert Path(_numba_cache._make_private_folder()).name != mine.name


def test_all_kernels_are_compiled_ahead(monkeypatch, capsys):
    from kreinlearn.app import cli
    from kreinlearn.kernels import precompile

    names = []
    few = {name: precompile.KERNELS[name] for name in ("linear", "dtw", "wasserstein")}
    monkeypatch.setattr(precompile, "KERNELS", few)
    precompile.compile_kernels(lambda name, done, total: names.append((name, total)))
    assert names == [(name, 3) for name in few]
    with pytest.raises(SystemExit) as ended:
        cli.main(["info", "--compile"])
    assert ended.value.code == 0
    assert "compiling dtw (2 of 3)" in capsys.readouterr().err


@pytest.mark.slow
def test_nothing_is_compiled_after_precompilation(tmp_path):
    program = (
        "import logging\n"
        "from kreinlearn.kernels import precompile\n"
        "some = {name: precompile.KERNELS[name] for name in ('tl1', 'dtw')}\n"
        "precompile.KERNELS = some\n"
        "logging.basicConfig(level=logging.INFO)\n"
        "precompile.compile_kernels()"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    ]
    assert _numba_cache.COMPILE_NOTICE in said[0]
    assert said[1] == ""


def test_one_process_at_a_time_writes_to_the_cache(tmp_path):
    program = (
        "import sys, time\nfrom kreinlearn._numba_cache import lock_folder\n"
        "with lock_folder(sys.argv[1]):\n"
        "    print('in', flush=True)\n    time.sleep(0.5)\n    print('out', flush=True)"
    )
    log = tmp_path / "log"
    with log.open("w") as out:
        call = [sys.executable, "-c", program, str(tmp_path / "cache")]
        running = [subprocess.Popen(call, stdout=out) for _ in range(2)]
        assert [process.wait(60) for process in running] == [0, 0]
    assert log.read_text().split() == ["in", "out"] * 2


EACH = """
import sys
import numpy as np
from kreinlearn.kernels import gram
X = np.random.default_rng(0).uniform(size=(3, 2))
for name in sys.argv[1:]:
    print(gram(X, kernel=name).tolist())
"""


@pytest.mark.slow
def test_variants_that_several_processes_compiled_are_distinguished(tmp_path):
    def compute(*names):
        call = [sys.executable, "-c", EACH, *names]
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(
            call, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    names = ("linear", "tl1", "rbf", "polynomial")
    alone = [line for name in names for line in compute(name)]
    assert compute(*names) == alone
    assert compute(*names[::-1]) == alone[::-1]
