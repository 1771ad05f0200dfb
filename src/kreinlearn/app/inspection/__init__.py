"""`krein inspect`: how indefinite a similarity is, and what to do about it."""

from kreinlearn.app.inspection.page import inspection_page
from kreinlearn.app.inspection.verdict import inspect_matrix

__all__ = ["inspect_matrix", "inspection_page"]
