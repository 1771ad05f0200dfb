"""An inspection in plain words."""

from typing import Any, NamedTuple

from kreinlearn._validation import SYMMETRY_TOL

ROUNDED = 1e-10
"""Asymmetry, or share of negative eigenvalues, that is due to rounding."""
MATTERS = 5e-3
"""Difference in log-loss below which nobody should care."""
LEVEL = 0.05
"""Largest p-value that is called significant."""
PLAIN_SCALE = 100.0
"""Similarities this much larger or smaller than 1 need other values of lam."""
MOST_NAMES = 5
"""Classes that are named where some are left out."""

HEADLINES = {
    "zero": "All similarities are zero: nothing can be learned from them.",
    "constant": (
        "All similarities are almost the same: they hardly tell samples apart, with or "
        "without a negative part."
    ),
    "diagonal": (
        "The matrix is almost diagonal: no sample is like another, so nothing can be "
        "said about new samples."
    ),
    "semidefinite": (
        "The matrix is positive semidefinite: any kernel method will do, and there is "
        "nothing to repair."
    ),
}
"""For matrices whose negative part is no question."""

Inspection = dict[str, Any]
"""As JSON takes it; see `kreinlearn.app.inspection.verdict.inspect_matrix`."""


class Commands(NamedTuple):
    """What to run next.

    Attributes
    ----------
    keep : str or None
        Learns from the similarities as they are; empty if nothing can be learned, for
        lack of labels; None for Python.
    definite : str or None
        Learns from a kernel without a negative part instead.
    is_insisted : bool
        Whether the similarities look like distances, and are none.
    """

    keep: str | None = None
    definite: str | None = None
    is_insisted: bool = False


PYTHON = Commands()
"""No commands: what is recommended is Python."""


def sentences(
    found: Inspection, why: str = "", commands: Commands = PYTHON
) -> list[str]:
    """Return what was found in plain words, the headline first.

    Parameters
    ----------
    found : dict
        From `kreinlearn.app.inspection.verdict.inspect_matrix`, without sentences.
    why : str
        Why the negative part could not be judged, if so.
    commands : Commands
        What to run next.

    Returns
    -------
    list of str
        Sentences.
    """
    said = [_headline(found, why), _about_spectrum(found)]
    asymmetry = found["asymmetry"]
    if asymmetry["relative"] > ROUNDED:
        said.append(
            "The matrix is not symmetric: it differs from its transpose by up to "
            f"{asymmetry['largest']:.3g}, which is {asymmetry['relative']:.2g} of the "
            "largest entry. Its symmetric part (K + K.T) / 2 was inspected; learn from "
            "that."
        )
    if found["n"] < found["n_given"]:
        said.append(
            f"These are {found['n']} of {found['n_given']} samples, drawn at random."
        )
    if found["value"] is not None:
        said += _evidence(found["value"], found["n"])
    return [*said, *_unit(found), _next(found, commands)]


def _headline(found: Inspection, why: str) -> str:
    if found["matrix"] in HEADLINES:
        return HEADLINES[found["matrix"]]
    value = found["value"]
    if value is None:
        return (
            "The matrix is indefinite. Whether its negative part is worth keeping is "
            f"not known: {why}."
        )
    whole, clipped = value["scores"]["as it is"], value["scores"]["clip"]
    p = f"p = {value['p_value']:.2g}"
    if value["what"] == "either":
        both = (
            f"accuracy {whole['accuracy']:.3g} with it and {clipped['accuracy']:.3g} "
            f"without, log-loss {whole['log_loss']:.2g} and {clipped['log_loss']:.2g}"
        )
        reason = f"the difference could be chance ({both}; {p})"
        if abs(value["gain"]) < MATTERS:
            reason = f"it makes no difference that matters ({both})"
        return f"Keep the negative part or clip it, as you like: {reason}."
    # Accuracy is what people know; but it may be the same, or say the contrary.
    gain = whole["accuracy"] - clipped["accuracy"]
    is_clear = gain * value["gain"] > 0 and abs(gain) >= 0.005
    name, key = ("accuracy", "accuracy") if is_clear else ("log-loss", "log_loss")
    moves = "falls" if clipped[key] < whole[key] else "rises"
    digits = 2 if f"{whole[key]:.2f}" != f"{clipped[key]:.2f}" else 3
    return (
        f"{'Keep' if value['what'] == 'keep' else 'Clip'} the negative part: without "
        f"it, held-out {name} {moves} from {whole[key]:.{digits}f} to "
        f"{clipped[key]:.{digits}f} ({p})."
    )


