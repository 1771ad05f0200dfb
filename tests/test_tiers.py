"""Two tiers of tests, quick ones and slow ones, and what is installed without any."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_a_change_must_pass_both_tiers():
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("only a checkout has .ci/run")
    text = script.read_text(encoding="utf-8")
    begins = ("stage ", "beside ")
    stages = [line for line in text.splitlines() if line.startswith(begins)]
    runs = [
        line.rpartition("python -m pytest")[2] for line in stages if "pytest" in line
    ]
    built = " -n 2 -m 'slow or not slow' \\"  # what the build of the docs left
    assert runs == ["'", " -m slow'", built]


def test_the_lowest_versions_are_tested():
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("only a checkout has .ci/run")
    text = script.read_text(encoding="utf-8")
    assert "--resolution lowest-direct" in text
    named = text.partition('LOWEST="')[2].partition('"')[0].replace("\\", " ").split()
    assert named and all((ROOT / name).exists() for name in named)


def test_every_package_has_a_lowest_version():
    extras = PROJECT["project"]["optional-dependencies"].values()
    for named in (PROJECT["project"]["dependencies"], *extras):
        assert [each for each in named if ">=" not in each] == []
