"""An inspection in plain words."""

from collections.abc import Mapping
from typing import Any

ROUNDING = 1e-10
"""Asymmetry, or share of negative eigenvalues, that is due to rounding."""
MATTERS = 5e-3
"""Difference in log-loss below which nobody should care."""
PLAIN_SCALE = 100.0
"""Similarities this much larger or smaller than 1 need other values of lam."""

MATRICES = {
    "zero": "All similarities are zero: nothing can be learned from them.",
    "constant": (
        "All similarities are almost the same: they hardly tell samples apart, with or "
        "without a negative part."
    ),
    "diagonal": (
        "The matrix is almost diagonal: no sample is like another, and nothing can be "
        "said of new samples."
    ),
    "semidefinite": (
        "The matrix is positive semidefinite: any kernel method will do, and there is "
        "nothing to repair."
    ),
}
"""Headlines for matrices whose negative part is no question."""


def sentences(
    found: Mapping[str, Any], why: str = "", command: str | None = None
) -> list[str]:
    """Return what was found in plain words, the headline first.

    Parameters
    ----------
    found : mapping
        From `kreinlearn.inspection.verdict.inspect`, without sentences.
    why : str
        Why the negative part could not be judged, if so.
    command : str, optional
        What to run to learn from the similarities as they are.

    Returns
    -------
    list of str
        Sentences.
    """
    said = [_headline(found, why), _spectrum(found)]
    asymmetry = found["asymmetry"]
    if asymmetry["relative"] > ROUNDING:
        said.append(
            "The matrix is not symmetric: it differs from its transpose by up to "
            f"{asymmetry['largest']:.3g}, {asymmetry['relative']:.2g} of the largest "
            "entry. Its symmetric part (K + K.T) / 2 was inspected; learn from that."
        )
    if found["n"] < found["n_given"]:
        said.append(
            f"These are {found['n']} of {found['n_given']} samples, drawn at random."
        )
    if found["value"] is not None:
        said += _evidence(found["value"], found["n"])
    return [*said, *_scale(found), _next(found, command)]


def _headline(found: Mapping[str, Any], why: str) -> str:
    if found["matrix"] in MATRICES:
        return MATRICES[found["matrix"]]
    value = found["value"]
    if value is None:
        return (
            "The matrix is indefinite, and whether its negative part is worth keeping "
            f"is not known: {why}."
        )
    whole, clipped = value["scores"]["as it is"], value["scores"]["clip"]
    name, with_it, without = "log-loss", whole["log_loss"], clipped["log_loss"]
    gain = whole["accuracy"] - clipped["accuracy"]
    # Accuracy is what people know; but it may be the same, or say the contrary.
    if gain * value["gain"] > 0 and abs(gain) >= 0.005:
        name, with_it, without = "accuracy", whole["accuracy"], clipped["accuracy"]
    moves = "falls" if without < with_it else "rises"
    digits = 2 if f"{with_it:.2f}" != f"{without:.2f}" else 3
    numbers = f"{name} {moves} from {with_it:.{digits}f} to {without:.{digits}f}"
    if value["what"] == "keep":
        return (
            f"Keep the negative part: without it held-out {numbers} "
            f"(p = {value['p_value']:.2g})."
        )
    if value["what"] == "repair":
        return (
            f"Clip the negative part: without it held-out {numbers} "
            f"(p = {value['p_value']:.2g})."
        )
    both = (
        f"accuracy {whole['accuracy']:.3g} with it, {clipped['accuracy']:.3g} without, "
        f"log-loss {whole['log_loss']:.2g} and {clipped['log_loss']:.2g}"
    )
    if abs(value["gain"]) < MATTERS:
        return (
            "Keep the negative part or clip it, as you like: it makes no difference "
            f"that matters ({both})."
        )
    p = value["p_value"]
    return (
        "Keep the negative part or clip it, as you like: no difference can be told "
        f"from chance ({both}; p = {p:.2g})."
    )


