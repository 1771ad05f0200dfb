import re
from xml.etree import ElementTree

import pytest

from kreinlearn.app.report.figures import NARROW, draw_files
from kreinlearn.app.runs import read_records as read
from reproduction.evidence import gather_evidence
from reproduction.figures import COMPARED_READINGS, make_figures
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
        assert figure.narrow[1][0] == NARROW


def test_diverged_curves_are_drawn(stored):
    records = [dict(record) for record in read(stored("fig3", 1))]
    records[0]["curve"] = [0.69, -2.0, -7e3, -2e7, None]
    figure = make_figures("fig3", summarize_records(records))["objective"]
    assert "from 0.69 to -2e+07 in 3 iterations" in figure.alt
    assert draw_files(figure)["svg"]


@pytest.mark.parametrize(("name", "short"), [("fig2", "eps"), ("fig3", "objective")])
def test_the_letter_has_figures_of_its_own(stored, name, short):
    summaries = summarize_records(read(stored(name)))
    letter = [each for each in summaries if each.method.endswith(" as printed")]
    reading = [each for each in summaries if not each.method.endswith(" as printed")]
    drawn = make_figures(name, summaries)
    for file, own in ((short, reading), (f"{short}-as-printed", letter)):
        ((key, figure),) = make_figures(name, own).items()
        assert own and key == file
        assert (drawn[file].title, drawn[file].alt) == (figure.title, figure.alt)
    assert drawn[short].alt != drawn[f"{short}-as-printed"].alt


def test_agreement_is_that_of_the_letter_and_of_the_chosen_reading(stored):
    summaries = summarize_records(read(stored("readings")))
    figure = make_figures("readings", summaries)["agreement"]
    found = {each.name: each for each in gather_evidence(summaries)}
    for kind, letter, reading in COMPARED_READINGS:
        said = (
            f"{kind}: root mean square difference {found[letter].distance:.3f} as "
            f"printed and {found[reading].distance:.3f} as read"
        )
        assert said in figure.alt
    fewer = [each for each in summaries if each.method != COMPARED_READINGS[1][2]]
    assert make_figures("readings", fewer) == {}


def test_nothing_to_draw():
    assert make_figures("table3", []) == {}
