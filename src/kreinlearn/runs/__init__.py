"""Resumable runs: cells, records, a runner, progress."""
