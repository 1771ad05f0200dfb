"""Inspection of a similarity: predictability of labels, and need of a repair."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array
from kreinlearn._validation import (
    INFORMATIVE_TOL,
    SYMMETRY_TOL,
    check_count,
    check_distances,
    check_matrix,
    check_similarities,
    looks_like_distances,
)
from kreinlearn.app.comparison.summary import MODEL_OF_FIT, wilson_interval
from kreinlearn.app.inspection.evidence import (
    UNREPAIRED,
    FoldWatcher,
    exchange_differences,
    permute_conditionally,
    predict_model,
    predict_treatments,
)
from kreinlearn.app.inspection.page import inspection_page, list_scores
from kreinlearn.app.methods.records import UNCHECKED
from kreinlearn.app.methods.tuning import inner_folds
from kreinlearn.app.report.page import Result
from kreinlearn.app.runs.records import describe_environment
from kreinlearn.kernels import KERNELS, gram
from kreinlearn.kernels.transforms import fit_transform, list_candidates
from kreinlearn.losses import loss_for
from kreinlearn.problem import uniqueness_threshold
from kreinlearn.spectrum import describe

if TYPE_CHECKING:
    from pandas import DataFrame

MIN_CLASS_SAMPLES = 3
"""Classes with fewer samples are left out of the held-out predictions."""
MIN_SAMPLES = 20
"""Samples below which held-out predictions have no weight."""
MAX_LEARNED = 500
"""Most samples to learn from; more would take minutes and change little."""
MAX_SAMPLES = 2000
"""Most samples whose spectrum is computed, which takes n^3 operations."""
ROUNDING = 1e-10
"""Asymmetry, or fraction of negative eigenvalues, that is due to rounding."""
MIN_GAIN = 5e-3
"""Difference in log-loss below which the negative part does not matter."""
LEVEL = 0.05
"""Level of the tests."""
MAX_NAMES = 5
"""Rare classes that are named."""
DEFAULT_KERNEL = "tl1"
"""Kernel of rows whose spectrum is shown if none is named."""
MATRIX_SENTENCES = {
    "zero": "All similarities are zero: nothing can be learned from them.",
    "constant": "All similarities are almost equal: they hardly distinguish samples.",
    "diagonal": (
        "The matrix is almost diagonal: no sample is similar to another, so nothing "
        "can be predicted for new samples."
    ),
    "semidefinite": (
        "The matrix is positive semidefinite: any kernel method applies, and there is "
        "nothing to repair."
    ),
}
"""Sentences about matrices without a negative part."""


class Inspection(Result):
    """Result of `kreinlearn.inspect_similarity`."""

    @property
    def verdict(self) -> str:
        """Whether labels can be predicted, and whether the matrix needs a repair."""
        return " ".join(self.results["sentences"][: self.results["n_verdict"]])

    @property
    def table(self) -> "DataFrame":
        """Held-out scores of the default model and of learning from repairs."""
        from pandas import DataFrame

        scores = list_scores(self.results)
        columns = ["accuracy", "log_loss"]
        return DataFrame.from_dict(scores, orient="index", columns=columns)

    def _make_page(self) -> str:
        return inspection_page(self.results)


def inspect_similarity(
    D: ArrayLike,
    y: ArrayLike | None = None,
    *,
    kernel: str | None = "distance",
    kernel_params: Mapping[str, Any] | None = None,
    check: bool = True,
    permutations: int = 1000,
    seed: int = 0,
    progress: FoldWatcher | None = None,
    source: str = "data",
    measure: tuple[str, Mapping[str, Any]] | None = None,
    n_given: int | None = None,
    command: str | None = None,
) -> Inspection:
    """Report whether labels can be predicted, and whether K needs a repair.

    Parameters
    ----------
    D : array-like of shape (n, n), or (n, m)
        Distances, similarities or samples, depending on ``kernel``. The symmetric part
        of a matrix is inspected.
    y : array-like of shape (n,), optional
        Labels. Without them only the spectrum is reported.
    kernel : str or None
        "distance" for distances, "precomputed" for similarities, or the name of a
        kernel for samples as rows; None for the default kernels of rows.
    kernel_params : mapping, optional
        Parameters of the kernel, or ``form`` and ``width`` of distances. The spectrum
        is that of the default values of other parameters; the model tries several.
    check : bool
        Whether to reject similarities that look like distances.
    permutations : int
        Random permutations of each test.
    seed : int
        Seed of folds, samples and permutations.
    progress : callable, optional
        Called with the number of finished folds, and of all folds.
    source : str
        Name of the data.
    measure : (str, mapping), optional
        Kernel and parameters that computed the matrix.
    n_given : int, optional
        Number of all samples, if the matrix holds a part of them.
    command : str, optional
        Command that fits the model, for the last sentence; empty if there are no
        labels to learn from. By default Python.

    Returns
    -------
    Inspection
        With a ``verdict``, a ``table`` and ``save(path)`` for a page with figures.

    Notes
    -----
    The model is `KreinLogisticRegressionCV` with its default search (KreinCV in
    tables), nested in an outer cross-validation.

    The recommendation to keep the negative part takes two tests, and the larger of
    their p-values is given. The statistic of the first is the mean difference of the
    log-probabilities of a held-out sample's class with and without the negative part;
    under the null hypothesis the two can be exchanged for each sample. The second
    asks whether the negative part carries information about the labels that the
    positive part lacks: see `kreinlearn.app.inspection.evidence`. Alone, at a level of
    5 %, the first kept noise in up to a quarter of simulated problems, since noise may
    act as a regularization, and the second in more than a third of others; both
    together in at most 5 %. The recommendation to repair takes the first test, with
    the sign reversed.

    Above 500 samples the predictions use 500 of them, the spectrum at most 2000, at
    random with the proportions of the classes.

    Examples
    --------
    >>> import kreinlearn
    >>> from kreinlearn.datasets import make_gram
    >>> K, y = make_gram((3, 2), n_samples=40, random_state=0)
    >>> found = kreinlearn.inspect_similarity(K, y, kernel="precomputed")
    >>> found.results["signature"], found.results["recommendation"]
    ([3, 2, 35], 'keep')
    """
    count = check_count("permutations", permutations)
    labels = None if y is None else np.asarray(y)
    if labels is not None and labels.shape != (len(np.asarray(D)),):
        raise ValueError(
            f"'y' must have shape ({len(np.asarray(D))},), one label for each row, got "
            f"shape {labels.shape}."
        )
    rows = sample_rows(labels, len(np.asarray(D)), MAX_SAMPLES, seed)
    labels, fixed = None if labels is None else labels[rows], dict(kernel_params or {})
    notes: list[str] = []
    if kernel in ("distance", "precomputed"):
        what = "Distances" if kernel == "distance" else "Similarities"
        data, _ = check_matrix(D, what, symmetric="any", dtype=float)
        data = data[np.ix_(rows, rows)]
        K = data
        if kernel == "distance":
            (params, *_) = list_candidates(fixed, [{}])
            data = check_distances(data)
            K = fit_transform(data, **params)(data)
        else:
            params = {}
            if check:
                check_similarities(data, "The matrix")
    else:
        data = np.asarray(D, dtype=float)[rows]
        params, notes = _default_params(data, kernel or DEFAULT_KERNEL, fixed)
        K = gram(data, kernel=kernel or DEFAULT_KERNEL, **params)
    name, measured = measure or (kernel or DEFAULT_KERNEL, {})
    found: dict[str, Any] = {
        "kind": "inspection",
        "source": source,
        "kernel": name,
        "params": {**measured, **params},
        "n": len(K),
        "n_given": n_given or len(np.asarray(D)),
        "classes": None if labels is None else np.unique(labels).tolist(),
        **_measure_spectrum(K),
    }
    loss = loss_for(len(found["classes"] or ()) > 2)
    found["unique_lam"] = uniqueness_threshold(found["mu_min"], 1 / len(K), loss)
    K = (K + K.T) / 2
    search: dict[str, Any] = {} if kernel is None else {"kernel": kernel}
    search["kernel_params"] = UNCHECKED if kernel == "precomputed" else fixed or None
    data = (data + data.T) / 2 if kernel in ("distance", "precomputed") else data
    is_indefinite = found["matrix"] == "indefinite"
    found |= _score(K, is_indefinite, data, labels, search, count, seed, progress)
    if command is None:
        command = _python_code(found, kernel, looks_like_distances(K))
    sentences, found["n_verdict"] = _state_findings(found)
    clip = _clip_code(kernel, params, looks_like_distances(K))
    found["sentences"] = [*sentences, *notes, _state_next_step(found, command, clip)]
    found["versions"] = describe_environment()["ver"]
    return Inspection(found)


def sample_rows(y: Array | None, n: int, most: int, seed: int = 0) -> Array:
    """Return positions of a stratified subsample, or all positions.

    Parameters
    ----------
    y : ndarray of shape (n,) or None
        Labels.
    n : int
        Number of samples.
    most : int
        Size of the subsample.
    seed : int
        Random seed.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [30, 10])
    >>> np.bincount(y[sample_rows(y, 40, 20)])
    array([15,  5])
    """
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(seed).permutation(n)
    if y is not None:  # sorted by class, then taken at even distances
        order = order[np.argsort(y[order], kind="stable")]
        order = order[np.linspace(0, n, most, endpoint=False).astype(int)]
    return np.sort(order[:most])


def _default_params(
    X: Array, kernel: str, given: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of a kernel on rows, and notes about estimated ones."""
    grid = KERNELS[kernel].grid
    if grid is None or {grid.parameter, *grid.alternatives} & set(given):
        return given, []
    params = {**given, **KERNELS[kernel].default_params(X)}
    if not grid.of_median:
        return params, []
    return params, [
        f"The width {grid.parameter} of the kernel {kernel} was set to "
        f"{params[grid.parameter]:.4g}, the median distance between samples."
    ]


