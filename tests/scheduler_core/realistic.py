"""Replays of clusters as they are run: pools of nodes, trees of queues, few kinds of very different jobs."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

from tests.builders import Object, Plugin, conf, node, priority_class, queue, scenario
from tests.scheduler_core.realistic_jobs import PREFERRED, REQUIRED, arrival, kind, simple_kind
from tests.scheduler_core.replays import Dice, vcjob

GROUP = "volcano.sh/nodegroup-name"
POOLS: tuple[Object, ...] = (
    {"pool": "cpu", "cpu": 8, "memory": "32Gi"},
    {"pool": "small", "cpu": 4, "memory": "8Gi", "pods": 6},
    {"pool": "gpu", "cpu": 8, "memory": "64Gi", "gpu": 4, "taint": "NoSchedule"},
    {"pool": "spot", "cpu": 6, "memory": "16Gi", "taint": "PreferNoSchedule"},
    {"pool": "old", "cpu": "3500m", "memory": "7Gi", "taint": "NoExecute"},
)
CLASSES = (
    priority_class("low", 10),
    priority_class("normal", 100, globalDefault=True),
    priority_class("polite", 1000, preemptionPolicy="Never"),
    priority_class("high", 1000),
    priority_class("system-cluster-critical", 2_000_000_000),
)
ACTIONS = (
    "enqueue, allocate, backfill",
    "enqueue, allocate, preempt, backfill",
    "enqueue, allocate, reclaim, backfill",
    "enqueue, allocate, preempt, reclaim, backfill",
    "enqueue, allocate, reclaim, preempt, backfill",
    "allocate, backfill, preempt, reclaim",
    "enqueue, reclaim, allocate, backfill, preempt",
    "enqueue, allocate, gangpreempt, backfill",
    "enqueue, allocate, backfill, gangreclaim",
)
SIMPLE = (
    *("binpack", "capacity", "conformance", "drf", "gang", "nodeorder", "overcommit", "predicates"),
    *("priority", "proportion"),
)
"""The plugins of simple clusters, which have calm sessions."""
EVICTED = ("restart", "resume", "restart-job", "delete")
SHARES = ("proportion", "capacity", "tree", "tree", "drf", "hdrf")


def realistic_replay(number: int, *, simple: bool = False) -> Object:
    """Return a replay document, deterministic by number; a simple one has calm sessions."""
    random = Random(f"realistic {number} {simple}")
    shares = random.choice(SHARES[:-1] if simple else SHARES)
    nodes = _nodes(random)
    queues, leaves = _queues(random, shares, len(nodes))
    pools = sorted({entry["metadata"]["labels"]["pool"] for entry in nodes})
    made = simple_kind if simple else kind
    kinds = [made(random, random.choice(leaves), pools) for _ in range(random.randint(2, 9))]
    until, count = random.choice((40, 90, 200)), random.randint(10, 60)
    arrivals = [arrival(random, f"j{position:02d}", random.choice(kinds)) for position in range(count)]
    replay = {
        "period_seconds": random.choice((1, 1, 2, 5)),
        "horizon_seconds": until + random.choice((20, 120)),
        "start_delay_seconds": 0 if simple else random.choice((0, 0, 0, 3)),
        "termination_seconds": random.choice((0, 4, 30)),
        "evicted": random.choice(EVICTED),
        "events": [
            *({"at": random.randint(0, 4 * until) / 4, "create": objects} for objects in arrivals),
            *_changes(random, nodes, queues, until),
        ],
    }
    document = scenario(
        nodes=nodes,
        queues=queues,
        priorityclasses=list(CLASSES),
        conf=_configuration(random, shares, simple=simple),
        replay=replay,
    )
    if not simple and random.random() < 0.25:
        document["resourcequotas"] = [_quota(random)]
    if not simple and random.random() < 0.25:
        document["poddisruptionbudgets"] = [_budget(random, random.choice(kinds)["name"])]
    return {**document, "name": f"realistic {number}"}


def _quota(random: Random) -> Object:
    status = {"hard": {"cpu": str(random.randint(6, 30)), "pods": "40"}, "used": {"cpu": "1"}}
    return {"metadata": {"name": "quota", "namespace": "default"}, "status": status}


def _budget(random: Random, name: str) -> Object:
    return {
        "metadata": {"name": "budget", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"kind": name}}},
        "status": {"disruptionsAllowed": random.randint(0, 2)},
    }


def _nodes(random: Random) -> list[Object]:
    nodes: list[Object] = []
    for pool in random.sample(POOLS, random.randint(1, 4)):
        sizes = {name: amount for name, amount in pool.items() if name not in ("pool", "taint")}
        for _ in range(random.randint(1, 3)):
            name = f"n{len(nodes)}"
            taint = {"key": "pool", "value": pool["pool"], "effect": pool.get("taint", "NoSchedule")}
            labels = {"pool": pool["pool"], "zone": random.choice("ab")}
            if random.random() < 0.7:
                labels[GROUP] = random.choice("gh")
            if pool["pool"] == "spot" and random.random() < 0.7:
                labels["volcano.sh/revocable-zone"] = "z"
            tainted = "taint" in pool and random.random() < 0.9
            nodes.append(
                node(
                    name,
                    labels=labels,
                    taints=[taint] if tainted else [],
                    unschedulable=random.random() < 0.06,
                    **sizes,
                )
            )
    return nodes


def _amounts(random: Random, nodes: int, *, part: float) -> Object:
    cpu = max(1, round(random.random() * 2 * part * 7 * nodes))
    amounts: Object = {"cpu": cpu}
    if random.random() < 0.7:
        amounts["memory"] = f"{cpu * random.choice((1, 2, 4))}Gi"
    if random.random() < 0.4:
        amounts["gpu"] = random.randint(0, 4)
    return amounts


def _queues(random: Random, shares: str, nodes: int) -> tuple[list[Object], list[str]]:
    """Return queues, and the names of those without children."""
    count = random.randint(1, 5)
    parents: list[str | None] = [None] * count
    names = [f"q{position}" for position in range(count)]
    if shares == "tree":
        parents = [random.choice(["root", "root", *names[:position]]) for position in range(count)]
    part = 1 / count
    queues = []
    for position, name in enumerate(names):
        path = {
            "volcano.sh/hierarchy": f"root/t{position % 2}/{name}"
            if random.random() < 0.8
            else f"root/{name}",
            "volcano.sh/hierarchy-weights": f"1/{position % 2 + 1}/{position + 1}",
        }
        if path["volcano.sh/hierarchy"].count("/") == 1:
            path["volcano.sh/hierarchy-weights"] = f"1/{position + 2}"
        affinity = {
            kind: {strength: random.sample("gh", random.randint(0, 2)) for strength in (REQUIRED, PREFERRED)}
            for kind in ("nodeGroupAffinity", "nodeGroupAntiAffinity")
            if random.random() < 0.4
        }
        queues.append(
            queue(
                name,
                parent=parents[position],
                weight=random.randint(1, 4),
                priority=random.choice((None, None, 0, 5)),
                reclaimable=random.choice((None, None, True, False)),
                guarantee=_amounts(random, nodes, part=part / 6) if random.random() < 0.2 else None,
                deserved=_amounts(random, nodes, part=part) if random.random() < 0.85 else None,
                capability=_amounts(random, nodes, part=2 * part) if random.random() < 0.35 else None,
                created=random.randint(0, 1),
                annotations=path if shares == "hdrf" else None,
                **({"affinity": affinity} if random.random() < 0.5 else {}),
            )
        )
    return queues, [name for name in names if name not in parents]


def _configuration(random: Random, shares: str, *, simple: bool) -> Object:
    def some(chance: float, name: str, **fields: Any) -> list[Plugin]:
        taken = random.random() < chance and (name in SIMPLE or not simple)
        return [(name, fields) if fields else name] if taken else []

    gang: Plugin = ("gang", {"enablePreemptable": False}) if random.random() < 0.3 else "gang"
    zone = random.choice(("10:00-14:00", "11:00-12:01", "12:01-12:02", "13:00-14:00"))
    tdm = {"tdm.revocable-zone.z": zone, "tdm.evict.period": random.choice(("5s", "20s"))}
    share: list[Plugin] = {
        "proportion": [*some(0.4, "drf"), "proportion"],
        "capacity": [*some(0.3, "drf"), "capacity"],
        "tree": [("capacity", {"enableHierarchy": True})],
        "drf": ["drf"],
        "hdrf": [("drf", {"enableHierarchy": True})],
    }[shares]
    first = [
        *some(0.95, "priority"),
        *([gang] if random.random() < 0.9 else []),
        *some(0.7, "conformance"),
        *some(0.12, "sla", arguments={"sla-waiting-time": random.choice(("20s", "1m30s"))}),
        *some(0.12, "cdp"),
        *some(0.1, "tdm", arguments=tdm),
        *some(0.08, "pdb"),
    ]
    second = [
        *some(0.45, "overcommit", arguments={"overcommit-factor": random.choice((1.0, 1.2, 3))}),
        "predicates",
        *share,
        *some(0.7, "nodeorder"),
        *some(0.35, "binpack"),
        *some(0.15, "nodegroup", arguments={"strict": random.choice((True, False))}),
        *some(0.1, "resourcequota"),
        *some(0.1, "resource-strategy-fit"),
    ]
    if random.random() < 0.2:
        random.shuffle(second)
    if random.random() < 0.1:
        first, second = [*second, *first], []
    chosen = random.choices(ACTIONS, weights=(3, 3, 3, 5, 2, *[0 if simple else 1] * 4))[0]
    if any(entry[0] == "tdm" for entry in first) and random.random() < 0.5:
        chosen += ", shuffle"
    topology = {"enableTopologyAwarePreemption": True}
    return conf(
        chosen,
        *([first, second] if second else [first]),
        **({"preempt": topology} if random.random() < 0.06 and not simple else {}),
        **({"allocate": {"predicateErrorCacheEnable": False}} if random.random() < 0.08 else {}),
    )


def _changes(random: Random, nodes: list[Object], queues: list[Object], until: int) -> Iterator[Object]:
    """Yield the events of nodes and queues."""
    for _ in range(random.choice((0, 0, 1, 2, 4))):
        at = random.randint(0, until)
        one = deepcopy(random.choice(nodes))
        what = random.choice(("delete", "drain", "create", "cordon", "queue"))
        if what in ("delete", "drain"):
            yield {"at": at, what: {"nodes": [one["metadata"]["name"]]}}
        elif what == "create":
            one["metadata"]["name"] = one["metadata"]["labels"]["kubernetes.io/hostname"] = (
                f"x{random.random()}"
            )
            yield {"at": at, "create": {"nodes": [one]}}
        elif what == "cordon":
            one["spec"]["unschedulable"] = not one["spec"].get("unschedulable")
            yield {"at": at, "replace": {"nodes": [one]}}
        else:
            changed = deepcopy(random.choice(queues))
            changed["spec"] |= {
                "weight": random.randint(1, 6),
                "deserved": {"cpu": str(random.randint(1, 20))},
            }
            yield {"at": at, "replace": {"queues": [changed]}}


def disturbed_replay(number: int) -> Object:
    """Return a realistic replay with lost nodes, other configurations, closed queues and Jobs."""
    document = realistic_replay(number, simple=number % 2 == 0)
    random, events = Random(f"disturbed {number}"), document["replay"]["events"]
    until = int(max(event["at"] for event in events))
    parents = {entry["spec"].get("parent") for entry in document["queues"]}
    queues = [name for entry in document["queues"] if (name := entry["metadata"]["name"]) not in parents]
    for position in range(random.randint(1, 4)):
        at, name = random.randint(0, until), random.choice(queues)
        what = random.choice(("actions", "lose", "close", "jobs"))
        if what == "actions":
            actions = random.choice(ACTIONS[:6])
            events.append({"at": at, "scheduler_conf": {**document["scheduler_conf"], "actions": actions}})
        elif what == "lose":
            lost = random.choice(document["nodes"])["metadata"]["name"]
            events.append({"at": at, "lose": {"nodes": [lost]}})
        elif what == "close":
            events.append({"at": at, "close": {"queues": [name]}})
            events.append({"at": at + random.randint(1, 40), "open": {"queues": [name]}})
        else:
            made = vcjob(Dice(f"disturbed {number} {position}"), position, name)
            events.append({"at": at, "create": {"jobs": [made]}})
    return document
