import pytest

from kreinlearn.app.runs import read_records as read
from reproduction import run as module
from reproduction.catalog import EXPERIMENTS
from reproduction.published import TABLE3_DATA
from reproduction.readings import READINGS
from reproduction.run import run_experiment

pytestmark = pytest.mark.slow


def test_sizes_of_the_grids():
    sizes = {name: len(each.cells()) for name, each in EXPERIMENTS.items()}
    assert sizes["table1"] == 4 * 4 * 10
    assert sizes["table2"] == 20 * 10
    assert sizes["table3"] == 16 * 10 * 17
    assert sizes["table4"] == (10 + 10 + 3 + 3) * 7
    assert sizes["table5"] == 15 * 10
    assert sizes["fig1"] == 1
    # Three starts of gradient descent involve no chance.
    assert sizes["table6"] == 2 * (2 * (3 + 10) + 2 * 4 * 10)
    assert sizes["table7"] == (10 + 10 + 3 + 3) * 4
    assert sizes["fig2"] == (10 + 3) * 2 * 7
    assert sizes["fig3"] == 2 * 6
    assert sizes["readings"] == 30 * (13 * 5 + 1 + 2)
    keys = [cell.key for each in EXPERIMENTS.values() for cell in each.cells(2)]
    assert len(set(keys)) == len(keys)


def test_readings_are_three_kinds_of_cells():
    def kinds(*given):
        cells = EXPERIMENTS["readings"].cells(*given)
        assert {cell.method for cell in cells} == set(READINGS)
        return {(c.dataset, c.run, *c.settings) for c in cells}

    starts = ("monks1", 0, ("evidence", "starts"), ("half", "fixed"))
    guide, madelon = (
        (name, 0, ("evidence", "steps"), ("half", "fixed"))
        for name in ("guide1-t", "madelon")
    )
    small = set(TABLE3_DATA) - {"parkinsons", "diabetic", "splice"}
    halves = {(name, run) for name in small for run in range(2)}
    assert kinds(2) == {*halves, starts, guide, madelon}
    assert kinds(None, "monks1") == {*(("monks1", run) for run in range(5)), starts}
    assert kinds(2, "madelon") == {madelon}
    with pytest.raises(ValueError, match="'dataset' must be one of .* got 'splice'"):
        EXPERIMENTS["readings"].cells(2, "splice")


def test_without_data_one_sentence_before_any_cell(tmp_path):
    with pytest.raises(FileNotFoundError) as told:
        run_experiment("table6", data_home=tmp_path, out=tmp_path / "out")
    assert str(told.value) == (
        f"table6 needs data that are not in {tmp_path}: monks1, guide1-t; run "
        "`python -m reproduction data fetch monks1` and so on, or set KREINLEARN_DATA "
        "to the folder that has them."
    )
    assert not (tmp_path / "out").exists()


def test_without_faces_one_sentence_that_names_the_stand_in(tmp_path):
    words = rf"table5 needs yaleb\.npz, which is not in {tmp_path}: .* 'digits' runs"
    with pytest.raises(FileNotFoundError, match=words):
        run_experiment("table5", data_home=tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_retry_runs_failures_again(tmp_path, monkeypatch):
    from kreinlearn.app.runs import Store, make_record

    cells = EXPERIMENTS["fig3"].cells(1)
    path = tmp_path / "fig3.jsonl"
    with Store(path) as store:
        for number, cell in enumerate(cells):
            status = "timeout" if number == 1 else "converged"
            store.append(make_record(cell, {"status": status}))
    asked = []
    monkeypatch.setattr(module, "_check_data", lambda *args: None)

    def stand_in(cells, path, work, **settings):
        done = {record["key"] for record in read(path)}
        asked.append([cell.key for cell in cells if cell.key not in done])
        assert settings["jobs"] == 1  # seconds matter: one at a time

    monkeypatch.setattr(module, "run", stand_in)
    run_experiment("fig3", out=tmp_path, runs=1)
    run_experiment("fig3", out=tmp_path, runs=1, retry=True)
    assert asked == [[], [cells[1].key]]


@pytest.mark.slow
def test_real_data(data_home, tmp_path, monkeypatch):
    from dataclasses import replace

    small = replace(
        EXPERIMENTS["table3"],
        datasets=("monks1",),
        methods=("CCICP-GD", "IKLR krein", "SVC raw"),
    )
    monkeypatch.setitem(EXPERIMENTS, "table3", small)
    path = run_experiment("table3", data_home=data_home, runs=2, out=tmp_path, jobs=2)
    records = read(path)
    assert path == tmp_path / "table3.jsonl"
    assert len(records) == 6
    assert all(record["n"] == 62 and record["m"] == 6 for record in records)
    exact = [r for r in records if r["method"] == "IKLR krein"]
    assert all(r["status"] == "converged" and 0.4 < r["acc"] < 1 for r in exact)
    assert all(r["mu"][0] < -1 for r in records)
