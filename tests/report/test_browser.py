"""Pages in headless Chromium: small and large, light and dark, by mouse and by keys."""

import io
from itertools import pairwise

import pytest

from tests.report import made

pytestmark = pytest.mark.slow

MODES = [
    (360, 740, "light"),
    (360, 740, "dark"),
    (1280, 900, "light"),
    (1280, 900, "dark"),
]
QUICK = ("comparison", "inspection", "table4")

OUTSIDE = """() => [...document.querySelectorAll("body *")].filter(each => {
  if (each.closest(".scroll table, .hidden, .skip, script")) return false;
  const box = each.getBoundingClientRect();
  return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5);
}).map(each => each.outerHTML.slice(0, 80))"""

CONTRAST = """() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = rgb => rgb.slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = each => {
    for (; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const each of document.querySelectorAll("h1, h2, h3, p, li, dt, dd, th, td, " +
      "button, a, small, strong, code, figcaption, summary")) {
    if (each.closest(".hidden") || !each.textContent.trim()) continue;
    const a = light(parse(getComputedStyle(each).color)), b = light(ground(each));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push([each.outerHTML.slice(0, 60), ratio]);
  }
  return low;
}"""

IMAGES = """async () => {
  for (let k = 0; k < 2; k++) await new Promise(requestAnimationFrame);
  return Promise.all([...document.images].map(async each => {
    await each.decode();
    return [each.naturalWidth, each.clientWidth, each.alt, each.currentSrc];
  }));
}"""

FIRST = ".parts > div table"
"""The first such table is that of the scores; others belong to figures."""
COLUMN = """column =>
  [...document.querySelector(".parts > div table").tBodies[0].rows]
    .map(row => row.cells[column].innerText.split("\\n")[0])"""


@pytest.fixture
def opened(browser, address):
    """Return a function that opens a page, and fail if the page complains."""
    contexts, said = [], []

    def open_page(name, width=1280, height=900):
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda each: said.append(each.text))
        page.on("pageerror", lambda each: said.append(str(each)))
        start = address(name)

        def watch(request):
            if request.url != start and not request.url.startswith("data:image/"):
                said.append(f"asked for {request.url}")

        page.on("request", watch)
        page.goto(start)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def shows_what_is_behind(image, scheme):
    """Tell whether the corner of an image has the color of the page."""
    from PIL import Image

    picture = Image.open(io.BytesIO(image.screenshot())).convert("RGB")
    expected = (255, 255, 255) if scheme == "light" else (0x16, 0x18, 0x1B)
    return picture.getpixel((2, 2)) == expected


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in made.PAGES
    ],
)
def test_a_page_is_fit_to_be_read(opened, name):
    shown = {}
    page = opened(name)
    for width, height, scheme in MODES:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        mode = f"{name} at {width}, {scheme}"
        images = page.evaluate(IMAGES)
        for natural, wide, alt, _ in images:
            assert natural > 0, mode
            assert len(alt) > 40, mode
            # Letters of 9 points are 12 pixels at natural size.
            assert 12 * wide / natural >= 10.5, f"{mode}: {alt}"
        shown[width, scheme] = [source for *_, source in images]
        first = page.locator("img").first
        if images and width == 360:
            assert shows_what_is_behind(first, scheme), mode
        for is_open in (False, True):
            page.evaluate(
                "open => document.querySelectorAll('details')"
                ".forEach(each => each.open = open)",
                is_open,
            )
            assert page.evaluate(OUTSIDE) == [], mode
            wider = "() => document.documentElement.scrollWidth - innerWidth"
            assert page.evaluate(wider) <= 0, mode
        assert page.evaluate(CONTRAST) == [], mode
    levels = page.evaluate(
        "() => [...document.querySelectorAll('h1, h2, h3, h4')].map(e => +e.tagName[1])"
    )
    assert levels[0] == 1
    assert all(1 < later <= earlier + 1 for earlier, later in pairwise(levels))
    for size in (360, 1280):
        pairs = zip(shown[size, "light"], shown[size, "dark"], strict=True)
        assert all(light != dark for light, dark in pairs)


