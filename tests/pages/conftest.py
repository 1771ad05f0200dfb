import base64
import zlib

import numpy as np
import pytest

from kreinlearn.paper.catalog import EXPERIMENTS
from kreinlearn.paper.published import TABLE2
from kreinlearn.runs.records import Store, record_of

VERSIONS = {"ver": {"python": "3.11.0", "numpy": "2.0.0"}, "git": "abc123"}


def outcome(cell, rng):
    """Return plausible fields for any cell."""
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
    with Store(path) as store:
        for cell in EXPERIMENTS[name].cells(runs):
            store.append(record_of(cell, outcome(cell, rng), **VERSIONS))
    return path


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """Return a function from an experiment to a file of made-up records."""
    folder = tmp_path_factory.mktemp("records")

    def make(name, runs=3):
        path = folder / f"{name}-{runs}.jsonl"
        return path if path.exists() else write_records(path, name, runs)

    return make
