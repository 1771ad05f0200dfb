from tests.pages.conftest import stored  # noqa: F401
