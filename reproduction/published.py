"""The published numbers, by table and figure.

All from F. Liu, X. Huang, C. Gong, J. Yang, J. A. K. Suykens, "Indefinite kernel
logistic regression with concave-inexact-convex procedure", IEEE Transactions on Neural
Networks and Learning Systems 30(3), 765-776, 2019; the tables by its own numbers. The
numbers themselves are data: ``published.toml`` in this folder.
"""

import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple, TypeVar

from reproduction.entries import Spread

Number = TypeVar("Number")


class Statistics(NamedTuple):
    """A row of Table 2: features, samples, extreme eigenvalues of the TL1 kernel."""

    m: int
    n: int
    mu_min: float
    mu_max: float


class Cost(NamedTuple):
    """An entry of Tables 4 and 7: accuracy, and seconds of training and testing."""

    accuracy: Spread
    training: float
    test: float


class Metric(NamedTuple):
    """A row of Table 1: whether it is geodesic, its Gaussian positive definite."""

    is_geodesic: bool
    is_definite: bool


def read_data(name: str) -> dict[str, Any]:
    """Return the content of a TOML file of this folder."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text)


_PUBLISHED_DATA = read_data("published.toml")


def _list_names(table: str, key: str) -> tuple[str, ...]:
    return tuple(_PUBLISHED_DATA[table][key])


def _map_methods(
    table: str, entry: Callable[..., Number]
) -> Mapping[str, Mapping[str, Number]]:
    """Return data set to method to the entry of its numbers."""
    methods = _list_names(table, "methods")
    return {
        name: {m: entry(*each) for m, each in zip(methods, row, strict=True)}
        for name, row in _PUBLISHED_DATA[table]["rows"].items()
    }


def _make_cost(mean: float, std: float, training: float, test: float) -> Cost:
    return Cost(Spread(mean, std), training, test)


TABLE1 = {name: Metric(*row) for name, row in _PUBLISHED_DATA["table1"].items()}
"""Table 1, properties of metrics on covariance matrices."""

TABLE2 = {name: Statistics(*row) for name, row in _PUBLISHED_DATA["table2"].items()}
"""Table 2, data set to statistics."""

TABLE3_METHODS = _list_names("table3", "methods")
"""Columns of Table 3."""
TABLE3_OURS = _list_names("table3", "ours")
"""Columns that we add."""
TABLE3 = _map_methods("table3", Spread)
"""Table 3, data set to method to accuracy."""
TABLE3_DATA = tuple(TABLE3)
"""The data sets of Table 3."""

TABLE4_METHODS, TABLE4_OURS = (
    _list_names("table4", "methods"),
    _list_names("table4", "ours"),
)
TABLE4 = _map_methods("table4", _make_cost)
"""Table 4, data set to method to accuracy and seconds."""
TABLE4_DATA = tuple(TABLE4)
"""The data sets of Tables 4 and 7."""

TABLE5 = {name: Spread(*row) for name, row in _PUBLISHED_DATA["table5"]["rows"].items()}
"""Table 5, method to accuracy on the faces (printed in per cent)."""
TABLE5_DATA, TABLE5_OURS = _list_names("table5", "data"), _list_names("table5", "ours")
TABLE5_MU: tuple[float, float] = tuple(_PUBLISHED_DATA["table5"]["mu"])
"""Table 5, extreme eigenvalues of the affine-invariant kernel."""

TABLE6_DATA, TABLE6_METHODS = (
    _list_names("table6", "data"),
    _list_names("table6", "methods"),
)
TABLE6_OURS = _list_names("table6", "ours")
TABLE6 = {
    init: {
        place: Spread(*each)
        for place, each in zip(product(TABLE6_METHODS, TABLE6_DATA), row, strict=True)
    }
    for init, row in _PUBLISHED_DATA["table6"]["rows"].items()
}
"""Table 6, first coefficients to (method, data set) to accuracy."""
INITS = tuple(TABLE6)

TABLE7_METHODS, TABLE7_OURS = (
    _list_names("table7", "methods"),
    _list_names("table7", "ours"),
)
TABLE7 = _map_methods("table7", _make_cost)
"""Table 7, data set to method to accuracy and seconds."""

FIG2_DATA, FIG2_METHODS = _list_names("fig2", "data"), _list_names("fig2", "methods")
FIG2_EPS: tuple[float, ...] = tuple(_PUBLISHED_DATA["fig2"]["eps"])
"""Values of eps in Figure 2, whose numbers are drawn and not printed."""

FIG3_DATA, FIG3_METHODS = _list_names("fig3", "data"), _list_names("fig3", "methods")
FIG3_OURS = _list_names("fig3", "ours")
"""Curves of Figure 3, whose numbers are drawn and not printed."""
