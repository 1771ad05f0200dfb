"""`krein inspect` and `kreinlearn.inspect_similarity`."""

from kreinlearn.app.inspection.page import inspection_page
from kreinlearn.app.inspection.verdict import Inspection, inspect_similarity

__all__ = ["Inspection", "inspect_similarity", "inspection_page"]
