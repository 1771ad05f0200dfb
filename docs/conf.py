"""How Sphinx builds these pages: ``python -m sphinx -W -b html docs docs/_build``."""

import os
import re
import sys
from html import escape
from importlib.metadata import version as installed
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1]))  # the package reproduction
import accessible
import kernels_table
import messages_table
from draw_results import draw
from measured import add_note

logger = logging.getLogger(__name__)

project = "kreinlearn"
author = "The kreinlearn developers"
project_copyright = author
release = version = installed("kreinlearn")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

# References: a name that leads nowhere is an error.
nitpicky = True
nitpick_ignore_regex = [
    # No inventories of other projects are fetched: pages are built without a network.
    (r"py:.*", r"(collections|numpy|os|pathlib|scipy|sklearn|typing)\..*"),
    # What single backticks in docstrings give: it can be imported, but may be private.
    (r"py:obj", r".*"),
]
# Single backticks in docstrings: a link where the name is known, else in italics.
default_role = "autolink"
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "dollarmath"]

# The reference: one page per name, types as the docstrings have them.
autosummary_generate = True
autosummary_filename_map = {  # for case-insensitive file systems
    "kreinlearn.spectrum.Split": "kreinlearn.spectrum.Split-class",
    "kreinlearn.spectrum.Floor": "kreinlearn.spectrum.Floor-class",
}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {  # made by scikit-learn, and described there
    "exclude-members": "get_metadata_routing, set_output, "
    "set_fit_request, set_score_request, set_transform_request, set_callbacks"
}
numpydoc_show_class_members = False  # the templates do
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "ExampleTitleSortKey",  # "A first fit" comes first
    "subsection_order": [
        f"../examples/{name}" for name in ("start", "domains", "inside")
    ],
    "thumbnail_size": (600, 400),
    "reset_modules": ("matplotlib",),
    "only_warn_on_example_error": False,
    "abort_on_example_error": False,  # all failures are listed, then the build fails
    "doc_module": ("kreinlearn",),
    "reference_url": {"kreinlearn": None},
    "backreferences_dir": "api/generated/backreferences",
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": 1,
}

html_theme = "furo"
# Read the Docs builds every tag and the main branch, and sets the variable to the name
# of the version; `latest` is the main branch.
is_development = os.environ.get("READTHEDOCS_VERSION") == "latest"
html_title = f"kreinlearn {release}" + ", development version" * is_development
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")
html_static_path = ["_static"]
html_css_files = ["kreinlearn.css"]
html_js_files = ["kreinlearn.js"]
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
copybutton_exclude = ".linenos, .gp, .go"


def _mathml(self, node):
    """Write a formula as MathML, which browsers show without a script."""
    is_block = isinstance(node, nodes.math_block)
    text = node.astext().replace(r"\dots", r"\ldots")  # which docutils knows
    # And it takes \frac12 for a fraction of 12 over what follows.
    text = re.sub(r"\\([dt]?frac)\s*(\w)\s*(\w)", r"\\\1{\2}{\3}", text)
    if is_block and ("\\\\" in text or "&" in text) and "\\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    try:
        formula = latex2mathml.tex2mathml(text, as_block=is_block)
    except MathError as error:
        logger.warning("%s In the formula: %s", error, text, location=node)
        formula = f"<code>{escape(text)}</code>"
    if is_block:
        number = f"<span class='eqno'>({node['number']})</span>" * bool(node["number"])
        formula = f"<div class='math'{_format_id(node)}>{number}{formula}</div>"
    self.body.append(formula)
    raise nodes.SkipNode


def _format_id(node):
    return f" id='{node['ids'][0]}'" if node["ids"] else ""


def _insert_tables(app, name, source):
    """Put the table of kernels and the lists of messages where pages ask for them."""
    if kernels_table.PLACEHOLDER in source[0]:
        source[0] = source[0].replace(
            kernels_table.PLACEHOLDER, kernels_table.make_table()
        )
    source[0] = messages_table.PLACEHOLDER.sub(
        lambda mark: messages_table.format_messages(mark[1]), source[0]
    )


def _draw_pages(app):
    """Draw the pages of the paper's experiments, which reproduce.md links."""
    draw(Path(app.srcdir) / "results", only_pages=True)


def _add_measurement_note(app, name, source):
    """Add a note on the date and revision of measured numbers."""
    source[0] = add_note(name, source[0])


def setup(app):
    """Register the renderer of formulas, generated tables and pages, and fixes."""
    app.connect("source-read", _insert_tables)
    app.connect("build-finished", accessible.fix_pages)
    app.connect("builder-inited", _draw_pages)
    app.connect("source-read", _add_measurement_note)
    app.add_html_math_renderer("mathml", (_mathml, None), (_mathml, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
