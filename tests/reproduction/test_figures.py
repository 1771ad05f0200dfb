import re
from xml.etree import ElementTree

import pytest

from kreinlearn.app.report import PHONE_INCHES, draw_files
from kreinlearn.app.runs import read_records as read
from reproduction.figures import make_figures
from reproduction.summary import summarize_records

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("table3", ["dots", "cd", "cd-published"]),
        ("fig1", ["yaleb"]),
        ("fig2", ["eps", "eps-as-printed"]),
        ("fig3", ["objective", "objective-as-printed"]),
        ("readings", ["agreement"]),
        ("table4", []),
    ],
)
def test_figures_are_drawn(stored, name, expected):
    figures = make_figures(name, summarize_records(read(stored(name))))
    assert list(figures) == expected
    for figure in figures.values():
        drawn = draw_files(figure)
        assert ElementTree.fromstring(drawn["svg"]).tag.endswith("svg")
        assert len(drawn["png"]) > 5000
        assert figure.caption.endswith(".")
        assert figure.alt.endswith(".")
        assert re.search(r"\d", figure.alt)
        assert figure.narrow[1][0] == PHONE_INCHES