def _spectrum(found: Mapping[str, Any]) -> str:
    positive, negative, zero = found["signature"]
    total = positive + negative + zero
    if negative == 0:
        none = f", {zero} of them zero" if zero else ""
        return (
            f"None of its {total} eigenvalues is negative{none}; the largest is "
            f"{found['mu_max']:.3g}."
        )
    return (
        f"{negative} of its {total} eigenvalues {'is' if negative == 1 else 'are'} "
        f"negative, {100 * found['negative_share']:.2g} % of the sum of all without "
        f"their signs: the smallest is {found['mu_min']:.3g}, the largest "
        f"{found['mu_max']:.3g}."
    )


def _evidence(value: Mapping[str, Any], n: int) -> list[str]:
    scores = value["scores"]
    own = {way: f"{each['accuracy']:.3g}" for way, each in scores.items()}
    losses = {way: f"{each['log_loss']:.2g}" for way, each in scores.items()}
    some = f" of {value['n']} samples drawn from them" if value["n"] < n else ""
    if value["left_out"]:
        rare = ", ".join(str(label) for label in value["left_out"][:5])
        more = f" and {len(value['left_out']) - 5} more" * (len(value["left_out"]) > 5)
        some += f" (without the rarest classes: {rare}{more})"
    said = [
        f"Logistic regression, {value['folds']}-fold cross-validation{some}: accuracy "
        f"{own['as it is']} from the matrix as it is, {own['clip']} clipped, "
        f"{own['flip']} flipped, {own['negative part alone']} from the negative part "
        f"alone; log-loss {losses['as it is']}, {losses['clip']}, {losses['flip']}, "
        f"{losses['negative part alone']}.",
        f"Could it be chance? As it is, held-out samples are predicted "
        f"{'better' if value['gain'] >= 0 else 'worse'} than clipped, by "
        f"{abs(value['gain']):.2g} in log-likelihood a sample.",
    ]
    if value["gain"] >= 0:
        said.append(
            f"Of {len(value['permutations'])} random exchanges of the two predictions "
            f"a share of {value['p_better']:.2g} gives as much; of as many "
            "permutations of the labels that leave alone what the positive part says, "
            f"a share of {value['p_beyond']:.2g} gains as much from the negative part."
        )
    else:
        said.append(
            f"Of {len(value['permutations'])} random exchanges of the two predictions "
            f"a share of {value['p_value']:.2g} gives as much."
        )
    return said


def _scale(found: Mapping[str, Any]) -> list[str]:
    """Return advice on the unit of similarities from elsewhere, if it is unusual."""
    mu = found["eigenvalues"]
    unit = sum(abs(each) for each in mu) / len(mu)
    if found["kernel"] != "precomputed" or unit == 0:
        return []
    if 1 / PLAIN_SCALE <= unit <= PLAIN_SCALE:
        return []
    return [
        f"The eigenvalues are of size {unit:.2g} in the mean: divide the matrix by "
        "that before learning, since the default values of lam suit 1."
    ]


def _next(found: Mapping[str, Any], command: str | None) -> str:
    """Return what to run, or to do, now."""
    own = 'KreinLogisticRegressionCV(kernel="precomputed").fit(K, y)'
    clip = '`make_pipeline(SpectrumRepair("clip"), SVC(kernel="precomputed"))`'
    keep = f"`{command or own}`"
    is_table = found["kernel"] != "precomputed"
    if found["matrix"] == "semidefinite":
        return f"Next: {keep}, or any other kernel method."
    if found["matrix"] != "indefinite":
        if is_table:
            return "Next: scale the features, or change the kernel or its parameters."
        return "Next: look at how the similarities were made."
    if found["recommendation"] == "unknown":
        return (
            "Next: give labels of enough samples, to learn what the negative part is "
            f"worth; {keep} learns from the matrix as it is."
        )
    if found["recommendation"] == "keep":
        return f"Next: {keep} learns from the matrix as it is."
    if found["recommendation"] == "repair":
        if is_table and command is not None:
            other = command.replace(f"--kernel {found['kernel']}", "--kernel rbf")
            return f"Next: `{other}`, a kernel without a negative part; or {clip}."
        return f"Next: {clip}, or any other kernel method after the repair."
    return f"Next: {keep} learns from the matrix as it is, {clip} from the clipped one."
