"""Replays of small clusters of full variety: half of the waiting jobs arrive later, and objects change."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random

from tests.builders import Object
from tests.reference.admission import key_of
from tests.reference.pods import group_of
from tests.reference.variety import varied
from tests.reference.world import RUN

EVICTED = ("restart", "resume", "restart-job", "delete")
ARRIVES_UNTIL, HORIZON = 40, 80


def varied_replay(number: int) -> Object:
    """Return a replay document, deterministic by number."""
    random = Random(f"replay {number}")
    document = deepcopy(dict(varied(number)))
    for key in ("cycles", "termination_cycles", "evicted"):
        document.pop(key)
    events = [*_arrivals(random, document), *_changes(random, document)]
    plan = {
        "period_seconds": random.choice((1, 2, 5)),
        "horizon_seconds": HORIZON,
        "start_delay_seconds": random.choice((0, 0, 3)),
        "evicted": random.choice(EVICTED),
        "events": events,
    }
    if random.random() < 0.7:
        plan["termination_seconds"] = random.choice((0, 5, 30))
    return {**document, "name": f"varied replay {number}", "replay": plan}


def _arrivals(random: Random, document: Object) -> Iterator[Object]:
    """Remove half of the waiting PodGroups from a cluster, and yield the events of their arrival."""
    for group in list(document["podgroups"]):
        members = [pod for pod in document["pods"] if group_of(pod) == key_of(group)]
        if random.random() < 0.75:
            group["metadata"].setdefault("annotations", {})[RUN] = str(random.randint(3, 40))
        if random.random() < 0.5 or any(pod["spec"].get("nodeName") for pod in members):
            continue
        document["podgroups"].remove(group)
        for pod in members:
            document["pods"].remove(pod)
        for thing in (group, *members):
            del thing["metadata"]["creationTimestamp"]
        at = random.randint(0, 4 * ARRIVES_UNTIL) / 4
        yield {"at": at, "create": {"podgroups": [group], "pods": members}}


def _changes(random: Random, document: Object) -> Iterator[Object]:
    """Yield the events of nodes and queues."""
    if random.random() < 0.3:
        name = random.choice(document["nodes"])["metadata"]["name"]
        yield {"at": random.randint(0, HORIZON), random.choice(("delete", "drain")): {"nodes": [name]}}
    if random.random() < 0.3:
        changed = deepcopy(random.choice(document["queues"]))
        changed["spec"]["weight"] = random.randint(1, 5)
        yield {"at": random.randint(0, HORIZON), "replace": {"queues": [changed]}}
