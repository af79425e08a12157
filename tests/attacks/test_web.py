"""Hostile requests: scripts in texts, forged forms and tokens, ids of others, malformed requests."""

import json
import os
import secrets
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from planner.accounts.models import Membership, Role, Workspace
from planner.runs.models import Run
from planner.runs.services.runs import run_create
from planner.scenarios.models import Scenario
from planner.scenarios.services.scenarios import scenario_create
from tests import factories

SCRIPT = "<script>alert(1)</script>"
BREAKOUT = '"><img src=x onerror=alert(1)>'


@pytest.fixture
def spoiled(db: None) -> Scenario:
    """A scenario with a script in every text field."""
    document = factories.cluster()
    document["name"] = SCRIPT
    for kind in ("nodes", "queues", "podgroups", "pods"):
        for thing in document[kind]:
            metadata = thing["metadata"]
            metadata["labels"] = {"note": SCRIPT, BREAKOUT: "v"}
            metadata["annotations"] = {**metadata.get("annotations", {}), "note": SCRIPT, BREAKOUT: SCRIPT}
    document["pods"][0]["status"]["reason"] = SCRIPT
    document["queues"][0]["spec"]["affinity"] = {
        "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [SCRIPT]}
    }
    plugin = {"name": BREAKOUT, SCRIPT: True, "arguments": {BREAKOUT: SCRIPT, SCRIPT: {BREAKOUT: SCRIPT}}}
    conf = f"# {SCRIPT}\n{factories.CONF}  - {json.dumps(plugin)}\n"
    snapshot = factories.snapshot(document, name=SCRIPT, conf=conf)
    snapshot.provenance = SCRIPT
    snapshot.save()
    return scenario_create(snapshot=snapshot, name=f"what if {BREAKOUT}", owner=factories.user())


def pages_of(scenario: Scenario) -> list[str]:
    run = run_create(scenario=scenario, user=factories.user())
    Run.objects.filter(pk=run.pk).update(state="failed", error=f"{SCRIPT} {BREAKOUT}", doing=SCRIPT)
    return [
        "/", f"/scenarios/{scenario.pk}/", f"/runs/{run.pk}/",
        f"/scenarios/{scenario.pk}/queues/busy/?edit", "/status/", "/account/",
        f"/scenarios/{scenario.pk}/conf/",
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(7))
def test_script_in_any_text_is_escaped(spoiled: Scenario, browser: Client, number: int) -> None:
    address = pages_of(spoiled)[number]
    answer = browser.get(address)
    assert answer.status_code == 200, address
    shown = answer.content.decode()
    assert SCRIPT not in shown
    assert "<img src=x" not in shown
    assert "'unsafe-inline'" not in answer["Content-Security-Policy"]


@pytest.mark.parametrize("text", [SCRIPT, BREAKOUT, "{{ 7|add:7 }}{% now 'Y' %}", "javascript:alert(1)"])
def test_pasted_hostile_text_is_escaped(browser: Client, text: str) -> None:
    answer = browser.post("/import/", {"documents": f"kind: {text!r}\n{text}", "name": text})
    assert answer.status_code == 422
    shown = answer.content.decode()
    assert "<script>alert" not in shown
    assert "<img src=x" not in shown
    assert "14" not in shown.partition("{{ 7|add:7 }}")[1]


@pytest.mark.parametrize(
    "path",
    [
        "/sample/", "/import/", "/import/save/", "/scenarios/{scenario}/conf/", "/scenarios/{scenario}/runs/",
        "/scenarios/{scenario}/conf/edit/",
        "/scenarios/{scenario}/queues/busy/", "/runs/{run}/cancel/", "/account/tokens/",
        "/logout/", "/login/", "/api/v1/scenarios/{scenario}/runs/",
    ],
)  # fmt: skip
def test_cross_site_form_changes_nothing(finished_run: Run, path: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(factories.user())
    address = path.format(scenario=finished_run.scenario_id, run=finished_run.pk)
    runs, revision = Run.objects.count(), finished_run.scenario.revision
    answer = browser.post(address, {"weight": "9"}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert Run.objects.count() == runs
    assert Scenario.objects.get(pk=finished_run.scenario_id).revision == revision


def forged_tokens() -> dict[str, str]:
    account = factories.user()
    good = factories.token(account)
    revoked, expired = factories.token(account), factories.token(account)
    AuthToken.objects.filter(token_key=revoked[:15]).delete()
    AuthToken.objects.filter(token_key=expired[:15]).update(expiry=timezone.now() - timedelta(seconds=1))
    return {
        "random": f"Token {secrets.token_hex(32)}",
        "expired": f"Token {expired}",
        "revoked": f"Token {revoked}",
        "truncated": f"Token {good[:-1]}",
        "key alone": f"Token {good[:15]}",
        "no stated scope": f"Token {AuthToken.objects.create(account)[1]}",
        "different case": f"Token {good.swapcase()}",
        "other scheme": f"Basic {good}",
        "two tokens": f"Token {good} {good}",
        "none": "Token ",
        "undecodable": "Token \udcff",
        "very long": f"Token {'a' * 100_000}",
        "sql": "Token ' OR '1'='1",
    }


@pytest.mark.parametrize(
    "kind",
    [
        "random", "expired", "revoked", "truncated", "key alone", "different case", "other scheme",
        "two tokens", "none", "undecodable", "very long", "sql",
        "no stated scope",
    ],
)  # fmt: skip
def test_forged_token_is_refused(db: None, kind: str) -> None:
    forged = forged_tokens()[kind].encode("utf-8", "surrogateescape").decode("latin-1")
    answer = APIClient(HTTP_AUTHORIZATION=forged).get("/api/v1/scenarios/")
    assert answer.status_code == 401


def test_token_in_the_url_is_refused(db: None) -> None:
    good = factories.token(factories.user())
    assert APIClient().get(f"/api/v1/scenarios/?token={good}").status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "/scenarios/{scenario}/", "/scenarios/{scenario}/conf/", "/scenarios/{scenario}/queues/busy/",
        "/runs/{run}/", "/runs/{run}/queues/busy/", "/runs/{run}/jobs/default/run/",
        "/api/v1/scenarios/{scenario}/", "/api/v1/runs/{run}/input/", "/api/v1/runs/{run}/result/",
        "/api/v1/snapshots/{snapshot}/", "/compare/?runs={run},{run}",
    ],
)  # fmt: skip
def test_id_of_another_workspace_is_not_found(finished_run: Run, path: str) -> None:
    outsider = factories.user("outsider", role=None)
    others = Workspace.objects.create(name="another")
    Membership.objects.create(workspace=others, user=outsider, role=Role.ADMIN)
    browser = Client()
    browser.force_login(outsider)
    address = path.format(
        scenario=finished_run.scenario_id, run=finished_run.pk, snapshot=finished_run.scenario.snapshot_id
    )
    answer = browser.get(address)
    assert answer.status_code in (404, 405, 422), address
    assert str(finished_run.scenario.name) not in answer.content.decode()


