"""Tables, matrices, pairs, series, sequences, graphs from files, or one sentence."""

from kreinlearn.io.chunks import table_blocks
from kreinlearn.io.fasta import header_labels, read_fasta
from kreinlearn.io.graphs import read_tu
from kreinlearn.io.pairs import read_pairs
from kreinlearn.io.reading import column_names, read
from kreinlearn.io.scores import PairOptions
from kreinlearn.io.series import read_ts, read_ucr
from kreinlearn.io.table import Table
from kreinlearn.io.values import as_labels

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
