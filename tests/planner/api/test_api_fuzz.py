"""Every operation of the API, tried from its own schema: no fault of ours, and every answer as described."""

import pytest
from schemathesis.schemas import APIOperation

from tests.planner.api.fuzzing import OPERATIONS, World, boundaries, generated

pytestmark = pytest.mark.django_db

FEW, MANY = 1, 20
"""Valid and invalid requests of each operation on every change, and in the thorough trial."""


@pytest.fixture(scope="module")
def world(rows_of_module: None) -> World:
    """A world for all operations: each call is undone."""
    return World()


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
