"""Inspection of a similarity: predictability of labels, and need of a repair."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
from kreinlearn.app.inspection import evidence
from kreinlearn.app.inspection.evidence import HeldOut
from kreinlearn.app.inspection.page import inspection_page, list_scores
from kreinlearn.app.methods import UNCHECKED_PARAMS, inner_folds
from kreinlearn.app.report import PageResult
from kreinlearn.app.runs import Record, describe_environment
from kreinlearn.io.labels import MAX_PLAIN_CLASSES
from kreinlearn.kernels import KERNELS, gram
from kreinlearn.kernels.transforms import fit_transform, list_candidates
from kreinlearn.losses import loss_for
from kreinlearn.problem import uniqueness_threshold
from kreinlearn.search import Fold
from kreinlearn.spectrum import describe

if TYPE_CHECKING:
    from pandas import DataFrame

FoldWatcher = Callable[[int, int], object]
"""Called with the number of finished folds, and of all folds."""
MIN_CLASS_SAMPLES = 3
"""Classes with fewer samples are left out of the held-out predictions."""
MIN_LEARNED = 20
"""Samples below which held-out predictions have no weight."""
MAX_LEARNED = 500
"""Most samples to learn from; more would take minutes and change little."""
MAX_SAMPLES = 2000
"""Most samples whose spectrum is computed, which takes n^3 operations."""
ROUNDING_TOL = 1e-10
"""Asymmetry, or fraction of negative eigenvalues, that is due to rounding."""
MIN_GAIN = 5e-3
"""Difference in log-loss below which the negative part does not matter."""
TEST_LEVEL = 0.05
"""Level of the tests."""
MAX_NAMES = 5
"""Rare classes that are named."""
ENOUGH_CLASS_SAMPLES = 5
"""Samples of each class that the default folds of a search need."""
MATRIX_KERNELS = ("distance", "precomputed")
"""Kernels of data that are a matrix."""
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


@dataclass(frozen=True, repr=False)
class Inspection(PageResult):
    """Result of `kreinlearn.inspect_similarity`.

    Attributes
    ----------
    similarities : ndarray of shape (n, n)
        The inspected matrix, symmetric.
    labels : ndarray of shape (n,) or None
        Labels, if they are known.
    """

    similarities: Array
    labels: Array | None = None

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
        return inspection_page(self.results, self.similarities, self.labels)


def inspect_similarity(
    D: ArrayLike,
    y: ArrayLike | None = None,
    *,
    kernel: str | None = "distance",
    kernel_params: Mapping[str, object] | None = None,
    check: bool = True,
    permutations: int = 1000,
    seed: int = 0,
    progress: FoldWatcher | None = None,
    source: str = "data",
    measure: tuple[str, Mapping[str, object]] | None = None,
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
    5%, the first kept noise in up to a quarter of simulated problems, since noise may
    act as a regularization, and the second in more than a third of others; both
    together in at most 5%. The recommendation to repair takes the first test, with
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
    check_count("permutations", permutations)
    labels, n_all = None if y is None else np.asarray(y), len(np.asarray(D))
    if labels is not None and labels.shape != (n_all,):
        raise ValueError(
            f"'y' must have shape ({n_all},), one label for each row, got shape "
            f"{labels.shape}."
        )
    rows = sample_rows(labels, n_all, MAX_SAMPLES, seed)
    labels, fixed = None if labels is None else labels[rows], dict(kernel_params or {})
    data, K, params, notes = _compute_gram(D, rows, kernel, fixed, check)
    name, measured = measure or (kernel or DEFAULT_KERNEL, {})
    found: Record = {
        "kind": "inspection",
        "source": source,
        "kernel": name,
        "params": {**measured, **params},
        "n": len(K),
        "n_given": n_given or n_all,
        "classes": None if labels is None else np.unique(labels).tolist(),
        **_measure_spectrum(K),
    }
    loss = loss_for(len(found["classes"] or ()) > 2)
    found["unique_lam"] = uniqueness_threshold(found["mu_min"], 1 / len(K), loss)
    K, is_indefinite = (K + K.T) / 2, found["matrix"] == "indefinite"
    found |= {"model": None, "value": None}
    found["recommendation"] = "unknown" if is_indefinite else "either"
    kept, left_out, found["reason"] = _select_labeled(labels, seed)
    if labels is not None and not found["reason"] and float(np.ptp(K)) > 0:
        _, index = np.unique(labels[kept], return_inverse=True)
        folds = inner_folds(index, seed, least=2)
        done, n_steps = itertools.count(1), len(folds) * (1 + is_indefinite)

        def advance() -> None:
            if progress is not None:
                progress(next(done), n_steps)

        search: Record = {} if kernel is None else {"kernel": kernel}
        is_given = kernel == "precomputed"
        search["kernel_params"] = UNCHECKED_PARAMS if is_given else fixed or None
        X = data[kept][:, kept] if kernel in MATRIX_KERNELS else data[kept]
        held_out = evidence.predict_model(X, index, folds, search, advance)
        found["model"] = _score_model(held_out, len(folds)) | {"left_out": left_out}
        if is_indefinite:
            among = K[np.ix_(kept, kept)]
            treated = evidence.predict_treatments(among, index, folds, advance)
            value = _assess_negative_part(among, treated, folds, permutations, seed)
            found |= {"value": value, "recommendation": value["what"]}
    is_odd = looks_like_distances(K)
    command = _python_code(found, kernel, is_odd) if command is None else command
    sentences, found["n_verdict"] = _state_findings(found)
    clip = _clip_code(kernel, params, is_odd)
    step = _state_advice(found, command, clip, None if y is None else np.asarray(y))
    found["sentences"] = [*sentences, *notes, step]
    found["versions"] = describe_environment()["ver"]
    return Inspection(found, K, labels)


def _compute_gram(
    D: ArrayLike, rows: Array, kernel: str | None, fixed: Record, check: bool
) -> tuple[Array, Array, Record, list[str]]:
    """Return some rows of the data, K, parameters, and notes on estimated ones.

    Matrices of data are symmetric, K need not be.
    """
    if kernel in MATRIX_KERNELS:
        what = "Distances" if kernel == "distance" else "Similarities"
        K = check_matrix(D, what, symmetric="any", dtype=float)[0][np.ix_(rows, rows)]
        params: Record = {}
        data = K
        if kernel == "distance":
            (params, *_) = list_candidates(fixed, [{}])
            data = check_distances(K)
            K = fit_transform(data, **params)(data)
        elif check:
            check_similarities(K, "The matrix")
        return (data + data.T) / 2, K, params, []
    name, X, notes = kernel or DEFAULT_KERNEL, np.asarray(D, dtype=float)[rows], []
    grid = KERNELS[name].grid
    if grid is not None and not {grid.parameter, *grid.alternatives} & set(fixed):
        fixed = {**fixed, **KERNELS[name].default_params(X)}
        if grid.of_median:
            notes.append(
                f"The width {grid.parameter} of the kernel {name} was set to "
                f"{fixed[grid.parameter]:.4g}, the median distance between samples."
            )
    return X, gram(X, kernel=name, **fixed), fixed, notes


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


def _measure_spectrum(K: Array) -> Record:
    report: Record = describe(K)
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
    return "semidefinite" if negative_share < ROUNDING_TOL else "indefinite"


def _select_labeled(labels: Array | None, seed: int) -> tuple[Array, list[object], str]:
    """Return rows of frequent classes, other classes, and a reason not to learn."""
    if labels is None:
        return np.arange(0), [], "no labels were given"
    classes, sizes = np.unique(labels, return_counts=True)
    frequent = classes[sizes >= MIN_CLASS_SAMPLES]
    rows = np.flatnonzero(np.isin(labels, frequent))
    rare, reason = classes[sizes < MIN_CLASS_SAMPLES].tolist(), ""
    if len(frequent) < 2:
        many = f"{'is' if len(frequent) == 1 else 'are'} {len(frequent) or 'none'}"
        need = f"two classes of at least {MIN_CLASS_SAMPLES} samples are needed"
        reason = f"{need}, and there {many}"
    elif len(rows) < MIN_LEARNED:
        reason = f"at least {MIN_LEARNED} samples are needed, and there are {len(rows)}"
    rows = rows[sample_rows(labels[rows], len(rows), MAX_LEARNED, seed)]
    return rows, rare, reason


def _score_model(held_out: HeldOut, n_folds: int) -> Record:
    n, scores = len(held_out.index), held_out.scores()
    low, high = wilson_interval(scores["accuracy"], n)
    return {
        **scores,
        "accuracy_low": float(low),
        "accuracy_high": float(high),
        "majority": float(np.bincount(held_out.index).max() / n),
        "folds": n_folds,
        "n": n,
    }


def _assess_negative_part(
    K: Array, found: Mapping[str, HeldOut], folds: Sequence[Fold], count: int, seed: int
) -> Record:
    """Return the value of the negative part: scores, gains and p-values."""
    first, second = found[evidence.UNREPAIRED_NAME].own, found["clip"].own
    gain = float((first - second).mean())
    exchanges = evidence.exchange_differences(first, second, count, seed)
    extra, chance = evidence.permute_conditionally(K, found["clip"], folds, count, seed)
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
    is_clear = abs(gain) >= MIN_GAIN and p[shown] <= TEST_LEVEL
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


def _state_findings(found: Record) -> tuple[list[str], int]:
    """Return all findings in words, and how many sentences are the verdict."""
    verdict = [] if found["model"] is None else [_state_accuracy(found["model"])]
    verdict.append(_state_negative_part(found))
    _, negative, zero = found["signature"]
    more = f" {zero} are zero." if zero and not negative else ""
    share = f", {100 * found['negative_share']:.2g}% of the sum of absolute values"
    sentences = [
        f"{negative or 'None'} of its {sum(found['signature'])} eigenvalues "
        f"{'is' if negative < 2 else 'are'} negative{share if negative else ''}.{more}"
    ]
    asymmetry = found["asymmetry"]
    if asymmetry["relative"] > ROUNDING_TOL:
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


def _state_accuracy(model: Record) -> str:
    hardly = "" if model["accuracy_low"] > model["majority"] else "hardly "
    return (
        f"The labels are {hardly}predictable: {MODEL_OF_FIT} has a held-out accuracy "
        f"of {model['accuracy']:.2f}, against {model['majority']:.2f} for the majority "
        "class."
    )


def _state_negative_part(found: Record) -> str:
    if found["matrix"] in MATRIX_SENTENCES:
        return MATRIX_SENTENCES[found["matrix"]]
    value = found["value"]
    if value is None:
        return (
            "The matrix is indefinite. Whether its negative part helps is not known: "
            f"{found['reason']}."
        )
    full, clipped = value["scores"][evidence.UNREPAIRED_NAME], value["scores"]["clip"]
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


def _state_evidence(found: Record) -> list[str]:
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
        f"at most {TEST_LEVEL:g}.",
    ]


def _state_advice(found: Record, command: str, clip: str, labels: Array | None) -> str:
    if found["matrix"] not in ("semidefinite", "indefinite"):
        return "Next: check how the similarities were computed."
    classes, counts = np.unique([] if labels is None else labels, return_counts=True)
    if len(classes) > 1 and counts.min() < ENOUGH_CLASS_SAMPLES:
        if classes.dtype.kind in "iuf" and len(classes) > MAX_PLAIN_CLASSES:
            return (
                f"Next: give labels of classes; these are {len(classes)} different "
                "numbers, some of them rare."
            )
        run = f", or run `{command}`" if command else ""
        return f"Next: add samples, at least {ENOUGH_CLASS_SAMPLES} of each class{run}."
    if not command:
        return "Next: add labels of two classes or more."
    if found["recommendation"] == "unknown":
        return f"Next: add labels of more samples, or run `{command}`."
    if found["recommendation"] == "repair":
        return f"Next: `{command}`; in Python, `{clip}` drops the negative part."
    return f"Next: `{command}`."


def _python_code(found: Record, kernel: str | None, is_odd: bool) -> str:
    """Return Python that fits the model."""
    given = "" if kernel is None else f'kernel="{kernel}"'
    if is_odd and kernel == "precomputed":
        given += ', kernel_params={"check": False}'
    is_asymmetric = found["asymmetry"]["relative"] > SYMMETRY_TOL
    name = {"distance": "D", "precomputed": "K"}.get(str(kernel), "X")
    matrix = f"({name} + {name}.T) / 2" if is_asymmetric else name
    return f"KreinLogisticRegressionCV({given}).fit({matrix}, y)"


def _clip_code(kernel: str | None, params: Record, is_odd: bool) -> str:
    first = f'DistanceSimilarity("{params["form"]}"), ' if kernel == "distance" else ""
    mode = '"clip", check=False' if is_odd and not first else '"clip"'
    return f'make_pipeline({first}SpectrumRepair({mode}), SVC(kernel="precomputed"))'
