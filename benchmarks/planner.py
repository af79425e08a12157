"""Measures the product's responses within one process, without network and browser.

There is a temporary database with one cluster, and a client that is logged in.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any

TRIES = 7


@contextmanager
def installed() -> Iterator[None]:
    """Set up Django with a temporary database."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["QUEUECAST_VAR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        yield


def scenario_of(document: dict[str, Any]) -> Any:
    """Return a stored scenario of a cluster with its configuration; its owner may edit it."""
    import manifests
    from planner.accounts.models import Membership, Role, User, Workspace
    from planner.clusters.selectors.demand import demand_store
    from planner.clusters.services.snapshots import snapshot_create
    from planner.scenarios.services.scenarios import scenario_create
    from planning.demands import counted

    objects = {name: listed for name, listed in document.items() if name != "scheduler_conf"}
    known = User.objects.filter(username="bench").first() or User.objects.create_user("bench")
    account = known.acting(Role.ADMIN)
    workspace, _ = Workspace.objects.get_or_create(name=Workspace.DEFAULT)
    Membership.objects.get_or_create(workspace=workspace, user=account, defaults={"role": Role.EDITOR})
    snapshot = snapshot_create(
        workspace=workspace,
        name="large",
        document=objects,
        scheduler_conf=manifests.dump([document["scheduler_conf"]]),
        owner=account,
    )
    demand_store(snapshot.content_id, counted(objects))  # as an import does
    return scenario_create(snapshot=snapshot, name="what if", owner=account)


def browser_of(account: Any) -> Any:
    """Return a logged-in client that has requested one page, so that modules and templates are loaded."""
    from django.test import Client

    browser = Client(headers={"host": "localhost"})
    browser.force_login(account)
    seconds(lambda: browser.get("/"))
    return browser


def seconds(answer: Callable[[], Any]) -> float:
    """Return the processor seconds of one response, which must be successful."""
    started = process_time()
    response = answer()
    took = process_time() - started
    assert response.status_code == 200, response.content[:2000]
    return took


def fastest(answer: Callable[[], Any]) -> float:
    """Return the fastest of several tries: other work on the machine only makes them slower."""
    return min(seconds(answer) for _ in range(TRIES))


def middle(answer: Callable[[], Any]) -> float:
    """Return the median of several tries."""
    return statistics.median(seconds(answer) for _ in range(TRIES))
