"""Spot checks of the published numbers; all were compared with the paper's source."""

import numpy as np
import pytest

from kreinlearn import datasets
from kreinlearn.experiments import paper
from kreinlearn.experiments.halves import stored_name
from kreinlearn.experiments.paper import NOTES, notes_for


def test_shapes():
    assert tuple(paper.TABLE2) == datasets.names()
    assert len(paper.TABLE3) == 16
    assert all(tuple(row) == paper.TABLE3_METHODS for row in paper.TABLE3.values())
    assert {stored_name(name) for name in paper.SMALL} | set(paper.LARGE) == set(
        paper.TABLE2
    )
    assert tuple(paper.TABLE4) == tuple(paper.TABLE7) == paper.LARGE


def test_spot_checks():
    assert paper.TABLE2["madelon"] == (500, 2000, 14.825, 27015)
    assert paper.TABLE3["monks2"]["TDCASVM"] == (0.743, 0.018)
    assert paper.TABLE3["parkinsons"]["CCICP-SGD"] == (1.0, 0.0)
    assert paper.TABLE4["EEG"]["CCCP-GD"] == ((0.769, 0.042), 17171.0, 0.1237)
    assert paper.TABLE5["CCICP-GD"] == (0.983, 0.008)
    assert paper.TABLE1["Log-Euclidean"] == (True, True)
    assert paper.TABLE6["uniform"]["CCICP-SGD", "guide1-t"] == (0.926, 0.049)
    assert paper.TABLE7["madelon"]["CCICP-SGD-I"] == ((0.550, 0.065), 2.543, 0.0025)


@pytest.mark.parametrize(
    ("method", "mean"), [("CCICP-GD", 0.790), ("CCICP-SGD", 0.778)]
)
def test_means_without_parkinsons(method, mean):
    rows = [row for name, row in paper.TABLE3.items() if name != "parkinsons"]
    assert np.mean([row[method].mean for row in rows]) == pytest.approx(mean, abs=5e-4)


def test_table7_repeats_table4_but_for_one_number():
    for name in paper.LARGE:
        four, seven = paper.TABLE4[name]["CCICP-SGD"], paper.TABLE7[name]["CCICP-SGD"]
        assert (four == seven) == (name != "EEG")
    assert (
        "0.730 in Table 4"
        in NOTES[
            [(n.tables, n.row, n.column) for n in NOTES].index(
                ("table7", "EEG", "CCICP-SGD")
            )
        ].text
    )


def test_notes_point_at_something():
    names = {f"table{number}" for number in range(1, 8)} | {"fig1", "fig2", "fig3"}
    rows = set(paper.TABLE2) | set(paper.SMALL) | {"Stein"}
    rows |= {*paper.TABLE5, *paper.TABLE5_OURS}
    columns = {*paper.TABLE3_METHODS, *paper.OURS, *paper.TABLE7_METHODS}
    for note in NOTES:
        assert set(note.tables.split()) <= names
        assert not note.row or note.row in rows
        assert set(note.column.split()) <= columns
        assert note.text.endswith(".")
    ordered = notes_for("table3")
    assert not ordered[0].row
    assert {note.row for note in ordered} >= {"parkinsons", "splice", ""}
