"""Options of readers, the samples that they return, and the record of training."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import SYMMETRIZERS, check_choice

if TYPE_CHECKING:
    import pandas as pd

SampleKind = Literal["series", "sequences", "graphs"]
"""Kinds of samples that are not rows of a table, as kernels name them."""
MatrixContent = Literal["similarities", "distances"]
"""Content of a matrix. By default similarities, unless they look like distances."""


SCORE_FIELDS = ("symmetrize", "missing", "missing_self", "repeated")
"""Options about scores of pairs, which predictions take from the training file."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of readers; most are options of the commands, too.

    Attributes
    ----------
    target : str or None
        Name or position (from 1; -1 is the last) of the column of labels; the last by
        default. In npz the name of the array, "y" by default; for npy a file; in
        FASTA the position of the label in a header, as in `header_labels`.
    header : bool or None
        Whether the first line holds names; by default if no cell of it is a number,
        or if some are, but its words are unlike those below.
    labels : bool or None
        Whether labels are needed. If not, all columns are features without ``target``.
        None: a table needs them, a matrix and other samples do not.
    text : collection of str
        Columns to read as text, even if their cells look like numbers.
    names : sequence of str
        Features that LIBSVM text has at least.
    square : bool
        Whether a Gram matrix must be square: similarities among training samples.
    holds : {"similarities", "distances"} or None
        Content of a matrix. By default similarities, which are rejected if they look
        like distances: zero on the diagonal, and nothing negative.
    symmetrize : {"mean", "max", "min"} or None
        Aggregate of the two directions of a square matrix.
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
    label_file : str or None
        File of the labels, by sample name or, for samples without names, in order.
    sep : str or None
        The character between cells of text; detected by default.
    decimal : {".", ","}
        The character before decimals.
    drop : sequence of str
        Columns of a table to leave out, by name or position.
    id, group : str or None
        The columns of sample names, and of groups such as patients with several rows.
    kind : {"series", "sequences", "graphs"} or None
        Samples that the kernel of a command compares, if it is given: tsv and txt
        files of series are lines of the UCR archive.
    """

    target: str | None = None
    header: bool | None = None
    labels: bool | None = True
    text: Collection[str] = ()
    names: Sequence[str] = ()
    square: bool = True
    holds: MatrixContent | None = None
    symmetrize: str | None = None
    format: str | None = None
    missing: float | None = None
    missing_self: float | None = None
    repeated: str | None = None
    label_file: str | None = None
    sep: str | None = None
    decimal: str = "."
    drop: Sequence[str] = ()
    id: str | None = None
    group: str | None = None
    kind: SampleKind | None = None

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
    def is_for_matrix(self) -> bool:
        """Whether an option is given that only matrices and pairs take."""
        return any(getattr(self, name) is not None for name in ("holds", *SCORE_FIELDS))


@dataclass(frozen=True)
class TrainingRecord:
    """Facts about the training file that predictions need, saved with the model.

    Attributes
    ----------
    columns : sequence of str
        Features of a table, in their order.
    header : bool
        Whether these are names; otherwise only their order is known.
    target : str or None
        Name of the column of labels.
    target_place : int or None
        Position of that column, counted from zero.
    text : collection of str
        Features that were text; all others were numbers.
    text_labels : bool
        Whether labels are text, even if they look like numbers.
    apart : mapping of str to int
        Columns that were neither features nor labels, and their positions from zero.
    id, group : str or None
        The columns among them with sample names and with groups.
    impute : bool
        Whether missing cells are filled.
    source : str or None
        The training file.
    format : str or None
        Its format, if it held pairs, a matrix with names, or other samples.
    missing, missing_self, repeated, symmetrize
        As in `ReadOptions`.
    label_rule : str or None
        Position of labels in FASTA headers or lines of the UCR archive, if it was
        given.
    has_labels : bool
        Whether series, sequences or graphs had labels in the same file.
    summary : mapping
        Description of the data and the model, for `krein show`.
    date : str or None
        Day of training.
    matrices : sequence of str
        Names of several matrices, if more than one file was given.
    medians : sequence of float
        Median of each matrix, off its diagonal.
    sample_names : sequence of str
        Names of sequences.
    """

    columns: Sequence[str] = ()
    header: bool = True
    target: str | None = None
    target_place: int | None = None
    text: Collection[str] = ()
    text_labels: bool = False
    apart: Mapping[str, int] = field(default_factory=dict)
    id: str | None = None
    group: str | None = None
    impute: bool = False
    source: str | None = None
    format: str | None = None
    missing: float | None = None
    missing_self: float | None = None
    repeated: str | None = None
    symmetrize: str | None = None
    label_rule: str | None = None
    has_labels: bool = True
    summary: Mapping[str, Any] = field(default_factory=dict)
    date: str | None = None
    matrices: Sequence[str] = ()
    medians: Sequence[float] = ()
    sample_names: Sequence[str] = ()

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any]) -> "TrainingRecord":
        """Return the record in the notes of a saved model, also of earlier versions."""
        known = {f.name for f in fields(cls)}
        found = {key: value for key, value in notes.items() if key in known}
        found |= notes.get("pairs", {})
        if samples := notes.get("samples"):
            found["format"] = samples.get("format")
            found["label_rule"] = samples.get("target")
            found["has_labels"] = samples.get("labels", True)
        return cls(**found)

    def to_notes(self) -> dict[str, Any]:
        """Return the record as plain data, without defaults."""
        default = asdict(TrainingRecord())
        found = asdict(self)
        return {k: v for k, v in found.items() if v != default[k] or k == "target"}


@dataclass(frozen=True)
class ModelInput:
    """Input that a fitted model takes.

    Attributes
    ----------
    training : TrainingRecord
        The training file, with the features of the model.
    kind : {"rows", "matrix", "series", "sequences", "graphs"}
        Samples that the model was trained on.
    classes : sequence of str, int or float
        Its classes.
    content : str or None
        `describe_content` of its training samples, if it is known.
    n_train : int
        Number of training samples of a matrix.
    support : collection of int
        Those that predictions need, counted from zero; all by default.
    names : sequence of str or None
        Names of the training samples of a matrix.
    is_distance : bool
        Whether the matrix holds distances.
    is_checked : bool
        Whether a matrix of similarities must not look like distances.
    """

    training: TrainingRecord
    kind: SampleKind | Literal["rows", "matrix"]
    classes: Sequence[str | int | float] = ()
    content: str | None = None
    n_train: int = 0
    support: Collection[int] = ()
    names: Sequence[str] | None = None
    is_distance: bool = False
    is_checked: bool = True


@dataclass(frozen=True)
class Dataset:
    """Samples from a file: in memory, or a table on disk that is read in blocks.

    Iteration yields the blocks of a table on disk, each a `Dataset` in memory, and
    anything else as one block; it can be repeated.

    Attributes
    ----------
    path : str
        The file.
    X : DataFrame of shape (n_samples, n_features) or None
        Features, by name; its index holds the lines of the file. Numbers are float64,
        columns of text are objects; missing cells are NaN.
    y : ndarray of shape (n_samples,) or None
        Labels: integers if all are, floats if all are numbers, text otherwise.
    K : ndarray of shape (n_samples, n_columns) or None
        Similarities or distances, if the file holds a matrix.
    items : list or None
        Series, sequences or graphs, as kernels take them.
    kind : {"series", "sequences", "graphs"} or None
        The kind of ``items``.
    names : list of str or None
        Names of the samples, if the file has them.
    groups : ndarray of shape (n_samples,) or None
        Group of each sample, if a column holds groups.
    weights : ndarray of shape (n_samples,) or None
        Weights, if a column holds them.
    remark : str
        Note about filled or ignored values, for the user; may be empty.
    record : TrainingRecord
        Facts about the file and its columns.
    blocks : callable or None
        Returns an iterator over blocks of a table on disk.
    label_counts : tuple of ndarray or None
        Classes of a table on disk, and the number of rows of each.
    matrices : dict of Dataset or None
        All matrices by name, the first included, if there are several files.
    """

    path: str
    X: "pd.DataFrame | None" = None
    y: Array | None = None
    K: Array | None = None
    items: list[Any] | None = None
    kind: SampleKind | None = None
    names: list[str] | None = None
    groups: Array | None = None
    weights: Array | None = None
    remark: str = ""
    record: TrainingRecord = TrainingRecord()
    blocks: "Callable[[], Iterator[Dataset]] | None" = None
    label_counts: tuple[Array, Array] | None = None
    matrices: "dict[str, Dataset] | None" = None

    def __iter__(self) -> "Iterator[Dataset]":
        """Yield blocks of samples."""
        return iter([self]) if self.blocks is None else self.blocks()

    @property
    def is_table(self) -> bool:
        """Whether the samples are rows of a table."""
        return self.X is not None or self.blocks is not None

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.count_labels()[1].sum())

    def count_labels(self) -> tuple[Array, Array]:
        """Return the sorted classes, and the number of samples of each."""
        return self.label_counts or np.unique(np.asarray(self.y), return_counts=True)

    @property
    def samples(self) -> "pd.DataFrame | Array | list[Any] | dict[str, Any]":
        """Training input of an estimator; matrices with names are DataFrames."""
        if self.matrices is not None:
            return {
                name: replace(each, matrices=None).samples
                for name, each in self.matrices.items()
            }
        if self.items is not None:
            return self.items
        given = self.K if self.X is None else self.X
        assert given is not None  # a file holds one of them, or items
        if self.names is None or self.X is not None:
            return given
        import pandas as pd

        return pd.DataFrame(given, self.names, self.names, copy=False)