def _about_spectrum(found: Inspection) -> str:
    _, negative, zero = found["signature"]
    total = sum(found["signature"])
    more = f" {zero} are zero." if zero and not negative else ""
    share = ""
    if negative:
        share = f", {100 * found['negative_share']:.2g} % of the sum of absolute values"
    return (
        f"{negative or 'None'} of its {total} eigenvalues "
        f"{'is' if negative < 2 else 'are'} negative{share}.{more}"
    )


def _evidence(value: Inspection, n: int) -> list[str]:
    some = f" of {value['n']} samples drawn from them" if value["n"] < n else ""
    if value["left_out"]:
        rare = ", ".join(str(label) for label in value["left_out"][:MOST_NAMES])
        more = len(value["left_out"]) - MOST_NAMES
        some += (
            f", without the rarest classes ({rare}{f' and {more} more' * (more > 0)})"
        )
    is_better, count = value["gain"] >= 0, len(value["permutations"])
    said = [
        "The scores are those of logistic regression in "
        f"{value['folds']}-fold cross-validation{some}.",
        f"Could it be chance? The matrix as it is predicts held-out samples "
        f"{'better' if is_better else 'worse'} than the clipped one, by "
        f"{abs(value['gain']):.2g} in log-likelihood per sample.",
    ]
    swaps = f"test swaps the two predictions of random samples, {count} times"
    share = "the share of random results that are at least as large as the real one"
    if not is_better:
        return [*said, f"A {swaps}: p = {value['p_worse']:.2g}, {share}."]
    return [
        *said,
        f"The first {swaps}: p = {value['p_better']:.2g}.",
        "The second test asks whether the negative part says anything about the labels "
        f"that the positive part does not. It shuffles labels, {count} times, among "
        "samples that look alike to the positive part: "
        f"p = {value['p_beyond']:.2g}.",
        f"Here p is {share}. The negative part is worth keeping only if both are at "
        f"most {LEVEL:g}.",
    ]


def _unit(found: Inspection) -> list[str]:
    """Return advice on the unit of similarities from elsewhere, if it is unusual."""
    mu = found["eigenvalues"]
    unit = sum(abs(each) for each in mu) / len(mu)
    if found["kernel"] != "precomputed" or unit == 0:
        return []
    if 1 / PLAIN_SCALE <= unit <= PLAIN_SCALE:
        return []
    return [
        f"The mean size of an eigenvalue is {unit:.2g}: divide the matrix by that "
        "before learning, since the default values of lam suit a mean of 1."
    ]


def _next(found: Inspection, commands: Commands) -> str:
    """Return what to run, or to do, now; it runs as it is printed."""
    keep = commands.keep
    if keep is None:
        keep = _python(found, commands.is_insisted)
    is_given = found["kernel"] in ("precomputed", "distance")
    is_table = not is_given and commands.definite is not None
    if found["matrix"] not in ("semidefinite", "indefinite"):
        if is_table:
            return "Next: scale the features, or change the kernel or its parameters."
        return "Next: check how the similarities were computed."
    if not keep:  # no labels, or no two classes
        return "Next: give labels of enough samples, of two classes or more."
    if found["matrix"] == "semidefinite":
        return f"Next: `{keep}`, or any other kernel method."
    clip = _clipped(found, commands.is_insisted)
    if found["recommendation"] == "repair":
        if commands.definite is not None:
            return (
                f"Next: `{commands.definite}`, a kernel without a negative part; or "
                f"{clip}."
            )
        return f"Next: {clip}, or any other kernel method after the repair."
    keeps = f"`{keep}` learns from the matrix as it is"
    return {
        "unknown": "Next: give labels of enough samples, to find out what the negative "
        f"part is worth; {keeps}.",
        "keep": f"Next: {keeps}.",
        "either": f"Next: {keeps}, {clip} from the clipped one.",
    }[found["recommendation"]]


def _python(found: Inspection, is_insisted: bool) -> str:
    """Return Python that learns from the matrix K as it is."""
    more = ', kernel_params={"check": False}' if is_insisted else ""
    is_lopsided = found["asymmetry"]["relative"] > SYMMETRY_TOL
    matrix = "(K + K.T) / 2" if is_lopsided else "K"
    return f'KreinLogisticRegressionCV(kernel="precomputed"{more}).fit({matrix}, y)'


def _clipped(found: Inspection, is_insisted: bool) -> str:
    """Return a pipeline that clips the similarities, and learns from what is left."""
    first = ""
    if "form" in found["params"]:
        first = f'DistanceSimilarity("{found["params"]["form"]}"), '
    mode = '"clip", check=False' if is_insisted else '"clip"'
    return f'`make_pipeline({first}SpectrumRepair({mode}), SVC(kernel="precomputed"))`'
