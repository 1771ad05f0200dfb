"""The life of a worker, lived in this process, and workers that never begin theirs."""

import os
import signal

import pytest

from kreinlearn.app import runs as workers
from kreinlearn.app.runs import THREAD_VARIABLES, Worker, serve
from tests.runs import work


class Line:
    """A connection whose other end sends some cells and then hangs up."""

    def __init__(self, cells):
        self.cells, self.said = list(cells), []

    def recv(self):
        if not self.cells:
            raise EOFError
        return self.cells.pop(0)

    def send(self, what):
        self.said.append(what)


@pytest.fixture
def own_process(monkeypatch):
    """Run a worker in this process; undo or skip its changes of the process."""
    for name in THREAD_VARIABLES:
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setattr(workers, "_end_with_parent", lambda: None)
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_worker_answers_until_the_line_is_closed(own_process):
    cells = work.cells(4)
    line = Line(cells)
    serve(line, work.troubled, threads=None)
    assert [c.run for c in cells] == [0, 1, 0, 1]
    failed = {"status": "error", "error": f"ValueError: no luck with {cells[0].key}"}
    assert line.said[0] == workers.READY_MESSAGE
    assert line.said[1:3] == [failed, work.fair(cells[1])]
    assert [said["status"] for said in line.said[1:]] == ["error", "converged"] * 2
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_libraries_that_are_loaded_later_hear_of_the_threads(own_process):
    def told(cell):
        return {name: os.environ[name] for name in THREAD_VARIABLES}

    line = Line(work.cells(2)[:1])
    serve(line, told, threads=3)
    assert line.said == [workers.READY_MESSAGE, dict.fromkeys(THREAD_VARIABLES, "3")]


def test_a_worker_that_does_not_start_in_time(monkeypatch):
    monkeypatch.setattr(workers, "START_SECONDS", 0.0)
    worker = Worker(work.fair, 10.0, 1)
    try:
        with pytest.raises(RuntimeError, match="did not start in time"):
            worker.run(work.cells(2)[0])
    finally:
        worker.stop()


def test_a_worker_that_dies_before_it_could_start():
    worker = Worker(work.fair, 10.0, 1)
    worker.stop()
    with pytest.raises(RuntimeError, match="ended with code .* before it could"):
        worker.run(work.cells(2)[0])
