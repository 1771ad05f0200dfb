"""Figures: drawings as files, and as pictures for each kind of screen.

Matplotlib is loaded only when something is drawn.
"""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kreinlearn.app.report.colors import DARK, INK, STYLE
from kreinlearn.app.report.tables import PageTable, TableRow, make_table

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas

NARROW = 3.7
"""Inches: a phone of 360 pixels shows such a drawing at its size, or nearly."""
COLUMN = 5.2
"""Inches: one of two columns of a page, from 1,000 pixels on."""
PHONE = "(max-width: 40rem)"
NIGHT = "(prefers-color-scheme: dark)"

Drawing = tuple[Callable[["Canvas"], None], tuple[float, float]]
"""A function that draws on an empty figure, and width and height in inches."""


@dataclass(frozen=True)
class Figure:
    """A figure with all that is said about it.

    Attributes
    ----------
    title : str
        Heading.
    caption : str
        How to read it.
    alt : str
        What there is to see, with numbers.
    wide : Drawing
        What is drawn.
    narrow : Drawing or None
        The same for a phone; None if the first can be squeezed.
    numbers : (caption, heads, rows) or None
        What is drawn, as for `make_table`; None if a table of the page has it.
    """

    title: str
    caption: str
    alt: str
    wide: Drawing
    narrow: Drawing | None = None
    numbers: tuple[str, str | TableRow, Sequence[TableRow]] | None = None

    @property
    def table(self) -> PageTable | None:
        """The numbers behind the drawing."""
        return None if self.numbers is None else make_table(self.title, *self.numbers)


_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """Return a text with blanks for what neither HTML nor SVG may contain.

    That is control characters and lone surrogates.

    Examples
    --------
    >>> from kreinlearn.app.report.figures import clean
    >>> clean(f"a{chr(7)}b")
    'a b'
    """
    return _FORBIDDEN.sub(" ", text)


def plain(text: str, length: int = 34) -> str:
    """Return a name as a drawing can show it; a longer one loses its middle.

    Examples
    --------
    >>> from kreinlearn.app.report.figures import plain
    >>> plain("a method that is far too long", 13)
    'a meth…o long'
    """
    kept = clean(text)
    half = (length - 1) // 2
    return kept if len(kept) <= length else f"{kept[:half]}…{kept[-half:]}"


def powers_of_ten(axis: "Axis") -> None:
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


def files(figure: Figure) -> dict[str, bytes]:
    """Return a figure as files that stand alone, "svg" and "png", on white.

    The same drawing gives the same bytes.
    """
    return _drawn(figure.wide, {"svg": "path", "png": ""})


def pictures(figure: Figure) -> list[tuple[str, bytes]]:
    """Return a figure as SVG for a page, without background.

    Text stays text, in the fonts of the reader.

    Returns
    -------
    list of (media query, bytes)
        The first whose query holds is to be shown; the last has none.
    """
    light = _small(_drawn(figure.wide, {"svg": "none"})["svg"])
    chosen = [(NIGHT, _at_night(light)), ("", light)]
    draw, (width, height) = figure.wide
    if width > NARROW:
        narrow = figure.narrow or (draw, (NARROW, height))
        light = _small(_drawn(narrow, {"svg": "none"})["svg"])
        both = f"{PHONE} and {NIGHT}"
        chosen = [(both, _at_night(light)), (PHONE, light), *chosen]
    return chosen


def _drawn(drawing: Drawing, kinds: dict[str, str]) -> dict[str, bytes]:
    import matplotlib
    from matplotlib.figure import Figure as Paper

    draw, size = drawing
    found = {}
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # The reader's browser may well have a character that our font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Paper(figsize=size, layout="constrained")
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


def _small(svg: bytes) -> bytes:
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


def _at_night(svg: bytes) -> bytes:
    """Return the same drawing in the colors of a dark page."""
    # What has no color of its own is black in SVG: letters above all.
    text = svg.decode().replace("<svg ", f'<svg fill="{DARK[INK]}" ', 1)
    for day, night in DARK.items():
        text = text.replace(f": {day}", f": {night}")
    return text.encode()
