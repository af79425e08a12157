"""Deletions of a workspace while another request changes something in it: no deadlocks, nothing is left."""

import json
import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from planner.accounts.models import Invitation, Membership, Role, User, Workspace
from planner.accounts.services.invitations import (
    invitation_accept,
    invitation_create,
    invitation_decline,
    invitation_offer,
    invitation_revoke,
    offer_accept,
)
from planner.accounts.services.members import member_change, member_remove
from planner.accounts.services.workspaces import workspace_rename
from planner.clusters.models import Cluster
from planner.clusters.services.deletion import thing_delete
from planner.clusters.services.imports import cluster_read, packed
from planner.clusters.services.snapshots import preview_save, preview_store
from planner.errors import gone_of
from planner.forecasts.models import Forecast
from planner.runs.models import Run
from planner.runs.services.links import link_create, link_revoke
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

HELD_SECONDS = 0.5
"""How long the other request stays uncommitted; on PostgreSQL the deletion waits for it meanwhile."""


def admin() -> User:
    return factories.user("admin", role=Role.ADMIN)


def member() -> Membership:
    return Membership.objects.get(user=factories.user("member"))


def link_of_newcomer() -> tuple[User, str, Invitation]:
    invitation, secret = invitation_create(workspace=factories.workspace(), role=Role.EDITOR, user=admin())
    return factories.user("new", role=None), secret, invitation


def offered() -> tuple[User, Invitation]:
    new = factories.user("new", role=None)
    offer = invitation_offer(workspace=factories.workspace(), username="new", role=Role.EDITOR, user=admin())
    return new, offer


def _promote() -> Callable[[], object]:
    row = member()
    return lambda: member_change(membership=row, role=Role.ADMIN, user=admin())


def _demote() -> Callable[[], object]:
    row = member()
    return lambda: member_change(membership=row, role=Role.VIEWER, user=admin())


def _remove() -> Callable[[], object]:
    row = member()
    return lambda: member_remove(membership=row, user=admin())


def _accept() -> Callable[[], object]:
    new, secret, _ = link_of_newcomer()
    return lambda: invitation_accept(secret=secret, user=new)


def _accept_offer() -> Callable[[], object]:
    new, offer = offered()
    return lambda: offer_accept(invitation=offer, user=new)


def _decline() -> Callable[[], object]:
    new, offer = offered()
    return lambda: invitation_decline(invitation=offer, user=new)


def _offer_again() -> Callable[[], object]:
    offered()
    return lambda: offered()


def _revoke() -> Callable[[], object]:
    _, _, invitation = link_of_newcomer()
    return lambda: invitation_revoke(invitation=invitation, user=admin())


def _link() -> Callable[[], object]:
    run = factories.run()
    return lambda: link_create(run=run, user=admin())


def _revoke_link() -> Callable[[], object]:
    link, _ = link_create(run=factories.run(), user=admin())
    return lambda: link_revoke(link=link, user=admin())


def _delete_run() -> Callable[[], object]:
    run = factories.run()
    return lambda: thing_delete(thing=Run.objects.get(pk=run.pk), user=admin())


def _delete_forecast() -> Callable[[], object]:
    forecast = factories.forecast()
    return lambda: thing_delete(thing=Forecast.objects.get(pk=forecast.pk), user=admin())


def _import_again() -> Callable[[], object]:
    factories.snapshot()
    return lambda: factories.snapshot()


def _save_preview() -> Callable[[], object]:
    factories.snapshot()
    read = cluster_read([("small.json", json.dumps(factories.cluster()).encode())])
    row = preview_store(
        read=packed(read), user=factories.user(), workspace=factories.workspace(), name="small", provenance=""
    )
    return lambda: preview_save(preview=row, user=factories.user())


def _rename() -> Callable[[], object]:
    return lambda: workspace_rename(workspace=factories.workspace(), name="renamed", user=admin())


ACTIONS = {
    "promotion": _promote,
    "demotion": _demote,
    "removal of a member": _remove,
    "acceptance by link": _accept,
    "acceptance": _accept_offer,
    "decline": _decline,
    "second offer": _offer_again,
    "revocation": _revoke,
    "public link": _link,
    "revocation of a public link": _revoke_link,
    "deletion of a run": _delete_run,
    "deletion of a forecast": _delete_forecast,
    "import": _import_again,
    "import by preview": _save_preview,
    "renaming": _rename,
}


def done_meanwhile(action: Callable[[], object], other: Callable[[], object]) -> list[Exception]:
    """Do something on another connection that is committed while `other` waits; return why it failed."""
    begun, over, failed = threading.Event(), threading.Event(), list[Exception]()

    def work() -> None:
        try:
            with transaction.atomic():
                action()
                begun.set()
                over.wait(HELD_SECONDS)
        except Exception as error:
            failed.append(error)
        finally:
            begun.set()
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(10)
    try:
        other()
    finally:
        over.set()
        thread.join()
    return failed


@pytest.mark.parametrize("action", ACTIONS)
def test_workspace_is_deleted_while_another_request_changes_something_in_it(action: str) -> None:
    change = ACTIONS[action]()
    assert admin().memberships.exists()
    workspace = factories.workspace()
    failed = done_meanwhile(change, lambda: thing_delete(thing=workspace, user=None))
    assert all(gone_of(error) for error in failed), failed
    assert not Workspace.objects.filter(pk=workspace.pk).exists()
    assert not Cluster.objects.exists()
    assert not Run.objects.exists()


def test_renaming_a_workspace_that_is_deleted_meanwhile_returns_404(api: APIClient) -> None:
    token = factories.token(admin())
    api.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    workspace = factories.workspace()
    answers = []

    def rename() -> None:
        answers.append(api.patch(f"/api/v1/workspaces/{workspace.pk}/", {"name": "renamed"}))

    done_meanwhile(lambda: thing_delete(thing=Workspace.objects.get(pk=workspace.pk), user=None), rename)
    assert [answer.status_code for answer in answers] == [404]
