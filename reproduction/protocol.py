"""The paper's protocol: from a cell to the fields of its record.

A method is tuned on one random half, fitted to it, and evaluate on the other half.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.model_selection import StratifiedKFold

from kreinlearn._typing import Array
from kreinlearn.app.methods import (
    DIVERGED_STATUSES,
    Choice,
    Classifier,
    Method,
    call_timed,
    evaluate,
    get_iterations,
    get_status,
    tune,
)
from kreinlearn.app.runs import Cell, Record
from kreinlearn.estimators import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.kernels import gram
from kreinlearn.search import UNITS, Fold
from reproduction import faces, splits
from reproduction.methods import (
    GRID,
    KREIN_CV,
    LETTER_SUFFIX,
    ON_FACES,
    ON_TABLES,
    ON_TL1,
    PROCEDURES,
    KernelSetting,
    with_settings,
)
from reproduction.published import TABLE2

STATISTICS = "TL1"
"""The only "method" of Table 2."""
N_FOLDS = 5
MOST_ROWS = 1000
"""Largest number of training rows that a cross-validation sees."""
SPLIT_LIMIT = 5000
"""Most training rows for which K is split by its eigenvectors, as in the paper."""
JUDGMENTS = ("acc", "bacc", "ll", "pred_s")
"""Recorded fields of a judgment: single answers would be most of a file."""


def table_cell(cell: Cell, data_home: str | None) -> Record:
    """Run a cell on samples with features."""
    X, _ = splits.table(cell.dataset, data_home)
    if cell.method == STATISTICS:
        return statistics(X, cell)
    parts = splits.parts_of(cell, data_home)
    if cell.method == KREIN_CV:
        fields = recommended(KreinLogisticRegressionCV(), parts)
    else:
        method, kernels = ON_TABLES[cell.method]
        fields = learn(method, kernels, parts, cell)
    return fields | {"m": X.shape[1]}


def face_cell(cell: Cell, data_home: str | None) -> Record:
    """Run a cell on images, which stand as numbers in the matrices of distances."""
    _, y = faces.images(cell.dataset, data_home)
    train, test = splits.half_rows(len(y), cell.half_seed)
    numbers = np.arange(len(y), dtype=float)[:, None]
    parts = splits.Halves(numbers[train], y[train], numbers[test], y[test])
    if cell.method == KREIN_CV:
        model = faces.recommended_for(cell.dataset, train, data_home)
        return recommended(model, parts, regions=list(faces.REGIONS[cell.dataset]))
    method, metric = ON_FACES[cell.method]
    on_regions = cell.method.endswith("regions")
    kernels = faces.gaussians(cell.dataset, metric, train, on_regions, data_home)
    values = faces.REGION_COSTS if on_regions else GRID
    fields = learn(method, kernels, parts, cell, values)
    del fields["gram_s"]  # distances are computed once for all cells
    return fields


def learn(
    method: Method,
    kernels: Sequence[KernelSetting],
    parts: splits.Halves,
    cell: Cell,
    values: Sequence[float] = GRID,
) -> Record:
    """Tune a method on the training half, fit it, and judge it on the test half.

    Parameters
    ----------
    method : Method
        What to learn with.
    kernels : sequence of dict
        Arguments of `gram`, one for each setting to choose from.
    parts : Halves
        Training and test samples.
    cell : Cell
        Seeds, and settings of the published procedure: "eps", "init", and "tuned",
        the method whose cross-validation chooses lam.
    values : sequence of float
        Values of lam or C to choose from.

    Returns
    -------
    dict
        Fields of a record. Seconds are those of the estimator on a given matrix: not
        those of the kernel, the cross-validation or the scores.
    """
    X, y, X_test, y_test = parts
    n, seed = len(y), _seed(cell)
    settings = _procedure_settings(method, cell, n)
    # 1. Hyper-parameters, from at most MOST_ROWS rows of the training half.
    rows = subsample(n, cell.half_seed)
    tuned = cell.setting("tuned", method.name)
    own = tuned == method.name
    judge = with_settings(method if own else ON_TL1[tuned], **settings)
    choice = tune(
        judge,
        [gram(X[rows], **each) for each in kernels],
        y[rows],
        folds(y[rows], cell.half_seed),
        values,
        seed=seed,
        score="accuracy",
    )
    kernel = kernels[choice.setting]
    # 2. Fit.
    K, gram_s = call_timed(gram, X, **kernel)
    value, model, fit_s = _fit(judge, choice, K, y, seed)
    if not own:
        # The same model: the same lam in our units, whichever loss each is printed for.
        lam = judge.per_sample(value, n)
        model = with_settings(method, **settings).build(lam, seed)
        _, fit_s = call_timed(model.fit, K, y)
    fields = {
        "seed": seed,
        "status": get_status(model),
        "fit_s": fit_s,
        "gram_s": gram_s,
        "n_iter": get_iterations(model),
        "n": n,
        **choice_fields(judge, choice, value, n, kernels),
        **splits.spectrum_fields(K),
        "split": settings.get("split"),
    }
    if cell.experiment.startswith("fig") and isinstance(model, KreinLogisticRegression):
        # In units of the mean loss, whichever the procedure has.
        unit = method.per_sample(1.0, n)
        fields["curve"] = [unit * row["value"] for row in model.history_]
    # 3. Judge. The largest matrices fit in memory one at a time.
    del K
    return fields | _judged(model, gram(X_test, X, **kernel), y_test)


def recommended(
    model: KreinLogisticRegressionCV, parts: splits.Halves, **chosen: list[int]
) -> Record:
    """Fit and judge an estimator that tunes itself.

    Seconds are those of the whole fit, with its kernels and its cross-validation; the
    spectrum is that of the best kernel.
    """
    X, y, X_test, y_test = parts
    _, fit_s = call_timed(model.fit, X, y)
    params = model.kernel_params_ or {}
    return {
        "status": get_status(model),
        "fit_s": fit_s,
        "n_iter": get_iterations(model),
        "n": len(y),
        "chosen": {
            "kernel": getattr(model.kernel_, "name", model.kernel_),
            **params,
            "lam": model.lam_,
            "norm": model.norm_,
            "averaged": len(model.estimators_),
            **chosen,
        },
        "grid": {"u": list(UNITS), "kernels": len(model.scores_)},
        **splits.spectrum_fields(gram(X, None, model.kernel_, **params)),
        **_judged(model, X_test, y_test),
    }


def statistics(X: Array, cell: Cell) -> Record:
    """Return the extreme eigenvalues of the TL1 kernel on a random half.

    Features are scaled over all rows, and tau is 0.7 times the m that the paper
    prints: of all readings, the one that gives most of its eigenvalues.
    """
    rows, _ = splits.half_rows(len(X), cell.half_seed)
    tau = splits.TL1_RATIO * TABLE2[cell.dataset].m
    K = gram(splits.scale(X)[0][rows], kernel="tl1", tau=tau)
    counts = {"n": len(rows), "m": X.shape[1], "tau": tau}
    return {"status": "done", **counts, **splits.spectrum_fields(K)}


def folds(y: Array, seed: int) -> list[Fold]:
    """Return stratified folds."""
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Fertility has a dozen rows of one class: some folds get none.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(np.zeros(len(y)), y))


def subsample(n: int, seed: int) -> Array:
    """Return the rows that a cross-validation sees: all, or 1000 if there are more."""
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng([seed, 1]).permutation(n)[:MOST_ROWS])


def choice_fields(
    method: Method,
    choice: Choice,
    value: float,
    n: int,
    kernels: Sequence[KernelSetting],
) -> Record:
    """Return the fields of a record of n training rows about a choice."""
    name = str(method.parameter)
    chosen, grid = {name: value}, {name: choice.values}
    if method.summed:
        chosen["lam_of_mean"] = method.per_sample(value, n)
    if len(kernels) > 1:
        chosen["sigma"] = kernels[choice.setting]["sigma"]
        grid["sigma"] = tuple(each["sigma"] for each in kernels)
    return {
        "chosen": chosen,
        "grid": grid,
        "cv": dict(sorted(choice.statuses.items())),
        "cv_n": choice.rows if choice.rows < n else None,
    }


def _fit(
    method: Method, choice: Choice, K: Array, y: Array, seed: int
) -> tuple[float, Classifier, float]:
    """Return the chosen value, the fitted estimator and the seconds of its fit.

    The rate of the published procedures is too long for a large K, and the more so the
    larger it is. Where lam was chosen on a part of the rows, the best value whose fit
    does not diverge on all of them is taken, as folds of all rows would choose it.
    """
    values = [value for i, value in choice.ranking if i == choice.setting]
    if choice.rows == len(y):
        values = values[:1]
    fits = []
    for value in values:
        model = method.build(method.per_sample(value, len(y)), seed)
        _, seconds = call_timed(model.fit, K, y)
        fits.append((value, model, seconds))
        if get_status(model) not in DIVERGED_STATUSES:
            return fits[-1]
    return fits[0]


def _seed(cell: Cell) -> int:
    """Return the seed of a cell, the same for a procedure as printed and as read."""
    return replace(cell, method=cell.method.removesuffix(LETTER_SUFFIX)).seed


def _procedure_settings(method: Method, cell: Cell, n: int) -> dict[str, str | float]:
    """Return what the cell, and the size, change in a published procedure."""
    if method.name not in PROCEDURES:
        return {}
    given = {name: cell.setting(name) for name in ("eps", "init")}
    given["split"] = "shift" if n > SPLIT_LIMIT else None
    return {name: value for name, value in given.items() if value is not None}


def _judged(model: Classifier, X: Array, y: Array) -> Record:
    """Return how good a fitted model is on test samples."""
    fields = evaluate(model, X, y)
    return {name: fields[name] for name in JUDGMENTS if name in fields}
