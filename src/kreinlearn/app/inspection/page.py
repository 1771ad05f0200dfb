"""The page of an inspection: whether the negative part is worth keeping."""

from dataclasses import replace

from kreinlearn.app.report import entries, plots
from kreinlearn.app.report.entries import DASH, Entry, Findings
from kreinlearn.app.report.figures import Figure, plain
from kreinlearn.app.report.page import Section, html
from kreinlearn.app.report.spectra import spectrum_figure, spectrum_numbers
from kreinlearn.app.report.tables import PageTable, TableRow, make_table, versions_text


def inspection_page(found: Findings) -> str:
    """Return the page of an inspection, valid without any other file.

    Parameters
    ----------
    found : mapping
        What `krein inspect --json` prints.
    """
    value = found.get("value")
    drawn = spectrum_figure(found, "The spectrum")
    listed = _spectrum_table(found)
    first: list[PageTable | Figure] = [] if drawn is None else [drawn]
    if value is not None:
        first.append(_repaired(value))
    title = "The spectrum"
    if value is not None:
        title = "The spectrum, and what its negative part is worth"
    chance = []
    if value is not None and value.get("permutations"):
        chance.append(_chance(value))
    sections = [
        # Without scores, the numbers of the spectrum are all that there is.
        Section(title, first if value is not None else [*first, listed]),
        Section("Could it be chance?", chance, is_detail=True),
        Section(listed.title, [] if value is None else [listed], is_detail=True),
    ]
    said = list(found.get("sentences", ()))
    verdict = [each for k, each in enumerate(said) if k < 2 or "Next:" in each]
    source = str(found.get("source", "a similarity"))
    return html(
        f"Inspection of {source}",
        sections,
        sentences=verdict,
        remarks=[each for each in said if each not in verdict],
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


def _spectrum_table(found: Findings) -> PageTable:
    asymmetry = found.get("asymmetry") or {}
    lam = found.get("unique_lam")
    more: list[TableRow] = [
        ("lam from which the solution is unique", entries.numeral(lam, ".4g")),
        *((f"asymmetry, {x}", entries.numeral(y, ".3g")) for x, y in asymmetry.items()),
    ]
    listed = spectrum_numbers(found, "Numbers of the spectrum")
    more_rows = make_table("", "", "quantity, value", more).rows
    return replace(listed, rows=[*listed.rows, *more_rows])


def _repaired(value: Findings) -> PageTable:
    # What scores alike to the last digit is the same model, and said once.
    scores: dict[str, Findings] = {}
    for name, own in value["scores"].items():
        same = next((first for first, each in scores.items() if each == own), None)
        if same is not None:
            scores = {
                f"{same}, {name}" if first == same else first: each
                for first, each in scores.items()
            }
        else:
            scores[name] = own
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
        "The observed difference, and chance",
        f"The observed difference, {observed} (dashed), among those of {len(null)} "
        f"random permutations; p = {p:.3g}.",
        f"Histogram of {len(null)} differences by chance, {low} to {high}; the "
        f"observed {observed} is reached by {beyond} of them, p = {p:.3g}.",
        plots.permutations(null, seen, label),
        numbers=("What the histogram shows.", "quantity, value", rows),
    )
