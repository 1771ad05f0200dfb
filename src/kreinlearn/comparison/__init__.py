"""`krein compare` and `krein demo`: every method on the same folds."""
