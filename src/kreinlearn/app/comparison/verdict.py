"""A comparison in words: who is best, and what the similarities are."""

from collections.abc import Sequence

from kreinlearn.app.comparison.fold import PRECOMPUTED
from kreinlearn.app.comparison.summary import Compared
from kreinlearn.app.methods.table import METHODS
from kreinlearn.app.runs.records import Record


def facts(found: Compared) -> list[str]:
    """Return what the numbers show, in words: the best rows, and the matrices."""
    scored = [row for row in found["rows"] if row["accuracy"] is not None]
    sentences = [_best(scored) if scored else "No method gave a result."]
    for each in found["data"]:
        for kernel, about in each["kernels"].items():
            _, negative, _ = about["signature"]
            sentences += [
                f"{row['method']} assumes a positive semidefinite matrix; "
                f"{'the matrix' if kernel == PRECOMPUTED else kernel} is indefinite, "
                "so its result has no guarantee."
                for row in scored
                if negative
                and row["kernel"] == kernel
                and METHODS[row["method"]].definite_only
            ]
    lost = ", ".join(_named(row) for row in found["rows"] if row["failed"])
    if lost:
        sentences.append(f"Folds without a result, which the means leave out: {lost}.")
    return sentences


def _best(scored: Sequence[Record]) -> str:
    """Return which of the rows with scores are best, and which cannot be told apart."""
    once = [row for row in scored if row["same_as"] is None]
    best = max(once, key=lambda row: row["accuracy"])
    text = f"Highest accuracy: {_named(best)} with {best['accuracy']:.3f}"
    likely = [row for row in once if row["log_loss"] is not None]
    if likely:
        least = min(likely, key=lambda row: row["log_loss"])
        text += f"; lowest log-loss: {_named(least)} with {least['log_loss']:.3f}"
    gaps = [row["behind"]["accuracy"] for row in once if row is not best]
    ends = [gap["high"] for gap in gaps if gap and gap["high"] is not None]
    worse = sum(end < 0 for end in ends)
    if not ends:
        return f"{text}."
    who = "No other row is"
    if worse:
        who = f"{worse} of the {len(ends)} other rows {'is' if worse == 1 else 'are'}"
    return f"{text}. {who} clearly less accurate, as far as the folds can tell."


def _named(row: Record) -> str:
    on = "" if row["kernel"] in (None, PRECOMPUTED) else f" on {row['kernel']}"
    return f"{row['method']}{on}"
