"""The built documentation, checked by axe-core: no serious violation.

Runs on ``docs/_build/html``, in Chromium, if ``AXE_CORE`` names ``axe.min.js`` (of the
npm package axe-core).
"""

import os
from pathlib import Path

import pytest

HTML = Path(__file__).parents[1] / "docs" / "_build" / "html"
CHROMIUM = Path("/usr/bin/chromium")
GRAVE = ("serious", "critical")
EVERY = 25
"""Of the pages of single names, which are made by one template, one in so many."""
pytestmark = pytest.mark.slow


def pages():
    """Return the pages to look at: all but most of those of single names."""
    top = sorted(HTML.glob("*.html"))
    gallery = sorted(HTML.glob("auto_examples/**/*.html"))
    return top + gallery + sorted(HTML.glob("api/generated/*.html"))[::EVERY]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip(
        "playwright.sync_api", reason='needs playwright: pip install ".[browser]"'
    )
    if not CHROMIUM.is_file():
        pytest.skip("needs Chromium: apt-get install chromium")
    if not os.environ.get("AXE_CORE"):
        pytest.skip("AXE_CORE does not name axe.min.js: npm pack axe-core")
    if not (HTML / "index.html").is_file():
        pytest.skip("there are no built pages: python -m sphinx docs docs/_build/html")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"]
        )
        yield opened
        opened.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_no_serious_violation(browser, width, scheme):
    script = Path(os.environ["AXE_CORE"]).read_text(encoding="utf-8")
    size = {"width": width, "height": 900}
    page = browser.new_page(viewport=size, color_scheme=scheme)
    looked, found = 0, []
    for path in pages():
        page.goto(path.as_uri())
        page.evaluate(script)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        looked += 1
        for each in result["violations"]:
            if each["impact"] in GRAVE:
                first = each["nodes"][0]["html"][:120]
                name = path.relative_to(HTML)
                found.append(f"{name}: {each['id']} ({len(each['nodes'])}): {first}")
    page.close()
    assert looked > 30
    assert not found, "\n".join(found)
