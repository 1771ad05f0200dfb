"""How far exact fits reach: what does not fit is refused, what takes long is said."""

from collections.abc import Collection, Sequence

import numpy as np

from kreinlearn._memory import check_bytes, fits
from kreinlearn._validation import SYMMETRY, asymmetry
from kreinlearn.estimators._inputs import AnyKernel, ValidSamples, is_pairwise
from kreinlearn.exceptions import warn_caller
from kreinlearn.spectrum.modulus import COPIES

QUICK = 1500
"""Samples up to which any fit ends soon."""
LONG = 60.0
"""Seconds from which a fit is announced."""
# These are rough: the speed page's.
FIT = (16.0, 32_000, 2.27)
"""Seconds of one fit with so many samples on two cores, and the power of n by which
they grow, beyond some ten thousand samples; the speed page has the table."""
PUBLISHED = (28.2, 8_000, 3.06)
"""The same for the published procedures."""
SEARCH, SEARCH_HILBERT = (0.45, 1_000, 1.9), (1.5, 1_000, 2.5)
"""The same for all folds and values of lam of one setting of the kernel, if all
settings are tried; the second if the norms need eigenvectors, which five folds need
five times."""
FOLDS, REFITS = 5, 3
"""Folds of that search, and models that are fitted to all samples in the end, about."""
WAY_OUT = (
    "LandmarkLogisticRegression (--landmarks 1000 on the command line) takes time and "
    "memory that grow with the number of samples, not with its square."
)


def mind_fit(n: int, n_classes: int, norm: str, solver: object) -> None:
    """Refuse a fit that does not fit in memory, and say if one takes long.

    Parameters
    ----------
    n, n_classes : int
        Numbers of samples and of classes.
    norm : str
        Its norm; "hilbert" needs eigenvectors.
    solver : str or solver
        Its solver; names other than "newton" are the published procedures.
    """
    if norm == "hilbert":
        _refuse(n)
    is_published = isinstance(solver, str) and solver != "newton"
    seconds = _seconds(n, PUBLISHED if is_published else FIT) * _columns(n_classes)
    _say(f"A fit of {n:,} samples", n, seconds, "")


def mind_search(
    X: ValidSamples,
    kernel: AnyKernel | Sequence[AnyKernel],
    norms: Collection[str],
    n_searched: int,
    n_settings: int,
    n_classes: int,
) -> None:
    """Refuse a search that does not fit in memory, and say if one takes long.

    Parameters
    ----------
    X : sequence of n samples
        Training samples.
    kernel : str, callable or sequence of these
        What is tried.
    norms : collection of str
        Norms that are tried.
    n_searched : int
        Samples that settings are chosen by.
    n_settings : int
        Settings of the kernel that are tried.
    n_classes : int
        Number of classes.
    """
    n, has_hilbert = len(X), "hilbert" in norms
    if has_hilbert and not fits(COPIES * n, n, float):
        # A matrix that is not symmetric is taken as it is, without eigenvectors.
        K = np.asarray(X) if is_pairwise(kernel) else np.empty((0, 1))
        is_square = K.shape[0] == K.shape[1]
        if not is_pairwise(kernel) or (is_square and asymmetry(K) <= SYMMETRY):
            _refuse(n)
        has_hilbert = False
    law = SEARCH_HILBERT if has_hilbert else SEARCH
    refits = _seconds(n, FIT)
    if has_hilbert:
        refits += _seconds(n, SEARCH_HILBERT) / FOLDS
    seconds = n_settings * _seconds(n_searched, law) + REFITS * refits
    seconds *= _columns(n_classes)
    shorter = ["one setting of one kernel (--kernel, --param)"] * (n_settings > 1)
    if has_hilbert:
        shorter.append("the norm 'euclidean' alone (--norm euclidean)")
    shorter.append("a given lam (--lam)")
    what = f"Cross-validation of {n:,} samples"
    _say(what, n, seconds, f" Less work: {', '.join(shorter)}.")


def _columns(n_classes: int) -> int:
    return n_classes if n_classes > 2 else 1


def _seconds(n: int, law: tuple[float, int, float]) -> float:
    seconds, at, power = law
    return float(seconds * (n / at) ** power)


def _refuse(n: int) -> None:
    """Raise if eigenvectors of the matrix have no room."""
    check_bytes(
        COPIES * n * n * np.dtype(float).itemsize,
        f"The norm 'hilbert' takes eigenvectors of a matrix of {n:,} samples, which "
        "need",
        f"Use the norm 'euclidean', which needs none. {WAY_OUT}",
    )


def _say(what: str, n: int, seconds: float, less: str) -> None:
    """Warn if it takes long, with words that promise no more than is known."""
    if seconds < LONG:
        return
    minutes = seconds / 60
    taken = f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.0f} hours"
    taken = "a minute" if minutes < 1.5 else taken
    warn_caller(
        f"{what} takes roughly {taken}, and {8 * n * n / 2**30:.2g} GiB for a matrix "
        f"where it is stored. {WAY_OUT}{less}"
    )
