"""Readers of tables, matrices, pairs, series, sequences and graphs."""

from kreinlearn.io.blocks import table_blocks
from kreinlearn.io.formats import column_names, read, read_pairs
from kreinlearn.io.graphs import read_tu
from kreinlearn.io.labels import as_labels
from kreinlearn.io.options import PairOptions
from kreinlearn.io.samples import header_labels, read_fasta
from kreinlearn.io.series import read_ts, read_ucr
from kreinlearn.io.table import Table

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
