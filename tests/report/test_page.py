from html.parser import HTMLParser

import pytest

from kreinlearn.app.report import html
from kreinlearn.app.runs import Cell, Store, make_record
from reproduction.page import write
from reproduction.tables import TABLE_MAKERS

pytestmark = pytest.mark.slow

VOID = {"meta", "img", "br", "source"}


class Page(HTMLParser):
    """Checks nesting, and collects what a reader or a browser would follow."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.counts = [], [], [], {}
        self.scopes, self.sources = [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        self.sources += [attrs[key] for key in ("src", "srcset") if key in attrs]
        if tag == "th":
            self.scopes.append(attrs.get("scope"))
        if tag == "img":
            assert attrs["alt"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


MANY_DRAWINGS = ("table3", "fig2")
"""Quick tests draw the figures of the one, and write the other."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.slow) if name in MANY_DRAWINGS else name
        for name in TABLE_MAKERS
    ],
)
def written(request, stored, tmp_path_factory):
    """Return the files of an experiment, which are written once."""
    folder = tmp_path_factory.mktemp("written") / "out"
    return request.param, write(request.param, stored(request.param), folder)


@pytest.mark.slow
def test_everything_is_written(written):
    name, files = written
    folder = files[0].parent
    assert files[0].name == f"{name}.html"
    assert {f"{name}.md", f"{name}.csv"} <= {path.name for path in files}
    assert sorted(path.name for path in files) == sorted(
        path.name for path in folder.iterdir()
    )
    for path in files:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    for path in files:
        if path.suffix == ".svg":
            assert f"({path.name})" in text


def test_page_parses_and_needs_no_network(written):
    name, files = written
    text = files[0].read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert all(source.startswith("data:image/") for source in page.sources)
    assert set(page.scopes) == {"col", "row"}
    assert page.counts["caption"] == page.counts["table"]
    assert page.counts["h1"] == page.counts["main"] == 1
    assert f"python -m reproduction {name}" in text
    for forbidden in ("http:", "https:", "@import", "url(", "<link", 'src="//'):
        assert forbidden not in text
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_failures_are_shown_and_escaped(tmp_path):
    path = tmp_path / "table3.jsonl"
    with Store(path) as store:
        for run in range(2):
            cell = Cell("table3", "heart", "Flip", run)
            failed = {"status": "error", "error": "ValueError: <b>|no|</b>"}
            fine = {"status": "converged", "acc": 0.8, "bacc": 0.7, "fit_s": 0.1}
            store.append(make_record(cell, failed if run else fine))
    files = write("table3", path, tmp_path)
    text = files[0].read_text(encoding="utf-8")
    assert "Failed cells" in text
    assert "ValueError: &lt;b&gt;|no|&lt;/b&gt;" in text
    assert "error in 1 of 2 fits" in text
    markdown = (tmp_path / "table3.md").read_text(encoding="utf-8")
    assert "\\|no\\|" in markdown


def test_code_in_sentences_is_set_as_code_and_escaped():
    text = html("t", [], sentences=['Run `krein <b> "x"` now.'], remarks=["`a` b"])
    assert "Run <code>krein &lt;b&gt; &#34;x&#34;</code> now." in text
    assert "<li><code>a</code> b</li>" in text


def test_bad_calls(stored, tmp_path):
    with pytest.raises(ValueError, match="'name' must be one of .* got 'table9'"):
        write("table9", stored("fig2"), tmp_path)
    with pytest.raises(ValueError, match="holds no records of 'table3'"):
        write("table3", stored("fig2"), tmp_path)
    with pytest.raises(ValueError, match="nothing.jsonl holds no records of 'fig2'"):
        write("fig2", tmp_path / "nothing.jsonl", tmp_path)