def _measure_spectrum(K: Array) -> dict[str, Any]:
    report: dict[str, Any] = describe(K)
    size = float(np.linalg.norm(K))
    return {
        "asymmetry": {
            "largest": float(np.abs(K - K.T).max()),
            "relative": report["asymmetry"],
            "share": float(np.linalg.norm(K - K.T)) / (2 * size) if size > 0 else 0.0,
        },
        "signature": list(report["signature"]),
        **{name: report[name] for name in ("mu_min", "mu_max", "negative_share")},
        "eigenvalues": np.linalg.eigvalsh((K + K.T) / 2)[::-1].tolist(),
        "matrix": _classify_matrix((K + K.T) / 2, report["negative_share"]),
    }


def _classify_matrix(K: Array, negative_share: float) -> str:
    size = float(np.abs(K).max())
    diagonal = float(np.abs(K.diagonal()).mean())
    off = float(np.abs(K - np.diag(K.diagonal())).sum()) / max(1, len(K) * (len(K) - 1))
    if size == 0:
        return "zero"
    if len(K) > 2 and float(np.ptp(K)) < INFORMATIVE_TOL * size:
        return "constant"
    if len(K) > 2 and off < INFORMATIVE_TOL * diagonal:
        return "diagonal"
    return "semidefinite" if negative_share < ROUNDING else "indefinite"


