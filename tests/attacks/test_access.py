"""Every page and call as every role: the responses, and that nothing changes that should not.

One matrix, computed once: its rows are docs/access.md, and the rules below apply to all of it.
"""

from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from tests.attacks.access import PRINCIPALS, Route, Row, matrix, table

pytestmark = pytest.mark.django_db

DOCS = Path(__file__).parents[2] / "docs" / "access.md"
Matrix = dict[Route, Row]

OPEN = {
    "healthz", "readyz", "metrics", "login", "login-code", "logout", "sign-on", "sign-on-back",
    "planner:invitation", "planner:shared", "api:schema", "api:docs",
}  # fmt: skip
"""Routes that need no account; the secret in the address opens an invitation or a shared run."""
NOTED = {
    "planner:shared", "planner:export-download", "api:scenario-export", "api:run-input", "api:run-result",
    "api:run-bundle", "api:snapshot-document", "api:scenario-document",
}  # fmt: skip
"""Reads that are recorded: shared runs, and exports of files from a workspace."""
WRITTEN_BY_STRANGERS = {("login", "post"), ("planner:shared", "get")}
"""Wrong passwords and reads of a shared run are counted."""
OWN = {
    "planner:token-create", "planner:token-revoke", "planner:offer", "planner:workspace-make",
    "api:tokens", "api:token", "api:sessions", "api:session",
    "api:logins", "api:offers", "api:offer", "api:offer-accept", "api:workspaces",
    "planner:invitation", "planner:shared", "login", "logout", "planner:security", "planner:password",
    "planner:sessions", "planner:second-factor", "planner:account-delete", "api:account",
}  # fmt: skip
"""Decisions about one's own account, which need no role in any workspace."""
OWN_WORKSPACE = {
    "planner:sample", "planner:import", "planner:import-save", "planner:traces", "api:snapshots",
    "api:bundles", "api:traces", "api:sample",
}  # fmt: skip
"""Routes where an admin of another workspace writes into that workspace."""
LEAVING = {
    "planner:account-delete", "api:account", "planner:workspace-leave", "planner:workspace-switch",
}  # fmt: skip
WRITE_NOTHING = {
    ("healthz", "post"), ("readyz", "post"),
    ("planner:import", "post"), ("planner:import-save", "post"), ("planner:run-job-try", "post"),
    ("planner:forecast-changes", "post"),
    ("api:conf-lint", "post"), ("api:forecast-cost", "post"), ("login-code", "post"),
    ("api:forecast-comparison", "post"),
    ("api:scenario-preview", "post"), ("planner:queues-preview", "post"),
}  # fmt: skip
"""A preview, a save without one, a try without a search, checks of a text, a code without a password."""


@pytest.fixture(scope="module")
def found(django_db_setup: None, django_db_blocker: Any) -> Matrix:
    with django_db_blocker.unblock(), transaction.atomic():
        computed = matrix()
        transaction.set_rollback(True)
    return computed


def test_responses_to_every_role_match_the_docs(found: Matrix) -> None:
    lines = table(found)
    output = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert output == lines, "docs/access.md should say:\n" + "\n".join(lines)


def test_docs_list_every_role(found: Matrix) -> None:
    assert "| call | " + " | ".join(PRINCIPALS) + " |" in DOCS.read_text(encoding="utf-8")


def test_no_call_returns_a_server_error(found: Matrix) -> None:
    assert [
        route.call for route, row in found.items() if any(one.status >= 500 for one in row.values())
    ] == []


@pytest.mark.parametrize("who", ["anonymous", "revoked token"])
def test_anonymous_caller_must_log_in_and_changes_nothing(found: Matrix, who: str) -> None:
    for route, row in found.items():
        if route.name not in OPEN:
            assert row[who].status == (401 if route.is_api else 302), route.call
        assert not row[who].wrote or (route.name, route.method) in WRITTEN_BY_STRANGERS, route.call


def test_token_gives_no_access_to_pages(found: Matrix) -> None:
    for route, row in found.items():
        if not route.is_api and route.name not in OPEN:
            assert row["read-only token"].status == 302, route.call


def test_read_only_token_reads_what_its_account_may_and_changes_nothing(found: Matrix) -> None:
    for route, row in found.items():
        if not route.is_api or route.name in OPEN:
            continue
        assert not row["read-only token"].wrote or route.name in NOTED, route.call
        if route.method == "get":
            assert row["read-only token"].status == row["admin"].status == 200, route.call


@pytest.mark.parametrize("who", ["outsider", "former"])
def test_non_member_gets_404_and_changes_nothing(found: Matrix, who: str) -> None:
    for route, row in found.items():
        if route.name in OWN | OWN_WORKSPACE | OPEN:
            continue
        assert not row[who].wrote, route.call
        if "{" in route.pattern:
            assert row[who].status == 404, route.call


def test_former_member_cannot_write_to_the_workspace(found: Matrix) -> None:
    for route, row in found.items():
        assert not row["former"].wrote or route.name in OWN, route.call


def test_viewer_reads_everything_and_changes_nothing(found: Matrix) -> None:
    for route, row in found.items():
        assert not row["viewer"].wrote or route.name in OWN | LEAVING | NOTED, route.call
        if route.method == "get" and route.name != "planner:import":
            assert row["viewer"].status == row["admin"].status, route.call


def test_each_role_may_do_everything_a_lower_role_may(found: Matrix) -> None:
    for route, row in found.items():
        if route.name in LEAVING:
            continue
        writing = [row[who].wrote for who in ("viewer", "editor", "admin")]
        assert writing == sorted(writing), route.call


def test_get_requests_write_only_audit_records(found: Matrix) -> None:
    changing = {
        route.name
        for route, row in found.items()
        if route.method == "get" and any(c.wrote for c in row.values())
    }
    assert changing == NOTED


def test_every_other_call_writes_for_at_least_one_role(found: Matrix) -> None:
    idle = {
        (route.name, route.method)
        for route, row in found.items()
        if route.method != "get" and not any(one.wrote for one in row.values())
    }
    assert idle == WRITE_NOTHING


def test_role_is_checked_before_anything_else_in_a_call(found: Matrix) -> None:
    later = {
        (route.call, who): one.spoilt
        for route, row in found.items()
        for who, one in row.items()
        if set(one.spoilt.values()) - {403}
    }
    assert later == {}
