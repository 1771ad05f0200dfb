"""What `krein fit` has found, as plain data and for people."""

from typing import TYPE_CHECKING

from kreinlearn.app.cli.output import Facts, setting_text

if TYPE_CHECKING:
    from kreinlearn import (
        KreinLogisticRegression,
        KreinLogisticRegressionCV,
        LandmarkLogisticRegression,
    )
    from kreinlearn._typing import Array

WORST_FIRST = ("nonconvex", "unknown", "unique")
"""Values of ``regime_``."""


def of_data(
    path: str,
    target: str | None,
    n_features: int | None,
    classes: "Array",
    counts: "Array",
) -> Facts:
    """Return what the samples are, as plain data."""
    return {
        "train": path,
        "target": target,
        "samples": int(counts.sum()),
        "features": n_features,
        "classes": classes.tolist(),
        "counts": counts.tolist(),
    }


def of_exact(
    found: Facts,
    model: "KreinLogisticRegression | KreinLogisticRegressionCV",
    y: "Array",
) -> Facts:
    """Return what was found about the data, with what the model is."""
    import numpy as np

    from kreinlearn.kernels.transforms import list_candidates

    fitted = "_" if hasattr(model, "estimators_") else ""  # chosen, or given
    for name in ("kernel", "kernel_params", "norm", "lam"):
        found[name] = getattr(model, name + fitted)
    if found["kernel"] == "distance":
        found["kernel_params"] = list_candidates(found["kernel_params"] or {}, [{}])[0]
    given = found["kernel_params"] or {}
    found["kernel_params"] = {k: v for k, v in given.items() if k != "check"}
    found["lam"] = float(found["lam"])
    models = getattr(model, "estimators_", [model])
    unsolved = [each.status_ for each in models if each.status_ != "converged"]
    regimes = {each.regime_ for each in models}
    found |= {
        "models": len(models),
        "status": unsolved[0] if unsolved else "converged",
        "residual": max(float(each.residual_) for each in models),
        "regime": next(r for r in WORST_FIRST if r in regimes),
    }
    if fitted:
        seen = np.isfinite(model.held_out_proba_[:, 0])  # many samples: some of them
        held, y = model.held_out_proba_[seen], y[seen]
        true = held[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        true = np.maximum(true, np.finfo(float).tiny)  # which exp may have rounded to 0
        guessed = model.classes_[held.argmax(axis=1)]
        found["folds"] = model.cv
        found["held_out"] = int(seen.sum())
        found["dropped"] = len(model.dropped_)
        found["held_out_accuracy"] = float((guessed == y).mean())
        found["held_out_log_loss"] = float(-np.log(true).mean())
    return found


def of_landmarks(found: Facts, model: "LandmarkLogisticRegression") -> Facts:
    """Return what was found about the data, with what the model is."""
    params = model.kernel_params_
    found |= {
        "kernel": model.kernel,
        "kernel_params": {k: v for k, v in params.items() if k != "check"},
        "norm": model.norm,
        "lam": float(model.lam_),
        "landmarks": len(model.landmarks_),
        "status": model.status_,
        "residual": float(model.residual_),
        "passes": int(model.n_passes_),
    }
    if hasattr(model, "scores_"):
        found["folds"] = int(model.scores_.shape[2])
        chosen = model.scores_[model.lams_ == model.lam_].mean(axis=1)
        found["held_out_log_loss"] = float(-chosen.max())
    return found


def summary(found: Facts) -> str:
    """Return the findings for people."""
    return "\n".join(
        [
            *model_lines(found),
            f"Saved      {found['model']}, {found['bytes']:,} bytes, after "
            f"{found['seconds']:.1f} s",
            f"Next       {next_step(found)}",
        ]
    )


def model_lines(found: Facts) -> list[str]:
    """Return four lines about the data, the settings, their scores and the solution."""
    held = "no cross-validation, since lam was given"
    on_landmarks = "landmarks" in found
    if "folds" in found:
        accuracy = part = ""
        if not on_landmarks:
            some, n = found["held_out"], found["samples"]
            part = f"{some:,} samples of " * (some < n)
            accuracy = f"accuracy {found['held_out_accuracy']:.3f}, "
        held = (
            f"{accuracy}log-loss {found['held_out_log_loss']:.3f} in "
            f"{found['folds']}-fold cross-validation on {part}this file\n"
            "           (the settings were chosen on the same folds: expect a little "
            "less on new samples)"
        )
    solved = f"{found['status']}, residual {found['residual']:.1e}"
    if on_landmarks:
        more = f", {found['landmarks']:,} landmarks"
        solved += f", in {found['passes']} passes over the samples"
    else:
        others = found["models"] - 1
        more = f"; averaged with {others} more" * (others > 0)
        is_unique = found["regime"] == "unique"
        point = "the only" if is_unique else "a"
        several = "" if is_unique else ", perhaps one of several"
        solved += f": {point} stationary point{several}"
    setting = setting_text(found["kernel"], found["kernel_params"])
    return [
        _data_line(found),
        f"Chosen     {setting}, norm {found['norm']}, lam {found['lam']:.3g}{more}",
        f"Held out   {held}",
        f"Solved     {solved}",
    ]


def next_step(found: Facts) -> str:
    """Return the command that predicts, and what it needs."""
    if found["features"] is None and "kind" not in found:
        is_distance = found["kernel"] == "distance"
        what = "distances to" if is_distance else "similarities with"
        return f"krein predict {found['model']} NEW, with {what} these samples"
    return f"krein predict {found['model']} NEW, with new {found.get('kind', 'rows')}"


def _data_line(found: Facts) -> str:
    """Return the line about the data."""
    many = zip(found["classes"], found["counts"], strict=True)
    listed = ", ".join(f"{label} {count}" for label, count in many)
    if len(found["classes"]) > 10:
        listed = f"{min(found['counts'])} to {max(found['counts'])} samples each"
    n_features = found["features"]
    features = f"{n_features} features"
    if n_features is None:
        is_distance = found["kernel"] == "distance"
        features = "distances" if is_distance else "a Gram matrix"
        features = found.get("described", features)
    return (
        f"Data       {found['samples']} samples, {features}, "
        f"{len(found['classes'])} classes in {found['target']!r}: {listed}"
    )
