"""Fixtures of the product's tests: API clients with and without a token, a browser and a finished run."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import Client
from pytest_django import DjangoDbBlocker
from rest_framework.test import APIClient

from planner.accounts.models import User, Workspace
from planner.runs.models import Run
from tests import factories
from tests.planner.recorded import executed


@pytest.fixture
def api(editor: User) -> APIClient:
    """An API client that sends the editor's token, and JSON."""
    token = factories.token(editor)
    return _client(HTTP_AUTHORIZATION=f"Token {token}")


@pytest.fixture
def stranger(db: None) -> APIClient:
    """An API client without a token."""
    return _client()


@pytest.fixture
def browser(client: Client, editor: User) -> Client:
    """A browser in which the editor is logged in."""
    client.force_login(editor)
    return client


@pytest.fixture(scope="module")
def rows_of_module(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A transaction around a module: rows of its fixtures last for all tests, rows of a test are rolled back.

    A call ends without the connection of that transaction.
    """
    ends = (request_started, request_finished)
    for end in ends:
        end.disconnect(close_old_connections)
    with django_db_blocker.unblock(), transaction.atomic():
        Workspace.objects.get_or_create(name=Workspace.DEFAULT)
        yield
        transaction.set_rollback(True)
    for end in ends:
        end.connect(close_old_connections)


@pytest.fixture
def finished_run(db: None) -> Run:
    """A run that a worker finished: one queue reclaims from the other."""
    return executed(factories.run())


def _client(**headers: Any) -> APIClient:
    client = APIClient(**headers)
    client.default_format = "json"
    return client
