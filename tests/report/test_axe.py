"""Pages against the rules of axe-core, an accessibility checker that npm has.

``npm pack axe-core`` fetches it; the variable AXE_CORE names its file axe.min.js.
"""

import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGES = ("comparison, odd names", "inspection", "table3", "fig2")
"""A page of each kind; others have the same template."""
GRAVE = ("serious", "critical")
RUN = """async () => {
  document.querySelectorAll("details").forEach(each => { each.open = true; });
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations.map(each => [each.id, each.impact,
    each.nodes.map(node => node.html.slice(0, 100)).slice(0, 3)]);
}"""


@pytest.fixture(scope="module")
def axe():
    named = os.environ.get("AXE_CORE")
    if not named:
        pytest.skip("needs axe-core: npm pack axe-core, and AXE_CORE=.../axe.min.js")
    return Path(named).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_no_serious_violation(axe, browser, address, name):
    for width in (360, 1280):
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page = context.new_page()
            page.goto(address(name))
            page.evaluate(axe)
            found = page.evaluate(RUN)
            context.close()
            assert [each for each in found if each[1] in GRAVE] == [], (width, scheme)
