"""The page of an inspection: whether the negative part is worth keeping."""

from collections.abc import Mapping
from typing import Any

from kreinlearn.pages import plots
from kreinlearn.pages.figures import Figure, plain
from kreinlearn.pages.page import Section, html
from kreinlearn.pages.spectra import spectrum_figure
from kreinlearn.pages.tables import (
    Entry,
    Table,
    best_entry,
    number_entry,
    versions_text,
)

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
    >>> from kreinlearn.inspection.page import kernel_text
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
