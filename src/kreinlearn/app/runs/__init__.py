"""Resumable runs: cells, records, a runner, progress."""

from kreinlearn.app.runs.progress import RunState, progress_bar
from kreinlearn.app.runs.records import Cell, read_records
from kreinlearn.app.runs.runner import run

__all__ = ["Cell", "RunState", "progress_bar", "read_records", "run"]
