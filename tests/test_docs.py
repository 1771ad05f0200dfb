"""The documentation: its commands and code run, its links and names lead somewhere.

A page is a session. Its blocks run in order, in one folder, one namespace and one
process: Python as it stands, and every ``krein`` command. A ``text`` block is what the
block before it prints, with ``...`` for what may vary. Commands that take many seconds
are only parsed in the quick tests; the slow ones run them, too.
"""

import ast
import contextlib
import doctest
import functools
import importlib
import inspect
import io
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import click
import numpy as np
import pandas as pd
import pytest

import benchmarks.commands
import kreinlearn
import reproduction.commands
from kreinlearn import datasets, kernels
from kreinlearn.app import cli

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
        *(ROOT / name for name in ("SECURITY.md", "reproduction/README.md")),
        *sorted(DOCS.glob("*.md")),
    ]
}
REFERENCE = PAGES["docs/api.md"] + PAGES["docs/internals.md"]
RESULTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.glob("results/*.md"))
}

PROGRAMS = {
    "krein": cli.app,
    "python -m reproduction": reproduction.commands.app,
    "python -m benchmarks": benchmarks.commands.app,
}
# Commands that are not run as they stand: the reason, and what is run in their place.
# All of them are parsed, so an unknown option in any of them is noticed.
INSTEAD = {
    "python -m pip install": ("changes the environment", None),
    "python -m venv": ("makes another environment", None),
    "python -m pip freeze": ("is for pip-audit, which needs a network", None),
    "python -m pytest": ("is what runs this", None),
    "python -m sphinx": ("takes minutes, and is a stage of .ci/run", None),
    "python -m tests.golden": ("takes minutes, and needs the history", None),
    "python -m tests.mutants": ("takes minutes, and needs mutmut", None),
    "krein demo": (
        "takes seconds; test_cli.py runs a shorter one",
        "krein demo --help",
    ),
    "python -m reproduction table3": (
        "takes up to hours, and needs data",
        "python -m reproduction table1 --runs 1 --dataset '2 x 2' --jobs 1 "
        "--out results",
    ),
    "python -m reproduction all": (
        "takes hours, and needs data",
        "python -m reproduction all --help",
    ),
    "python -m reproduction data fetch": (
        "needs a network",
        "python -m reproduction data fetch --help",
    ),
    "python -m reproduction data check": (
        "needs data",
        "python -m reproduction data check --data none",
    ),
    "python -m benchmarks": (
        "takes an hour; test_benchmarks.py runs small ones",
        "python -m benchmarks --help",
    ),
}
# Commands that only the slow tests run; test_cli_compare.py and test_cli_inspect.py
# have short ones.
LONG = ("krein compare", "krein inspect", "python -m reproduction table1")
# A call in Python that only the slow tests run; others compile it.
LONG_CALL = "run_experiment("
# Rooms that serve the command line. The reference may leave them out.
INTERNAL = {"cli", "comparison", "inspection", "landmarks", "methods", "search"}
INTERNAL |= {"pages", "runs"}
# Pages that use files made on another page.
GIVEN_FILES = ("README.md", "docs/index.md", "docs/command-line.md")
# Links lead to these hosts only; checking that their pages exist needs a network.
HOSTS = {
    "scientific-python.org",
    "semver.org",
    "download.pytorch.org",
    "keepachangelog.com",
    "github.com",
    "doi.org",
}
HOSTS |= {"pypi.org", "cran.r-project.org", "img.shields.io", "scikit-learn.org"}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """Fenced text, with the line that it starts in."""

    language: str
    line: int
    text: str


def blocks(text):
    """Return the fenced blocks of a page."""
    found = re.finditer(r"^(```+)(.*)\n((?:.*\n)*?)\1 *$", text, flags=re.M)
    return [
        Block(each[2].strip(), text.count("\n", 0, each.start()) + 1, each[3])
        for each in found
    ]


def prose(text):
    """Return a page without its fenced blocks."""
    return re.sub(r"^(```+).*\n(?:.*\n)*?\1 *$", "", text, flags=re.M)


