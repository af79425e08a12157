"""One object of each kind in an installation, and the responses of its pages and its API."""

import json
import re
from typing import Any

from django.test import Client

import manifests
from planner.accounts.models import Membership, Role, User
from planner.accounts.services.second_factor import second_factor_begin
from planner.clusters.models import Import
from planner.scenarios.services.nodes import node_create
from planner.scenarios.services.revisions import copy_store
from scheduler_core import simulate_document
from tests import factories
from tests.planner import calls
from tests.planner.recorded import finish

FRESH = re.compile(r'csrf[^>]*value="[^"]+"|"X-CSRFToken": "[^"]+"|[^<>]* ago|just now')
SAME = [
    *("/runs/{run}/" + part for part in ("", "queues/waits/", "jobs/default/wait/")),
    *("/api/v1/runs/{run}/" + part for part in ("queues/", "jobs/", "decisions/?page_size=1000")),
    # Without the run time of victims, which the first releases did not store.
    "/api/v1/runs/{run}/victims/?fields=order,pod,job,queue,node,for_pod,for_job,for_queue,action,reason,state",
    *("/api/v1/runs/{run}/" + part for part in ("result/", "input/", "explain/steps/1/")),
    *("/api/v1/scenarios/{scenario}/" + part for part in ("queues/", "diff/", "workloads/", "conf/")),
]
"""Addresses with the same response after an upgrade."""
THERE = [
    "/", "/import/", "/imports/{import}/", "/status/", "/account/", "/account/security/",
    "/runs/{run}/victims/{victim}/", "/runs/{run}/share/", "/compare/?runs={run},{other}",
    "/api/v1/runs/{run}/links/",
    *("/scenarios/{scenario}/" + part for part in ("", "changes/", "export/")),
    *("/workspaces/{workspace}/" + part for part in ("members/", "history/", "storage/")),
    *("/api/v1/" + part for part in ("workspaces/", "runs/", "snapshots/", "tokens/", "status/")),
    "/api/v1/workspaces/{workspace}/changes/",
]  # fmt: skip
"""Addresses that respond after an upgrade with other content, such as times or new objects."""


def furnish() -> dict[str, str]:
    """Create an object of each kind; return the names used in the addresses."""
    factories.user("admin", role=Role.ADMIN)
    run = factories.run()
    finish(run, simulate_document(manifests.resolve(run.input.document())))
    scenario = calls.edited(run.scenario)
    calls.objects(run, scenario)
    node_create(scenario=scenario, manifest=factories.node("n9"), expected_revision=scenario.revision)
    scenario.refresh_from_db()
    copy_store(scenario=scenario)
    admin = User.objects.get(username="admin").acting(Role.ADMIN)
    second_factor_begin(user=admin)
    factories.token(admin)
    return {
        "run": str(run.pk), "scenario": str(scenario.pk), "workspace": str(run.workspace_id),
        "victim": str(run.victims.all()[0].order), "other": str(factories.run(scenario).pk),
        "import": str(Import.objects.get().pk),
    }  # fmt: skip


def answers(named: dict[str, str]) -> dict[str, Any]:
    """Return the responses of pages and API to an admin; every address must respond."""
    Membership.objects.filter(user__username="admin").update(role=Role.ADMIN)
    browser = Client(headers={"host": "localhost"})
    browser.force_login(User.objects.get(username="admin"))
    response = {address: browser.get(address.format(**named)) for address in (*SAME, *THERE)}
    failed = {
        address: answer.status_code for address, answer in response.items() if answer.status_code != 200
    }
    assert not failed, failed
    texts = {address: FRESH.sub("", b"".join(response[address]).decode()) for address in SAME}
    # PostgreSQL stores the members of a JSON object in its own order.
    return {address: json.loads(text) if "/api/" in address else text for address, text in texts.items()}
