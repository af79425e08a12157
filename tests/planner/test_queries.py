"""The query count of a list, on a page or in the API, does not grow with its rows."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from planner.accounts.models import Membership, Role
from planner.accounts.services.invitations import invitation_create
from planner.accounts.services.tokens import token_make
from planner.accounts.services.workspaces import workspace_create
from planner.runs.models import Run
from planner.runs.services.links import link_create
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.queues import queue_update
from planner.scenarios.services.scenarios import scenario_create
from tests import factories

pytestmark = pytest.mark.django_db


def _grow(run: Run, number: int) -> None:
    """Add a row to every list, each by an account of its own."""
    admin = factories.user("editor").acting(Role.ADMIN)
    colleague = factories.user(f"colleague-{number}")
    scenario = run.scenario
    scenario.refresh_from_db()
    for name in ("waits", "busy"):
        queue_update(
            scenario=scenario,
            name=name,
            patch={"weight": scenario.revision + 1},
            expected_revision=scenario.revision,
            user=colleague,
        )
    scenario_branch(scenario=scenario, name=f"branch {number}", user=colleague)
    snapshot = factories.snapshot(name=f"cluster {number}")
    scenario_create(snapshot=snapshot, name=f"other {number}", owner=colleague)
    factories.run(scenario)
    trace = factories.workload(name=f"trace {number}")
    factories.forecast(scenario, under=trace)
    factories.experiment(scenario, owner=colleague)
    factories.large_import(owner=colleague)
    factories.large_rebase(scenario)
    link_create(run=run, user=admin)
    token_make(user=admin, scope=Role.VIEWER)
    workspace_create(name=f"workspace {number}", user=admin)
    invitation_create(workspace=run.workspace, role=Role.VIEWER, user=admin)


def _addresses(run: Run) -> list[str]:
    scenario, workspace, api = run.scenario_id, run.workspace_id, "/api/v1"
    lists = ("snapshots", "clusters", "scenarios", "runs", "imports", "traces", "forecasts", "experiments")
    return [
        *(f"{api}/{name}/" for name in (*lists, "workspaces", "invitations", "tokens", "sessions", "logins")),
        *(
            f"{api}/workspaces/{workspace}/{name}/"
            for name in ("members", "invitations", "history", "changes")
        ),
        *(f"{api}/scenarios/{scenario}/{name}/" for name in ("changes", "runs", "forecasts", "queues")),
        f"{api}/runs/{run.pk}/links/",
        f"{api}/search/?q=wa",
        "/",
        "/status/",
        "/search/?q=wa",
        "/import/",
        "/traces/",
        "/experiments/",
        "/account/",
        f"/workspaces/{workspace}/members/",
        f"/workspaces/{workspace}/storage/",
        f"/workspaces/{workspace}/history/",
        f"/scenarios/{scenario}/",
        f"/scenarios/{scenario}/changes/",
        f"/scenarios/{scenario}/forecasts/",
        f"/runs/{run.pk}/share/",
    ]


def _counts(browser: Client, addresses: list[str]) -> dict[str, int]:
    counts = {}
    for address in addresses:
        browser.get(address)
        with CaptureQueriesContext(connection) as queries:
            counts[address] = browser.get(address).status_code
        counts[address] = len(queries) if counts[address] == 200 else -counts[address]
    return counts


def test_the_query_count_of_a_list_does_not_grow_with_its_rows(browser: Client) -> None:
    Membership.objects.filter(user__username="editor").update(role=Role.ADMIN)
    run = factories.run()
    for number in range(2):
        _grow(run, number)
    few = _counts(browser, _addresses(run))
    for number in range(2, 4):
        _grow(run, number)
    many = _counts(browser, _addresses(run))
    assert {address: (few[address], count) for address, count in many.items() if count > few[address]} == {}
    assert min(many.values()) > 0, many