def commands(text):
    """Return the commands of a bash block, each a list of words."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars="&|;>")
        words.whitespace_split = True
        command = []
        for word in [*words, "&&"]:
            if set(word) <= set("&|;"):
                if command:
                    found.append(command)
                command = []
            else:
                command.append(word)
    return [each[: each.index(">")] if ">" in each else each for each in found]


def fits(line, entries):
    """Return whether a command line begins with one of the entries, word by word."""
    return any(f"{line} ".startswith(f"{entry} ") for entry in entries)


def list_commands(page):
    """Return all command lines of a page."""
    found = [each for each in blocks(PAGES[page]) if each.language == "bash"]
    return [" ".join(command) for block in found for command in commands(block.text)]


def find_program(command):
    """Return the program that a command starts with, or None for other programs."""
    return next((each for each in PROGRAMS if fits(" ".join(command), [each])), None)


def parse(command):
    """Parse a command as Click does, without running it."""
    program = find_program(command)
    context = None
    group, words = PROGRAMS[program], command[len(program.split()) :]
    while isinstance(group, click.Group):
        context = group.make_context(program, words[:0] or ["--"], parent=context)
        group, words = group.get_command(context, words[0]), words[1:]
        assert group is not None, f"There is no command {' '.join(command)!r}."
    group.make_context(group.name, list(words), parent=context)


def krein(words, program="krein"):
    """Run a command in this process; return its exit code and all it wrote."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in "oe")
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        cli.run_command(PROGRAMS[program], program, words)
    written = (stream.buffer.getvalue().decode() for stream in (out, err))
    return stop.value.code, *written


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Be in an empty folder, with no data at hand, and put kernels back afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KREINLEARN_DATA", str(tmp_path / "data"))
    known = dict(kernels.KERNELS)
    yield tmp_path
    kernels.KERNELS.clear()
    kernels.KERNELS.update(known)


def write_files():
    """Write the files that pages use: two small tables and a small Gram matrix."""
    from sklearn.datasets import load_iris

    iris = load_iris(as_frame=True)
    table = iris.data.assign(species=iris.target_names[iris.target])
    table[::3].to_csv("train.csv", index=False)
    table[1::9].to_csv("new.csv", index=False)
    K, y = datasets.make_gram((20, 10), random_state=0)
    np.savez("gram.npz", K=K, y=y)
    D = np.abs(K.diagonal()[:, None] - K.diagonal())
    np.savez("distances.npz", D=D, y=y)
    np.savez("new-distances.npz", D=D[:3])
    names = [f"sample {i}" for i in range(len(y))]
    frame = pd.DataFrame(D, names, names)
    frame.to_csv("distances.csv")
    frame[:3].to_csv("new-distances.csv")
    pd.DataFrame({"name": names, "label": y}).to_csv("labels.csv", index=False)


def sessions():
    """Yield pages with code or commands, and whether some of them take long."""
    for page, text in PAGES.items():
        if not any(
            each.language in ("bash", "python", "text") for each in blocks(text)
        ):
            continue
        waiting = [each for each in list_commands(page) if not fits(each, INSTEAD)]
        long = LONG_CALL in text or any(fits(each, LONG) for each in waiting)
        yield pytest.param(page, long, id=page)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "long"), list(sessions()))
def test_pages_run(page, long, folder):
    if page in GIVEN_FILES:
        write_files()
    namespace = {"__name__": "__page__"}
    printed = ""
    for block in blocks(PAGES[page]):
        where = f"{page}, line {block.line}"
        if block.language == "python":
            code = compile("\n" * block.line + block.text, ROOT / page, "exec")
            if LONG_CALL in block.text and not long:
                continue
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, namespace)
            printed = out.getvalue()
        elif block.language == "bash":
            printed = "".join(run(each, where, long) for each in commands(block.text))
        elif block.language == "text":
            same = doctest.OutputChecker().check_output(block.text, printed, OPTIONS)
            assert same, f"{where}: the page differs from what is printed:\n{printed}"


