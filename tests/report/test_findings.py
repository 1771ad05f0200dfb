"""Pages of findings as text; tests/report/test_browser.py opens them."""

import base64
import copy
import re
from html import unescape
from xml.etree import ElementTree

import pytest

from kreinlearn.app.comparison.page import comparison_page, difference_figure
from kreinlearn.app.inspection.page import inspection_page
from kreinlearn.app.report import (
    DARK_COLORS,
    FIGURE_STYLE,
    spectrum_figure,
)
from tests.report import made
from tests.report.test_page import Page

pytestmark = pytest.mark.slow

IMAGE = re.compile(r'"data:image/svg\+xml;base64,([^"]+)"')


@pytest.fixture(scope="module")
def one():
    return made.comparison("moons")


@pytest.fixture(scope="module")
def one_page():
    return made.comparison_text("moons")


def parsed(text):
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert all(link[1:] in page.ids for link in page.links)
    return page


def drawings(text):
    return [base64.b64decode(code).decode() for code in IMAGE.findall(text)]


def alts(text):
    return [unescape(each) for each in re.findall(r'<img alt="([^"]*)"', text)]


def test_comparison_shows_what_was_found(one, one_page):
    page = parsed(one_page)
    assert page.counts["h1"] == 1
    assert len(alts(one_page)) == page.counts["picture"] == 7
    # The headline comes before anything else.
    place = one_page.index(one["sentences"][0])
    assert place < one_page.index("<dl>") < one_page.index("<table")
    for row in one["rows"][:4]:
        assert f">{row['accuracy']:.3f}<" in one_page
        ends = f"{row['accuracy_low']:.3f} to {row['accuracy_high']:.3f}"
        assert one_page.count(ends) >= 2  # below the mean, and with the figure
        assert any(
            f"{row['method']} {row['accuracy']:.3f}" in a for a in alts(one_page)
        )
        assert any(
            f"{row['method']}: AUC {row['auc']:.3f}" in a for a in alts(one_page)
        )
    best = max(row["accuracy"] for row in one["rows"][:4])
    assert f"<strong>{best:.3f}</strong>" in one_page
    assert "error in 5 of 5 fits<small>no result</small>" in one_page
    assert "ranks" not in one_page and "after Nadeau and Bengio" in one_page
    assert f"kreinlearn {made.VERSIONS['kreinlearn']}" in one_page
    assert "krein compare moons" in one_page


def test_best_is_bold_in_each_column(one, one_page):
    start = one_page.index('aria-label="Table: Scores"')
    table = one_page[start : one_page.index("</table>", start)]
    columns = {
        name: place
        for place, name in enumerate(re.findall(r"<button[^>]*>([^<]*)<", table))
    }
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", table)
    for name, key, choose in (
        ("log-loss", "log_loss", min),
        ("AUC", "auc", max),
        ("accuracy", "accuracy", max),
    ):
        cells = [re.findall(r"<td.*?</td>", row)[columns[name] - 1] for row in rows]
        # From the highest accuracy to the lowest.
        ordered = sorted(one["rows"], key=lambda row: -(row["accuracy"] or 0))
        values = [row[key] for row in ordered]
        known = [value for value in values if value is not None]
        for cell, value in zip(cells, values, strict=True):
            is_best = value is not None and f"{value:.3f}" == f"{choose(known):.3f}"
            assert ("<strong>" in cell) == is_best


def test_inspection_shows_what_was_found():
    found = made.inspection()
    text = made.inspection_text()
    parsed(text)
    p, q, _ = found["signature"]
    assert len(alts(text)) == 2
    assert f"{p} positive, {q} negative" in alts(text)[0]
    assert f"down to {found['mu_min']:.4g}" in alts(text)[0]
    assert "the observed +0.031 is reached by 0 of them, p = 0.005" in alts(text)[1]
    assert "<strong>0.930</strong>" in text
    assert f"{found['unique_lam']:.4g}" in text
    without = made.inspection_text(labels=False)
    assert len(alts(without)) == 1
    assert "Held-out scores" not in without


def test_a_positive_matrix_has_nothing_to_mark():
    found = made.inspection(labels=False)
    mu = [each for each in found["eigenvalues"] if each > 0]
    found |= {"eigenvalues": mu, "signature": [len(mu), 0, 0], "mu_min": mu[-1]}
    text = inspection_page(found | {"negative_share": -0.0})
    assert "none is negative" in text
    assert "-0%" not in text
    assert "negative, down" not in drawings(text)[0]


def test_nothing_of_a_user_becomes_markup():
    for text in (
        made.comparison_text("moons", nasty=True),
        made.inspection_text(nasty=True),
    ):
        parsed(text)
        assert "<b>" not in text
        assert "\x07" not in text
        assert "&lt;b&gt;&amp;&#34;x" in text
        text.encode()
        for drawing in drawings(text):
            ElementTree.fromstring(drawing)
    lone = made.inspection(nasty=True) | {"source": "a\ud800b"}
    inspection_page(lone).encode()


