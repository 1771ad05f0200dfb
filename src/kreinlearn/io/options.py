"""Options of readers."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from kreinlearn._validation import SYMMETRIZERS, check_choice
from kreinlearn.io.columns import NO_ROLES, ColumnRoles
from kreinlearn.io.text import AUTO_DIALECT, Dialect

SampleKind = Literal["series", "sequences", "graphs"]
"""Kinds of samples that are not rows of a table, as kernels name them."""
MatrixContent = Literal["similarities", "distances"]
"""Content of a matrix. By default similarities, unless they look like distances."""


@dataclass(frozen=True)
class PairOptions:
    """Options for pairs of samples, in a list or a matrix.

    Attributes
    ----------
    format : str or None
        Format of the file, if its name and content do not determine it.
    missing : float or None
        Fill value for missing pairs (default: error).
    missing_self : float or None
        Fill value for missing similarities of samples with themselves (default:
        error). Missing distances of samples to themselves are 0.
    repeated : {"mean", "max", "min"} or None
        Aggregate of several scores of a pair in one direction. By default the best
        hit of a search counts, and other scores must agree.
    labels : str or None
        File of the labels, by sample name.
    dialect : Dialect
        Separators of a text file of any format.
    """

    format: str | None = None
    missing: float | None = None
    missing_self: float | None = None
    repeated: str | None = None
    labels: str | None = None
    dialect: Dialect = AUTO_DIALECT

    def __post_init__(self) -> None:
        for name in ("missing", "missing_self"):
            value, option = getattr(self, name), f"--{name.replace('_', '-')}"
            if value is not None and not math.isfinite(value):
                raise ValueError(
                    f"{name!r} ({option}) must be a finite number, got {value}."
                )
        if self.repeated is not None:
            check_choice("repeated", self.repeated, SYMMETRIZERS)

    @property
    def has_fill_values(self) -> bool:
        """Whether an option is given that only pairs and matrices take."""
        gaps = (self.missing, self.missing_self, self.repeated)
        return any(given is not None for given in gaps)


DEFAULT_OPTIONS = PairOptions()


@dataclass(frozen=True)
class ReadOptions:
    """Options of `kreinlearn.io.read`, which documents them.

    ``kind`` is the kind of samples that the kernel of a command compares, if it is
    given: tsv and txt files of series are lines of the UCR archive.
    """

    target: str | None = None
    header: bool | None = None
    labels: bool | None = True
    text: Collection[str] = ()
    names: Sequence[str] = ()
    square: bool = True
    holds: MatrixContent | None = None
    symmetrize: str | None = None
    pairs: PairOptions = DEFAULT_OPTIONS
    roles: ColumnRoles = NO_ROLES
    kind: SampleKind | None = None

    @property
    def is_for_matrix(self) -> bool:
        """Whether an option is given that only matrices and pairs take."""
        return self.holds is not None or self.symmetrize is not None
