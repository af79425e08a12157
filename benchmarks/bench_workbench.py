"""How long does the workbench take with 500 queues and 20,000 jobs, from a click to new figures?

``python -m benchmarks.bench_workbench`` imports a made-up cluster into a database of its own, and measures
the page and the calls in the process that answers them, without network and browser. Seconds of the
processor, which is all that an idle machine takes; of several tries the middle one.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from time import process_time
from typing import Any

TRIES = 7
GOALS = {"first load": 1.0, "page": 1.0, "edit to new figures": 0.5, "preview by API": 0.5}
"""Seconds that each may take."""


def main() -> int:
    """Print the table; returns 1 when something takes longer than it may."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["QUEUECAST_VAR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        return print_table(measured())


def measured() -> dict[str, float]:
    """Return the seconds of every kind of answer."""
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    scenario, account = _scenario()
    browser = Client(headers={"host": "localhost"})
    browser.force_login(account)
    page = f"/scenarios/{scenario.pk}/"
    _seconds(lambda: browser.get("/"))
    first = _seconds(lambda: browser.get(page))
    weights = iter(range(2, 60_000))

    def edit() -> object:
        scenario.refresh_from_db()
        typed = {"weight": str(next(weights)), "deserved.cpu": "40", "revision": str(scenario.revision)}
        return browser.post(
            f"{page}queues/queue-00007/",
            typed,
            headers={"HX-Request": "true", "HX-Target": "queue-queue-00007"},
        )

    return {
        "first load": first,
        "page": _middle(lambda: browser.get(page)),
        "edit to new figures": _middle(edit),
        "preview by API": _middle(lambda: browser.get(f"/api/v1/scenarios/{scenario.pk}/preview/")),
    }


def print_table(seconds: dict[str, float]) -> int:
    """Print what each took and may take."""
    print("500 queues, 20,000 jobs, 38,000 pods\n")
    print("| what | seconds | goal |\n|---|---:|---:|")
    for what, took in seconds.items():
        print(f"| {what} | {took:.3f} | {GOALS[what]:.1f} |")
    return int(any(took > GOALS[what] for what, took in seconds.items()))


def _scenario() -> tuple[Any, Any]:
    from django.contrib.auth.models import User

    import manifests
    from benchmarks.generator import Size, cluster
    from planner.models import Membership, Role, Workspace
    from planner.services.scenarios import scenario_create
    from planner.services.snapshots import snapshot_create

    document = cluster(Size(nodes=1_000, pods=20_000, queues=498, levels=3, pending=18_000))
    conf = manifests.dump([document.pop("scheduler_conf")])
    account = User.objects.create_user("bench")
    workspace, _ = Workspace.objects.get_or_create(name=Workspace.DEFAULT)
    Membership.objects.create(workspace=workspace, user=account, role=Role.EDITOR)
    snapshot = snapshot_create(
        workspace=workspace, name="large", document=document, scheduler_conf=conf, owner=account
    )
    return scenario_create(snapshot=snapshot, name="what if", owner=account), account


def _seconds(answer: Callable[[], object]) -> float:
    started = process_time()
    response = answer()
    took = process_time() - started
    assert getattr(response, "status_code", None) == 200, getattr(response, "content", b"")[:2000]
    return took


def _middle(answer: Callable[[], object]) -> float:
    return statistics.median(_seconds(answer) for _ in range(TRIES))


if __name__ == "__main__":
    sys.exit(main())
