"""Tables, LIBSVM text and Gram matrices from files, with one sentence if one is bad."""

from kreinlearn.files.reading import column_names, read
from kreinlearn.files.table import Table
from kreinlearn.files.values import as_labels

__all__ = ["Table", "as_labels", "column_names", "read"]
