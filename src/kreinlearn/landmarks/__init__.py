"""Models on landmarks: passes over any number of rows, and M numbers to be found."""
