"""What the workers of the tests do: importable by name, as spawned processes need."""

import os
import sys
import time

from reproduction.cells import grid


def cells(n, experiment="toy"):
    return grid(experiment, ["a", "b"], ["m"], n // 2)


def fair(cell):
    return {"status": "converged", "acc": cell.seed % 1000 / 999, "fit_s": 0.1}


def slow(cell):
    """Take a moment, and for the last ones longer than anyone waits."""
    time.sleep(600 if cell.dataset == "a" and cell.run < 5 else 0.05)
    return fair(cell)


def deaf(cell):
    """Say so, and let no other thread of this process run for a minute or so."""
    print("begun", file=sys.stderr, flush=True)
    return {"status": "done", "n_iter": sum(range(3 * 10**9)) % 7}


def troubled(cell):
    """Hang, die, or raise an error, by the name of the data; else be fair."""
    if cell.run > 0:
        return fair(cell)
    if cell.dataset == "hangs":
        time.sleep(600)
    if cell.dataset == "dies":
        os._exit(7)
    raise ValueError(f"no luck with {cell.key}")


def surveying(cell):
    import numba
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((50, 50)) @ np.ones((50, 50))
    pools = [pool["num_threads"] for pool in threadpool_info()]
    return {"status": "done", "n_iter": max([*pools, numba.get_num_threads()])}