def run(command, where, long):
    """Run a command of a page and return what it prints.

    Those of INSTEAD are only parsed, and so are those of LONG, unless `long` is true.
    """
    program = find_program(command)
    if program is None and command[:2] != ["python", "-m"]:
        return ""
    said = " ".join(command)
    if program is not None:
        parse(command)
    if fits(said, INSTEAD) or (fits(said, LONG) and not long):
        return ""
    assert program, f"{where}: `{said}` is not run; give it an entry in INSTEAD."
    code, out, err = krein(command[len(program.split()) :], program)
    assert code == 0, f"{where}: `{said}` ended with {code}: {err}"
    return out


@pytest.mark.parametrize(
    "twin",
    [
        pytest.param(twin, marks=pytest.mark.slow if fits(twin, LONG) else [])
        for _, twin in INSTEAD.values()
        if twin is not None
    ],
)
def test_what_is_run_instead(twin, folder):
    write_files()
    words = shlex.split(twin)
    program = find_program(words)
    code, _, err = krein(words[len(program.split()) :], program)
    assert code == 0, err


def test_extras_that_pages_install_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(project["project"]["optional-dependencies"])
    for page, text in PAGES.items():
        for listed in re.findall(r"(?:kreinlearn|\.)\[([a-z,]+)\]", text):
            assert set(listed.split(",")) <= extras, f"{page}: [{listed}]"


def test_the_speed_page_agrees_with_its_sources():
    said, folder = PAGES["docs/speed.md"], ROOT / "benchmarks"
    assert (folder / "notes.md").read_text(encoding="utf-8").strip() in said
    texts = {"SECTION_TEXTS", "INSTRUCTIONS"}
    for node in ast.parse((folder / "page.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id in texts:
            texts.remove(node.targets[0].id)
            text = ast.literal_eval(node.value)
            for each in [text] if isinstance(text, str) else text.values():
                assert each in said, each
    assert not texts


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell, monkeypatch):
    said = PAGES["docs/command-line.md"]
    assert f"_KREIN_COMPLETE={shell}_source krein" in said
    monkeypatch.setenv("_KREIN_COMPLETE", f"{shell}_source")
    code, out, _ = krein([])
    assert code == 0 and "_KREIN_COMPLETE" in out


def anchors(text):
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    titles = re.findall(r"^#+ (.+)$", prose(text), flags=re.M)
    kept = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.strip().replace(" ", "-") for title in kept}


@pytest.mark.parametrize("page", [*PAGES, *RESULTS])
def test_links(page):
    text = (PAGES | RESULTS)[page]
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        parts = urlsplit(target)
        if parts.scheme:
            assert parts.scheme == "https" and parts.netloc in HOSTS, target
            continue
        path = (ROOT / page).parent / parts.path if parts.path else ROOT / page
        if "auto_examples" in path.parts:  # made by the build, from a folder of scripts
            script = path.relative_to(DOCS / "auto_examples").with_suffix(".py")
            assert path.suffix == ".rst" and (ROOT / "examples" / script).is_file()
            continue
        if path.parent == DOCS / "results" and path.suffix == ".html":
            path = path.with_suffix(".jsonl.gz")  # the build draws the page from it
        assert path.is_file(), f"{page}: {target} leads nowhere"
        if parts.fragment:
            assert parts.fragment in anchors(path.read_text("utf-8")), target


def modules():
    """Return the names of public modules: all but internal ones, and those listed."""
    documented = re.findall(r"^\.\. module:: (.+)$", REFERENCE, flags=re.M)
    found = [
        f"kreinlearn.{each.name}"
        for each in pkgutil.iter_modules(kreinlearn.__path__)
        if not each.name.startswith("_") and each.name not in INTERNAL
    ]
    return sorted({"kreinlearn", *found, *documented})


def listed():
    """Return the full names that the reference pages list."""
    found, module = [], None
    for line in REFERENCE.splitlines():
        if line.startswith((".. module:: ", ".. currentmodule:: ")):
            module = line.partition(":: ")[2]
        elif re.fullmatch(r"   [A-Za-z]\S*", line):
            found.append(f"{module}.{line.strip()}")
    return found


def resolve(name):
    """Return what a dotted name stands for, or raise."""
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            importlib.import_module(".".join(parts[:i]))
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("place", modules())
def test_every_public_name_is_in_the_reference(place):
    module = importlib.import_module(place)
    assert hasattr(module, "__all__"), f"{place} has no __all__"
    here = [resolve(name) for name in listed()]
    for name in module.__all__:
        value = getattr(module, name)
        known = name == "__version__" or any(value is each for each in here)
        assert known, f"{place}.{name} is not on docs/api.md or docs/internals.md"


