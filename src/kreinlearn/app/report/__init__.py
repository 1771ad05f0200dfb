"""Tables, figures and self-contained HTML pages.

Figures have one style, and pictures for each kind of screen. Matplotlib is imported
only when a figure is drawn. Pages have tables that sort, figures and notes, and need no
network.
"""

import base64
import csv
import io
import math
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kreinlearn._files import PathName, check_free, replace
from kreinlearn._typing import Array
from kreinlearn.plotting import SpectrumDisplay

if TYPE_CHECKING:
    from jinja2 import Template
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas
    from pandas import DataFrame

NO_VALUE = "–"
"""Entry without a value."""
LONG_TEXT = 24
"""Entries of more letters may break into lines."""
COLUMN_LETTERS = 66
"""Letters in a row of a table that fits into one of two columns."""
SCORE_NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss",
    "auc": "AUC",
}
"""Keys of scores, and their names in tables."""

Findings = Mapping[str, Any]
"""Results of a command, as it prints them with ``--json``."""


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    Attributes
    ----------
    text : str
        Text.
    value : float or None
        Number to sort by; None for words.
    detail : str
        A second line, in smaller print.
    is_best : bool
        Whether it is the best of its row or column.
    marks : tuple of int
        Numbers of notes.
    """

    text: str = ""
    value: float | None = None
    detail: str = ""
    is_best: bool = False
    marks: tuple[int, ...] = ()

    @property
    def sort_key(self) -> str:
        """Sort key for the script; nothing for a dash."""
        if self.value is None:
            return "" if self.text == NO_VALUE else self.text
        # As JavaScript writes it.
        text = str(self.value).replace("inf", "Infinity")
        return "" if math.isnan(self.value) else text


Content = Entry | Mapping[str, int] | str | float | None
"""Content of a table: also words, numbers, counts of statuses, or None for a dash."""
TableRow = Sequence[Content]


@dataclass(frozen=True)
class PageTable:
    """A table of a page; `make_table` makes it from plain values.

    Attributes
    ----------
    title, caption : str
        Heading, and how to read it.
    columns : list of Entry
        Column heads; the first column holds the row heads.
    rows, totals : list of list of Entry
        The body, and rows that stay below it in every order.
    """

    title: str
    caption: str
    columns: list[Entry]
    rows: list[list[Entry]]
    totals: list[list[Entry]]

    @property
    def column_classes(self) -> list[str]:
        """Class of each column: words to the left, numbers to the right."""
        kinds = [""] * len(self.columns)
        for place, entries in enumerate(zip(*self.rows, strict=True)):
            if any(each.value is None and each.text != NO_VALUE for each in entries):
                longest = max(len(each.text + each.detail) for each in entries)
                kinds[place] = "words long" if longest > LONG_TEXT else "words"
        return kinds

    @property
    def is_wide(self) -> bool:
        """Whether the table needs the whole width of the page."""
        columns = zip(self.columns, *self.rows, *self.totals, strict=True)
        widths = [max(len(each.text) for each in column) for column in columns]
        return sum(min(LONG_TEXT, width) + 4 for width in widths) > COLUMN_LETTERS


def make_table(
    title: str,
    caption: str,
    heads: str | TableRow,
    rows: Iterable[TableRow],
    totals: Iterable[TableRow] = (),
) -> PageTable:
    """Return a table of plain values; a string lists the heads, separated by commas.

    Examples
    --------
    >>> from kreinlearn.app.report import make_table
    >>> made = make_table("T", "C.", "data, n, loss", [("heart", 270, None)])
    >>> [entry.text for entry in made.rows[0]], made.rows[0][1].value
    (['heart', '270', '–'], 270)
    """
    named = heads.split(", ") if isinstance(heads, str) else heads
    body, foot = ([[*map(_to_entry, row)] for row in part] for part in (rows, totals))
    return PageTable(title, caption, [*map(_to_entry, named)], body, foot)


def _to_entry(content: Content) -> Entry:
    if isinstance(content, Entry):
        return content
    if isinstance(content, str):
        return Entry(content)
    if isinstance(content, Mapping):
        return Entry(format_statuses(content))
    return format_number(content, ".3f" if isinstance(content, float) else "d")


def format_number(value: float | None, form: str) -> Entry:
    """Return a number in a format; a dash for None."""
    return Entry(NO_VALUE) if value is None else Entry(f"{value:{form}}", value)


def format_seconds(value: float | None) -> Entry:
    """Return seconds with three significant digits; a dash for None.

    Examples
    --------
    >>> from kreinlearn.app.report import format_seconds
    >>> format_seconds(17171.0).text, format_seconds(0.00208).text
    ('17171', '0.00208')
    """
    return format_number(value, ".0f" if value is not None and value >= 100 else ".3g")


def format_signed(value: float, form: str = "+.3f") -> str:
    """Return a number as text, with a true minus sign.

    Examples
    --------
    >>> from kreinlearn.app.report import format_signed
    >>> format_signed(0.0123), format_signed(-0.1), format_signed(-2.5, ".2g")
    ('+0.012', '−0.100', '−2.5')
    """
    return f"{value:{form}}".replace("-", "−")


def format_scores(
    rows: Mapping[str, Findings], measures: Iterable[str]
) -> dict[str, list[Entry]]:
    """Return the scores of each row, the best of each column marked.

    Parameters
    ----------
    rows : mapping
        Name of a row to its scores.
    measures : iterable of str
        Keys of `SCORE_NAMES`, one per column; a smaller log-loss is better.
    """
    found: dict[str, list[Entry]] = {name: [] for name in rows}
    for key in measures:
        known = [row[key] for row in rows.values() if row.get(key) is not None]
        best = (min if key == "log_loss" else max)(known, default=None)
        for name, row in rows.items():
            entry = format_number(row.get(key), ".3f")
            # Numbers that read alike are marked alike.
            is_best = len(known) > 1 and entry.text == f"{best:.3f}"
            found[name].append(Entry(entry.text, entry.value, is_best=is_best))
    return found


def format_statuses(found: Mapping[str, int]) -> str:
    """Return statuses of fits as a sentence fragment.

    Examples
    --------
    >>> from kreinlearn.app.report import format_statuses
    >>> format_statuses({"diverged": 15, "max_iter": 20})
    'diverged in 15 of 35 fits, max_iter in 20'
    >>> format_statuses({"converged": 35})
    'all 35 fits converged'
    """
    total = sum(found.values())
    if not total:
        return NO_VALUE
    others = sorted((word, n) for word, n in found.items() if word != "converged")
    if not others:
        return f"all {total} fits converged"
    first = f"{others[0][0]} in {others[0][1]} of {total} fits"
    return ", ".join([first, *(f"{word} in {n}" for word, n in others[1:])])


def csv_text(columns: Sequence[str], rows: Iterable[Findings]) -> str:
    """Return some fields of rows as CSV; missing fields are empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, "", "ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def list_marks(table: PageTable) -> list[int]:
    """Return the numbers of all notes that a table refers to, in order."""
    places = [table.columns, *table.rows, *table.totals]
    return sorted({mark for row in places for entry in row for mark in entry.marks})


