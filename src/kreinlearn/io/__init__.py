"""Readers of tables, matrices, pairs, series, sequences and graphs."""

from kreinlearn.io.dataset import Dataset, ReadOptions, TrainingRecord
from kreinlearn.io.formats import open_data, read, read_pairs, table_blocks
from kreinlearn.io.labels import as_labels
from kreinlearn.io.samples import header_labels, read_fasta, read_ts, read_tu, read_ucr

__all__ = [
    "Dataset",
    "ReadOptions",
    "TrainingRecord",
    "as_labels",
    "header_labels",
    "open_data",
    "read",
    "read_fasta",
    "read_pairs",
    "read_ts",
    "read_tu",
    "read_ucr",
    "table_blocks",
]
