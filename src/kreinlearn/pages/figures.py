"""Colors, and drawings as files and as pictures that suit screen and light.

Matplotlib is loaded only when something is drawn.
"""

import io
import re
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kreinlearn.pages.tables import Table

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#00805c", "#777777"
"""After the palette of Okabe and Ito, which color-blind people can tell apart."""
PURPLE, GOLD = "#aa4499", "#8a6100"
INK, PAPER, GRID, FAINT = "#222222", "#ffffff", "#e5e5e5", "#bbbbbb"
DARK = {
    BLUE: "#5ab4ee",
    ORANGE: "#ff8f4a",
    GREEN: "#35c79b",
    GREY: "#9b9b9b",
    PURPLE: "#e39ad0",
    GOLD: "#e0b243",
    INK: "#e6e6e6",
    PAPER: "#16181b",
    GRID: "#34383d",
    FAINT: "#656a71",
    "#000000": "#e6e6e6",
}
"""Each color on a dark page. Drawings use no other colors."""
LOOKS = (
    (BLUE, "o", "-"),
    (ORANGE, "s", "--"),
    (GREEN, "^", "-."),
    (PURPLE, "D", (0, (1, 1))),
    (GOLD, "v", (0, (5, 1, 1, 1, 1, 1))),
    (INK, "P", (0, (7, 2))),
)
"""Color, marker and line of the first, second, ... curve."""
STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    # The first is drawn and measured with; a browser without it takes the next, which
    # is no wider.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,  # a dollar sign in a name is one
    "legend.frameon": False,
    "svg.hashsalt": "kreinlearn",
}
DPI = 160
NARROW = 3.7
"""Inches: on a phone of 360 pixels such a drawing is shown at its size, or nearly."""
PHONE = "(max-width: 40rem)"
NIGHT = "(prefers-color-scheme: dark)"

Canvas = Any
"""A matplotlib figure."""
Drawing = tuple[Callable[[Canvas], None], tuple[float, float]]
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
        What is to be seen, with numbers.
    wide : Drawing
        What is drawn.
    narrow : Drawing or None
        The same for a phone; None if the first is narrow enough.
    table : Table or None
        The numbers that are drawn; None if a table of the page has them.
    """

    title: str
    caption: str
    alt: str
    wide: Drawing
    narrow: Drawing | None = None
    table: Table | None = None


def clean(text: str) -> str:
    """Return a text without what neither HTML nor SVG may contain.

    Parameters
    ----------
    text : str
        Any text of a user.

    Returns
    -------
    str
        With blanks in place of control characters and halves of letters.

    Examples
    --------
    >>> from kreinlearn.pages.figures import clean
    >>> clean(f"a{chr(7)}b")
    'a b'
    """
    return "".join(
        " " if unicodedata.category(each) in ("Cc", "Cs") else each for each in text
    )


def plain(text: str, length: int = 34) -> str:
    """Return a name as a drawing can show it.

    Parameters
    ----------
    text : str
        Any text of a user.
    length : int
        Longer texts lose their middle.

    Returns
    -------
    str
        Without control characters.

    Examples
    --------
    >>> from kreinlearn.pages.figures import plain
    >>> plain("a method that is far too long", 13)
    'a meth…o long'
    """
    kept = clean(text)
    half = (length - 1) // 2
    return kept if len(kept) <= length else f"{kept[:half]}…{kept[-half:]}"


def powers_of_ten(axis: Any) -> None:
    """Write the ticks of a log scale as powers, in letters that every font has.

    Parameters
    ----------
    axis : matplotlib axis
        Of a log or symlog scale. Formulas would be placed for one font only.
    """
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    def text(value: float, _: Any) -> str:
        if value == 0:
            return "0"
        mantissa, power = f"{abs(value):.3e}".split("e")
        sign = "−" if value < 0 else ""
        head = "" if float(mantissa) == 1 else f"{float(mantissa):g}·"
        return f"{sign}{head}10{str(int(power)).translate(raised)}"

    axis.set_major_formatter(text)
    axis.axes.minorticks_off()


def files(figure: Figure) -> dict[str, bytes]:
    """Return a figure as files that stand alone.

    Parameters
    ----------
    figure : Figure
        What to draw.

    Returns
    -------
    dict
        "svg" and "png" to bytes, on white; the same drawing gives the same bytes.
    """
    return _drawn(figure.wide, {"svg": "path", "png": ""})


def pictures(figure: Figure) -> list[tuple[str, bytes]]:
    """Return a figure as SVG for a page.

    Parameters
    ----------
    figure : Figure
        What to draw.

    Returns
    -------
    list of (media query, bytes)
        The first whose query holds is to be shown; the last has none. Without
        background; letters are letters, in the fonts of the reader.
    """
    light = _small(_drawn(figure.wide, {"svg": "none"})["svg"])
    chosen = [(NIGHT, _at_night(light)), ("", light)]
    if figure.narrow is not None:
        light = _small(_drawn(figure.narrow, {"svg": "none"})["svg"])
        both = f"{PHONE} and {NIGHT}"
        chosen = [(both, _at_night(light)), (PHONE, light), *chosen]
    return chosen


def _drawn(drawing: Drawing, kinds: dict[str, str]) -> dict[str, bytes]:
    import matplotlib
    from matplotlib.figure import Figure as Paper

    draw, size = drawing
    found = {}
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # The reader's browser may well have a letter that our font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Paper(figsize=size, layout="constrained")
        draw(figure)
        for kind, letters in kinds.items():
            metadata = {"Date": None} if kind == "svg" else {"Software": None}
            stream = io.BytesIO()
            if letters:
                matplotlib.rcParams["svg.fonttype"] = letters
            figure.savefig(
                stream,
                format=kind,
                dpi=DPI,
                metadata=metadata,
                transparent=letters == "none",
            )
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


def looks(n_curves: int) -> Sequence[tuple[str, str, Any]]:
    """Return color, marker and line for each of some curves.

    Parameters
    ----------
    n_curves : int
        How many.

    Returns
    -------
    sequence of (color, marker, line style)
        The curves after the sixth are all thin and grey.
    """
    return [*LOOKS[:n_curves], *[(GREY, "", ":")] * max(0, n_curves - len(LOOKS))]
