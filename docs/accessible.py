"""What the theme leaves to be mended on built pages, so that all readers can use them.

Checked by ``tests/test_docs_axe.py``.
"""

import re
from pathlib import Path

# Headings of the navigation have a level. Lists of references are no ARIA lists, as
# what they hold are no list items.
MENDED = [
    (
        re.compile(r'<p class="caption" role="heading">'),
        '<p class="caption" role="heading" aria-level="2">',
    ),
    (
        re.compile(r'<div role="list" class="citation-list">'),
        '<div class="citation-list">',
    ),
    (re.compile(r'(<div class="citation"[^>]*) role="doc-biblioentry"'), r"\1"),
]
CODE = re.compile(r'(?<=<span class="pre">)[^<]{12,}(?=</span>)')
"""Code in the text that may have to be broken."""
BREAKS = re.compile(r"([(\[,=/])")
"""Where: after punctuation, never inside a name."""


def mended(html: str) -> str:
    """Return a page as it should be; what is mended already stays as it is.

    Parameters
    ----------
    html : str
        The page as Sphinx and its theme wrote it.
    """
    for pattern, text in MENDED:
        html = pattern.sub(text, html)
    return CODE.sub(lambda code: BREAKS.sub(r"\1<wbr>", code[0]), html)


def mend(app, exception) -> None:
    """Mend all pages of a build that has not failed."""
    if exception is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            html = path.read_text(encoding="utf-8")
            better = mended(html)
            if better != html:
                path.write_text(better, encoding="utf-8")