def _score(
    K: Array,
    is_indefinite: bool,
    data: Array,
    labels: Array | None,
    search: Mapping[str, Any],
    count: int,
    seed: int,
    progress: FoldWatcher | None,
) -> dict[str, Any]:
    """Return scores of the model, and the value of the negative part.

    The keys are ``model``, ``value``, ``recommendation`` and ``reason``, which states
    why there are no scores.
    """
    found: dict[str, Any] = {"model": None, "value": None, "reason": ""}
    found["recommendation"] = "unknown" if is_indefinite else "either"
    if labels is None:
        return found | {"reason": "no labels were given"}
    classes, sizes = np.unique(labels, return_counts=True)
    frequent = classes[sizes >= MIN_CLASS_SAMPLES]
    rows = np.flatnonzero(np.isin(labels, frequent))
    if len(frequent) < 2:
        many = f"{'is' if len(frequent) == 1 else 'are'} {len(frequent) or 'none'}"
        need = f"two classes of at least {MIN_CLASS_SAMPLES} samples are needed"
        return found | {"reason": f"{need}, and there {many}"}
    if len(rows) < MIN_SAMPLES:
        need = f"at least {MIN_SAMPLES} samples are needed, and there are {len(rows)}"
        return found | {"reason": need}
    if float(np.ptp(K)) == 0:
        return found
    rows = rows[sample_rows(labels[rows], len(rows), MAX_LEARNED, seed)]
    _, index = np.unique(labels[rows], return_inverse=True)
    folds = inner_folds(index, seed, least=2)
    is_matrix = search.get("kernel") in ("distance", "precomputed")
    n_steps = len(folds) * (1 + is_indefinite)

    def report(done: int, _: int) -> None:
        if progress is not None:
            progress(done, n_steps)

    X = data[np.ix_(rows, rows)] if is_matrix else data[rows]
    scores = predict_model(X, index, folds, search, report).scores()
    low, high = wilson_interval(scores["accuracy"], len(rows))
    found["model"] = {
        **scores,
        "accuracy_low": float(low),
        "accuracy_high": float(high),
        "majority": float(np.bincount(index).max() / len(rows)),
        "folds": len(folds),
        "n": len(rows),
        "left_out": classes[sizes < MIN_CLASS_SAMPLES].tolist(),
    }
    if is_indefinite:
        value = _assess_negative_part(
            K[np.ix_(rows, rows)],
            index,
            folds,
            count,
            seed,
            lambda done, _: report(len(folds) + done, 0),
        )
        found |= {"value": value, "recommendation": value["what"]}
    return found


