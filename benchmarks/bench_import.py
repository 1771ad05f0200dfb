"""How long the first import and the first call take, next to scikit-learn.

    python benchmarks/bench_import.py [--quick] [--repeats N]

Whole processes for the import, with the start of Python in both. The first call of a
compiled kernel is timed inside a new process: with its machine code stored by an
earlier process, and with an empty store.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import count

from common import OURS, Fresh, emit, environment, measure, options_of, rows, start

IMPORTS = {
    # names of the package are imported when asked for: ask for one
    OURS: "from kreinlearn import KreinLogisticRegressionCV",
    "scikit-learn": "import sklearn.linear_model",
}
CALL = """
import json, time
import numpy as np
X = np.ones((10, 3))
import kreinlearn
start = time.perf_counter()
from kreinlearn.kernels import tl1
tl1(X)
print(json.dumps({"seconds": time.perf_counter() - start}))
"""


def main(argv=None):
    options = options_of(__doc__, argv)
    machine = environment()
    shape = {"n": None, "m": None, "dtype": None}
    processes = {
        library: Fresh(partial(whole, code)) for library, code in IMPORTS.items()
    }
    if not options.quick:  # once for the caches of the system
        measure(processes, 1)
    seconds = measure(processes, options.repeats)
    emit(rows("import", "import", seconds, **shape), machine)
    with tempfile.TemporaryDirectory() as folder:
        stores = (f"{folder}/{number}" for number in count())
        cold = Fresh(lambda: first_call(next(stores)))
        warm = Fresh(lambda: first_call(f"{folder}/0"))
        shape |= {"n": 10, "m": 3, "dtype": "float64"}
        for work, call in (("no stored code", cold), ("stored code", warm)):
            seconds = measure({OURS: call}, options.repeats)
            name = f"first call of tl1, {work}"
            emit(rows("import", name, seconds, **shape), machine)


def whole(code):
    """Return the seconds of a process that runs code, with its start."""
    start = time.perf_counter()
    python(code)
    return {"seconds": time.perf_counter() - start}


def first_call(store):
    """Return the seconds of the first call, with machine code kept in a folder."""
    return json.loads(python(CALL, NUMBA_CACHE_DIR=store))


def python(code, **environ):
    """Run code in a new process and return what it prints."""
    call = [sys.executable, "-c", code]
    return subprocess.run(
        call, check=True, capture_output=True, text=True, env=os.environ | environ
    ).stdout


if __name__ == "__main__":
    start(main)
