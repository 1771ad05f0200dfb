import re
from xml.etree import ElementTree

import pytest

from kreinlearn.pages.figures import NARROW, files
from kreinlearn.paper.figures import figures_for
from kreinlearn.paper.summary import summaries_of
from kreinlearn.runs.records import read_records as read


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("table3", ["dots", "cd", "cd-published"]),
        ("fig1", ["yaleb"]),
        ("fig2", ["eps"]),
        ("fig3", ["objective"]),
        ("table4", []),
    ],
)
def test_figures_are_drawn(stored, name, expected):
    figures = figures_for(name, summaries_of(read(stored(name))))
    assert list(figures) == expected
    for figure in figures.values():
        drawn = files(figure)
        assert ElementTree.fromstring(drawn["svg"]).tag.endswith("svg")
        assert len(drawn["png"]) > 5000
        assert figure.caption.endswith(".")
        assert figure.alt.endswith(".")
        assert re.search(r"\d", figure.alt)
        assert figure.narrow[1][0] == NARROW


def test_diverged_curves_are_drawn(stored):
    records = [dict(record) for record in read(stored("fig3", 1))]
    records[0]["curve"] = [0.69, -2.0, -7e3, -2e7, None]
    figure = figures_for("fig3", summaries_of(records))["objective"]
    assert "from 0.69 to -2e+07 in 3 iterations" in figure.alt
    assert files(figure)["svg"]


def test_nothing_to_draw():
    assert figures_for("table3", []) == {}