def test_the_reference_lists_what_exists():
    names = listed()
    assert len(names) == len(set(names)) > 60
    for name in names:
        assert inspect.getdoc(resolve(name)), name


@functools.cache
def known_words():
    """Return identifiers that pages may mention: names, parameters, attributes."""
    words = set()
    for module in ("samples", "matrices", "tables", "text"):  # of add-a-format
        words.update(vars(importlib.import_module(f"kreinlearn.io.{module}")))
    for name in listed():
        value = resolve(name)
        words.add(name.rpartition(".")[2])
        words.update(dir(value) if inspect.isclass(value) else ())
        words.update(re.findall(r"\w+", inspect.getdoc(value) or ""))
        with contextlib.suppress(TypeError, ValueError):
            words.update(inspect.signature(value).parameters)
    return words


def list_options(group, context=None):
    """Yield every option of a command and of those below it."""
    context = click.Context(group, parent=context)
    for parameter in group.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            yield from list_options(group.get_command(context, name), context)


FOREIGN = {
    "SVC",
    "Nystroem",
    "LogisticRegression",
    "GridSearchCV",
    "NAME",
    "KREINLEARN_DATA",
    "KREINLEARN_CACHE",
    "CalibratedClassifierCV",
    "DataFrame",
    "__all__",
    "set_callbacks",
    "FutureWarning",
    "Covariances",
    "MinMaxScaler",
    "OneClassSVM",
    "OSError",
    "ProgressBar",
    "MemoryError",
    "TimeSeriesSVC",
    "TypeError",
    "UserWarning",
    "ValueError",
}


@pytest.mark.parametrize("page", PAGES)
def test_names_on_pages_exist(page):
    known = known_words() | FOREIGN
    options = {each for app in PROGRAMS.values() for each in list_options(app)}
    options |= {"--help", "--minutes", "--seed"}
    options |= {
        "--strict",
        "--check",
        "--inventory",
        "--only",
        "--store",
    }  # of other programs
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(PAGES[page]))
    for span in spans:
        for name in re.findall(r"\bkreinlearn(?:\.\w+)+(?![\w*])", span):
            resolve(name)
        if span.startswith("krein ") and span.split()[1].islower():
            former = cli.MOVED_COMMANDS if page == "CHANGELOG.md" else ()
            assert span.split()[1] in (*cli.COMMAND_NAMES, *former), span
        for option in re.findall(r"(?<!\S)--[a-z-]+", span):
            assert option in options, f"{page}: {span}"
        # Learned attributes, classes, and calls of functions.
        for name in re.findall(r"^(\w+_\b(?!\*)|[A-Z]\w*[a-z]\w*\b|\w+(?=\())", span):
            assert name in known, (
                f"{page}: `{span}` mentions {name}, which does not exist"
            )


@pytest.mark.slow  # starts Sphinx, as .ci/run does for all pages
def test_a_reference_that_leads_nowhere_ends_the_build(tmp_path):
    for module in ("furo", "myst_parser", "numpydoc"):
        pytest.importorskip(module, reason="needs Sphinx: pip install '.[docs]'")
    (tmp_path / "index.md").write_text(
        "# Title\n\n```{eval-rst}\n.. autofunction:: kreinlearn.kernels.tl1\n```\n\n"
        "{func}`kreinlearn.kernels.tl1` {func}`kreinlearn.kernels.tl2`\n",
        encoding="utf-8",
    )
    known = "sphinx.ext.autodoc,sphinx.ext.autosummary,numpydoc,myst_parser"
    call = [sys.executable, "-m", "sphinx", "-WNq", "-b", "dummy", "-c", str(DOCS)]
    call += ["-D", f"extensions={known}", str(tmp_path), str(tmp_path / "out")]
    built = subprocess.run(call, capture_output=True, text=True)
    assert built.returncode == 1, built.stderr
    assert re.findall("WARNING: (.*)", built.stderr) == [
        "py:func reference target not found: kreinlearn.kernels.tl2 [ref.func]"
    ]
