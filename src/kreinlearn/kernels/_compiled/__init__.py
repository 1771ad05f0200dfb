"""Compiled loops, imported when they are first needed: numba takes long to import."""
