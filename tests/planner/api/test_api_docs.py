"""docs/api.md agrees with the API: addresses, filters, failures and example bodies."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from planner.accounts.api.filters import (
    EventFilter,
    InvitationFilter,
    LoginFilter,
    MemberFilter,
    OfferFilter,
    SessionFilter,
    TokenFilter,
    WorkspaceFilter,
)
from planner.accounts.models import Role
from planner.api import schema
from planner.api.urls import urlpatterns
from planner.clusters.api.filters import SnapshotFilter
from planner.experiments.api.filters import ExperimentFilter
from planner.forecasts.api.filters import ForecastFilter, TraceFilter
from planner.runs.api.filters import RunFilter
from planner.runs.selectors import filters as of_runs
from planner.runs.services.links import link_create
from planner.scenarios.api.filters import QueueFilter, ScenarioFilter, WorkspaceChangeFilter
from tests import factories
from tests.planner.recorded import simulated_run

PAGE = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
NOT_LISTED = {"nowhere"}
LISTS = {
    "workspaces/": WorkspaceFilter,
    "workspaces/{id}/members/": MemberFilter,
    "workspaces/{id}/invitations/": InvitationFilter,
    "invitations/": OfferFilter,
    "workspaces/{id}/history/": EventFilter,
    "workspaces/{id}/changes/": WorkspaceChangeFilter,
    "tokens/": TokenFilter,
    "sessions/": SessionFilter,
    "logins/": LoginFilter,
    "snapshots/": SnapshotFilter,
    "traces/": TraceFilter,
    "forecasts/": ForecastFilter,
    "experiments/": ExperimentFilter,
    "scenarios/": ScenarioFilter,
    "scenarios/{id}/queues/": QueueFilter,
    "runs/": RunFilter,
    "runs/{id}/queues/": of_runs.QueueOutcomeFilter,
    "runs/{id}/jobs/": of_runs.JobOutcomeFilter,
    "runs/{id}/victims/": of_runs.VictimFilter,
    "runs/{id}/decisions/": of_runs.DecisionFilter,
}


@pytest.mark.parametrize("route", [route for route in urlpatterns if route.name not in NOT_LISTED], ids=str)
def test_every_api_address_is_documented(route) -> None:
    address = re.sub(r"<\w+:(\w*_)?(\w+)>", r"{\2}", str(route.pattern))
    last = address.rstrip("/").rpartition("/")[2]
    assert address in PAGE or f"…/{last}/" in PAGE, address


@pytest.mark.parametrize("address", LISTS)
def test_every_list_filter_is_documented(address: str) -> None:
    (line,) = [row for row in PAGE.splitlines() if row.startswith((f"| `{address}` |", f"| `{address}`, "))]
    actual = set(re.findall(r"`(\w+)`", line))
    assert actual == set(LISTS[address].base_filters) - {"ordering"}


def test_every_failure_status_is_documented() -> None:
    for status in schema.FAILURES:
        assert f"\n| {status} | `" in PAGE


def bodies(api: APIClient) -> dict[str, Any]:
    """Return the API's responses by the heading under which the docs show an example body."""
    scenario = factories.scenario()
    queue = f"/api/v1/scenarios/{scenario.pk}/queues/waits/"
    api.patch(queue, {"weight": 2}, headers={"If-Match": "1"})
    run = simulated_run("capacity_hierarchy", 3)
    at = f"/api/v1/runs/{run.pk}"
    queues = api.get(f"{at}/queues/?in_session=true").json()["results"]
    return {
        "Editing a queue": api.patch(queue, {"weight": 3}, headers={"If-Match": "1"}).json(),
        "Deleting": deletion(api),
        "What makes a figure reach an amount": api.get(
            f"/api/v1/scenarios/{scenario.pk}/reach/",
            {"figure": "deserved", "queue": "busy", "resource": "cpu", "at_least": "13"},
        ).json(),
        "What the queues get": api.get(f"/api/v1/scenarios/{scenario.pk}/preview/").json(),
        "Figures": next(row for row in queues if row["deserved"].get("cpu") and row["capability"].get("cpu")),
        "Reasons": reason(api, "vote.gang.permit"),
        "Failures": api.patch(queue, {"capability": {"cpu": "lots"}}, headers={"If-Match": "2"}).json(),
    }


def deletion(api: APIClient) -> Any:
    """Return the response to a dry-run deletion of a snapshot with a run that has a public link."""
    run = factories.run()
    link_create(run=run, user=factories.user("boss", role=Role.ADMIN))
    return api.delete(f"/api/v1/snapshots/{run.scenario.snapshot_id}/?dry_run=1").json()


def reason(api: APIClient, wanted: str) -> Any:
    """Return a reason that the API gives for a victim."""
    run = simulated_run("proportion_reclaim", 0)
    at = f"/api/v1/runs/{run.pk}/explain/victims/{run.victims.all()[0].order}/"
    found = [api.get(at).json()]
    while found[0].get("id") != wanted:
        actual = found.pop(0)
        found += [thing for value in actual.values() for thing in _things(value)]
    return found[0]


def _things(value: Any) -> list[dict[str, Any]]:
    return [thing for thing in (value if isinstance(value, list) else [value]) if isinstance(thing, dict)]


def differences(actual: Any, answered: Any, at: str = "") -> list[str]:
    """Return the places where an example differs from the response in a key, a type or a value's kind."""
    if isinstance(actual, dict) and isinstance(answered, dict):
        return [
            place
            for key, value in actual.items()
            for place in (
                differences(value, answered[key], f"{at}.{key}")
                if key in answered
                else [f"{at}.{key} is not there"]
            )
        ]
    if isinstance(actual, list) and isinstance(answered, list):
        return (
            [place for value in actual for place in differences(value, answered[0], f"{at}[]")]
            if answered
            else []
        )
    same = (
        type(actual) is type(answered)
        or None in (actual, answered)
        or {type(actual), type(answered)} == {int, float}
    )
    return [] if same else [f"{at} is {answered!r}"]


@pytest.mark.django_db
def test_every_documented_body_matches_the_response(api: APIClient) -> None:
    shown = dict(re.findall(r"\n##+ ([^\n]+)\n(?:(?!\n##).)*?\n```json\n(.*?)```", PAGE, flags=re.DOTALL))
    assert len(shown) == PAGE.count("```json"), "each heading has one example"
    answered = bodies(api)
    assert set(shown) == set(answered)
    for heading, text in shown.items():
        assert differences(json.loads(text), answered[heading]) == [], heading
