import threading

from kreinlearn.kernels import threads
from kreinlearn.kernels.threads import apply_limit, limit_threads


def threads_of(n_threads):
    """Return the threads that share out pieces of work."""
    seen = set()
    threads.parallel_for(lambda *_: seen.add(threading.get_ident()), 100, n_threads)
    return seen


def test_a_thread_may_keep_kernels_to_itself():
    assert apply_limit(7) == 7
    with limit_threads(3):
        assert apply_limit(7) == 3 and apply_limit(2) == 2
        with limit_threads(5):
            assert apply_limit(7) == 3
    with limit_threads(1):
        assert apply_limit(7) == 1
        assert threads_of(4) == {threading.get_ident()}
        elsewhere = []
        other = threading.Thread(target=lambda: elsewhere.append(apply_limit(7)))
        other.start()
        other.join()
        assert elsewhere == [7]
        with limit_threads(2):
            pass
        assert apply_limit(7) == 1
    assert apply_limit(7) == 7
