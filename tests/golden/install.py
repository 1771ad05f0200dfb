"""Installs of revisions, kept in a folder of the checkout and found again."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".golden"
COMPILED = (b"numba", b"llvmlite")
"""Words of files whose code is compiled and cached by numba."""


def install_revision(revision: str) -> Path:
    """Install a revision of this repository; return the folder to import from."""
    name = f"{revision}^{{commit}}"
    commit = run_git("rev-parse", "--verify", name).decode().strip()
    # Commits with the same source share an install and its compiled code.
    names = [f"{commit}:{each}" for each in ("src", "pyproject.toml")]
    content = hashlib.sha256(run_git("rev-parse", *names)).hexdigest()[:12]
    folder = CACHE / content
    if not (folder / "complete").exists():
        print(f"Installing {revision} ({commit[:12]}) ...", file=sys.stderr)
        with tempfile.TemporaryDirectory() as source:
            archive = tarfile.open(fileobj=BytesIO(run_git("archive", commit)))
            archive.extractall(source, filter="data")
            install_source(Path(source), folder)
        (folder / "complete").touch()
    return folder


def install_tree() -> Path:
    """Install the working tree; return the folder to import from.

    The folder stays the same, so that numba finds compiled code of the last run.
    """
    folder = CACHE / "tree"
    names = [ROOT / "pyproject.toml", *sorted((ROOT / "src").rglob("*"))]
    paths = [each for each in names if each.is_file() and each.suffix != ".pyc"]
    paths = [each for each in paths if each.suffix not in (".nbi", ".nbc")]
    key = hashlib.sha256()
    for path in paths:
        key.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    done = folder / "complete"
    if not done.exists() or done.read_text() != key.hexdigest():
        print("Installing the working tree ...", file=sys.stderr)
        install_source(ROOT, folder)
        done.write_text(key.hexdigest())
    return folder


def install_source(source: Path, folder: Path) -> None:
    """Install a source tree with pip into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    call = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    call += ["--no-compile", "--disable-pip-version-check", "--target", str(folder)]
    fast = subprocess.run([*call, "--no-build-isolation", str(source)])
    if fast.returncode:  # the build backend is not installed here
        subprocess.run([*call, str(source)], check=True)
    date_compiled_files(folder)


def date_compiled_files(folder: Path) -> None:
    """Give files a time that depends on all compiled code.

    Numba reuses compiled code if time and size of a file are the same, and wheels give
    all files one time. It does not see changes of functions in other files, either.
    """
    key = hashlib.sha256()
    paths = sorted(folder.rglob("*.py"))
    for path in paths:
        content = path.read_bytes()
        if any(word in content for word in COMPILED):
            key.update(content)
    time = 10**9 + int(key.hexdigest()[:7], 16)
    for path in paths:
        os.utime(path, (time, time))


def make_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a run: one thread, and no caches of the user."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "KREINLEARN_DATA", "COLUMNS")
    kept = {name: each for name, each in os.environ.items() if name not in dropped}
    threads = ("OPENBLAS", "OMP", "MKL")
    return (
        kept
        | {f"{name}_NUM_THREADS": "1" for name in threads}
        | {
            "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
            "PYTHONHASHSEED": "0",
            "NUMBA_CACHE_DIR": str(CACHE / "numba"),
            "KREINLEARN_CACHE": "off",
            "MPLBACKEND": "Agg",
        }
    )


def run_git(*words: str) -> bytes:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True)
    if done.returncode:
        sys.exit(f"git {' '.join(words)}: {done.stderr.decode().strip()}")
    return done.stdout
