"""Every warning and error message has a place in the documentation."""

import importlib.util
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"
FAQ = " ".join((DOCS / "faq.md").read_text(encoding="utf-8").split())


def load():
    """Return the module that reads messages from the source."""
    path = DOCS / "messages_table.py"
    spec = importlib.util.spec_from_file_location("messages_table", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


messages = load()


def longest(text):
    """Return the longest part of a sentence that does not vary."""
    return " ".join(max(text.split("…"), key=len).split())


def test_warnings_are_found():
    texts = [each.text for each in messages.collect_warnings()]
    assert len(texts) > 18
    for known in ("K was not quite symmetric", "is almost", "stopped with status"):
        assert any(known in text for text in texts), known


def test_every_warning_has_its_remedy():
    for message in messages.collect_warnings():
        said = longest(message.text)
        assert said in FAQ, f"docs/faq.md does not explain a warning: {message}"


def test_every_error_has_a_situation():
    modules = {each.module for each in messages.collect_errors()}
    assert len(messages.collect_errors()) > 400 and len(modules) > 50
    stray = {
        each
        for each in messages.list_raising_modules()
        if messages.find_situation(each) is None
    }
    assert stray <= {"__init__", "exceptions"}, f"no situation for {stray}"


def test_every_situation_is_explained():
    links = set(re.findall(r"messages\.md#([\w-]+)", FAQ))
    for name in messages.SITUATIONS:
        anchor = re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")
        assert anchor in links, f"docs/faq.md does not lead to {name!r}"
        assert any(
            messages.find_situation(each) == name
            for each in messages.list_raising_modules()
        )


def test_the_page_lists_them():
    page = (DOCS / "messages.md").read_text(encoding="utf-8")
    assert messages.PLACEHOLDER.findall(page) == list(messages.SITUATIONS)
    lists = [messages.format_messages(name) for name in messages.SITUATIONS]
    lines = "\n".join(lists).splitlines()
    assert len(lines) > 400
    kinds = {line.split()[1] for line in lines}
    assert {"warning:", "ValueError:", "MemoryError:", "FileNotFoundError:"} <= kinds
