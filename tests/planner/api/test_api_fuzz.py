"""Schema-based fuzzing of every API operation: no server errors, and every response matches the schema."""

import pytest
from schemathesis.schemas import APIOperation

from tests.planner.api.fuzzing import OPERATIONS, World, boundaries, generated

pytestmark = pytest.mark.django_db

FEW, MANY = 1, 20
"""Generated requests of each mode per operation, in every test run and in the long one."""


@pytest.fixture(scope="module")
def world(rows_of_module: None) -> World:
    """One set of objects for all operations; each call is rolled back."""
    return World()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_an_operation_conforms_to_its_schema(operation: APIOperation, world: World) -> None:
    trial = generated(operation, world, examples=FEW)
    assert not trial.findings, "\n\n".join(trial.findings)
    assert trial.accepted, trial.requests


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_an_operation_conforms_to_its_schema_with_many_requests(
    operation: APIOperation, world: World
) -> None:
    trial = generated(operation, world, examples=MANY)
    assert not trial.findings, trial.findings[0]


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_an_operation_conforms_to_its_schema_at_every_boundary(operation: APIOperation, world: World) -> None:
    trial = boundaries(operation, world)
    assert not trial.findings, trial.findings[0]