def read_values(texts):
    return [float(text.split(" ")[0]) for text in texts if text != "–"]


def test_a_click_sorts_numbers_as_numbers_and_dashes_last(opened):
    page = opened("comparison")
    head = page.locator(FIRST).first.locator("thead th")
    names = head.locator("button").all_inner_texts()
    for name in ("accuracy", "fit (s)"):
        column = names.index(name)
        for order in ("ascending", "descending"):
            head.nth(column).locator("button").click()
            assert head.nth(column).get_attribute("aria-sort") == order
            texts = page.evaluate(COLUMN, column)
            assert texts[-1] == "–"
            values = read_values(texts)
            assert len(values) == 4
            assert values == sorted(values, reverse=order == "descending")
    assert page.locator("th[aria-sort]").count() == 1
    assert page.locator("#said").inner_text() == "Sorted by fit (s), largest first."


def test_everything_can_be_done_by_keys(opened):
    page = opened("comparison", 360, 740)
    focused = "() => document.activeElement."
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focused}className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate(f"{focused}id") == "main"
    page.keyboard.press("Tab")
    for _ in range(30):
        if page.evaluate(f"{focused}className") == "scroll":
            break
        page.keyboard.press("Tab")
    # The keys scroll what is too wide, and the names stay.
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 20")
    left = "th => th.getBoundingClientRect().left"
    table = page.locator(FIRST).first
    start = page.locator(".parts > div .scroll").first.evaluate(left)
    assert abs(table.locator("tbody th").first.evaluate(left) - start) < 2
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focused}innerText") == "method"
    outline = "() => getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) != "none"
    before = page.evaluate(COLUMN, 0)
    page.keyboard.press("Enter")
    names = page.evaluate(COLUMN, 0)
    assert names != before
    assert names == sorted(before, key=str.lower)
    page.keyboard.press("Space")
    assert page.evaluate(COLUMN, 0) == names[::-1]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator("#said").inner_text() == "Sorted by accuracy, smallest first."


def test_names_of_users_are_only_text(opened):
    page = opened("comparison, odd names")
    assert page.locator("b").count() == 0
    shown = made.NASTY.replace("\x07", " ")
    assert shown.split(" ")[0] in page.locator("h1").inner_text()
    assert page.title() == f"Comparison on {shown}".replace("   ", " ")


def test_a_page_prints_on_one_width(opened):
    page = opened("table3")
    page.emulate_media(media="print", color_scheme="light")
    assert page.locator("nav").is_hidden()
    assert page.locator(".scroll").first.evaluate(
        "e => getComputedStyle(e).overflowX"
    ) == ("visible")


def test_two_columns_from_a_thousand_pixels_on(opened):
    page = opened("comparison", 1000, 900)
    lefts = """() => [...document.querySelector(".parts").children].slice(0, 2)
      .map(each => each.getBoundingClientRect().left)"""
    first, second = page.evaluate(lefts)
    assert second > first + 400
    page.set_viewport_size({"width": 999, "height": 900})
    first, second = page.evaluate(lefts)
    assert first == second


def test_a_table_wider_than_the_screen_has_a_note(opened):
    page = opened("comparison", 360, 740)
    frame = page.locator(".parts > div .frame").first
    assert frame.locator(".hint").is_visible()
    assert "over" in frame.get_attribute("class")
    frame.locator(".scroll").evaluate("box => { box.scrollLeft = 10000; }")
    page.wait_for_function(
        "() => !document.querySelector('.parts > div .frame')"
        ".classList.contains('over')"
    )
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function(
        "() => document.querySelector('.parts > div .frame .hint').hidden"
    )
    assert not frame.locator(".hint").is_visible()
