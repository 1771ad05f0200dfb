"""``python -m kreinlearn`` is the same as ``krein``, which starts here as well."""

import sys


def start() -> None:
    """Run the command line; an interrupt while it is imported ends like a later one."""
    try:
        from kreinlearn.app.cli import main

        main()
    except KeyboardInterrupt:
        print("krein: interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    start()
