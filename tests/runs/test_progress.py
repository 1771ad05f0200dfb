"""Progress of measures: told if they take long."""

import io

import pytest

from kreinlearn.app.runs.progress import TimeLeft, report_fraction


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_long_measures_are_told_and_short_ones_are_not(stream):
    out = stream()
    with report_fraction(out) as tell:
        tell("dtw", 0.5, 0.1)
        tell("dtw", 1.0, 0.0)
    assert out.getvalue() == ""
    with report_fraction(out, patience=0) as tell:
        tell("dtw", 0.25, 90.0)
        tell("dtw", 1.0, 0.0)
    assert "1m30s left" in out.getvalue() and "dtw" in out.getvalue()


def test_time_left_uses_the_times_of_each_kind():
    """Expected times are wrong by a factor of 50 for one kind."""
    seconds = {"slow": 2.0, "fast": 0.1, "other": 0.1}
    steps = [(kind, 1.0) for kind in seconds for _ in range(10)]
    left = TimeLeft(steps, workers=2)
    assert left.estimate() is None
    for kind in seconds:  # the first tenth of the steps
        left.finish(kind, seconds[kind])
    assert left.estimate() == pytest.approx(9 * 2.2 / 2)
    for kind in seconds:
        for _ in range(9):
            left.finish(kind, seconds[kind])
    assert left.estimate() == 0


def test_no_time_left_before_a_tenth_of_the_work():
    left = TimeLeft([("short", 1.0), *[("long", 30.0)] * 5])
    left.finish("short", 0.1)
    assert left.estimate() is None
    left.finish("long", 4.0)
    assert left.estimate() == pytest.approx(16)
