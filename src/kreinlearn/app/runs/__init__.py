"""Resumable runs: cells, records, a runner, progress."""

from kreinlearn.app.runs.progress import Progress, progress_bar
from kreinlearn.app.runs.records import Cell, grid, read_records
from kreinlearn.app.runs.runner import run

__all__ = ["Cell", "Progress", "grid", "progress_bar", "read_records", "run"]
