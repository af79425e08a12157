"""Skip a test, or fail it with REQUIRE_ALL, when a requirement is missing."""

import os

import pytest


def unavailable(reason: str) -> None:
    """Skip the test with the reason; with REQUIRE_ALL=1 fail it."""
    if os.environ.get("REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
