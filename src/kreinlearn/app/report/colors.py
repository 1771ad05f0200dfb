"""Colors and style of all drawings."""

from typing import Any

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#00805c", "#777777"
"""After the palette of Okabe and Ito, which color-blind people can tell apart."""
INK, PAPER, GRID, FAINT = "#222222", "#ffffff", "#e5e5e5", "#bbbbbb"
DARK = {
    BLUE: "#5ab4ee",
    ORANGE: "#ff8f4a",
    GREEN: "#35c79b",
    GREY: "#9b9b9b",
    INK: "#e6e6e6",
    PAPER: "#16181b",
    GRID: "#34383d",
    FAINT: "#656a71",
    "#000000": "#e6e6e6",
}
"""Each color on a dark page. Drawings use no other colors."""
Look = tuple[str, str, str]
"""Color, marker and line of a curve."""
LOOKS: tuple[Look, ...] = (
    (BLUE, "o", "-"),
    (ORANGE, "s", "--"),
    (GREEN, "^", "-."),
)
"""Of the first, second and third curve; a picture has no more."""
STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    # Text is laid out with the first; a browser without it takes the next, which is no
    # wider.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,  # a dollar sign in a name is one
    "legend.frameon": False,
    "savefig.dpi": 160,
    "svg.hashsalt": "kreinlearn",
}