class Color(StrEnum):
    """Colors of figures, after the palette of Okabe and Ito for color-blind readers."""

    BLUE = "#0072b2"
    ORANGE = "#d55e00"
    GREEN = "#00805c"
    GREY = "#777777"
    INK = "#222222"
    PAPER = "#ffffff"
    GRID = "#e5e5e5"
    FAINT = "#bbbbbb"
    BLACK = "#000000"


_DARK_VALUES = "#5ab4ee #ff8f4a #35c79b #9b9b9b #e6e6e6 #16181b #34383d #656a71 #e6e6e6"
DARK_COLORS = dict(zip(Color, _DARK_VALUES.split(), strict=True))
"""Each color on a dark page. Figures use no other colors."""
CURVE_STYLES = (
    (Color.BLUE, "o", "-"),
    (Color.ORANGE, "s", "--"),
    (Color.GREEN, "^", "-."),
)
"""Color, marker and line of the curves of a picture, which has three at most."""
FIGURE_STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    # Text is laid out with the first; browsers without it take the next, which is no
    # wider.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), Color.INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), Color.INK),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.linewidth", "grid.linewidth", "hatch.linewidth"), 0.6),
    **dict.fromkeys(("xtick.major.width", "ytick.major.width"), 0.6),
    "axes.axisbelow": True,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "grid.color": Color.GRID,
    "text.parse_math": False,  # a dollar sign in a name is not a formula
    "legend.frameon": False,
    "savefig.dpi": 160,
    "svg.hashsalt": "kreinlearn",
}
PHONE_INCHES = 3.7
"""Width in inches on a phone of 360 pixels."""
COLUMN_INCHES = 5.2
"""Width in inches of one of two columns of a page, from 1,000 pixels on."""
PHONE_QUERY = "(max-width: 40rem)"
DARK_QUERY = "(prefers-color-scheme: dark)"
MAX_BARS = 200
"""Eigenvalues in a drawing: about one for every other pixel."""
LISTED_EIGENVALUES = 10
"""Eigenvalues in a table, from each end."""

