import pytest

from kreinlearn.app.runs import read_records as read
from reproduction import run as module
from reproduction.catalog import EXPERIMENTS
from reproduction.run import run_experiment

pytestmark = pytest.mark.slow


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
