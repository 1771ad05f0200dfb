"""Progress of long measures."""

import io
import time

import pytest

from kreinlearn.app.runs import estimate_left, report_fraction


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_long_measures_report_progress_and_short_ones_do_not(stream):
    out = stream()
    with report_fraction(out) as tell:
        tell("dtw", 0.5, 0.1)
        tell("dtw", 1.0, 0.0)
    assert out.getvalue() == ""
    with report_fraction(out, patience=0) as tell:
        tell("dtw", 0.25, 90.0)
        tell("dtw", 1.0, 0.0)
    assert "1m30s left" in out.getvalue() and "dtw" in out.getvalue()


def test_no_time_left_before_a_tenth_of_the_work():
    start = time.monotonic() - 10
    assert estimate_left(start, 0.05) is None
    assert estimate_left(start, 0.25) == pytest.approx(30, rel=0.1)
    assert estimate_left(start, 1.0) == 0
