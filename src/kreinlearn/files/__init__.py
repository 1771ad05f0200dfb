"""Tables, matrices, pairs, series, sequences, graphs from files, or one sentence."""

from kreinlearn.files.chunks import table_blocks
from kreinlearn.files.fasta import header_labels, read_fasta
from kreinlearn.files.graphs import read_tu
from kreinlearn.files.pairs import read_pairs
from kreinlearn.files.reading import column_names, read
from kreinlearn.files.scores import PairOptions
from kreinlearn.files.series import read_ts, read_ucr
from kreinlearn.files.table import Table
from kreinlearn.files.values import as_labels

__all__ = [
    "PairOptions",
    "Table",
    "as_labels",
    "column_names",
    "header_labels",
    "read",
    "read_fasta",
    "read_pairs",
    "read_ts",
    "read_tu",
    "read_ucr",
    "table_blocks",
]
