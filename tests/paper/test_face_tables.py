from kreinlearn.paper.notes import notes_for
from kreinlearn.paper.page import write
from kreinlearn.paper.summary import numbers, summaries_of
from kreinlearn.paper.tables import LAYOUTS
from kreinlearn.runs.records import read_records as read


def rows_of(table):
    return {row[0].text: [entry.text for entry in row[1:]] for row in table.rows}


def test_table1(stored):
    summaries = summaries_of(read(stored("table1")))
    (table,) = LAYOUTS["table1"](summaries, notes_for("table1"))
    assert [head.text for head in table.columns[-4:]] == [
        "2 x 2",
        "3 x 3",
        "5 x 5",
        "9 x 9",
    ]
    rows = rows_of(table)
    assert list(rows) == ["Euclidean", "Log-Euclidean", "Affine-invariant", "Stein"]
    assert rows["Euclidean"][1:4] == ["no", "yes", "≥ 0"]
    assert rows["Affine-invariant"][1:3] == ["yes", "no"]
    assert rows["Affine-invariant"][3].startswith("−0.0")
    assert table.rows[0][4].detail == "0 of 630"
    assert table.rows[3][0].marks


def test_table5_has_published_numbers_beside_faces(stored):
    summaries = summaries_of(read(stored("table5")))
    (table,) = LAYOUTS["table5"](summaries, notes_for("table5"))
    rows = rows_of(table)
    assert len(rows) == 12
    assert rows["CCICP-GD"][0] == "0.983 ± 0.008"
    assert rows["KreinCV"][0] == "–"
    assert sum(row[2].is_best for row in table.rows) == 1
    assert "-160.28 and 670.05" in table.caption
    published = {r["method"]: r.get("published") for r in numbers("table5", summaries)}
    assert set(published) == set(rows)


def test_a_stand_in_is_called_one(stored, tmp_path):
    records = [record | {"data": "digits"} for record in read(stored("table5"))]
    (table,) = LAYOUTS["table5"](summaries_of(records), notes_for("table5"))
    assert table.title == "Table 5: digits"
    assert table.caption.startswith("NOT FACES")
    assert rows_of(table)["CCICP-GD"][0] == "–"
    assert all("published" not in r for r in numbers("table5", summaries_of(records)))


def test_fig1_is_written(stored, tmp_path):
    files = write("fig1", stored("fig1"), tmp_path)
    assert {path.name for path in files} >= {"fig1.html", "fig1-yaleb.png"}
    page = (tmp_path / "fig1.html").read_text(encoding="utf-8")
    assert "Yale Face Database B" in page