Drawing = tuple[Callable[["Canvas"], None], tuple[float, float]]
"""A function that draws on an empty figure, and width and height in inches."""

_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class Figure:
    """A figure with its texts.

    Attributes
    ----------
    title : str
        Heading.
    caption : str
        How to read it.
    alt : str
        Description of the content, with numbers.
    wide : Drawing
        The drawing.
    narrow : Drawing or None
        The drawing for a phone; None if the first can be narrower.
    numbers : (caption, heads, rows) or None
        The data of the drawing, as for `make_table`.
    """

    title: str
    caption: str
    alt: str
    wide: Drawing
    narrow: Drawing | None = None
    numbers: tuple[str, str | TableRow, Sequence[TableRow]] | None = None

    @property
    def table(self) -> PageTable | None:
        """The data of the drawing."""
        return None if self.numbers is None else make_table(self.title, *self.numbers)

    @property
    def sources(self) -> list[tuple[str, str]]:
        """Media queries and addresses of pictures, whose identifiers cannot clash."""
        return [
            (media, f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}")
            for media, svg in draw_pictures(self)
        ]


def clean(text: str) -> str:
    """Replace control characters and lone surrogates, which HTML forbids, by blanks.

    Examples
    --------
    >>> from kreinlearn.app.report import clean
    >>> clean(f"a{chr(7)}b")
    'a b'
    """
    return _CONTROL_CHARACTERS.sub(" ", text)


def shorten(text: str, length: int = 34) -> str:
    """Return a name for a drawing; a longer one loses its middle.

    Examples
    --------
    >>> from kreinlearn.app.report import shorten
    >>> shorten("a method that is far too long", 13)
    'a meth…o long'
    """
    kept = clean(text)
    half = (length - 1) // 2
    return kept if len(kept) <= length else f"{kept[:half]}…{kept[-half:]}"


def label_powers_of_ten(axis: "Axis") -> None:
    """Label the ticks of a log or symlog scale with powers of ten.

    They are plain characters: a formula would be laid out for one font only.
    """
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    def text(value: float, _: float) -> str:
        if value == 0:
            return "0"
        mantissa, power = f"{abs(value):.3e}".split("e")
        sign = "−" if value < 0 else ""
        head = "" if float(mantissa) == 1 else f"{float(mantissa):g}·"
        return f"{sign}{head}10{str(int(power)).translate(raised)}"

    axis.set_major_formatter(text)
    axis.axes.minorticks_off()


