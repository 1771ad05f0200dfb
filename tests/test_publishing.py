"""Publication: versions that agree, workflows, the recipe, and the wheel."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PROJECT["project"]["version"]
PYTHONS = [
    named.rpartition(" ")[2]
    for named in PROJECT["project"]["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", named)
]
MEGABYTE = 10**6


def text(name):
    """Return the text of a file of the checkout, or skip."""
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"only a checkout has {name}")
    return path.read_text(encoding="utf-8")


# -- what must agree -------------------------------------------------------------------


def test_the_version_is_the_same_everywhere():
    assert re.search(rf"^version: {re.escape(VERSION)}$", text("CITATION.cff"), re.M)
    assert f'\n  version: "{VERSION}"\n' in text("recipe/recipe.yaml")
    newest = re.search(r"^## (\S+) - (\S+)$", text("CHANGELOG.md"), re.M)
    assert newest[1] == VERSION
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", newest[2])
    assert f"\ndate-released: {newest[2]}\n" in text("CITATION.cff")


def test_pythons_are_those_that_are_tested():
    listed = " ".join(PYTHONS)
    assert f"{{PYTHONS:-{listed}}}" in text(".ci/matrix")
    quoted = ", ".join(f'"{version}"' for version in PYTHONS)
    for name in ("ci", "release"):
        assert f"python: [{quoted}]" in text(f".github/workflows/{name}.yml")
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    assert f'python_min: "{PYTHONS[0]}"' in text("recipe/recipe.yaml")


def test_the_recipe_needs_what_the_package_needs():
    listed = text("recipe/recipe.yaml").partition("\n  run:\n")[2].partition("\n\n")[0]
    named = dict(re.findall(r"- (\S+) (\S+)", listed))
    named["matplotlib"] = named.pop("matplotlib-base")
    del named["python"]
    wanted = PROJECT["project"]["dependencies"]
    assert named == dict(
        re.match(r"([\w-]+)(>=[\d.]+)", each).groups() for each in wanted
    )


def test_contributors_and_nox_run_the_same():
    given = text("CONTRIBUTING.md").partition("```bash\n")[2].partition("```")[0]
    session = re.sub(r'"[,)\s]+"', " ", text("noxfile.py"))
    for line in given.splitlines()[1:]:
        for command in line.partition("  #")[0].split(" && "):
            assert command.strip() in session, command


def test_links_agree():
    urls = PROJECT["project"]["urls"]
    said = text("CITATION.cff")
    assert f"repository-code: {urls['Source']}" in said
    assert f"url: {urls['Documentation']}" in said


# -- the workflows ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ci", "release"])
def test_actions_are_pinned_and_permissions_few(name):
    said = text(f".github/workflows/{name}.yml")
    for used in re.findall(r"uses: (.*)", said):
        assert re.fullmatch(r"[\w/.-]+@[0-9a-f]{40} # v[\d.]+", used), used
    assert "\npermissions: {}\n" in said
    granted = set(re.findall(r"^ +(\S+: (?:read|write))", said, re.M))
    allowed = {"contents: read"} | ({"id-token: write"} if name == "release" else set())
    assert granted == allowed
    assert "secrets." not in said


def test_the_recipe_can_be_rendered():
    build = pytest.importorskip("rattler_build", reason="needs py-rattler-build")
    recipe = build.Stage0Recipe.from_yaml(text("recipe/recipe.yaml"))
    (variant,) = recipe.render(build.VariantConfig())
    assert variant.recipe.package.name == "kreinlearn"
    assert str(variant.recipe.package.version) == VERSION


# -- the wheel -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel, built from this checkout without a network."""
    for module in ("hatchling", "hatch_fancy_pypi_readme"):
        pytest.importorskip(module, reason="needs hatchling: pip install '.[test]'")
    folder = tmp_path_factory.mktemp("wheel")
    build(folder, "wheel")
    (path,) = folder.glob("*.whl")
    return path


def build(folder, target):
    """Build the wheel or the sdist of this checkout."""
    call = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder]
    done = subprocess.run(map(str, call), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_wheel_has_what_it_needs_and_no_more(wheel):
    assert wheel.name == f"kreinlearn-{VERSION}-py3-none-any.whl"
    assert wheel.stat().st_size < MEGABYTE
    names = zipfile.ZipFile(wheel).namelist()
    source = ROOT / "src"
    files = {
        path.relative_to(source).as_posix()
        for path in (source / "kreinlearn").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"kreinlearn/py.typed", "kreinlearn/app/report/page.html.j2"} <= files
    info = f"kreinlearn-{VERSION}.dist-info"
    about = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert set(names) == files | {f"{info}/{name}" for name in about}
    # A checkout has these.
    for word in ("bench", "reproduc", "paper", "project.toml"):
        assert [name for name in names if word in name] == []
    metadata = zipfile.ZipFile(wheel).read(f"kreinlearn-{VERSION}.dist-info/METADATA")
    needed = re.findall(r"^Requires-Dist: (pooch\b.*)$", metadata.decode(), re.M)
    assert needed and all("extra ==" in each for each in needed)


def test_the_sdist_has_what_the_checkout_has(tmp_path):
    pytest.importorskip("hatchling", reason="needs hatchling: pip install '.[test]'")
    build(tmp_path, "sdist")
    (path,) = tmp_path.glob("*.tar.gz")
    top = f"kreinlearn-{VERSION}/"
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    names = {each.name.removeprefix(top) for each in members if each.isfile()}
    packages = ("src", "reproduction", "benchmarks", "tests")
    code = [path for name in packages for path in (ROOT / name).rglob("*.py")]
    assert {path.relative_to(ROOT).as_posix() for path in code} <= names
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode == 0:  # not in a copy without its history
        assert names - {"PKG-INFO"} == set(listed.stdout.split())
    assert path.stat().st_size < 10 * MEGABYTE


def test_the_tests_install_what_the_reproduction_needs():
    extras = PROJECT["project"]["optional-dependencies"]
    assert all(
        any(each == named.partition(" #")[0] for named in extras["test"])
        for each in extras["reproduction"]
    )


@pytest.mark.slow
def test_links_of_the_readme_work_outside_the_checkout(wheel):
    metadata = f"kreinlearn-{VERSION}.dist-info/METADATA"
    said = zipfile.ZipFile(wheel).read(metadata).decode()
    assert "License-Expression: BSD-3-Clause" in said
    readme = said.partition("\n\n")[2]
    assert "pip install kreinlearn" in readme and "not on PyPI" not in readme
    links = re.findall(r"\]\(([^)\s]+)\)", readme)
    assert links and [each for each in links if not each.startswith("https://")] == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no times of other processes")
def test_the_import_takes_little_longer_than_that_of_scikit_learn():
    codes = (
        "from kreinlearn import KreinLogisticRegressionCV",
        "import sklearn.linear_model",
    )
    seconds = []
    for done in range(1, 13):
        # in turns, so that a busy moment of the machine affects both
        seconds.append([processor_seconds(code) for code in codes])
        ours, theirs = map(min, zip(*seconds, strict=True))
        if done >= 3 and ours < 1.2 * theirs:
            break
    assert ours < 1.2 * theirs


def processor_seconds(code):
    """Return the processor time of a process that runs code, compiled before."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True, env=kept)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])
