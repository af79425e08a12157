"""Fixtures of the product's tests: a script with a token, and one without."""

import threading
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import User
from planner.runs.models import Run
from planner.work.execution import work_execute
from planner.work.turns import Turn
from tests import factories


@pytest.fixture
def api(editor: User) -> APIClient:
    """A script that sends the editor's token, and JSON."""
    token = factories.token(editor)
    return _client(HTTP_AUTHORIZATION=f"Token {token}")


@pytest.fixture
def stranger(db: None) -> APIClient:
    """A script without a token."""
    return _client()


@pytest.fixture
def browser(client: Client, editor: User) -> Client:
    """A browser in which the editor is logged in."""
    client.force_login(editor)
    return client


@pytest.fixture
def finished_run(transactional_db: None) -> Run:
    """A run that a worker has executed: one queue reclaims from the other."""
    run = factories.run()
    assert work_execute(turn=Turn(Run, run.pk), worker="test", stopping=threading.Event())
    run.refresh_from_db()
    assert run.state == "succeeded", run.error
    return run


def _client(**headers: Any) -> APIClient:
    client = APIClient(**headers)
    client.default_format = "json"
    return client
