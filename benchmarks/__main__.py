"""``python -m benchmarks``: speed against other libraries."""

import sys


def start() -> None:
    """Run the command line; an interrupt during the imports exits with 130 as well."""
    try:
        from benchmarks.commands import app
        from kreinlearn.app.cli import run_command

        run_command(app, "python -m benchmarks")
    except KeyboardInterrupt:
        print("benchmarks: interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    start()
