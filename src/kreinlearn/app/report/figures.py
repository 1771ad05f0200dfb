"""Figures: one style, files, and pictures for each kind of screen.

Matplotlib is imported only when a figure is drawn.
"""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.app.report.tables import (
    Findings,
    PageTable,
    TableRow,
    format_number,
    format_signed,
    make_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas


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


def clean(text: str) -> str:
    """Replace control characters and lone surrogates, which HTML forbids, by blanks.

    Examples
    --------
    >>> from kreinlearn.app.report.figures import clean
    >>> clean(f"a{chr(7)}b")
    'a b'
    """
    return _CONTROL_CHARACTERS.sub(" ", text)


def shorten(text: str, length: int = 34) -> str:
    """Return a name for a drawing; a longer one loses its middle.

    Examples
    --------
    >>> from kreinlearn.app.report.figures import shorten
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
    lowest = float(mu.min())

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        kept = select_evenly(len(mu), MAX_BARS)
        place, shown = places[kept], mu[kept]
        filled: Any = {"color": Color.BLUE, "lw": 0}
        hatched: Any = {"facecolor": "none", "edgecolor": Color.ORANGE, "lw": 0.8}
        hatched["hatch"] = "//////"
        for where, look in ((shown >= 0, filled), (shown < 0, hatched)):
            axes.fill_between(place, shown, where=where, step="mid", **look)
        if q:
            first = float(place[shown < 0].min()) - 0.5
            axes.axvspan(first, places[-1] + 0.5, color=Color.ORANGE, alpha=0.12, lw=0)
            text = f"negative, down\nto {format_signed(lowest, '.3g')}"
            axes.text(0.98, 0.96, text, ha="right", va="top", transform=axes.transAxes)
        axes.axhline(0, color=Color.INK, lw=0.8)
        if (mu != 0).any():
            _scale_signed(axes, mu)
        axes.set(
            xlabel="place of the eigenvalue, from the largest",
            ylabel="eigenvalue",
            title=f"{counts}\nnegative part {fraction}",
            xlim=(0.5, places[-1] + 0.5),
        )
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


def _scale_signed(axes: "Axes", mu: Array) -> None:
    """Scale an axis by powers of ten on both sides of zero, with few ticks."""
    low, high, top = float(mu.min()), float(mu.max()), float(np.abs(mu).max())
    small = float(np.median(np.abs(mu)))
    if low < 0:  # a tenth of the largest negative one is still seen as a bar
        small = min(small, -low / 10)
    least = int(np.floor(np.log10(max(small, 1e-6 * top))))
    most = int(np.floor(np.log10(top)))
    step = -(-(most - least) // 4) or 1
    sizes = [10.0**power for power in range(most, least, -step)]
    axes.set_yscale("symlog", linthresh=10.0**least, linscale=0.4)
    ticks = [-size for size in sizes if -size >= low] + [0.0]
    axes.set_yticks(ticks + [size for size in sizes if size <= high])
    label_powers_of_ten(axes.yaxis)
    axes.set_ylim(2 * min(0.0, low), 2 * max(0.0, high))
