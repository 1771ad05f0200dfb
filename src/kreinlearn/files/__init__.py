"""Tables, matrices, sequences and graphs from files, with one sentence if one is bad."""

from kreinlearn.files.fasta import header_labels, read_fasta
from kreinlearn.files.graphs import read_tu
from kreinlearn.files.reading import column_names, read
from kreinlearn.files.table import Table
from kreinlearn.files.values import as_labels

__all__ = [
    "Table",
    "as_labels",
    "column_names",
    "header_labels",
    "read",
    "read_fasta",
    "read_tu",
]
