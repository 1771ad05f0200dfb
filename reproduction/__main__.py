"""``python -m reproduction``: the tables and figures of the paper, and their data."""

import sys


def start() -> None:
    """Run the command line; an interrupt during the imports exits with 130 as well."""
    try:
        from kreinlearn.app.cli import run_command
        from reproduction.commands import app

        run_command(app, "python -m reproduction")
    except KeyboardInterrupt:
        print("reproduction: interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    start()
