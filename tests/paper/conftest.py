import json

import numpy as np
import pytest

from kreinlearn.paper.catalog import EXPERIMENTS
from kreinlearn.paper.methods import GRID
from kreinlearn.paper.published import INITS
from kreinlearn.runs.records import record_of
from tests.pages.conftest import VERSIONS, outcome
from tests.pages.conftest import stored as stored_on_pages  # noqa: F401


def reading_outcome(cell, rng):
    """Return plausible fields for a cell of the readings."""
    if cell.setting("evidence") is None:
        return outcome(cell, rng)
    fields = {"status": "done", "n": 62}
    if cell.setting("evidence") == "steps":
        steps = {
            "0.0001": [*map(int, rng.integers(200, 400, size=2)), None],
            "1": [20, 20, None],
        }
        return fields | {"steps": steps}
    hits = {init: list(rng.uniform(200, 432, size=len(GRID))) for init in INITS}
    curves = {
        eps: [[43.0, *np.sort(rng.uniform(20, 40, 20))[::-1]] for _ in GRID]
        for eps in ("0.0001", "1")
    }
    return fields | {"hits": hits, "curves": curves}


@pytest.fixture(scope="session")
def stored(stored_on_pages, tmp_path_factory):  # noqa: F811
    """Return a function from an experiment to a file of made-up records.

    Those of the readings are too many to be written one by one.
    """
    folder = tmp_path_factory.mktemp("readings")

    def make(name, runs=3):
        if name != "readings":
            return stored_on_pages(name, runs)
        path, rng = folder / f"{runs}.jsonl", np.random.default_rng(0)
        if not path.exists():
            cells = EXPERIMENTS[name].cells(runs)
            records = [record_of(c, reading_outcome(c, rng), **VERSIONS) for c in cells]
            text = "".join(f"{json.dumps(record)}\n" for record in records)
            path.write_text(text, encoding="utf-8")
        return path

    return make
