"""Who may call what? Every call of the API as everybody, against the table in docs/access.md."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from planner.api.urls import urlpatterns
from planner.models import Membership, Role, Run, Scenario, User, Workspace
from planner.services.bundles import bundle_of
from planner.services.errors import Invalid, RoleTooLow
from planner.services.history import undo
from planner.services.invitations import invitation_make
from planner.services.links import link_make
from planner.services.members import member_change, member_remove, member_set
from planner.services.queues import queue_update
from planner.services.scenarios import conf_update
from tests import factories

TABLE = Path(__file__).parents[2] / "docs" / "access.md"
CALLERS = ("anonymous", "viewer", "editor", "admin", "outsider")
OPEN_TO_ALL = {"schema", "docs", "nowhere"}
METHODS = ("get", "post", "put", "patch", "delete")


def bodies(run: Run) -> dict[tuple[str, str], object]:
    """A body that each writing call accepts."""
    return {
        ("post", "snapshots"): {"name": "again", "scenario": factories.cluster()},
        ("post", "import-cancel"): {},
        ("post", "scenarios"): {"name": "again", "snapshot": str(run.scenario.snapshot_id)},
        ("post", "scenario-queues"): {"name": "new"},
        ("patch", "scenario-queue"): {"weight": 3},
        ("delete", "scenario-queue"): None,
        ("delete", "scenario"): None,
        ("post", "conf-lint"): {"text": factories.CONF},
        ("put", "scenario-conf"): {"text": factories.CONF},
        ("patch", "scenario-conf"): [{"op": "replace", "path": "/actions", "value": "allocate"}],
        ("post", "scenario-nodes"): factories.node("n9"),
        ("post", "nodes-add"): {"count": 2, "prefix": "more", "like": "n0"},
        ("patch", "scenario-node"): {"spec": {"unschedulable": True}},
        ("delete", "scenario-node"): None,
        ("post", "scenario-workloads"): {"job": {"name": "new", "replicas": 1}},
        ("patch", "scenario-workload"): {"minMember": 2},
        ("delete", "scenario-workload"): None,
        ("post", "scenario-branch"): {"name": "branch"},
        ("post", "scenario-rebase"): {"snapshot": str(run.scenario.snapshot_id)},
        ("post", "scenario-undo"): None,
        ("post", "scenario-redo"): None,
        ("post", "change-revert"): None,
        ("post", "diff-revert"): {"kind": "queues", "key": "waits", "field": "weight"},
        ("post", "scenario-runs"): {},
        ("post", "run-cancel"): {},
        ("post", "explain-unblock"): {},
        ("post", "workspaces"): {"name": "new"},
        ("patch", "workspace"): {"name": "renamed"},
        ("put", "member"): {"role": "viewer"},
        ("delete", "member"): None,
        ("post", "invitations"): {"role": "viewer"},
        ("delete", "invitation"): None,
        ("post", "tokens"): {"scope": "viewer"},
        ("delete", "token"): None,
        ("delete", "offer"): None,
        ("post", "offer-accept"): None,
        ("post", "run-links"): {},
        ("delete", "run-link"): None,
        ("post", "bundles"): {"file": bundle_of(run=run)},
    }


def edited(scenario: Scenario) -> Scenario:
    """Return the scenario with a change to revert, one to undo and one to redo."""
    for name in ("waits", "busy"):
        seen = scenario.revision
        queue_update(scenario=scenario, name=name, patch={"weight": seen + 1}, expected_revision=seen)
    return undo(scenario=scenario, expected_revision=scenario.revision)


def uploaded(body: Any) -> Any:
    """A file anew for each call: whoever reads it leaves it at its end."""
    if body and "file" in body:
        return {"file": SimpleUploadedFile("run.zip", body["file"])}
    return body


def form(route: str | None) -> str:
    """Only a bundle comes as a form."""
    return "multipart" if route == "bundles" else "json"


def callers() -> dict[str, APIClient]:
    """A client for everybody; the outsider is admin of another workspace."""
    others = Workspace.objects.create(name="another")
    outsider = factories.user("outsider", role=None)
    Membership.objects.create(workspace=others, user=outsider, role=Role.ADMIN)
    clients = {"anonymous": APIClient()}
    for name in CALLERS[1:]:
        account = factories.user(name, role=Role(name)) if name in Role.values else outsider
        token = factories.token(account)
        clients[name] = APIClient(HTTP_AUTHORIZATION=f"Token {token}")
    return clients


def things(run: Run, scenario: Scenario) -> dict[str, Any]:
    """What the addresses name: a thing of each kind; `scenario` is an edited one, see `edited`."""
    colleague = factories.user("colleague", role=Role.VIEWER)
    admin = User.objects.get(username="admin").acting(Role.ADMIN)
    return {
        "import_id": factories.large_import().pk,
        "snapshot_id": scenario.snapshot_id, "scenario_id": scenario.pk, "run_id": run.pk,
        "workspace_id": run.workspace_id, "name": "waits", "username": colleague.username,
        "namespace": "default", "job": "wait", "pod": "wait-0", "node": "n0", "seq": 1,
        "order": run.victims.all()[0].order, "kind": "podgroups",
        "change_id": scenario.changes.get(revision=2).pk,
        "invitation_id": invitation_make(workspace=run.workspace, role=Role.VIEWER, user=admin)[0].pk,
        "link_id": link_make(run=run, user=admin)[0].pk, "token_key": "of-nobody",
    }  # fmt: skip


def answers(run: Run, clients: dict[str, APIClient]) -> Iterator[tuple[str, list[int]]]:
    """Yield every call of the schema with what each caller is answered."""
    sent = bodies(run)
    scenario = edited(run.scenario)
    named = things(run, scenario)
    for route in urlpatterns:
        if route.name in OPEN_TO_ALL:
            continue
        pattern = re.sub(r"<\w+:(\w+)>", r"{\1}", str(route.pattern))
        for method in METHODS:
            if not hasattr(route.callback.view_class, method):
                continue
            assert method == "get" or (method, route.name) in sent, "give this call a body"
            address = "/api/v1/" + pattern.format(**named)
            query = "" if method == "get" or route.name in ("run-cancel", "import-cancel") else "?dry_run=1"
            if (method, route.name) == ("get", "scenario-rebase"):
                query = f"?snapshot={scenario.snapshot_id}"
            if route.name == "comparisons":
                query = f"?runs={run.pk},{factories.run(scenario).pk}"
            yield (
                f"{method.upper()} {pattern}",
                [
                    getattr(clients[caller], method)(
                        address + query,
                        uploaded(sent.get((method, str(route.name)))),
                        **({} if method == "get" else {"format": form(route.name)}),
                        headers={"If-Match": str(scenario.revision)},
                    ).status_code
                    for caller in CALLERS
                ],
            )


def test_every_call_answers_everybody_as_the_table_says(finished_run: Run) -> None:
    lines = [
        f"| `{call}` | " + " | ".join(map(str, statuses)) + " |"
        for call, statuses in answers(finished_run, callers())
    ]
    told = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert told == lines, "docs/access.md should say:\n" + "\n".join(lines)


def test_strangers_are_told_to_log_in_and_outsiders_see_nothing(finished_run: Run) -> None:
    for call, (stranger, viewer, editor, admin, outsider) in answers(finished_run, callers()):
        assert stranger == HTTPStatus.UNAUTHORIZED
        if "tokens" in call or "lint" in call or " invitations/" in call or call == "POST workspaces/":
            continue  # everybody's own, and what is kept nowhere
        assert editor < 300 or "workspaces/" in call
        assert admin < 300
        if call.startswith("GET"):
            assert viewer == HTTPStatus.OK
        else:
            assert viewer == HTTPStatus.FORBIDDEN
        if "{" in call or "comparisons" in call:
            assert outsider == HTTPStatus.NOT_FOUND


@pytest.fixture
def scenario(db: None) -> Scenario:
    return factories.scenario()


def pages(run: Run) -> list[str]:
    return [f"/scenarios/{run.scenario_id}/", f"/runs/{run.pk}/", f"/runs/{run.pk}/queues/waits/"]


def log_in(client: Client, name: str, role: Role | None) -> User:
    account = factories.user(name, role=role)
    client.force_login(account)
    return account


def test_a_page_of_another_workspace_is_not_there(client: Client, finished_run: Run) -> None:
    log_in(client, "outsider", None)
    assert [client.get(page).status_code for page in pages(finished_run)] == [404, 404, 404]
    assert client.post(f"/scenarios/{finished_run.scenario_id}/runs/").status_code == 404
    assert "what if" not in client.get("/").content.decode()


def test_a_viewer_reads_every_page_and_is_offered_no_change(client: Client, finished_run: Run) -> None:
    log_in(client, "viewer", Role.VIEWER)
    for page in pages(finished_run):
        answer = client.get(page)
        assert answer.status_code == 200
        content = answer.content.decode()
        for offer in ("Run this scenario</button>", "Run it again", "Save configuration", "data-edit"):
            assert offer not in content


def test_a_viewer_changes_nothing_through_a_page(client: Client, finished_run: Run) -> None:
    log_in(client, "viewer", Role.VIEWER)
    at = f"/scenarios/{finished_run.scenario_id}/"
    for address, typed in (
        (f"{at}runs/", {}),
        (f"{at}conf/", {"text": "", "revision": "1"}),
        (f"{at}queues/waits/", {"weight": "7", "revision": "1"}),
        (f"{at}queues/", {"name": "new", "revision": "1"}),
        (f"{at}queues/waits/move/", {"parent": "busy", "revision": "1"}),
        (f"{at}queues/waits/duplicate/", {"revision": "1"}),
        (f"{at}queues/waits/remove/", {"revision": "1"}),
        (f"/runs/{finished_run.pk}/cancel/", {}),
        ("/sample/", {}),
        ("/import/save/", {"draft": "x"}),
    ):
        answer = client.post(address, typed)
        assert answer.status_code in (302, 403), address
        assert answer.status_code == 403 or address == "/import/save/"
    assert Scenario.objects.get(pk=finished_run.scenario_id).revision == 1
    assert Run.objects.count() == 1


def test_a_service_refuses_whom_an_interface_forgot(scenario: Scenario) -> None:
    for account in (factories.user("viewer", role=Role.VIEWER), factories.user("outsider", role=None)):
        with pytest.raises(RoleTooLow):
            conf_update(scenario=scenario, text="", expected_revision=1, user=account)


def test_a_workspace_keeps_an_admin(scenario: Scenario) -> None:
    admin = factories.user("admin", role=Role.ADMIN)
    with pytest.raises(Invalid):
        member_change(membership=admin.memberships.get(), role=Role.VIEWER, user=admin)
    with pytest.raises(Invalid):
        member_remove(membership=admin.memberships.get(), user=admin)
    factories.user("second", role=Role.ADMIN)
    member_remove(membership=admin.memberships.get(), user=admin)
    assert not admin.memberships.exists()


def test_an_account_that_is_not_there_becomes_no_member(scenario: Scenario) -> None:
    with pytest.raises(Invalid):
        member_set(workspace=scenario.workspace, username="nobody", role=Role.VIEWER)
