"""The spectrum of a similarity, drawn and listed."""

import numpy as np

from kreinlearn.app.report import plots
from kreinlearn.app.report.entries import Findings, numeral
from kreinlearn.app.report.figures import Figure
from kreinlearn.app.report.tables import PageTable, TableRow, make_table

LISTED = 10
"""Number of eigenvalues listed from each end."""


def spectrum_figure(found: Findings, title: str) -> Figure | None:
    """Return the spectrum of one matrix, or None without eigenvalues.

    Parameters
    ----------
    found : mapping
        With "eigenvalues", "signature", "negative_share", "mu_min" and "mu_max".
    title : str
        What it is the spectrum of.
    """
    mu = found.get("eigenvalues")
    if not mu:
        return None
    p, q, z = found["signature"]
    share = f"{100 * found['negative_share']:.2g}\u00a0%"
    counts = f"{p} positive, {q} negative" + (f", {z} zero" if z else "")
    part = f"the negative part is {share} of the sum of absolute values."
    # Of a large matrix only some are kept, evenly from the largest to the smallest.
    places = [round(place) for place in np.linspace(1, p + q + z, len(mu))]
    rows: list[TableRow] = [
        (place, numeral(value, ".6g"))
        for k, (place, value) in enumerate(zip(places, mu, strict=True))
        if k < LISTED or k >= len(mu) - LISTED
    ]
    marked = "none is negative."
    if q:
        marked = f"the negative ones are hatched, on a shaded background; {part}"
    listed = "Eigenvalues at both ends of the spectrum; place 1 is the largest."
    return Figure(
        title,
        f"Eigenvalues in descending order; {marked}",
        f"Eigenvalues from {found['mu_max']:.4g} down to {found['mu_min']:.4g}: "
        f"{counts}; {part}",
        plots.spectrum(places, mu, f"{counts}\nnegative share {share}"),
        numbers=(listed, "place, eigenvalue", rows),
    )


def spectrum_numbers(found: Findings, title: str) -> PageTable:
    """Return what there is to know of a spectrum: quantities and their values.

    Parameters
    ----------
    found : mapping
        As for `spectrum_figure`.
    title : str
        Heading.
    """
    signs = ("positive", "negative", "zero")
    counts = zip(signs, found.get("signature", ()), strict=False)
    rows: list[TableRow] = [
        *((f"{sign} eigenvalues", count) for sign, count in counts),
        ("smallest eigenvalue", numeral(found.get("mu_min"), ".6g")),
        ("largest eigenvalue", numeral(found.get("mu_max"), ".6g")),
        (
            "negative share of the sum of absolute values",
            numeral(found.get("negative_share"), ".4f"),
        ),
    ]
    return make_table(title, "What the spectrum shows.", "quantity, value", rows)
