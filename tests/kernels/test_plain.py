"""The vector code turned off: plain loops give the same numbers, to rounding."""

import os
import subprocess
import sys

import numpy as np

from kreinlearn.kernels import gram, multiply
from tests.kernels.test_products import columns
from tests.kernels.test_rows import VECTOR, samples

PROGRAM = """
import sys
from importlib import import_module
import numpy as np
from numba import config
from kreinlearn.kernels._compiled import llvm

assert llvm.PLAIN_LOOPS and bool(config.DISABLE_JIT) == (sys.argv[3] == "1")
np.savez(sys.argv[1], **import_module(sys.argv[2]).compute_results())
"""


def assert_same_without_compiler(module, tmp_path, get_tol, jit="0", options=()):
    """Compare ``compute_results()`` of a module with that of plain, interpreted code.

    Return both, by key.
    """
    path = tmp_path / "plain.npz"
    disabled = str(1 - int(jit))
    more = {"KREINLEARN_PLAIN": "1", "NUMBA_DISABLE_JIT": disabled}
    call = [sys.executable, *options, "-c", PROGRAM, str(path), module, disabled]
    subprocess.run(call, check=True, env=os.environ | more)
    plain, ours = dict(np.load(path)), sys.modules[module].compute_results()
    assert set(plain) == set(ours)
    for key, values in ours.items():
        tol = get_tol(key)
        assert plain[key].dtype == np.asarray(values).dtype
        np.testing.assert_allclose(plain[key], values, rtol=tol, atol=tol, err_msg=key)
    return plain, ours


def compute_results():
    """Return matrices and products of kernels between rows, by a key.

    With 3 features all kernels, with 130 those that compiled code still sums, with 5
    all in single precision.
    """
    found = {}
    for m in (3, 5, 130):
        dtype = np.float32 if m == 5 else np.float64
        X, Y = samples(9, m, dtype), samples(6, m, dtype, seed=1)
        for name in ("tl1", "laplacian") if m == 130 else VECTOR:
            key = f"{name} {m}"
            found[f"{key} symmetric"] = gram(X, kernel=name)
            found[f"{key} cross"] = gram(X, Y, name)
            found[f"{key} product"] = multiply(X, None, columns(9, 2), name)
            found[f"{key} many"] = multiply(X, Y, columns(6, 6), name)
    return found


def test_plain_loops_give_the_same(tmp_path):
    plain, ours = assert_same_without_compiler(
        __name__, tmp_path, lambda key: 2e-5 if " 5 " in key else 1e-12
    )
    # Without products nothing is fused: the same bits.
    for key in (
        f"tl1 {m} {kind}" for m in (3, 5, 130) for kind in ("symmetric", "cross")
    ):
        np.testing.assert_array_equal(plain[key], ours[key])
