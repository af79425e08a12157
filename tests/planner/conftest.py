"""Fixtures of the product's tests: a script with a token, and one without."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from knox.models import AuthToken
from rest_framework.test import APIClient


@pytest.fixture
def api(editor: User) -> APIClient:
    """A script that sends the editor's token, and JSON."""
    _, token = AuthToken.objects.create(editor)
    return _client(HTTP_AUTHORIZATION=f"Token {token}")


@pytest.fixture
def stranger(db: None) -> APIClient:
    """A script without a token."""
    return _client()


def _client(**headers: Any) -> APIClient:
    client = APIClient(**headers)
    client.default_format = "json"
    return client
