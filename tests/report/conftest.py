import base64
import gzip
import json
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest

from kreinlearn.app.runs import make_record
from reproduction.catalog import EXPERIMENTS
from reproduction.methods import GRID
from reproduction.page import write
from reproduction.published import INITS, TABLE2
from tests.report import made

RESULTS = Path(__file__).parents[2] / "docs" / "results"
VERSIONS = {"ver": {"python": "3.11.0", "numpy": "2.0.0"}, "git": "abc123"}


def reading_outcome(cell, rng):
    """Return plausible fields for a cell of the readings."""
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


def outcome(cell, rng):
    """Return plausible fields for any cell."""
    if cell.setting("evidence") is not None:
        return reading_outcome(cell, rng)
    fields = {"status": "max_iter" if "CC" in cell.method else "converged"}
    if cell.experiment == "table2":
        row = TABLE2[cell.dataset]
        mu = [row.mu_min + rng.normal(), row.mu_max * rng.uniform(0.9, 1.1)]
        return {"status": "done", "mu": mu, "tau": 0.7 * row.m, "m": row.m, "n": row.n}
    if cell.experiment == "table1":
        bad = 0 if "Eucl" in cell.method else int(rng.integers(1, 200))
        ratio = -rng.uniform(0.001, 0.02) if bad else 1e-9
        return {"status": "done", "tried": 210, "indefinite": bad, "mu_ratio": ratio}
    if cell.experiment == "fig1":
        pixels = rng.integers(256, size=(3, 4, 24, 20), dtype=np.uint8)
        code = base64.b64encode(zlib.compress(pixels.tobytes())).decode()
        return {"status": "done", "n": 30, "shape": pixels.shape, "pixels": code}
    if cell.experiment == "table5":
        fields["mu"] = [-rng.uniform(), 100 * rng.uniform()]
    fields |= {"acc": rng.uniform(0.5, 1), "bacc": rng.uniform(0.4, 0.9)}
    fields |= {"fit_s": rng.uniform(0.01, 1), "pred_s": 0.001, "n_iter": 20}
    fields |= {"chosen": {"lam": 0.1}, "cv": {"converged": 30, "diverged": 5}}
    if "SV" not in cell.method:
        fields["ll"] = rng.uniform(0.3, 0.7)
    if cell.experiment.startswith("fig"):
        fields["curve"] = [0.69, *np.sort(rng.uniform(0.3, 0.6, 20))[::-1]]
    return fields


def write_records(path, name, runs, seed=0):
    rng = np.random.default_rng(seed)
    cells = EXPERIMENTS[name].cells(runs)
    records = [make_record(cell, outcome(cell, rng), **VERSIONS) for cell in cells]
    # At once: a store waits for the disk after each.
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """Return a function from an experiment to a file of made-up records."""
    folder = tmp_path_factory.mktemp("records")

    def make(name, runs=3):
        path = folder / f"{name}-{runs}.jsonl"
        return path if path.exists() else write_records(path, name, runs)

    return make


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip(
        "playwright.sync_api", reason='needs playwright: pip install ".[browser]"'
    )
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with api.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Return a function from the name of a page to its address."""
    folder = tmp_path_factory.mktemp("pages")

    def make(name):
        path = folder / f"{name}.html"
        if path.exists():
            return path.as_uri()
        if made.PAGES.get(name) is None:
            stored, records = RESULTS / f"{name}.jsonl.gz", folder / f"{name}.jsonl"
            if stored.exists():
                records.write_bytes(gzip.decompress(stored.read_bytes()))
            elif name in made.PAGES:
                pytest.skip(f"needs {stored.name} of the repository")
            else:
                write_records(records, name, 3)
            write(name, records, folder)
        else:
            path.write_text(made.PAGES[name](), encoding="utf-8")
        return path.as_uri()

    return make
