"""What scikit-learn asks of estimators besides fitting and predicting."""

from collections.abc import Mapping
from typing import Any, Self

from scipy.sparse import issparse

from kreinlearn._memory import check_bytes
from kreinlearn._typing import Array

NESTED = "kernel_params__"
"""What names of single kernel parameters begin with, in grids."""


class Documented:
    """An estimator whose representation in a notebook links to its page."""

    _doc_link_module = "kreinlearn"
    _doc_link_template = (
        "https://kreinlearn.readthedocs.io/en/stable/api/generated/"
        "kreinlearn.{estimator_name}.html"
    )


class NestedKernelParams(Documented):
    """An estimator whose ``kernel_params`` can be set one by one, as in grids.

    ``kernel_params__sigma`` is the entry "sigma". It goes before `BaseEstimator`.
    """

    kernel_params: Mapping[str, Any] | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the entries of ``kernel_params``, as ``kernel_params__sigma``
            and so on.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep)  # type: ignore[misc]
        if deep and isinstance(self.kernel_params, Mapping):
            params |= {f"{NESTED}{k}": v for k, v in self.kernel_params.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : dict
            Values by name; ``kernel_params__sigma`` sets one entry of
            ``kernel_params``, and leaves the others as they are.

        Returns
        -------
        self : estimator
            The same object.
        """
        nested = {
            name.removeprefix(NESTED): params.pop(name)
            for name in list(params)
            if name.startswith(NESTED)
        }
        super().set_params(**params)  # type: ignore[misc]
        if nested:  # a new dict: the one that was given may be someone else's
            self.kernel_params = {**(self.kernel_params or {}), **nested}
        return self


def dense_rows(X: Any) -> Any:
    """Return sparse samples as an array, and others as they are, or raise.

    Kernel matrices are dense, and compiled code reads rows one number after another.
    """
    if not issparse(X):
        return X
    n, m = X.shape
    check_bytes(
        n * m * X.dtype.itemsize,
        f"Kernels take rows as dense arrays, and 'X' of shape ({n}, {m}) needs",
        "Reduce the number of features first, e.g. with "
        "sklearn.decomposition.TruncatedSVD, or use kernel='precomputed' with a matrix "
        "of similarities.",
    )
    dense: Array = X.toarray()
    return dense
