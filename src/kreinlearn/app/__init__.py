"""The application behind the `krein` command."""

__all__: list[str] = []
