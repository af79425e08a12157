"""Does docs/api.md say what the API does? Addresses, filters, failures."""

import re
from pathlib import Path

import pytest

from planner.api import filters, schema
from planner.api.urls import urlpatterns

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
NOT_LISTED = {"nowhere"}
LISTS = {
    "workspaces/": filters.WorkspaceFilter,
    "workspaces/{id}/members/": filters.MemberFilter,
    "workspaces/{id}/invitations/": filters.InvitationFilter,
    "workspaces/{id}/history/": filters.EventFilter,
    "tokens/": filters.TokenFilter,
    "snapshots/": filters.SnapshotFilter,
    "scenarios/": filters.ScenarioFilter,
    "scenarios/{id}/queues/": filters.QueueFilter,
    "runs/": filters.RunFilter,
    "runs/{id}/queues/": filters.QueueOutcomeFilter,
    "runs/{id}/jobs/": filters.JobOutcomeFilter,
    "runs/{id}/victims/": filters.VictimFilter,
    "runs/{id}/decisions/": filters.DecisionFilter,
}


@pytest.mark.parametrize("route", [route for route in urlpatterns if route.name not in NOT_LISTED], ids=str)
def test_every_address_stands_in_the_docs(route) -> None:
    address = re.sub(r"<\w+:(\w*_)?(\w+)>", r"{\2}", str(route.pattern))
    last = address.rstrip("/").rpartition("/")[2]
    assert address in PAGE or f"…/{last}/" in PAGE, address


@pytest.mark.parametrize("address", LISTS)
def test_every_filter_stands_in_the_docs(address: str) -> None:
    (line,) = [row for row in PAGE.splitlines() if row.startswith((f"| `{address}` |", f"| `{address}`, "))]
    told = set(re.findall(r"`(\w+)`", line))
    assert told == set(LISTS[address].base_filters) - {"ordering"}


def test_every_failure_stands_in_the_docs() -> None:
    for status in schema.FAILURES:
        assert f"\n| {status} | `" in PAGE
