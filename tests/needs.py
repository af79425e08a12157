"""Skipping, or failing with REQUIRE_ALL, when something that a test needs is missing."""

import os

import pytest


def unavailable(reason: str) -> None:
    """Skip the test and say why; where everything must be there (REQUIRE_ALL=1) fail it."""
    if os.environ.get("REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
