"""`krein inspect`: how indefinite a similarity is, and what to do about it."""
