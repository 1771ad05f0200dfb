"""A search from its trial to the fitted models: race, choice, average, final fits.

Letters: n samples; a *setting* is a kernel with its parameters.
"""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from kreinlearn._typing import Array, Seed
from kreinlearn.crossval import (
    SEARCH_TOL,
    Fold,
    rough_scores,
    where_held_out,
)
from kreinlearn.estimators._callbacks import counted, subtask
from kreinlearn.estimators._inputs import (
    AnyKernel,
    Keywords,
    combined,
    one_per_class,
    training_operator,
)
from kreinlearn.estimators._outputs import Probable, share_support
from kreinlearn.estimators._racing import (
    DECOMPOSED,
    LATE,
    RACE_FOLDS,
    RACE_ROWS,
    SEARCH_ROWS,
    UNRACED,
    Dropped,
    left_untried,
    some_of,
    some_rows,
    too_many,
)
from kreinlearn.estimators._rounds import Deadline, no_race, race, tried
from kreinlearn.estimators._search import (
    UNSEEN_ERRORS,
    Judge,
    Setting,
    pick,
    pooling_weights,
)
from kreinlearn.estimators._solve import WORST
from kreinlearn.estimators._trial import Found, Progress, Trial
from kreinlearn.estimators.logistic import KreinLogisticRegression
from kreinlearn.exceptions import (
    ConvergenceWarning,
    IndefiniteKernelWarning,
    warn_caller,
)
from kreinlearn.kernels import Similarities
from kreinlearn.losses import log_probabilities
from kreinlearn.operators import Blocked, Dense, General
from kreinlearn.solvers.base import Status
from kreinlearn.solvers.monitor import callback_for
from kreinlearn.spectrum.norms import scale_of

Chosen = tuple[AnyKernel, Keywords, str, float]
"""A kernel, its parameters, a norm and a lam."""
STARTED = 1000
"""Most samples for which final fits start from rough ones, at the price of an
eigendecomposition."""
SHARED = (
    "fit_intercept",
    "multi_class",
    "class_weight",
    "tol",
    "max_iter",
    "dtype",
    "operator",
    "symmetrize",
    "max_time",
)
"""Parameters handed on to the estimator of one setting."""


