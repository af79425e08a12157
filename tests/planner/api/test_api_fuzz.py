"""Every call of the API, made from its own schema: no fault of ours, and every answer as it is described."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from planner.accounts.models import Role
from planner.accounts.services.invitations import invitation_make
from planner.accounts.services.tokens import token_make
from planner.runs.models import Run
from planner.runs.services.links import link_make
from planner.scenarios.models import Scenario
from tests import factories
from tests.planner.recorded import finished_run

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_wsgi("/api/v1/schema/", get_wsgi_application())


@pytest.fixture
def one_connection() -> Iterator[None]:
    """A call ends without the connection on which the test's transaction is."""
    ends = (request_started, request_finished)
    for end in ends:
        end.disconnect(close_old_connections)
    yield
    for end in ends:
        end.connect(close_old_connections)


@pytest.fixture
def world(db: None, one_connection: None) -> dict[str, Any]:
    """A run with an outcome, and an admin's token: addresses lead somewhere."""
    run = finished_run("capacity_hierarchy", 3)
    admin = factories.user("fuzzer", role=Role.ADMIN)
    _, token = token_make(user=admin, scope=Role.ADMIN)
    invitation, _ = invitation_make(workspace=run.workspace, role=Role.VIEWER, user=admin)
    return {
        "token": token,
        "things": {**things_of(run, run.scenario), "invitation_id": invitation.pk,
                   "link_id": link_make(run=run, user=admin)[0].pk, "username": "fuzzer"},
        "runs": f"{run.pk},{factories.run(run.scenario).pk}",
    }  # fmt: skip


def things_of(run: Run, scenario: Scenario) -> dict[str, Any]:
    victim = run.victims.all()[0]
    namespace, _, job = victim.job.partition("/")
    return {
        "workspace_id": run.workspace_id, "snapshot_id": scenario.snapshot_id, "scenario_id": scenario.pk,
        "run_id": run.pk, "name": victim.queue, "namespace": namespace, "job": job,
        "pod": victim.pod.partition("/")[2], "node": victim.node, "order": victim.order, "seq": victim.order,
    }  # fmt: skip


@SCHEMA.parametrize()
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_call_keeps_to_its_schema(case: Case, world: dict[str, Any]) -> None:
    for name in case.path_parameters or {}:
        if name in world["things"]:
            case.path_parameters[name] = str(world["things"][name])
    query = dict(case.query or {})
    query.pop("fields", None)  # a part of an answer is not the whole that the schema describes
    if case.path == "/api/v1/comparisons/":
        query["runs"] = world["runs"]
    case.query = query
    answer = case.call(headers={"Authorization": f"Token {world['token']}", "Accept-Encoding": "identity"})
    case.validate_response(answer, checks=CHECKS)
