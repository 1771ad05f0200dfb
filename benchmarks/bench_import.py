"""Seconds of the first import and of the first call, compared with scikit-learn.

    python benchmarks/bench_import.py [--quick] [--repeats N]

For imports, the whole process is timed, including the start of Python. The first call
of a compiled kernel is timed inside a new process, with and without machine code in the
cache.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import count

from common import (
    OURS,
    SelfTimed,
    describe_machine,
    make_rows,
    parse_options,
    print_rows,
    run_script,
    time_functions,
)

IMPORT_CODE = {
    # names of the package are imported lazily
    OURS: "from kreinlearn import KreinLogisticRegressionCV",
    "scikit-learn": "import sklearn.linear_model",
}
CALL_CODE = """
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
    options = parse_options(__doc__, argv)
    machine = describe_machine()
    shape = {"n": None, "m": None, "dtype": None}
    processes = {
        library: SelfTimed(partial(time_process, code))
        for library, code in IMPORT_CODE.items()
    }
    if not options.quick:  # fills the caches of the system
        time_functions(processes, 1)
    seconds = time_functions(processes, options.repeats)
    print_rows(make_rows("import", "import", seconds, **shape), machine)
    with tempfile.TemporaryDirectory() as folder:
        stores = (f"{folder}/{number}" for number in count())
        cold = SelfTimed(lambda: time_first_call(next(stores)))
        warm = SelfTimed(lambda: time_first_call(f"{folder}/0"))
        shape |= {"n": 10, "m": 3, "dtype": "float64"}
        for work, call in (("no stored code", cold), ("stored code", warm)):
            seconds = time_functions({OURS: call}, options.repeats)
            name = f"first call of tl1, {work}"
            print_rows(make_rows("import", name, seconds, **shape), machine)


def time_process(code):
    """Return the seconds of a process that runs code, including its start."""
    start = time.perf_counter()
    run_python(code)
    return {"seconds": time.perf_counter() - start}


def time_first_call(store):
    """Return the seconds of the first call, with the cache in a folder."""
    return json.loads(run_python(CALL_CODE, NUMBA_CACHE_DIR=store))


def run_python(code, **environ):
    """Run code in a new process and return what it prints."""
    call = [sys.executable, "-c", code]
    return subprocess.run(
        call, check=True, capture_output=True, text=True, env=os.environ | environ
    ).stdout


if __name__ == "__main__":
    run_script(main)
