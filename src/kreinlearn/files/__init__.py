"""Tables, matrices and lists of pairs from files, with one sentence if one is bad."""

from kreinlearn.files.pairs import read_pairs
from kreinlearn.files.reading import column_names, read
from kreinlearn.files.scores import PairOptions
from kreinlearn.files.table import Table
from kreinlearn.files.values import as_labels

__all__ = [
    "PairOptions",
    "Table",
    "as_labels",
    "column_names",
    "read",
    "read_pairs",
]