class Searching(Probable):
    """What `KreinLogisticRegressionCV` does between its checks and its predictions."""

    lams: Any
    norms: Sequence[str]
    average: bool
    search: str
    scoring: Any
    fit_intercept: bool
    class_weight: Any
    tol: float
    max_iter: int
    operator: str
    symmetrize: str | None
    random_state: Seed
    n_jobs: int | None
    verbose: Any
    max_time: float | None
    kernel_: Any  # a callable may have attributes of its own
    kernel_params_: Keywords
    norm_: str
    lam_: float
    lams_: Array
    lam_units_: Array
    scores_: Array
    best_score_: float
    held_out_proba_: Array
    kernel_settings_: list[Setting]
    dropped_: list[Dropped]
    estimators_: list[KreinLogisticRegression]
    weights_: Array

    def _norms_for(self, n: int) -> list[str]:
        """Return the norms that are tried with n samples."""
        norms = list(self.norms)
        is_long = self.search == "auto" and n > DECOMPOSED
        if is_long and {"hilbert", "euclidean"} <= {*norms}:
            norms.remove("hilbert")
        return norms

    def _search_rows(self, index: Array, lams: Array | None) -> Array:
        """Return the samples that settings are chosen by: all, or some of many."""
        is_whole = self.search == "full" or lams is not None
        if is_whole or self.scoring != "neg_log_loss":
            return np.arange(len(index))
        return some_rows(index, SEARCH_ROWS, self._seed)

    @property
    def _is_late(self) -> bool:
        return any(each["reason"] == LATE for each in self.dropped_)

    @property
    def _seed(self) -> int:
        return self.random_state if isinstance(self.random_state, int) else 0

    def _for_all(
        self, chosen: list[Chosen], rows: Array, counts: Array
    ) -> list[Chosen]:
        """Turn what was learned by some of the samples into terms of all.

        A unit of lam is inversely proportional to the number of samples.
        """
        ratio = np.count_nonzero(counts[rows]) / np.count_nonzero(counts)
        self.lams_, self.lam_units_ = self.lams_ * ratio, self.lam_units_ * ratio
        self.lam_ *= ratio
        seen, self.held_out_proba_ = (
            self.held_out_proba_,
            np.full((len(counts), len(self.classes_)), np.nan),
        )
        self.held_out_proba_[rows] = seen
        return [(kernel, own, norm, lam * ratio) for kernel, own, norm, lam in chosen]

    def _trial(
        self,
        shared: Similarities,
        rows: Array,
        about: tuple[Array, Array, Array],
        folds: list[Fold],
        judge: Judge,
        lams: Array | None,
        norms: list[str],
    ) -> Trial:
        """Return what settings have in common: classes, weights, folds."""
        index, given, counts = about
        weights = np.zeros((len(given), len(folds)))  # zero if held out
        for f, (train, _) in enumerate(folds):
            part = (given[train], self.class_weight, self.classes_, index[train])
            weights[train, f] = combined(*part)
        return Trial(
            partial(self._among, rows, shared),
            index,
            counts,
            weights,
            folds,
            judge,
            lams,
            norms,
            bool(self.fit_intercept),
            self.max_iter,
        )

    def _search(
        self, trial: Trial, rows: Array, shared: Similarities, n_samples: int
    ) -> list[Found | None]:
        """Try what a race leaves of all settings and norms; learn ``scores_``."""
        settings = self.kernel_settings_
        deadline = Deadline(self.max_time)
        before = self._raced(trial, rows, shared)
        raced = no_race(settings)
        with subtask(self, "race"):
            if before is not None:
                raced = race(before, trial, settings, self.n_jobs, deadline)
        self.dropped_, self.lam_units_ = raced.dropped, raced.units
        if len(trial.norms) < len(self.norms):
            self.dropped_ += too_many(settings, n_samples)
        watch = callback_for(self.verbose)
        tell = Progress(watch, trial, before, len(settings), len(raced.order))
        found: list[Found | None] = [None] * len(settings)
        runs = tried(trial, settings, raced, self.n_jobs, deadline)
        for i, one in counted(self, "search", runs, len(raced.order)):
            found[i], self.lam_units_[i] = one, one.unit
            tell(settings[i], one)
        late = [i for i in raced.order if found[i] is None]
        self.dropped_ += left_untried(settings, late, trial.norms)
        if self._is_late:
            done = sum(one is not None for one in found)
            warn_caller(
                f"Time was over (max_time={self.max_time:g}) after {done} of "
                f"{len(settings)} settings of the kernel; the best so far is used. "
                "Raise max_time, or try fewer settings.",
                ConvergenceWarning,
            )
        is_symmetric = all(one is None or one.is_symmetric for one in found)
        if not is_symmetric and len(self.norms) > 1:
            warn_caller(
                "The similarities are not symmetric, and only the norm 'euclidean' "
                "takes them as they are: the others were not tried. Say "
                "symmetrize='mean', 'max' or 'min' to try them all.",
                IndefiniteKernelWarning,
            )
        self._learn_scores(found, trial)
        return found

    def _raced(self, trial: Trial, rows: Array, shared: Similarities) -> Trial | None:
        """Return the trial of a race, by some samples and folds; None for no race."""
        is_whole = self.search == "full" or not trial.judge.by_log_loss
        is_small = len(rows) <= UNRACED and len(self.classes_) == 2
        if is_whole or is_small or len(self.kernel_settings_) < 2:
            return None
        own = some_rows(trial.index, RACE_ROWS, self._seed)
        if len(shared.X) == len(rows):
            shared = some_of(shared, own, self.kernel)
        return trial.among(own, RACE_FOLDS, partial(self._among, rows[own], shared))

    def _among(
        self, rows: Array, shared: Similarities, setting: Setting
    ) -> Dense | General | Blocked:
        """Return the similarities of some samples; others may have been left out."""
        K = self._operator(shared, *setting)
        if K.shape[0] == len(rows):
            return K
        assert not isinstance(K, Blocked)
        return K.among(rows)

    def _operator(
        self, shared: Similarities, kernel: AnyKernel, params: Keywords
    ) -> Dense | General | Blocked:
        return training_operator(
            shared,
            kernel,
            params,
            self.operator,
            self.symmetrize,
            any_shape=self._takes_any_shape,
        )

    @property
    def _takes_any_shape(self) -> bool:
        return "euclidean" in self.norms

    def _learn_scores(self, found: list[Found | None], trial: Trial) -> None:
        """Learn ``scores_`` and ``lams_``, as far as anything was tried."""
        judged = [one for each in found if each for one in each.judged.values()]
        most = 1 + max(int(np.flatnonzero(one.is_tried)[-1]) for one in judged)
        self.lams_ = np.array([trial.grid(u)[0][:most] for u in self.lam_units_])
        norms = list(self.norms)
        shape = (len(found), len(norms), most, len(trial.folds))
        self.scores_ = np.full(shape, np.nan)
        for i, each in enumerate(found):
            for norm, one in each.judged.items() if each else ():
                self.scores_[i, norms.index(norm)] = one.scores[:most]

    def _choose(
        self, found: list[Found | None], folds: list[Fold], judge: Judge, given: Array
    ) -> tuple[list[Chosen], Array]:
        """Learn the best setting; return that of each setting and norm, and weights."""
        picks, best = pick([each.judged if each else {} for each in found], self.norms)
        chosen = [
            (*self.kernel_settings_[i], self.norms[j], float(self.lams_[i, k]))
            for i, j, k in picks
        ]
        self.kernel_, self.kernel_params_, self.norm_, self.lam_ = chosen[best]
        self.best_score_ = float(self.scores_[picks[best]].mean())
        held = [each.held if each else {} for each in found]
        mine = [held[i][self.norms[j]] for i, j, _ in picks]
        lams = [k for _, _, k in picks]
        seen, pooled = where_held_out(mine, lams, folds, len(given))
        weights = (np.arange(len(picks)) == best).astype(float)
        if self.average and len(picks) > 1 and not self._is_late:
            logs, unseen = judge.logs(pooled, seen), judge.unseen_errors(pooled, seen)
            errors = UNSEEN_ERRORS * given[seen].mean()
            weights = pooling_weights(
                np.column_stack([logs, unseen]), np.append(given[seen], errors)
            )
        scores = np.tensordot(weights, pooled, 1)
        self.held_out_proba_ = np.full((len(given), len(self.classes_)), np.nan)
        self.held_out_proba_[seen] = np.exp(log_probabilities(scores, self._link))
        used = np.flatnonzero(weights)
        self._warn(np.array([mine[g].converged[:, lams[g]] for g in used]))
        return chosen, weights

    def _refit(
        self,
        shared: Similarities,
        index: Array,
        counts: Array,
        chosen: list[Chosen],
        shares: Array,
    ) -> None:
        """Fit the settings that have a share to all samples."""
        parameters = {name: getattr(self, name) for name in SHARED}
        self.estimators_ = []
        used = [chosen[g] for g in np.flatnonzero(shares)]
        for (kernel, params), group in groupby(used, key=lambda one: one[:2]):
            K = self._operator(shared, kernel, params)
            models = [(norm, lam) for *_, norm, lam in group]
            starts = self._starts(K, index, counts, models)
            for (norm, lam), start in zip(models, starts, strict=True):
                model = KreinLogisticRegression(
                    kernel, params, lam=lam, norm=norm, **parameters
                )
                model.classes_ = self.classes_
                if hasattr(self, "n_features_in_"):
                    model.n_features_in_ = self.n_features_in_
                model._fit(K, shared, index, counts, start)
                self.estimators_.append(model)
        self.weights_ = shares[shares > 0]
        self.support_ = share_support(self.estimators_)
        # those that start from a solution need none of their own
        self.n_iter_ = max(1, *(model.n_iter_ for model in self.estimators_))
        endings = [Status(model.status_) for model in self.estimators_]
        self.status_ = LATE if self._is_late else str(max(endings, key=WORST))

    def _starts(
        self,
        K: Dense | General | Blocked,
        index: Array,
        counts: Array,
        models: list[tuple[str, float]],
    ) -> list[Array | None]:
        """Return scores for the fits to start from, where that saves time."""
        is_convex = all(norm != "krein" for norm, _ in models)
        if isinstance(K, Blocked) or not is_convex or K.shape[0] > STARTED:
            return [None] * len(models)
        return list(
            rough_scores(
                K,
                counts,
                models,
                scale_of(K, counts),
                one_per_class(index, len(self.classes_)),
                multinomial=self._link == "multinomial",
                fit_intercept=bool(self.fit_intercept),
                max_iter=self.max_iter,
            )
        )

    def _warn(self, converged: Array) -> None:
        if converged.all():
            return
        warn_caller(
            f"{(~converged).sum()} of {converged.size} fits of the chosen settings did "
            f"not reach residual {max(SEARCH_TOL, self.tol):.0e} within "
            f"max_iter={self.max_iter} in cross-validation; their scores were used as "
            "they are. Raise max_iter, or try larger lams.",
            ConvergenceWarning,
        )
