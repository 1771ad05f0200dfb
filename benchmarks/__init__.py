"""Speed and accuracy against other libraries: ``python -m benchmarks --help``."""
