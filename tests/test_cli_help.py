"""Help that teaches: examples that can be typed, and options in groups."""

import re
import shlex

import click
import pytest

from kreinlearn.app import cli
from kreinlearn.app.cli.options import ARGUMENTS_HEADING, LAST_HEADING, OPTION_GROUPS
from tests.test_cli import run

TAUGHT = ("inspect", "fit", "predict", "compare")


def find_command(name):
    return cli.app.get_command(click.Context(cli.app), name)


@pytest.mark.parametrize("name", TAUGHT)
def test_examples_can_be_typed(name):
    command = find_command(name)
    lines = [line.strip() for line in command.epilog.splitlines()]
    calls = [shlex.split(line) for line in lines if line.startswith("krein ")]
    assert 2 <= len(calls) <= 3
    for call in calls:
        assert call[:2] == ["krein", name]
        command.make_context(name, call[2:])  # an unknown option would be an error


@pytest.mark.parametrize("name", TAUGHT)
def test_options_are_in_groups(capsys, name):
    code, out, _ = run(capsys, name, "--help")
    assert code == 0 and f"\n{LAST_HEADING}:\n" in out and "\nOptions:\n" not in out
    heads = [head for head in OPTION_GROUPS if f"\n{head}:\n" in out]
    assert len(heads) >= 2
    for parameter in find_command(name).params:
        if isinstance(parameter, click.Option):
            assert f"  {parameter.opts[0]}" in out or f", {parameter.opts[-1]}" in out


def test_every_option_of_a_group_exists():
    known = {p.name for name in TAUGHT for p in find_command(name).params}
    assert {name for names in OPTION_GROUPS.values() for name in names} <= known


@pytest.mark.parametrize("name", TAUGHT)
def test_the_first_sentence_states_the_purpose(capsys, name):
    first = find_command(name).help.split("\n\n")[0]
    assert first.endswith(".") and "\n" not in first and len(first) < 75


@pytest.mark.parametrize("name", TAUGHT)
def test_help_describes_arguments_before_options(capsys, name):
    _, out, _ = run(capsys, name, "--help")
    headings = re.findall(r"^(\S.*):$", out, re.MULTILINE)
    assert headings[0] == ARGUMENTS_HEADING
    section = out.partition(f"\n{ARGUMENTS_HEADING}:\n")[2].partition("\n\n")[0]
    rows = [line.split(maxsplit=1) for line in section.splitlines()]
    command = find_command(name)
    expected = [p for p in command.params if isinstance(p, click.Argument)]
    assert [row[0] for row in rows] == [p.make_metavar(None) for p in expected]
    assert all(row[1].endswith(".") for row in rows)
    for parameter in expected:
        assert f"\n  {parameter.human_readable_name}\n" not in out
