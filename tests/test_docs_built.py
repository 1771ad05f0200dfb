"""The built documentation: links lead to pages and places, and the search finds.

Runs on ``docs/_build/html`` if it is there; the sources are checked by test_docs.py.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
HTML = ROOT / "docs" / "_build" / "html"
CHROMIUM = Path("/usr/bin/chromium")
FOUND = {
    "DTW": "series.html",
    "precomputed": "matrix.html",
    "not positive semidefinite": "faq.html",
    "gamma": "svc.html",
    "judgments": "judgments.html",
    "ConvergenceWarning": "faq.html",
    "covariance": "covariance.html",
    "FASTA": "sequences.html",
}
"""What people look for, and a page that must be among the first results."""
FIRST = 12


class Page(HTMLParser):
    """Links and places of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places.update({given.get("id"), given.get("name")} - {None})
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "img" and given.get("src"):
            self.links.append(given["src"])


@pytest.fixture(scope="module")
def pages():
    if not (HTML / "index.html").is_file():
        pytest.skip("there are no built pages: python -m sphinx docs docs/_build/html")
    own = [path for path in HTML.rglob("*.html") if "results" not in path.parts]
    return {path: Page(path.read_text(encoding="utf-8")) for path in own}


def test_links_lead_somewhere(pages):
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve()
            target = path if not parts.path else target
            anchor = unquote(parts.fragment)
            if not target.is_file():
                broken.append(f"{path.relative_to(HTML)}: {link}")
            elif anchor and target in pages and anchor not in pages[target].places:
                broken.append(f"{path.relative_to(HTML)}: {link}")
    assert len(pages) > 100
    assert not broken, "\n".join(sorted(set(broken))[:20])


def entries(page):
    """Return the entries of the toctrees of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    trees = re.findall(r"```{toctree}\n((?:.*\n)*?)```", text)
    lines = [line.strip() for tree in trees for line in tree.splitlines()]
    return [line for line in lines if line and not line.startswith(":")]


def test_every_page_is_in_the_navigation():
    menu = entries("index.md")
    assert len(menu) <= 20
    listed = [*menu]
    for page in ("faq.md", "developers.md", "paper.md"):
        listed += entries(page)
    written = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert len(listed) == len(set(listed))
    assert set(listed) == written | {"auto_examples/index"}


@pytest.mark.slow
def test_the_search_finds(pages):
    api = pytest.importorskip(
        "playwright.sync_api", reason='needs playwright: pip install ".[browser]"'
    )
    if not CHROMIUM.is_file():
        pytest.skip("needs Chromium: apt-get install chromium")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"]
        )
        tab = browser.new_page()
        for words, wanted in FOUND.items():
            tab.goto(f"{(HTML / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
            tab.wait_for_selector("#search-results li a", timeout=60_000)
            tab.wait_for_function("document.body.innerText.includes('found')")
            links = tab.eval_on_selector_all(
                "#search-results li a", "all => all.map(each => each.href)"
            )
            names = [urlsplit(link).path.rpartition("/")[2] for link in links]
            assert wanted in names[:FIRST], f"{words}: {names[:FIRST]}"
        browser.close()


def test_pictures_of_tutorials_are_those_of_examples():
    text = (ROOT / "docs" / "copy_pictures.py").read_text(encoding="utf-8")
    pairs = re.findall(r'"(\w+)": "(plot_\w+)",', text)
    assert len(pairs) == 6
    pages = [path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")]
    for name, example in pairs:
        assert (ROOT / "docs" / "images" / f"tutorial-{name}.png").is_file()
        shown = [page for page in pages if f"images/tutorial-{name}.png)" in page]
        assert len(shown) == 1 and f"auto_examples/domains/{example}.rst" in shown[0]
