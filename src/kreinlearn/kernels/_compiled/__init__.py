"""Compiled loops, imported when they are first needed: numba takes long to import."""

from kreinlearn._numba_cache import prepare_cache

prepare_cache()
