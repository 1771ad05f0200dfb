"""Resumable runs: cells, records, a runner, progress."""

from kreinlearn.app.runs.cells import Cell, grid
from kreinlearn.app.runs.progress import progress_bar
from kreinlearn.app.runs.records import read_records
from kreinlearn.app.runs.runner import Progress, run

__all__ = ["Cell", "Progress", "grid", "progress_bar", "read_records", "run"]
