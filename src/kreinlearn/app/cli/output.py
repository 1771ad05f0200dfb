"""What several commands print."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

Facts = dict[str, Any]
"""What a command found, as JSON takes it."""


def text_table(
    left: Sequence[str], right: Sequence[str], title: str | None = None
) -> "Table":
    """Return a table without rows: columns of words, then columns of numbers."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def bold_if(is_best: bool, text: str) -> str:
    """Return a cell of a table, in bold if it is the best."""
    return f"[bold]{text}[/bold]" if is_best else text


def setting_text(kernel: str, params: Mapping[str, float | str]) -> str:
    """Return a kernel and its parameters, as in "tl1 ratio=0.7"."""
    listed = [
        f"{name}={value}" if isinstance(value, str) else f"{name}={value:.4g}"
        for name, value in params.items()
    ]
    return " ".join([kernel, *listed])
