"""Resumable runs: cells, records, a runner, progress."""

from kreinlearn.runs.cells import Cell, grid
from kreinlearn.runs.progress import progress_bar
from kreinlearn.runs.records import read_records
from kreinlearn.runs.runner import Progress, run

__all__ = ["Cell", "Progress", "grid", "progress_bar", "read_records", "run"]
