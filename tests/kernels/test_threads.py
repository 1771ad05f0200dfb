import threading

import numpy as np

from kreinlearn.kernels import _work, gram
from kreinlearn.kernels.threads import allowed, limit_threads


def threads_of(n_threads):
    """Return the threads that share out pieces of work."""
    seen = set()
    _work.share_out(lambda *_: seen.add(threading.get_ident()), 100, n_threads)
    return seen


def test_a_thread_may_keep_kernels_to_itself():
    assert allowed(7) == 7
    with limit_threads(3):
        assert allowed(7) == 3 and allowed(2) == 2
        with limit_threads(5):
            assert allowed(7) == 3
    with limit_threads(1):
        assert allowed(7) == 1
        assert threads_of(4) == {threading.get_ident()}
        elsewhere = []
        other = threading.Thread(target=lambda: elsewhere.append(allowed(7)))
        other.start()
        other.join()
        assert elsewhere == [7]
        with limit_threads(2):
            pass
        assert allowed(7) == 1
    assert allowed(7) == 7


def test_results_are_the_same_to_the_bit(rng):
    X, Z = rng.uniform(size=(900, 30)), rng.uniform(size=(800, 30))
    expected = gram(X, Z, "tl1")
    with limit_threads(1):
        np.testing.assert_array_equal(gram(X, Z, "tl1"), expected)
