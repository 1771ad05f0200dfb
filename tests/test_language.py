"""The language of the documentation: its size, its sentences and its wordings."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = {"messages.md", "changelog.md"}
PAGES = [path for path in sorted(DOCS.glob("*.md")) if path.name not in GENERATED]
DEVELOPER_PAGES = {
    *("add-a-format", "add-a-kernel", "add-a-solver", "citing", "contributing"),
    *("cost-model", "design", "developers", "internals", "paper", "reproduce", "speed"),
    *("testing", "theory"),
}
USER_PAGES = [path for path in PAGES if path.stem not in DEVELOPER_PAGES]
MAX_WORDS = 24_000
MAX_USER_WORDS = 12_000
MAX_SENTENCE = 30
WORDINGS = {
    "say or tell": r"\b(says?|said|saying|tells?|told|telling)\b",
    "clause as subject": r"(?i)(^|[.:;] +|\"\"\")(what|whoever|whatever|who) +"
    r"(is|are|was|were|has|have|had|it|they|can|could|no|[a-z]+s|[a-z]+ed)\b(?![^.]*\?)",
    "as it is": r"\bas (it|they) (is|are|comes|come|was|were)\b",
    "percent after a space": r"\d %",
}
LIMITS = {
    "docs": {
        "say or tell": 2,  # messages that the FAQ quotes
        "clause as subject": 0,
        "as it is": 0,
        "percent after a space": 0,
    },
    "src": {
        "say or tell": 1,
        "clause as subject": 0,
        "as it is": 3,
        "percent after a space": 4,
    },
}
"""Lines with a wording, at most; lower a limit when you remove one."""


def prose(text):
    """Return a page without its fenced blocks and its generated tables."""
    text = re.sub(r"<!-- measured: .*?<!-- end -->", "", text, flags=re.S)
    return re.sub(r"^(```+).*\n(?:.*\n)*?\1 *$", "", text, flags=re.M)


def sentences(text):
    """Yield the sentences of a page, without tables, formulas and quoted messages."""
    text = re.sub(
        r"\$\$.*?\$\$|<!--.*?-->|!\[.*?\]\(.*?\)", "\n\n", prose(text), flags=re.S
    )
    text = re.sub(r"^(\||>|:|#|    ).*$", "\n", text, flags=re.M)
    text = re.sub(r"^ *(\*|\d\.) ", "\n\n", text, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        yield from re.split(r"(?<=[.!?])\)?\s+", paragraph.strip())


def count_lines(wording, lines):
    """Return the number of lines that have a wording."""
    return sum(re.search(WORDINGS[wording], line) is not None for line in lines)


def test_the_documentation_is_short():
    words = {path: len(prose(path.read_text("utf-8")).split()) for path in PAGES}
    assert sum(words.values()) <= MAX_WORDS
    assert sum(words[path] for path in USER_PAGES) <= MAX_USER_WORDS


@pytest.mark.parametrize("name, lines", [("CONTRIBUTING", 60), ("CHANGELOG", 60)])
def test_pages_for_contributors_fit_on_a_screen(name, lines):
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= lines and len(text.split()) <= 700


@pytest.mark.parametrize("page", USER_PAGES, ids=lambda path: path.stem)
def test_sentences_are_short(page):
    found = sentences(page.read_text(encoding="utf-8"))
    assert [each for each in found if len(each.split()) > MAX_SENTENCE] == []


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "README.md"], ids=lambda path: path.stem
)
def test_tables_are_not_interrupted(page):
    text = prose(page.read_text(encoding="utf-8"))
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.M)
    second_lines = [table.split("\n")[1] for table in tables]
    wrong = [each for each in second_lines if not re.fullmatch(r"\|[ :|-]+\|", each)]
    assert wrong == []


@pytest.mark.parametrize("wording", WORDINGS)
def test_wordings_do_not_spread(wording):
    docs = [
        line for path in PAGES for line in prose(path.read_text("utf-8")).split("\n")
    ]
    assert count_lines(wording, docs) <= LIMITS["docs"][wording]
    source = (ROOT / "src").rglob("*.py")
    code = [line for path in source for line in path.read_text("utf-8").split("\n")]
    assert count_lines(wording, code) <= LIMITS["src"][wording]