def label_rows(axes: "Axes", names: Sequence[str]) -> None:
    """Write names at 0, 1, ..., from top to bottom, in place of numbers."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def select_evenly(count: int, most: int) -> Array:
    """Return at most so many of the positions below a count, with both ends."""
    some = np.linspace(0, count - 1, min(count, most))
    return np.unique(some.round().astype(int))


def draw_files(figure: Figure) -> dict[str, bytes]:
    """Return a figure as the bytes of files, "svg" and "png", on white.

    The same drawing gives the same bytes.
    """
    return _draw(figure.wide, {"svg": "path", "png": ""})


def draw_pictures(figure: Figure) -> list[tuple[str, bytes]]:
    """Return a figure as SVG for a page, without background; text stays text.

    Returns
    -------
    list of (media query, bytes)
        The page shows the first whose query holds; the last has none.
    """
    light = _compress(_draw(figure.wide, {"svg": "none"})["svg"])
    chosen = [(DARK_QUERY, _darken(light)), ("", light)]
    draw, (width, height) = figure.wide
    if width > PHONE_INCHES:
        narrow = figure.narrow or (draw, (PHONE_INCHES, height))
        light = _compress(_draw(narrow, {"svg": "none"})["svg"])
        both = f"{PHONE_QUERY} and {DARK_QUERY}"
        chosen = [(both, _darken(light)), (PHONE_QUERY, light), *chosen]
    return chosen


def _draw(drawing: Drawing, kinds: dict[str, str]) -> dict[str, bytes]:
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    draw, size = drawing
    found = {}
    with matplotlib.rc_context(FIGURE_STYLE), warnings.catch_warnings():
        # Browsers may have characters that our font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Canvas(figsize=size, layout="constrained")
        draw(figure)
        for kind, letters in kinds.items():
            metadata = {"Date": None} if kind == "svg" else {"Software": None}
            stream = io.BytesIO()
            if letters:
                matplotlib.rcParams["svg.fonttype"] = letters
            clear = letters == "none"
            figure.savefig(stream, format=kind, metadata=metadata, transparent=clear)
            found[kind] = stream.getvalue()
    return found


def _compress(svg: bytes) -> bytes:
    """Return the same drawing in a third of the bytes: two decimals, no comments."""
    text = svg.decode()[svg.decode().index("<svg ") :]
    text = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(
        r' (?:d|x|y|width|height|transform|viewBox)="[^"]*"',
        lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]),
        text,
    )
    text = re.sub(r'<g id="[^"]*">', "<g>", re.sub(r"\s+", " ", text))
    return text.replace("> <", "><").encode()


def _darken(svg: bytes) -> bytes:
    """Return the same drawing in the colors of a dark page."""
    # Text without a color is black in SVG.
    text = svg.decode().replace("<svg ", f'<svg fill="{DARK_COLORS[Color.INK]}" ', 1)
    for light, dark in DARK_COLORS.items():
        text = text.replace(f": {light}", f": {dark}")
    return text.encode()


def spectrum_figure(found: Findings, title: str) -> Figure | None:
    """Return eigenvalues on a symlog axis, the negative ones hatched.

    Parameters
    ----------
    found : mapping
        With "eigenvalues", "signature", "negative_share", "mu_min" and "mu_max"; the
        figure is None without eigenvalues.
    title : str
        Heading.
    """
    if not found.get("eigenvalues"):
        return None
    mu = np.asarray(found["eigenvalues"], dtype=float)
    p, q, z = found["signature"]
    fraction = f"{100 * abs(found['negative_share']):.2g}%"
    counts = f"{p} positive, {q} negative" + (f", {z} zero" if z else "")
    part = f"the negative part is {fraction} of the sum of absolute values."
    # Of a large matrix, some eigenvalues are kept, evenly from both ends.
    places = np.linspace(1, p + q + z, len(mu)).round().astype(int)

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        kept = select_evenly(len(mu), MAX_BARS)
        SpectrumDisplay(eigenvalues=mu[kept], places=places[kept]).plot(axes)
        if q:
            text = f"negative, down\nto {format_signed(float(mu.min()), '.3g')}"
            axes.text(0.98, 0.96, text, ha="right", va="top", transform=axes.transAxes)
        if (mu != 0).any():
            label_powers_of_ten(axes.yaxis)
        axes.set_title(f"{counts}\nnegative part {fraction}")
        axes.grid(axis="y")

    rows = [
        (int(place), format_number(value, ".6g"))
        for k, (place, value) in enumerate(zip(places, mu.tolist(), strict=True))
        if k < LISTED_EIGENVALUES or k >= len(mu) - LISTED_EIGENVALUES
    ]
    marked = "none is negative."
    if q:
        marked = f"the negative ones are hatched, on a shaded background; {part}"
    listed = "Eigenvalues at both ends of the spectrum; place 1 is the largest."
    return Figure(
        title,
        f"Eigenvalues in descending order on a symmetric log scale; {marked}",
        f"Eigenvalues from {found['mu_max']:.4g} down to {found['mu_min']:.4g}: "
        f"{counts}; {part}",
        (draw, (COLUMN_INCHES, 2.8)),
        numbers=(listed, "place, eigenvalue", rows),
    )


@dataclass(frozen=True)
class PageResult(ABC):
    """Results with a verdict, a table and a page; notebooks show the first two.

    Attributes
    ----------
    results : dict
        All results, as the command prints them with ``--json``.
    """

    results: dict[str, Any]

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The results in a sentence or two."""

    @property
    @abstractmethod
    def table(self) -> "DataFrame":
        """The scores."""

    @abstractmethod
    def _make_page(self) -> str:
        """Return the page as HTML."""

    def __repr__(self) -> str:
        return f"{self.verdict}\n\n{self.table.to_string(float_format='{:.3f}'.format)}"

    def _repr_html_(self) -> str:
        table = self.table.to_html(float_format="{:.3f}".format, na_rep="")
        return f"<p>{escape(self.verdict)}</p>{table}"

    def save(self, path: PathName, *, overwrite: bool = False) -> Self:
        """Write the page, with figures, to an HTML file.

        Parameters
        ----------
        path : path-like
            The file.
        overwrite : bool
            Whether to replace an existing file.

        Returns
        -------
        self : object
            The same results.
        """
        check_free(path, overwrite)
        replace(path, self._make_page().encode())
        return self


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    title : str
        Heading.
    parts : sequence of PageTable or Figure
        In order. A table with the title of the section has no heading of its own.
    is_detail : bool
        Whether it stands among the details, after all other sections.
    """

    title: str
    parts: Sequence[PageTable | Figure]
    is_detail: bool = False


def html(
    title: str,
    sections: Sequence[Section],
    *,
    sentences: Sequence[str] = (),
    remarks: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    command: str = "",
    versions: Mapping[str, str] | str = "",
) -> str:
    """Return a page that is valid without any other file.

    Parameters
    ----------
    title : str
        Heading.
    sections : sequence of Section
        In order; those without parts are left out.
    sentences : sequence of str
        Verdict in plain words; the first is the headline.
    remarks : sequence of str
        Further sentences, among the details.
    facts : mapping or None
        Terms and texts before the sections.
    notes : sequence of str
        Notes that marks of tables refer to, numbered from 1.
    command : str
        Command that makes the page.
    versions : mapping or str
        Versions of libraries.
    """
    return _load_template().render(
        title=title,
        sections=sections,
        sentences=sentences,
        remarks=remarks,
        facts=facts,
        notes=notes,
        command=command,
        versions=versions,
    )


@cache
def _load_template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def cleaned(value: str | int) -> str | int:
        is_raw = isinstance(value, str) and not isinstance(value, Markup)
        return clean(str(value)) if is_raw else value

    environment = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        finalize=cleaned,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def with_code(text: str) -> Markup:
        """Return a sentence with code between backticks."""
        # A plain string: a text that is joined to Markup would be escaped once more.
        plain = str(escape(clean(text)))
        return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", plain))

    environment.filters |= {"with_code": with_code}
    environment.globals |= {"column": COLUMN_INCHES, "marks_in": list_marks}
    return environment.get_template("page.html.j2")