ODD: list[tuple[str, str, dict[str, str], set[int]]] = [
    ("get", "/static/../config/settings.py", {}, {404}),
    ("get", "/static/%2e%2e/%2e%2e/etc/passwd", {}, {404}),
    ("get", "/static/..%5c..%5cmanage.py", {}, {404}),
    ("get", "/api/v1/runs/?ordering=owner__password", {}, {422}),
    ("get", "/api/v1/runs/?scenario=' OR 1=1 --", {}, {422}),
    ("get", "/api/v1/runs/?owner__password__startswith=a", {}, {422}),
    ("get", "/api/v1/runs/?page=99999999999999999999999999", {}, {404, 422}),
    ("get", "/api/v1/runs/?page_size=999999999", {}, {200, 422}),
    ("get", "/api/v1/runs/null,null/", {}, {404}),
    ("get", f"/api/v1/runs/{uuid.UUID(int=0)}/", {}, {404}),
    ("get", "/api/v1/scenarios/%00/", {}, {404}),
    ("get", "/login/?next=https://evil.example/", {}, {302}),
    ("get", "/login/?next=//evil.example/", {}, {302}),
    ("get", "/", {"host": "evil.example"}, {400}),
    ("get", "/", {"x-forwarded-host": "evil.example"}, {200}),
    ("get", "/api/v1/scenarios/", {"accept": "text/html"}, {200, 406}),
    ("put", "/", {}, {405}),
    ("trace", "/", {}, {405}),
    ("post", "/api/v1/runs/", {"x-http-method-override": "DELETE"}, {405}),
]


@pytest.mark.parametrize(("method", "address", "headers", "statuses"), ODD)
def test_malformed_request_gets_a_plain_error(
    browser: Client, method: str, address: str, headers: dict[str, str], statuses: set[int]
) -> None:
    answer = getattr(browser, method)(address, headers=headers)
    assert answer.status_code in statuses
    assert "evil.example" not in answer.headers.get("Location", "")
    assert "SECRET_KEY" not in answer.content.decode(errors="replace")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000, b'{"cycles":' + b"9" * 5_000 + b"}", b'{"cycles": 1e400}', b'{"cycles": -1}',
        b'{"cycles": 1000000000000}', b'{"cycles": "1; DROP TABLE planner_run"}', b'{"cycles": NaN}',
        b"\xff\xfe", b"null", b'"text"', b"[]",
    ],
)  # fmt: skip
def test_malformed_body_is_refused_and_creates_no_run(api: APIClient, body: bytes) -> None:
    scenario = factories.scenario()
    answer = api.generic(
        "POST", f"/api/v1/scenarios/{scenario.pk}/runs/", body, content_type="application/json"
    )
    assert answer.status_code in (400, 422), answer.content
    assert not Run.objects.exists()


def test_upload_file_name_cannot_escape_the_folder(browser: Client, settings) -> None:
    name = f"../../{secrets.token_hex(8)}.yaml"
    answer = browser.post("/import/", {"files": SimpleUploadedFile(name, SCRIPT.encode())})
    assert answer.status_code == 422
    assert "<script>alert" not in answer.content.decode()
    # Other tests may delete their folders meanwhile; `os.walk` skips them.
    files = {file for _, _, names in os.walk(Path(settings.VAR_DIR).parent) for file in names}
    assert Path(name).name not in files


@pytest.mark.parametrize("header", ["Idempotency-Key", "Prefer", "If-Match", "X-Request-Id"])
def test_enormous_header_does_not_cause_a_server_error(api: APIClient, header: str) -> None:
    scenario = factories.scenario()
    answer = api.patch(
        f"/api/v1/scenarios/{scenario.pk}/queues/busy/",
        {"weight": 2},
        headers={"If-Match": "1", header: "x" * 100_000},
    )
    assert answer.status_code in (200, 400, 412, 422)
