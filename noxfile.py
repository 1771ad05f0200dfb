#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""The commands of a contributor, each in an environment of its own: ``nox --list``.

Without nox, the first lines of CONTRIBUTING.md do the same in the environment at hand.
"""

import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"

SCHEMAS = {
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "dependabot": ".github/dependabot.yml",
    "readthedocs": ".readthedocs.yaml",
    "citation-file-format": "CITATION.cff",
}
"""Schemas that check-jsonschema brings along, and the files that they describe."""


@nox.session
def tests(session: nox.Session) -> None:
    """Run the quick tests and the doctests."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(default=False)
def slow(session: nox.Session) -> None:
    """Run the slow tests."""
    session.install("-e", ".[test,dev,browser]")
    session.run("python", "-m", "pytest", "-m", "slow", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and spelling."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell", "src", "reproduction", "tests", "docs", "README.md")


@nox.session
def types(session: nox.Session) -> None:
    """Check types."""
    session.install("-e", ".[test,dev]")
    session.run("mypy")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation; every warning is an error."""
    session.install(".[test,docs]")
    session.run(*"python -m sphinx -W -q -b html docs docs/_build/html".split())


@nox.session(default=False)
def dist(session: nox.Session) -> None:
    """Build the wheel and the sdist, and look into them."""
    session.install("build", "twine", "check-wheel-contents")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build")
    built = sorted(map(str, Path("dist").iterdir()))
    session.run("twine", "check", "--strict", *built)
    session.run("check-wheel-contents", *(each for each in built if "whl" in each))


@nox.session(default=False, python=["3.11", "3.12", "3.13"])
def install(session: nox.Session) -> None:
    """Install the wheel, then the sdist of `dist`, and run the command line."""
    for pattern in ("*.whl", "*.tar.gz"):
        (path,) = Path("dist").resolve().glob(pattern)
        session.install("--force-reinstall", str(path))
        with session.chdir(session.create_tmp()):  # nothing of the checkout
            session.run("krein", "--version")
            session.run("krein", "demo", "--force")


@nox.session(default=False)
def review(session: nox.Session) -> None:
    """Check how the project is set up: workflows, metadata, citation."""
    session.install("sp-repo-review[cli]", "check-jsonschema", "zizmor")
    session.install("validate-pyproject[all]")
    session.run("repo-review", ".")
    session.run("validate-pyproject", "pyproject.toml")
    for schema, files in SCHEMAS.items():
        found = sorted(map(str, Path().glob(files)))
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *found)
    session.run("zizmor", "--offline", ".github")


if __name__ == "__main__":
    nox.main()
