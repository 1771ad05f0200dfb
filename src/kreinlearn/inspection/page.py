"""The page of an inspection: whether the negative part is worth keeping."""

from kreinlearn.pages import entries, plots
from kreinlearn.pages.entries import DASH, Entry, Findings
from kreinlearn.pages.figures import Figure, plain
from kreinlearn.pages.page import Section, html
from kreinlearn.pages.spectra import spectrum_figure
from kreinlearn.pages.tables import PageTable, TableRow, make_table, versions_text


def inspection_page(found: Findings) -> str:
    """Return the page of an inspection, valid without any other file.

    Parameters
    ----------
    found : mapping
        What `krein inspect --json` prints.
    """
    value = found.get("value")
    parts: list[PageTable | Figure] = []
    if value is not None:
        parts.append(_repaired(value))
        if value.get("permutations"):
            parts.append(_chance(value))
    source = str(found.get("source", "a similarity"))
    return html(
        f"Inspection of {source}",
        [
            Section("The spectrum", _spectrum_parts(found)),
            Section("What the negative part is worth", parts),
        ],
        sentences=found.get("sentences", ()),
        facts=_facts_of(found),
        command=str(found.get("command", f"krein inspect {source}")),
        versions=versions_text(found),
    )


def _kernel_text(found: Findings) -> str:
    """Return the kernel and its parameters, as in "tl1 (ratio 0.7)", or a dash."""
    pairs = [
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in (found.get("params") or {}).items()
    ]
    name = found.get("kernel")
    if name is None:
        return DASH
    return f"{name} ({', '.join(pairs)})" if pairs else str(name)


def _facts_of(found: Findings) -> dict[str, str]:
    facts = {"Kernel": _kernel_text(found), "Samples": str(found.get("n", DASH))}
    if found.get("n_given", found.get("n")) != found.get("n"):
        facts["Samples"] += f", a part of {found['n_given']}"
    if found.get("classes"):
        facts["Classes"] = ", ".join(str(each) for each in found["classes"])
    if found.get("recommendation"):
        facts["Recommendation"] = str(found["recommendation"])
    return facts


def _spectrum_parts(found: Findings) -> list[PageTable | Figure]:
    signs = ("positive", "negative", "zero")
    counts = zip(signs, found.get("signature", ()), strict=False)
    share, lam = (found.get(key) for key in ("negative_share", "unique_lam"))
    asymmetry = found.get("asymmetry") or {}
    rows: list[TableRow] = [
        ("samples", found.get("n")),
        *((f"{sign} eigenvalues", count) for sign, count in counts),
        ("smallest eigenvalue", entries.numeral(found.get("mu_min"), ".6g")),
        ("largest eigenvalue", entries.numeral(found.get("mu_max"), ".6g")),
        (
            "negative share of the sum of absolute values",
            entries.numeral(share, ".4f"),
        ),
        ("lam from which the solution is unique", entries.numeral(lam, ".4g")),
        *((f"asymmetry, {x}", entries.numeral(y, ".3g")) for x, y in asymmetry.items()),
    ]
    text = f"Eigenvalues of {_kernel_text(found)}."
    listed = make_table("The spectrum", text, "quantity, value", rows)
    drawn = spectrum_figure(found, "Eigenvalues")
    return [listed] if drawn is None else [drawn, listed]


def _repaired(value: Findings) -> PageTable:
    scores = value["scores"]
    keys = [
        key for key in entries.SCORE_NAMES if any(key in own for own in scores.values())
    ]
    folds, repeats = value.get("folds"), value.get("repeats")
    over = f" over {folds} folds" if folds else ""
    over += f", repeated {repeats} times" if repeats and repeats > 1 else ""
    return make_table(
        "The matrix as it is, and repaired",
        f"Mean scores on held-out samples{over}; the best of each column is bold.",
        ("matrix", *(entries.SCORE_NAMES[key] for key in keys)),
        [(name, *entries) for name, entries in entries.scores(scores, keys).items()],
    )


def _chance(value: Findings) -> Figure:
    null, seen, p = value["permutations"], value["difference"], value["p_value"]
    beyond = sum(each >= seen for each in null)
    observed, low, high = (
        entries.signed(x, "+.3g") for x in (seen, min(null), max(null))
    )
    shown = {
        "observed difference": observed,
        "p-value": f"{p:.3g}",
        "permutations": str(len(null)),
        "permutations with at least the observed difference": str(beyond),
        "smallest difference by chance": low,
        "largest difference by chance": high,
    }
    # Sorted by what is read, to its last digit.
    rows = [(name, Entry(x, float(x.replace("−", "-")))) for name, x in shown.items()]
    label = plain(str(value.get("label", "difference of scores")), 90)
    return Figure(
        "Could it be chance?",
        f"The observed difference, {observed} (dashed), among those of {len(null)} "
        f"random permutations; p = {p:.3g}.",
        f"Histogram of {len(null)} differences by chance, {low} to {high}; the "
        f"observed {observed} is reached by {beyond} of them, p = {p:.3g}.",
        plots.permutations(null, seen, label),
        numbers=("What the histogram shows.", "quantity, value", rows),
    )
