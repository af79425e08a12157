"""Every operation of the API, tried from its own schema: no fault of ours, and every answer as described."""

from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from pytest_django import DjangoDbBlocker
from schemathesis.schemas import APIOperation

from planner.accounts.models import Workspace
from tests.planner.api.fuzzing import OPERATIONS, World, boundaries, generated

pytestmark = pytest.mark.django_db

FEW, MANY = 3, 20
"""Valid and invalid requests of each operation on every change, and in the thorough trial."""


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """A world for all operations: each call is undone. It ends without the connection of its transaction."""
    ends = (request_started, request_finished)
    for end in ends:
        end.disconnect(close_old_connections)
    with django_db_blocker.unblock(), transaction.atomic():
        Workspace.objects.get_or_create(name=Workspace.DEFAULT)
        yield World()
        transaction.set_rollback(True)
    for end in ends:
        end.connect(close_old_connections)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_an_operation_keeps_to_its_schema(operation: APIOperation, world: World) -> None:
    trial = generated(operation, world, examples=FEW)
    assert not trial.findings, "\n\n".join(trial.findings)
    assert trial.accepted, trial.requests


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_an_operation_keeps_to_its_schema_however_often_it_is_tried(
    operation: APIOperation, world: World
) -> None:
    trial = generated(operation, world, examples=MANY)
    assert not trial.findings, trial.findings[0]


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_an_operation_keeps_to_its_schema_at_every_boundary(operation: APIOperation, world: World) -> None:
    trial = boundaries(operation, world)
    assert not trial.findings, trial.findings[0]
