"""The vector code turned off: plain loops give the same numbers, to rounding."""

import os
import subprocess
import sys

import numpy as np
import pytest

from kreinlearn.kernels import gram, multiply
from tests.kernels.test_products import columns
from tests.kernels.test_rows import VECTOR, samples

PROGRAM = """
import sys
import numpy as np
from tests.kernels.test_plain import results
from kreinlearn.kernels._compiled import llvm

assert llvm.PLAIN_LOOPS
np.savez(sys.argv[1], **results(*sys.argv[2:]))
"""


def results(*sizes):
    """Return matrices and products of kernels between rows, by a key.

    With 3 features all kernels, with 130 those that compiled code still sums, with 5
    all in single precision.
    """
    found = {}
    for m in map(int, sizes):
        dtype = np.float32 if m == 5 else np.float64
        X, Y = samples(9, m, dtype), samples(6, m, dtype, seed=1)
        for name in ("tl1", "laplacian") if m == 130 else VECTOR:
            key = f"{name} {m}"
            found[f"{key} symmetric"] = gram(X, kernel=name)
            found[f"{key} cross"] = gram(X, Y, name)
            found[f"{key} product"] = multiply(X, None, columns(9, 2), name)
            found[f"{key} many"] = multiply(X, Y, columns(6, 6), name)
    return found


@pytest.mark.parametrize(
    ("sizes", "is_interpreted"), [(("3", "5", "130"), "1")], ids=["interpreted"]
)
def test_plain_loops_give_the_same(sizes, is_interpreted, tmp_path):
    more = {"KREINLEARN_PLAIN": "1", "NUMBA_DISABLE_JIT": is_interpreted}
    call = [sys.executable, "-c", PROGRAM, str(tmp_path / "plain.npz"), *sizes]
    subprocess.run(call, check=True, env=os.environ | more)
    plain, ours = np.load(tmp_path / "plain.npz"), results(*sizes)
    assert set(plain.files) == set(ours)
    for key, values in ours.items():
        assert plain[key].dtype == values.dtype
        tol = 2e-5 if " 5 " in key else 1e-12
        np.testing.assert_allclose(plain[key], values, rtol=tol, atol=tol, err_msg=key)
    # Without products nothing is fused: the same bits.
    for key in (f"tl1 {m} {kind}" for m in sizes for kind in ("symmetric", "cross")):
        np.testing.assert_array_equal(plain[key], ours[key])
