"""Golden results: fits, commands and names of two revisions, compared."""
