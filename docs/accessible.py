"""Accessibility fixes for built pages, which the theme lacks.

Checked by ``tests/test_docs_axe.py``.
"""

import re
from pathlib import Path

# Navigation headings need a level. Reference lists must not have the ARIA role list,
# because they do not contain list items.
REPLACEMENTS = [
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
CODE_PATTERN = re.compile(r'(?<=<span class="pre">)[^<]{12,}(?=</span>)')
"""Inline code long enough to need line breaks."""
BREAK_PATTERN = re.compile(r"([(\[,=/])")
"""Breaks are allowed after punctuation, not inside a name."""


def fix_html(html: str) -> str:
    """Return a page with all fixes; fixed pages are unchanged.

    Parameters
    ----------
    html : str
        The page as Sphinx and its theme wrote it.
    """
    for pattern, text in REPLACEMENTS:
        html = pattern.sub(text, html)
    return CODE_PATTERN.sub(lambda code: BREAK_PATTERN.sub(r"\1<wbr>", code[0]), html)


def fix_pages(app, exception) -> None:
    """Fix all pages of a successful build."""
    if exception is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            html = path.read_text(encoding="utf-8")
            better = fix_html(html)
            if better != html:
                path.write_text(better, encoding="utf-8")
