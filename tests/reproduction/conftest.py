from tests.report.conftest import stored  # noqa: F401
