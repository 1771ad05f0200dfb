"""The application behind the `krein` command."""
