"""Public links of runs, and bundles that reproduce a run on another installation."""

import io
import json
import re
import zipfile
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from planner.accounts.models import Event, Role
from planner.clusters.models import Snapshot
from planner.runs.models import PublicLink, Run
from planner.runs.services.bundles import bundle_export
from tests import factories
from tests.planner.pages import text_of
from tests.worker import do_work


def test_a_public_link_shows_the_run_until_it_is_revoked(
    client: Client, api: APIClient, finished_run: Run
) -> None:
    at = f"/api/v1/runs/{finished_run.pk}/links/"
    made = api.post(at)
    assert made.status_code == 201
    address = made.json()["address"].removeprefix("http://testserver")
    page = client.get(address)
    assert page.status_code == 200
    text = text_of(page)
    for victim in finished_run.victims.all():
        assert victim.pod in text
    assert "busy" in text
    assert f"/runs/{finished_run.pk}/" not in text
    assert f"/scenarios/{finished_run.scenario_id}/" not in text
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "no-store" in page.headers["Cache-Control"]
    assert client.get(f"/runs/{finished_run.pk}/").status_code == 302
    assert api.delete(f"{at}{made.json()['id']}/").status_code == 204
    assert client.get(address).status_code == 404
    assert list(Event.objects.filter(kind="link").values_list("action", flat=True)) == [
        "removed",
        "read",
        "made",
    ]


def test_links_are_created_and_revoked_on_the_page(client: Client, finished_run: Run) -> None:
    client.force_login(factories.user("editor"))
    at = f"/runs/{finished_run.pk}/"
    assert "No public link" in text_of(client.get(f"{at}share/"))
    assert client.post(f"{at}links/", {"label": "review", "days": "0"}).status_code == 422
    made = text_of(client.post(f"{at}links/", {"label": "review", "days": "7"}))
    link = PublicLink.objects.get()
    [secret] = re.findall(r"/shared/([^/]+)/", made)
    assert client.get(f"/shared/{secret}/").status_code == 200
    listed = text_of(client.get(f"{at}share/"))
    assert secret not in listed
    assert "review" in listed
    assert "1 read" in listed
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    assert client.post(f"{at}links/{link.pk}/").status_code == 403
    client.force_login(factories.user("editor"))
    client.post(f"{at}links/{link.pk}/")
    assert not PublicLink.objects.exists()


# Released migrations do not change, so this is a long test; test_upgrade covers all migrations in every run.
@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_a_link_created_before_links_were_hashed_still_works(client: Client, finished_run: Run) -> None:
    secret = uuid4()
    now = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate([("planner", "0023_links_and_events")])
    with connection.cursor() as rows:
        rows.execute(
            "insert into planner_publiclink (id, run_id, created) values (%s, %s, %s)",
            [secret.hex, finished_run.pk.hex, timezone.now()],
        )
    MigrationExecutor(connection).migrate(now)
    assert client.get(f"/shared/{secret}/").status_code == 200
    link = PublicLink.objects.get()
    assert (link.run, link.expires, link.reads) == (finished_run, None, 1)
    assert link.pk != secret, "the secret is not stored"


def upload(api: APIClient, content: bytes):
    file = SimpleUploadedFile("run.zip", content, "application/zip")
    return api.post("/api/v1/bundles/", {"file": file}, format="multipart")


def test_a_bundle_reproduces_the_result_byte_for_byte(api: APIClient, finished_run: Run) -> None:
    answer = api.get(f"/api/v1/runs/{finished_run.pk}/bundle/")
    assert answer.headers["Content-Type"] == "application/zip"
    packed = answer.content
    assert packed == bundle_export(run=finished_run), "bundles are deterministic"
    parts = zipfile.ZipFile(io.BytesIO(packed))
    assert parts.namelist() == ["bundle.json", "input.json", "result.json", "volcano-scheduler.conf"]
    assert parts.read("volcano-scheduler.conf").decode() == factories.CONF
    result = finished_run.result.content()  # type: ignore[union-attr]
    Run.objects.all().delete()

    body = upload(api, packed).json()
    run = Run.objects.get(pk=body["run"]["id"])
    assert run.input.content() == parts.read("input.json")
    do_work(run)
    assert (run.state, run.result_id) == ("succeeded", body["result_sha256"])
    assert run.result.content() == result  # type: ignore[union-attr]
    assert Snapshot.objects.latest("created").provenance.startswith("bundle of a run, engine")


@pytest.mark.parametrize("break_it", ["not a zip", "input", "result", "format", "no input"])
def test_a_broken_bundle_is_refused_and_nothing_is_stored(
    api: APIClient, finished_run: Run, break_it: str
) -> None:
    before = Snapshot.objects.count()
    answer = upload(api, broken(bundle_export(run=finished_run), break_it))
    assert answer.status_code == 422, answer.content
    assert answer.json()["problems"][0]["rule"] == "bundle.broken"
    assert Snapshot.objects.count() == before


def broken(packed: bytes, how: str) -> bytes:
    if how == "not a zip":
        return packed[10:200]
    old = zipfile.ZipFile(io.BytesIO(packed))
    parts = {name: old.read(name) for name in old.namelist()}
    if how == "no input":
        del parts["input.json"]
    elif how == "format":
        parts["bundle.json"] = json.dumps({**json.loads(parts["bundle.json"]), "format": 99}).encode()
    else:
        parts[f"{how}.json"] += b" "
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return changed.getvalue()