def _assess_negative_part(
    K: Array, index: Array, folds: Any, count: int, seed: int, progress: FoldWatcher
) -> dict[str, Any]:
    """Return the value of the negative part: scores, gains and p-values."""
    found = predict_treatments(K, index, folds, progress)
    first, second = found[UNREPAIRED].own, found["clip"].own
    gain = float((first - second).mean())
    exchanges = exchange_differences(first, second, count, seed)
    logs = found["clip"].logs
    extra, chance = permute_conditionally(K, index, logs, folds, count, seed)
    tests = {
        "better": (gain, exchanges, "gain in log-likelihood per sample if kept"),
        "beyond": (extra, chance, "drop in squared error per sample if kept"),
        "worse": (-gain, -exchanges, "gain in log-likelihood per sample if clipped"),
    }
    p = {
        name: float((1 + (null >= seen).sum()) / (1 + len(null)))
        for name, (seen, null, _) in tests.items()
    }
    # To keep the negative part, both tests must be significant.
    first_two = "better" if p["better"] >= p["beyond"] else "beyond"
    shown = "worse" if gain < 0 else first_two
    seen, null, label = tests[shown]
    is_clear = abs(gain) >= MIN_GAIN and p[shown] <= LEVEL
    return {
        "what": ("keep" if gain > 0 else "repair") if is_clear else "either",
        "scores": {name: held.scores() for name, held in found.items()},
        "gain": gain,
        **{f"p_{name}": each for name, each in p.items()},
        "p_value": p[shown],
        "difference": float(seen),
        "permutations": null.tolist(),
        "label": label,
    }


def _state_findings(found: Mapping[str, Any]) -> tuple[list[str], int]:
    """Return all findings in words, and how many sentences are the verdict."""
    verdict = [] if found["model"] is None else [_state_accuracy(found["model"])]
    verdict.append(_state_negative_part(found))
    _, negative, zero = found["signature"]
    more = f" {zero} are zero." if zero and not negative else ""
    share = f", {100 * found['negative_share']:.2g} % of the sum of absolute values"
    sentences = [
        f"{negative or 'None'} of its {sum(found['signature'])} eigenvalues "
        f"{'is' if negative < 2 else 'are'} negative{share if negative else ''}.{more}"
    ]
    asymmetry = found["asymmetry"]
    if asymmetry["relative"] > ROUNDING:
        sentences.append(
            "The matrix is not symmetric: it differs from its transpose by up to "
            f"{asymmetry['largest']:.3g}, which is {asymmetry['relative']:.2g} of the "
            "largest entry. Its symmetric part (K + K.T) / 2 was inspected."
        )
    if found["n"] < found["n_given"]:
        sentences.append(
            f"These are {found['n']} of {found['n_given']} samples, drawn at random."
        )
    if found["model"] is not None:
        sentences += _state_evidence(found)
    return [*verdict, *sentences], len(verdict)


def _state_accuracy(model: Mapping[str, Any]) -> str:
    is_clear = model["accuracy_low"] > model["majority"]
    scores = (
        f"{MODEL_OF_FIT} has a held-out accuracy of {model['accuracy']:.2f}, against "
        f"{model['majority']:.2f} for the majority class"
    )
    if is_clear:
        return f"The labels are predictable: {scores}."
    return f"The labels are hardly predictable: {scores}."


