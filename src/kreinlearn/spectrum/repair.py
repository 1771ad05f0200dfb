"""Positive semidefinite stand-ins for an indefinite matrix, on its spectrum.

Letters: ``K = V diag(mu) V'`` (n, n) the similarities among training samples, with
eigenvalues mu_1 >= ... >= mu_n; h a function of the eigenvalues with h(mu) >= 0;
``K_new`` (k, n) the similarities of new samples with the training samples.
"""

from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import check_choice
from kreinlearn.spectrum.decompose import Spectrum


def flip(mu: Array) -> Array:
    """Return the moduli of eigenvalues, so that K becomes ``|K|``.

    Parameters
    ----------
    mu : ndarray of shape (n,)
        Eigenvalues.

    Returns
    -------
    ndarray of shape (n,)
        ``|mu|``.
    """
    return np.abs(mu)


def clip(mu: Array) -> Array:
    """Return eigenvalues with the negative ones set to zero.

    Parameters
    ----------
    mu : ndarray of shape (n,)
        Eigenvalues.

    Returns
    -------
    ndarray of shape (n,)
        ``max(mu, 0)``: the nearest positive semidefinite matrix.
    """
    return np.maximum(mu, 0)


def shift(mu: Array) -> Array:
    """Return eigenvalues moved up until the smallest is not negative.

    Parameters
    ----------
    mu : ndarray of shape (n,)
        Eigenvalues.

    Returns
    -------
    ndarray of shape (n,)
        ``mu - min(mu_n, 0)``, so that K becomes ``K - min(mu_n, 0) I``.
    """
    return np.asarray(mu - mu.min(initial=0))


def square(mu: Array) -> Array:
    """Return the squares of eigenvalues, so that K becomes ``K K``.

    Parameters
    ----------
    mu : ndarray of shape (n,)
        Eigenvalues.

    Returns
    -------
    ndarray of shape (n,)
        ``mu ** 2``.
    """
    return mu**2


REPAIRS = {each.__name__: each for each in (flip, clip, shift, square)}
"""Functions of the eigenvalues by name."""


@dataclass(frozen=True)
class Repaired:
    """A matrix whose eigenvalues were replaced, on training and on new rows.

    Attributes
    ----------
    spectrum : Spectrum
        Eigenvalues mu and eigenvectors V of the matrix itself.
    values : ndarray of shape (n,)
        The eigenvalues h(mu) put in their place.
    """

    spectrum: Spectrum
    values: Array

    @property
    def factors(self) -> Array:
        """The quotients h(mu) / mu, zero where mu is zero to rounding."""
        mu = self.spectrum.values
        kept = np.abs(mu) > self.spectrum.zero
        return np.where(kept, self.values / np.where(kept, mu, 1), 0)

    def matrix(self, *, on_range: bool = False) -> Array:
        """Return the repaired training matrix V diag(h(mu)) V'.

        Parameters
        ----------
        on_range : bool
            Leave the null space of K null, as `extension` must. It makes a difference
            for "shift" and a singular K only: h(0) is zero in the other modes.

        Returns
        -------
        ndarray of shape (n, n)
            Positive semidefinite to rounding.
        """
        values = self.factors * self.spectrum.values if on_range else self.values
        return Spectrum(values, self.spectrum.vectors).matrix()

    def extension(self) -> Array:
        """Return V diag(h(mu)/mu) V', which ``K_new`` is to be multiplied by.

        Returns
        -------
        ndarray of shape (n, n)
            Its product with K itself is ``matrix(on_range=True)``.
        """
        return Spectrum(self.factors, self.spectrum.vectors).matrix()


def replace_eigenvalues(spectrum: Spectrum, mode: str) -> Repaired:
    """Return a matrix with its eigenvalues replaced.

    Parameters
    ----------
    spectrum : Spectrum
        All eigenvalues and eigenvectors of the matrix.
    mode : {"flip", "clip", "shift", "square"}
        Function of the eigenvalues.

    Returns
    -------
    Repaired
        The training matrix, and its extension to new rows.

    Notes
    -----
    The extension is the only one that is linear in ``K_new`` and right on the training
    samples: a new sample whose similarities are ``c' K``, a combination of training
    rows, gets the same combination ``c' h(K)`` of repaired rows. An eigenvalue with
    ``|mu| <= n eps max|mu|``, eps the spacing of its precision, counts as zero: the
    training samples carry no information about new samples in that direction, so the
    extension drops it, as a pseudoinverse does.

    For "flip" and "clip" the quotients are 1, -1 and 0, and nothing is amplified; for
    "square" the extension is K itself. For "shift" they are ``1 + |mu_n| / mu``, large
    wherever mu is small: the extension then amplifies noise in ``K_new``.
    (As a kernel between samples, the shift adds ``|mu_n|`` to the similarity of a
    sample with itself and nothing to that of two samples: new rows do not change.)

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.spectrum.decompose import decompose
    >>> K = np.diag([3.0, -1.0])
    >>> clipped = replace_eigenvalues(decompose(K), "clip")
    >>> clipped.matrix()
    array([[3., 0.],
           [0., 0.]])
    """
    check_choice("mode", mode, REPAIRS)
    return Repaired(spectrum, REPAIRS[mode](spectrum.values))
