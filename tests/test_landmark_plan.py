"""The cost model of landmarks: what it is given, it must find again."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow


def test_seconds_of_each_unit_are_found_again(script):
    costs, plan = script("landmark_costs"), script("landmark_plan")
    true = {"single": 1e-9, "double": 2e-9, "products": 5e-10, "curvature": 1e-10}
    true |= {"matrices": 1e-9, "fits": 0.2}
    rng = np.random.default_rng(0)
    rows = [
        {unit: rng.uniform(0.1, 1) / true[unit] for unit in plan.UNITS}
        for _ in range(9)
    ]
    for row in rows:
        row["seconds"] = plan.foretold(true, row)
    assert costs.learned(rows) == pytest.approx(true, rel=1e-6)


def test_more_workers_take_less_time_and_hold_less(script):
    plan = script("landmark_plan")
    seconds = dict.fromkeys(plan.UNITS, 1e-9) | {"factor": 1.0, "task": 1e-4}
    seconds |= {"sums": 1.0, "message": 1e-3}
    lines = [plan.run_of(seconds, 10**9, 1000, k, 10, 5) for k in (1, 10, 100)]
    taken = [line.split("|")[4].split() for line in lines]
    minutes = [float(n) / {"min": 1, "s": 60}[unit] for n, unit in taken]
    assert minutes[0] > 9 * minutes[1] > 9 * 5 * minutes[2] > 0
    assert plan.run_of(seconds, 10**6, 1000, 1000, 10, 5) is None