def _state_negative_part(found: Mapping[str, Any]) -> str:
    if found["matrix"] in MATRIX_SENTENCES:
        return MATRIX_SENTENCES[found["matrix"]]
    value = found["value"]
    if value is None:
        return (
            "The matrix is indefinite. Whether its negative part helps is not known: "
            f"{found['reason']}."
        )
    full, clipped = value["scores"][UNREPAIRED], value["scores"]["clip"]
    p = f"p = {value['p_value']:.2g}"
    if value["what"] == "either":
        both = (
            f"accuracy {full['accuracy']:.3g} with it and {clipped['accuracy']:.3g} "
            f"without, log-loss {full['log_loss']:.2g} and {clipped['log_loss']:.2g}"
        )
        if abs(value["gain"]) < MIN_GAIN:
            return f"The negative part makes no difference that matters ({both})."
        return f"The effect of the negative part could be chance ({both}; {p})."
    # Accuracy is better known, but it may be equal, or have the opposite sign.
    gain = full["accuracy"] - clipped["accuracy"]
    is_clear = gain * value["gain"] > 0 and abs(gain) >= 0.005
    name, key = ("accuracy", "accuracy") if is_clear else ("log-loss", "log_loss")
    moves = "falls" if clipped[key] < full[key] else "rises"
    digits = 2 if f"{full[key]:.2f}" != f"{clipped[key]:.2f}" else 3
    return (
        f"{'Keep' if value['what'] == 'keep' else 'Clip'} the negative part: without "
        f"it, held-out {name} {moves} from {full[key]:.{digits}f} to "
        f"{clipped[key]:.{digits}f} ({p})."
    )


def _state_evidence(found: Mapping[str, Any]) -> list[str]:
    model, value = found["model"], found["value"]
    some = ""
    if model["n"] < found["n"] - len(model["left_out"]):
        some = f" of {model['n']} samples drawn from them"
    if model["left_out"]:
        rare = ", ".join(str(label) for label in model["left_out"][:MAX_NAMES])
        more = len(model["left_out"]) - MAX_NAMES
        rare += f" and {more} more" * (more > 0)
        some += f", without the rarest classes ({rare})"
    sentences = [
        f"Scores are those of {model['folds']}-fold cross-validation{some}, with a "
        "search in each fold. `krein fit` prints those of the folds that chose its "
        "settings, which are a little better."
    ]
    if value is None:
        return sentences
    is_better, count = value["gain"] >= 0, len(value["permutations"])
    sentences.append(
        "Logistic regression on the unrepaired matrix predicts held-out samples "
        f"{'better' if is_better else 'worse'} than on the clipped one, by "
        f"{abs(value['gain']):.2g} in log-likelihood per sample."
    )
    swaps = f"test exchanges the two predictions of random samples, {count} times"
    if not is_better:
        return [*sentences, f"A {swaps}: p = {value['p_worse']:.2g}."]
    return [
        *sentences,
        f"The first {swaps}: p = {value['p_better']:.2g}. The second test permutes "
        "labels among samples that look alike to the positive part, to find out "
        "whether the negative part carries further information: "
        f"p = {value['p_beyond']:.2g}. The negative part is worth keeping if both are "
        f"at most {LEVEL:g}.",
    ]


def _state_next_step(found: Mapping[str, Any], command: str, clip: str) -> str:
    if found["matrix"] not in ("semidefinite", "indefinite"):
        return "Next: check how the similarities were computed."
    if not command:
        return "Next: add labels of two classes or more."
    if found["recommendation"] == "unknown":
        return f"Next: add labels of more samples, or run `{command}`."
    if found["recommendation"] == "repair":
        return f"Next: `{command}`; in Python, `{clip}` drops the negative part."
    return f"Next: `{command}`."


def _python_code(found: Mapping[str, Any], kernel: str | None, is_odd: bool) -> str:
    """Return Python that fits the model."""
    given = "" if kernel is None else f'kernel="{kernel}"'
    if is_odd and kernel == "precomputed":
        given += ', kernel_params={"check": False}'
    is_asymmetric = found["asymmetry"]["relative"] > SYMMETRY_TOL
    name = {"distance": "D", "precomputed": "K"}.get(str(kernel), "X")
    matrix = f"({name} + {name}.T) / 2" if is_asymmetric else name
    return f"KreinLogisticRegressionCV({given}).fit({matrix}, y)"


def _clip_code(kernel: str | None, params: Mapping[str, Any], is_odd: bool) -> str:
    first = f'DistanceSimilarity("{params["form"]}"), ' if kernel == "distance" else ""
    mode = '"clip", check=False' if is_odd and not first else '"clip"'
    return f'make_pipeline({first}SpectrumRepair({mode}), SVC(kernel="precomputed"))'
