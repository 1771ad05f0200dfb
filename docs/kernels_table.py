"""The table of kernels on the page "Add a kernel", from the records of the package."""

from kreinlearn.kernels import KERNELS

PLACEHOLDER = "<!-- table of kernels -->"
"""Comment on a page that is replaced by the table."""


def make_table() -> str:
    """Return a Markdown table with one row per kernel.

    Returns
    -------
    str
        The lines.
    """
    head = (
        "name|samples|measure s|form|parameters|always positive definite|a search tries"
    )
    rows = [head.split("|"), ["---"] * 7, *map(_make_cells, KERNELS.values())]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _make_cells(kernel):
    """Return the cells of one kernel."""
    measure = kernel.measure.name if kernel.measure else ""
    form = (getattr(kernel.form, "__doc__", None) or "").partition("\n")[0]
    form = form.removeprefix("Take s to ").removesuffix(".")
    tried = "forms and widths" if kernel.is_distance else ""
    if kernel.grid is not None:
        values = ", ".join(f"{value:g}" for value in kernel.grid.values)
        unit = " times the median distance" if kernel.grid.of_median else ""
        tried = f"{kernel.grid.parameter}: {values}{unit}"
    return [
        f"`{kernel.name}`",
        kernel.samples,
        measure,
        f"`{form}`" if form else "learned" * kernel.is_distance,
        ", ".join(kernel.parameters),
        "yes" if kernel.is_definite else "no",
        tried,
    ]
