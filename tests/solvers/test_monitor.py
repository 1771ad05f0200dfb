"""Printed progress of a solver, letter by letter."""

import io

import numpy as np
import pytest

from kreinlearn.solvers.monitor import Printer, callback_for


def test_cells_are_twelve_wide_under_a_header():
    out = io.StringIO()
    show = Printer(out)
    row = {"iter": 3, "value": 0.00012345678, "increased": True, "name": "dense"}
    assert show(row) is False
    show(row | {"iter": np.int64(40)})
    assert out.getvalue().splitlines() == [
        "        iter        value    increased         name",
        "           3   1.2346e-04         True        dense",
        "          40   1.2346e-04         True        dense",
    ]
    show({"other": 1.0})  # columns that change have a header of their own
    assert out.getvalue().splitlines()[3:] == ["       other", "  1.0000e+00"]


def test_standard_output_is_the_one_of_the_moment(capsys):
    show = callback_for(1)
    assert isinstance(show, Printer)
    show({"iter": 1})
    assert capsys.readouterr().out == "        iter\n           1\n"


@pytest.mark.parametrize("nothing", [0, False])
def test_silence(nothing):
    assert callback_for(nothing) is None


def test_a_function_is_the_callback_itself():
    rows = []
    assert callback_for(rows.append) == rows.append
