"""Requests about rows that another request deletes at the same moment: refused, and nothing is done twice."""

import json
import threading
import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.db import connection, models
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Event, Invitation, Membership, Role
from planner.accounts.services.invitations import invitation_accept, invitation_create, invitation_revoke
from planner.accounts.services.members import member_change, member_remove
from planner.clusters.models import Import, ImportPreview, Snapshot
from planner.clusters.services.deletion import thing_delete
from planner.clusters.services.imports import cluster_read, import_create, packed, packed_files
from planner.clusters.services.snapshots import preview_save, preview_store, previews_remove
from planner.errors import Gone
from planner.experiments.services.settling import experiment_cancel
from planner.runs.models import PublicLink, Run
from planner.runs.services.bundles import bundle_export
from planner.runs.services.links import link_create, link_revoke
from planner.runs.services.searches import search_create
from planner.scenarios.services.labels import label
from planner.work.execution import NOT_ALLOWED, claim_execute
from planner.work.lifecycle import Claim, work_cancel, work_claim
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db(transaction=True)


def stale(row: Any) -> Any:
    """Return another copy of a row, as another request has read it."""
    return type(row)._default_manager.get(pk=row.pk)


def deleted(row: Any) -> Any:
    """Delete a row and return a copy that was read before."""
    copy = stale(row)
    thing_delete(thing=row, user=None)
    return copy


def preview() -> ImportPreview:
    """Return a preview that its user may save."""
    read = cluster_read([("small.json", json.dumps(factories.cluster()).encode())])
    facts = {"workspace": factories.workspace(), "name": "small", "provenance": "small.json"}
    return preview_store(read=packed(read), user=factories.user(), **facts)


def twice(row: Any, delete: Callable[[Any], object]) -> Callable[[], object]:
    """Delete a row; return another deletion of it."""
    copy = stale(row)
    delete(row)
    return lambda: delete(copy)


def _label() -> Callable[[], object]:
    run = deleted(factories.run())
    return lambda: label(thing=run, user=None, note="mine")


def _search() -> Callable[[], object]:
    run = deleted(factories.run())
    return lambda: search_create(run=run, job="default/wait")


def _cancel() -> Callable[[], object]:
    run = deleted(factories.run())
    return lambda: work_cancel(work=run)


def _cancel_import() -> Callable[[], object]:
    queued = factories.large_import()
    Import.objects.all().delete()
    return lambda: work_cancel(work=queued)


def _cancel_experiment() -> Callable[[], object]:
    experiment = factories.experiment()
    deleted(experiment.scenario)
    return lambda: experiment_cancel(experiment=experiment)


def _save_again() -> Callable[[], object]:
    return twice(preview(), lambda row: preview_save(preview=row, user=factories.user()))


def _save_removed() -> Callable[[], object]:
    row = preview()
    previews_remove(ImportPreview.objects.all())
    return lambda: preview_save(preview=row, user=factories.user())


def _delete_again() -> Callable[[], object]:
    return twice(factories.run(), lambda row: thing_delete(thing=row, user=None))


def _revoke_again() -> Callable[[], object]:
    admin = factories.user("admin", role=Role.ADMIN)
    link, _ = link_create(run=factories.run(), user=admin)
    return twice(link, lambda row: link_revoke(link=row, user=admin))


def member() -> Membership:
    """Return a member who is no admin."""
    factories.user("admin", role=Role.ADMIN)
    return Membership.objects.get(user=factories.user("member"))


def _remove_member_again() -> Callable[[], object]:
    return twice(member(), lambda row: member_remove(membership=row))


def _change_removed_member() -> Callable[[], object]:
    row = member()
    copy = stale(row)
    member_remove(membership=row)
    return lambda: member_change(membership=copy, role=Role.VIEWER)


ACTIONS = {
    "label of a run": (_label, "run"),
    "search": (_search, "run"),
    "cancellation": (_cancel, "run"),
    "cancellation of an import": (_cancel_import, "import"),
    "cancellation of an experiment": (_cancel_experiment, "experiment"),
    "second saving": (_save_again, "import preview"),
    "saving of a removed preview": (_save_removed, "import preview"),
    "second deletion": (_delete_again, "run"),
    "second revocation of a link": (_revoke_again, "public link"),
    "second removal of a member": (_remove_member_again, "membership"),
    "change of a removed member": (_change_removed_member, "membership"),
}
COUNTED: tuple[type[models.Model], ...] = (Event, Run, Snapshot, PublicLink, Membership)


def counts() -> list[int]:
    return [model._default_manager.count() for model in COUNTED]


@pytest.mark.parametrize("action", ACTIONS)
def test_action_on_a_deleted_row_is_refused_and_changes_nothing(action: str) -> None:
    prepare, name = ACTIONS[action]
    do = prepare()
    before = counts()
    with pytest.raises(Gone, match=f"^The {name} was deleted in the meantime. Nothing was saved.$"):
        do()
    assert counts() == before


def test_accepted_invitation_cannot_be_revoked() -> None:
    admin = factories.user("admin", role=Role.ADMIN)
    read, secret = invitation_create(workspace=factories.workspace(), role=Role.EDITOR, user=admin)
    invitation_accept(secret=secret, user=factories.user("new", role=None))
    with pytest.raises(Gone):
        invitation_revoke(invitation=read, user=admin)
    assert Invitation.objects.get().accepted_by is not None


def test_call_that_waits_for_a_run_answers_404_when_the_run_is_deleted(api: APIClient) -> None:
    at = f"/api/v1/scenarios/{factories.scenario().pk}/runs/"

    def delete_soon() -> None:
        while not Run.objects.exists():
            time.sleep(0.05)
        thing_delete(thing=Run.objects.get(), user=None)
        connection.close()

    thread = threading.Thread(target=delete_soon)
    thread.start()
    answer = api.post(at, {}, headers={"Prefer": "wait=20"})
    thread.join()
    assert answer.status_code == 404, answer.content
    assert answer.json()["message"] == "The run was deleted in the meantime. Nothing was saved."


def test_page_says_that_a_preview_was_saved_already(browser: Client) -> None:
    row = preview()
    assert browser.post("/import/save/", {"draft": str(row.pk)}).status_code == 302
    answer = browser.post("/import/save/", {"draft": str(row.pk)}, follow=True)
    assert "This preview was saved already, or it is older than an hour." in text_of(answer)
    assert Snapshot.objects.count() == 1


def claimed(row: Any) -> Claim[Any]:
    claim = work_claim(kind=type(row), id=row.pk, worker="w")
    assert claim is not None
    return claim


def test_worker_drops_work_that_was_deleted_after_its_claim(caplog: Any) -> None:
    claim = claimed(factories.large_import())
    Import.objects.all().delete()
    claim_execute(claim=claim, stopping=threading.Event())
    assert "failed unexpectedly" not in caplog.text
    assert not Snapshot.objects.exists()


def test_worker_says_that_the_sender_of_a_bundle_may_no_longer_edit(finished_run: Run) -> None:
    sender = factories.user("sender")
    queued = import_create(
        files=packed_files([("run.zip", BytesIO(bundle_export(run=finished_run)))]),
        workspace=factories.workspace(),
        name="bundle",
        provenance="run.zip",
        is_bundle=True,
        user=sender,
    )
    Membership.objects.filter(user=sender).update(role=Role.VIEWER)
    claim_execute(claim=claimed(queued), stopping=threading.Event())
    queued.refresh_from_db()
    assert (queued.state, queued.error) == (Import.State.FAILED, NOT_ALLOWED)
    assert Snapshot.objects.count() == 1
