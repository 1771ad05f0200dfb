"""The spectrum of a similarity, drawn and listed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kreinlearn.pages import plots
from kreinlearn.pages.figures import Figure
from kreinlearn.pages.tables import Entry, Table, number_entry

ENDS = 10
"""Eigenvalues that are listed from either end."""


def spectrum_figure(found: Mapping[str, Any], title: str) -> Figure | None:
    """Return the spectrum of one matrix.

    Parameters
    ----------
    found : mapping
        With "eigenvalues", "signature", "negative_share", "mu_min" and "mu_max".
    title : str
        Whose it is.

    Returns
    -------
    Figure or None
        None without eigenvalues.
    """
    mu = found.get("eigenvalues")
    if not mu:
        return None
    p, q, z = found["signature"]
    # Added to 0.0, no share is "-0".
    share = f"{100 * found['negative_share']:.2g}\u00a0%"
    counts = f"{p} positive, {q} negative" + (f", {z} zero" if z else "")
    # Of a large matrix only some are kept, evenly from the largest to the smallest.
    places = [round(place) for place in np.linspace(1, p + q + z, len(mu))]
    rows = [
        [Entry(str(place), place), number_entry(value, ".6g")]
        for k, (place, value) in enumerate(zip(places, mu, strict=True))
        if k < ENDS or k >= len(mu) - ENDS
    ]
    text = "Eigenvalues from both ends of the drawing, by place from the largest."
    if q:
        marked = (
            "what is negative is hatched, on a shaded ground. The negative part is "
            f"{share} of the sum of absolute values."
        )
    else:
        marked = "none is negative."
    return Figure(
        title,
        f"Eigenvalues in descending order; {marked}",
        f"Eigenvalues from {found['mu_max']:.4g} down to {found['mu_min']:.4g}: "
        f"{counts}; the negative part is {share} of the sum of absolute values.",
        plots.spectrum(places, mu, f"{counts}\nnegative share {share}"),
        table=Table(title, text, (Entry("place"), Entry("eigenvalue")), rows),
    )
