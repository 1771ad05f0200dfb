"""``python -m kreinlearn`` is the same as ``krein``."""

from kreinlearn.cli import main

if __name__ == "__main__":
    main()
