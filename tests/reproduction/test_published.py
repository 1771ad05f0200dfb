"""Spot checks of the published numbers; all were compared with the paper's source."""

from reproduction import published
from reproduction.notes import NOTES, find_notes


def test_spot_checks():
    assert published.TABLE2["madelon"] == (500, 2000, 14.825, 27015)
    assert published.TABLE3["monks2"]["TDCASVM"] == (0.743, 0.018)
    assert published.TABLE3["parkinsons"]["CCICP-SGD"] == (1.0, 0.0)
    assert published.TABLE4["EEG"]["CCCP-GD"] == ((0.769, 0.042), 17171.0, 0.1237)
    assert published.TABLE5["CCICP-GD"] == (0.983, 0.008)
    assert published.TABLE1["Log-Euclidean"] == (True, True)
    assert published.TABLE6["uniform"]["CCICP-SGD", "guide1-t"] == (0.926, 0.049)
    assert published.TABLE7["madelon"]["CCICP-SGD-I"] == ((0.550, 0.065), 2.543, 0.0025)


def test_notes_point_at_something():
    names = {f"table{number}" for number in range(1, 8)} | {"fig1", "fig2", "fig3"}
    names.add("readings")
    rows = set(published.TABLE2) | set(published.TABLE3_DATA) | {"Stein"}
    rows |= {*published.TABLE5, *published.TABLE5_OURS}
    columns = {*published.TABLE3_METHODS, *published.TABLE3_OURS}
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
