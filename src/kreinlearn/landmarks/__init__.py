"""Models on landmarks, fitted by passes over any number of rows."""
