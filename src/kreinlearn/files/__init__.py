"""Tables, LIBSVM text, Gram matrices and graphs from files; one sentence if bad."""

from kreinlearn.files.graphs import read_tu
from kreinlearn.files.reading import column_names, read
from kreinlearn.files.table import Table
from kreinlearn.files.values import as_labels

__all__ = ["Table", "as_labels", "column_names", "read", "read_tu"]