def test_rows_with_the_same_predictions_are_listed_once(one):
    found = copy.deepcopy(one)
    first = found["rows"][0]
    found["rows"] += [dict(first, method=name, label=name) for name in ("flip", "clip")]
    for row in found["rows"][-2:]:
        row["same_as"] = "logistic"
    text = comparison_page(found)
    assert "logistic<small>and flip, clip</small>" in text
    assert "methods with the same predictions share a row" in text
    assert "flip:" not in text and ">flip<" not in text
    assert "share a row" not in comparison_page(one)


def test_differences_are_paired_and_judged_by_their_intervals(one, one_page):
    [said] = [
        a for a in alts(one_page) if a.startswith("Differences from") and "−" in a
    ]
    assert "naive Bayes −0.110 (−0.300 to +0.010)" in said
    alone = difference_figure({"a": one["rows"][0]}, "accuracy")
    assert alone is None  # nothing to compare with


def test_gaps_are_no_trouble(one):
    bare = copy.deepcopy(one)
    bare["data"] |= {"m": None, "kernels": {}}
    for row in bare["rows"]:
        for key in ("roc", "reliability", "confusion"):
            row.pop(key, None)
    text = comparison_page(bare)
    assert len(alts(text)) == 3  # accuracies, and two kinds of differences
    nothing = dict(bare, rows=[row for row in bare["rows"] if not row["scores"]])
    assert "no result" in comparison_page(nothing)
    single = [dict(r, scores=r["scores"][:1], accuracy_std=None) for r in bare["rows"]]
    for row in single:
        row["statuses"] = {"converged": 1}
    text = comparison_page(dict(bare, rows=single))
    assert "95% interval" in text
    for row in single:
        row["behind"] = {"accuracy": None, "log_loss": None}
        row["accuracy_low"] = row["accuracy_high"] = None
    text = comparison_page(dict(bare, rows=single))
    assert "its 95% interval" not in text and "a line for its" not in text
    assert "all 1 fits" not in text
    assert "Held-out folds" not in text


def test_a_picture_has_three_curves(one):
    found = copy.deepcopy(one)
    for place in range(8):
        name = f"another {place}"
        found["rows"].append(dict(found["rows"][0], method=name, label=name))
    text = comparison_page(found)
    assert any("another 7: AUC" in each for each in alts(text))
    assert text.count("Numbers of 9 more are below.") == 2  # ROC, reliability
    drawn = [each for each in drawings(text) if "false positive rate" in each]
    assert len(drawn) == 4 and all(each.count(": AUC") == 3 for each in drawn)


def test_dark_drawings_use_no_color_of_the_light_ones(one_page):
    day, night = 0, 0
    for drawing in drawings(one_page):
        used = set(re.findall(r"#[0-9a-f]{6}\b", drawing)) & (
            set(DARK_COLORS) | set(DARK_COLORS.values())
        )
        assert used <= set(DARK_COLORS) or used <= set(DARK_COLORS.values())
        day, night = (
            day + (used <= set(DARK_COLORS)),
            night + (used <= set(DARK_COLORS.values())),
        )
        others = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", drawing)) - used
        assert others == set(), "a color without a dark variant"
    assert day == night == len(drawings(one_page)) // 2 == 2 * len(alts(one_page))


def test_drawings_are_small_and_in_large_letters(one_page):
    for drawing in drawings(one_page):
        assert len(drawing) < 40_000
        sizes = {
            float(s) for s in re.findall(r"(?:font-size: |font: )([\d.]+)px", drawing)
        }
        assert min(sizes) >= FIGURE_STYLE["font.size"] == 9
        assert "<text" in drawing


def test_negative_bars_are_seen_beside_large_ones():
    """A negative eigenvalue that is 1/5000 of the largest is more than a hair."""
    from matplotlib.figure import Figure

    mu = [5000.0, 100.0, 3.0, -0.2, -1.0]
    found = {"eigenvalues": mu, "signature": (3, 2, 0), "negative_share": 0.01}
    draw, size = spectrum_figure(found | {"mu_min": -1.0, "mu_max": 5000.0}, "").wide
    figure = Figure(figsize=size)
    draw(figure)
    axes = figure.axes[0]
    assert axes.get_yscale() == "symlog"
    height = [axes.transData.transform((0, y))[1] for y in (5000, 0, -1.0, -0.2)]
    assert (height[1] - height[2]) > 0.2 * (height[0] - height[1])
    assert (height[1] - height[3]) > 0.05 * (height[0] - height[1])
