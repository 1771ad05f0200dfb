"""The page of an inspection: whether the negative part is worth keeping."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kreinlearn.report import plots
from kreinlearn.report.page import Section, html
from kreinlearn.report.render import Figure, plain
from kreinlearn.report.tables import Entry, Table, number_entry

ENDS = 10
"""Eigenvalues that are listed from either end."""
SCORES = ("accuracy", "log_loss", "balanced_accuracy", "auc")
"""Measures in the order of columns; log_loss is better if smaller."""
NAMES = {
    "log_loss": "log-loss",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
}

Found = Mapping[str, Any]


def inspection_page(found: Found) -> str:
    """Return the page of an inspection.

    Parameters
    ----------
    found : mapping
        What `krein inspect --json` prints.

    Returns
    -------
    str
        One HTML page, valid without any other file.
    """
    value = found.get("value")
    parts: list[Table | Figure] = []
    if value is not None:
        parts.append(_scores(value))
        if value.get("permutations"):
            parts.append(_permutations(value))
    sections = [
        Section("The spectrum", _spectrum(found)),
        Section("What the negative part is worth", parts),
    ]
    source = str(found.get("source", "a similarity"))
    return html(
        f"Inspection of {source}",
        sections,
        sentences=found.get("sentences", ()),
        facts=_facts(found),
        command=str(found.get("command", f"krein inspect {source}")),
        versions=versions_text(found),
    )


def versions_text(found: Found) -> str:
    """Return the versions of a finding as text.

    Parameters
    ----------
    found : mapping
        With "versions".

    Returns
    -------
    str
        Names and numbers.
    """
    return ", ".join(f"{name} {v}" for name, v in found.get("versions", {}).items())


def kernel_text(name: str | None, params: Mapping[str, Any] | None = None) -> str:
    """Return a kernel and its parameters as text.

    Parameters
    ----------
    name : str or None
        Of the kernel.
    params : mapping or None
        Its parameters.

    Returns
    -------
    str
        A dash for None.

    Examples
    --------
    >>> from kreinlearn.report.inspection import kernel_text
    >>> kernel_text("tl1", {"ratio": 0.7})
    'tl1 (ratio 0.7)'
    """
    if name is None:
        return "–"
    pairs = [
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in (params or {}).items()
    ]
    return f"{name} ({', '.join(pairs)})" if pairs else name


def _facts(found: Found) -> dict[str, str]:
    facts = {
        "Kernel": kernel_text(found.get("kernel"), found.get("params")),
        "Samples": str(found.get("n", "–")),
    }
    if found.get("n_given", found.get("n")) != found.get("n"):
        facts["Samples"] += f", a part of {found['n_given']}"
    if found.get("classes"):
        facts["Classes"] = ", ".join(str(each) for each in found["classes"])
    if found.get("recommendation"):
        facts["Recommendation"] = str(found["recommendation"])
    return facts


def _spectrum(found: Found) -> list[Table | Figure]:
    rows = [
        [Entry("samples"), number_entry(found.get("n"), "d")],
        *(
            [Entry(f"{sign} eigenvalues"), number_entry(count, "d")]
            for sign, count in zip(
                ("positive", "negative", "zero"),
                found.get("signature", ()),
                strict=False,
            )
        ),
        [Entry("smallest eigenvalue"), number_entry(found.get("mu_min"), ".6g")],
        [Entry("largest eigenvalue"), number_entry(found.get("mu_max"), ".6g")],
        [
            Entry("negative share of the sum of absolute eigenvalues"),
            number_entry(found.get("negative_share"), ".4f"),
        ],
        [
            Entry("lam from which the solution is unique"),
            number_entry(found.get("unique_lam"), ".4g"),
        ],
        *(
            [Entry(f"asymmetry, {word}"), number_entry(value, ".3g")]
            for word, value in (found.get("asymmetry") or {}).items()
        ),
    ]
    text = f"Eigenvalues of {kernel_text(found.get('kernel'), found.get('params'))}."
    drawn = spectrum_figure(found, "Eigenvalues")
    table = Table("The spectrum", text, _columns(), rows)
    return [table] if drawn is None else [drawn, table]


def spectrum_figure(found: Found, title: str) -> Figure | None:
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


def _scores(value: Found) -> Table:
    scores: Mapping[str, Mapping[str, float | None]] = value["scores"]
    keys = [key for key in SCORES if any(key in own for own in scores.values())]
    rows = []
    for name, own in scores.items():
        row = [Entry(name)]
        for key in keys:
            everyone = [each.get(key) for each in scores.values()]
            row.append(best_entry(own.get(key), everyone, smaller=key == "log_loss"))
        rows.append(row)
    folds, repeats = value.get("folds"), value.get("repeats")
    over = f" over {folds} folds" if folds else ""
    over += f", {repeats} times" if repeats and repeats > 1 else ""
    columns = (Entry("matrix"), *(Entry(NAMES.get(key, key)) for key in keys))
    text = f"Scores on held-out samples, mean{over}; bold is the best of a column."
    return Table("The matrix as it is, and repaired", text, columns, rows)


def best_entry(
    value: float | None,
    everyone: Sequence[float | None],
    smaller: bool = False,
    form: str = ".3f",
) -> Entry:
    """Return a number, marked if it is the best of several.

    Parameters
    ----------
    value : float or None
        The number.
    everyone : sequence of float or None
        All of them.
    smaller : bool
        Whether smaller is better.
    form : str
        How to write it.

    Returns
    -------
    Entry
        A dash for None.
    """
    known = [each for each in everyone if each is not None]
    if value is None or value != value:
        return Entry("–")
    best = min(known) if smaller else max(known)
    # What reads alike is marked alike.
    is_best = len(known) > 1 and f"{value:{form}}" == f"{best:{form}}"
    return Entry(f"{value:{form}}", value, is_best=is_best)


def _permutations(value: Found) -> Figure:
    null, seen, p = value["permutations"], value["difference"], value["p_value"]
    beyond = sum(each >= seen for each in null)
    low, high = min(null), max(null)
    label = str(value.get("label", "difference of scores"))
    numbers = {
        "observed difference": _signed(seen),
        "p-value": f"{p:.3g}",
        "permutations": str(len(null)),
        "permutations with at least the observed difference": str(beyond),
        "smallest difference by chance": _signed(low),
        "largest difference by chance": _signed(high),
    }
    title = "Could it be chance?"
    rows = [
        [Entry(name), Entry(text, float(text.replace("−", "-")))]
        for name, text in numbers.items()
    ]
    return Figure(
        title,
        f"The difference that was observed, {_signed(seen)} (dashed), beside those of "
        f"{len(null)} random permutations; p = {p:.3g}.",
        f"Histogram of {len(null)} differences by chance, {_signed(low)} to "
        f"{_signed(high)}; the observed {_signed(seen)} is reached by {beyond} of "
        f"them, p = {p:.3g}.",
        plots.permutations(null, seen, plain(label, 90)),
        table=Table(title, "What the histogram shows.", _columns(), rows),
    )


def _signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")


def _columns() -> tuple[Entry, Entry]:
    return Entry("quantity"), Entry("value")
