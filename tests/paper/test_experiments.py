import pytest

from kreinlearn.paper import EXPERIMENTS, run_experiment
from kreinlearn.paper import run as module
from kreinlearn.paper.run import cost
from kreinlearn.runs.records import read_records as read


def test_sizes_of_the_grids():
    sizes = {name: len(each.cells()) for name, each in EXPERIMENTS.items()}
    assert sizes["table1"] == 4 * 4 * 10
    assert sizes["table2"] == 20 * 10
    assert sizes["table3"] == 16 * 10 * 15
    assert sizes["table5"] == 12 * 10
    assert sizes["fig1"] == 1
    assert sizes["table6"] == 4 * 2 * 2 * 10
    assert sizes["fig2"] == 7 * 2 * 10
    keys = [cell.key for each in EXPERIMENTS.values() for cell in each.cells(2)]
    assert len(set(keys)) == len(keys)


def test_table6_has_one_half_for_all_runs():
    cells = [c for c in EXPERIMENTS["table6"].cells(3) if c.dataset == "monks1"]
    assert len({cell.half_seed for cell in cells}) == 1
    assert len({cell.seed for cell in cells}) == len(cells)


def test_larger_data_cost_more():
    costs = {cell.dataset: cost(cell) for cell in EXPERIMENTS["table3"].cells(1)}
    assert max(costs, key=costs.get) == "diabetic"
    assert "breast-cancer-683x9" in costs


def test_unknown_name():
    with pytest.raises(ValueError, match="'name' must be one of 'table1', .* 'table9'"):
        run_experiment("table9")


def test_without_data_one_sentence_before_any_cell(tmp_path):
    with pytest.raises(FileNotFoundError) as told:
        run_experiment("table6", data_home=tmp_path, out=tmp_path / "out")
    assert str(told.value) == (
        f"table6 needs data that are not in {tmp_path}: monks1, guide1-t; run `krein "
        "data fetch monks1` and so on, or set KREINLEARN_DATA to the folder that has "
        "them."
    )
    assert not (tmp_path / "out").exists()


def test_without_faces_one_sentence_that_names_the_stand_in(tmp_path):
    words = rf"table5 needs yaleb\.npz, which is not in {tmp_path}: .* 'digits' runs"
    with pytest.raises(FileNotFoundError, match=words):
        run_experiment("table5", data_home=tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_one_data_set_of_an_experiment():
    cells = EXPERIMENTS["table5"].cells(2, "digits")
    assert {cell.dataset for cell in cells} == {"digits"}
    with pytest.raises(ValueError, match="'dataset' must be one of 'yaleb', 'digits'"):
        EXPERIMENTS["table5"].cells(2, "monks1")
    with pytest.raises(ValueError, match="'dataset' must be one of .* got 'digits'"):
        EXPERIMENTS["table6"].cells(2, "digits")


def test_random_matrices_need_no_data(tmp_path, monkeypatch):
    from dataclasses import replace

    small = replace(EXPERIMENTS["table1"], datasets=("2 x 2",))
    monkeypatch.setitem(EXPERIMENTS, "table1", small)
    path = run_experiment("table1", data_home=tmp_path, runs=1, out=tmp_path, jobs=1)
    assert [record["status"] for record in read(path)] == ["done"] * 4


def test_retry_runs_failures_again(tmp_path, monkeypatch):
    from kreinlearn.runs.records import Store, record_of

    cells = EXPERIMENTS["fig3"].cells(1)
    path = tmp_path / "fig3.jsonl"
    with Store(path) as store:
        for number, cell in enumerate(cells):
            status = "timeout" if number == 1 else "converged"
            store.append(record_of(cell, {"status": status}))
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
