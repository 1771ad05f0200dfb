"""Spot checks of the published numbers; all were compared with the paper's source."""

import numpy as np
import pytest

from reproduction import data, published
from reproduction.notes import NOTES, find_notes
from reproduction.splits import stored_name


def test_shapes():
    assert tuple(published.TABLE2) == data.names()
    assert len(published.TABLE3) == 16
    assert all(
        tuple(row) == published.TABLE3_METHODS for row in published.TABLE3.values()
    )
    assert {stored_name(name) for name in published.TABLE3_DATA} | set(
        published.TABLE4_DATA
    ) == set(published.TABLE2)
    assert tuple(published.TABLE4) == tuple(published.TABLE7) == published.TABLE4_DATA


def test_every_published_procedure_stands_beside_its_letter():
    for theirs, ours in (
        (published.TABLE3_METHODS, published.OURS),
        (published.TABLE4_METHODS, published.TABLE4_OURS),
        (tuple(published.TABLE5), published.TABLE5_OURS),
        (published.TABLE6_METHODS, published.TABLE6_OURS),
        (published.TABLE7_METHODS, published.TABLE7_OURS),
        (published.FIG3_METHODS, published.FIG3_OURS),
    ):
        letters = [f"{name} as printed" for name in theirs if name.startswith("CC")]
        assert letters
        assert [name for name in ours if "printed" in name] == letters
    assert published.FIG2_METHODS == ("CCICP-GD", "CCICP-GD as printed")


def test_spot_checks():
    assert published.TABLE2["madelon"] == (500, 2000, 14.825, 27015)
    assert published.TABLE3["monks2"]["TDCASVM"] == (0.743, 0.018)
    assert published.TABLE3["parkinsons"]["CCICP-SGD"] == (1.0, 0.0)
    assert published.TABLE4["EEG"]["CCCP-GD"] == ((0.769, 0.042), 17171.0, 0.1237)
    assert published.TABLE5["CCICP-GD"] == (0.983, 0.008)
    assert published.TABLE1["Log-Euclidean"] == (True, True)
    assert published.TABLE6["uniform"]["CCICP-SGD", "guide1-t"] == (0.926, 0.049)
    assert published.TABLE7["madelon"]["CCICP-SGD-I"] == ((0.550, 0.065), 2.543, 0.0025)


@pytest.mark.parametrize(
    ("method", "mean"), [("CCICP-GD", 0.790), ("CCICP-SGD", 0.778)]
)
def test_means_without_parkinsons(method, mean):
    rows = [row for name, row in published.TABLE3.items() if name != "parkinsons"]
    assert np.mean([row[method].mean for row in rows]) == pytest.approx(mean, abs=5e-4)


def test_table7_repeats_table4_but_for_one_number():
    for name in published.TABLE4_DATA:
        four, seven = (
            published.TABLE4[name]["CCICP-SGD"],
            published.TABLE7[name]["CCICP-SGD"],
        )
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
    names.add("readings")
    rows = set(published.TABLE2) | set(published.TABLE3_DATA) | {"Stein"}
    rows |= {*published.TABLE5, *published.TABLE5_OURS}
    columns = {*published.TABLE3_METHODS, *published.OURS}
    columns |= {*published.TABLE4_METHODS, *published.TABLE4_OURS}
    columns |= {*published.TABLE7_METHODS, *published.TABLE7_OURS}
    for note in NOTES:
        assert set(note.tables.split()) <= names
        assert not note.row or note.row in rows
        assert not note.column or set(note.column.split(", ")) <= columns
        assert note.text.endswith(".")
    sort_summaries = find_notes("table3")
    assert not sort_summaries[0].row
    assert {note.row for note in sort_summaries} >= {"parkinsons", "splice", ""}
