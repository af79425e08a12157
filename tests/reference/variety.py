"""Small clusters that use every rule of the reference engine, deterministic by number.

Nodes with labels, taints, zones and groups; queues in trees, closed, guaranteed, not reclaimable; gangs of
different pods that run, terminate, wait, are gated, critical, cooling down, near others or spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from tests.builders import (
    NOW,
    Object,
    amounts,
    node,
    pod,
    podgroup,
    priority_class,
    queue,
    scenario,
)
from tests.reference.odd_configurations import odd_configuration
from tests.reference.resources import Vector, fits, minus, vector

SIZES = (
    {"cpu": 4, "memory": "8Gi"},
    {"cpu": 6, "memory": "6Gi", "gpu": 4},
    {"cpu": "3500m", "memory": "16Gi", "gpu": 1, "pods": 8},
)
REQUESTS = (
    *({"cpu": 1, "memory": "1Gi"}, {"cpu": 2, "memory": "512Mi"}, {"cpu": "300m", "memory": "3Gi"}),
    *({"cpu": 1, "memory": "1Gi", "gpu": 1}, {"cpu": 3, "memory": "2Gi", "gpu": 2}, {}),
)
LIMITS = (
    {"cpu": 1},
    {"cpu": 3, "memory": "4Gi"},
    {"cpu": 8, "memory": "12Gi", "gpu": 2},
    {"gpu": 3},
    {"pods": 4},
)
TAINTS = (
    {"key": "pool", "value": "batch", "effect": "NoSchedule"},
    {"key": "pool", "value": "batch", "effect": "PreferNoSchedule"},
    {"key": "old", "effect": "NoExecute"},
)
CLASSES = (("low", 10), ("high", 100), ("system-node-critical", 1000))
ZONES, GROUPS, APPS = ("east", "west"), ("a", "b"), ("web", "db", "job")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def varied(number: int) -> Object:
    """Return a cluster."""
    random = Random(number)
    nodes = [_node(random, f"n{position}") for position in range(random.randint(1, 4))]
    queues = _queues(random)
    parents = {entry["spec"].get("parent") for entry in queues}
    leaves = [name for entry in queues if (name := entry["metadata"]["name"]) not in parents]
    groups: list[Object] = []
    pods: list[Object] = []
    room = {entry["metadata"]["name"]: vector(entry["status"]["allocatable"]) for entry in nodes}
    count = random.randint(4, 12)
    for position in range(count):
        runs = random.random() < (0.95 if position < 0.6 * count else 0.1)
        group, members = _gang(random, f"g{position}", leaves, room, runs=runs)
        groups.append(group)
        pods += members
    document = scenario(
        nodes=nodes,
        queues=queues,
        podgroups=groups,
        pods=pods,
        priorityclasses=[priority_class(name, value) for name, value in CLASSES],
        conf=odd_configuration(random),
        cycles=random.choice((1, 1, 2, 3)),
        evicted=random.choice(("requeue", "delete")),
    )
    return {
        **document,
        "name": f"varied {number}",
        "termination_cycles": random.choice((0, 1, 2)),
        "namespaces": [{"metadata": {"name": name, "labels": {"team": name}}} for name in ("default", "s0")],
        "poddisruptionbudgets": [_budget(random, app) for app in APPS if random.random() < 0.4],
        "resourcequotas": [_quota(random)] if random.random() < 0.3 else [],
    }


def _sometimes(random: Random, chance: float, value: Any) -> Any:
    return value if random.random() < chance else None


def _node(random: Random, name: str) -> Object:
    labels = {"zone": random.choice(ZONES)} if random.random() < 0.9 else {}
    if random.random() < 0.5:
        labels["volcano.sh/nodegroup-name"] = random.choice(GROUPS)
    if random.random() < 0.2:
        labels["volcano.sh/revocable-zone"] = "z"
    return node(
        name,
        labels=labels,
        taints=[taint for taint in TAINTS if random.random() < 0.1],
        unschedulable=random.random() < 0.08,
        annotations={"volcano.sh/oversubscription-cpu": "500"} if random.random() < 0.1 else None,
        **random.choice(SIZES),
    )


def _queues(random: Random) -> list[Object]:
    queues: list[Object] = []
    tree = random.random() < 0.5
    for position in range(random.randint(1, 5)):
        above = ["root", *(entry["metadata"]["name"] for entry in queues)]
        affinity = {
            kind: {
                strength: random.sample(GROUPS, random.randint(0, 2))
                for strength in (REQUIRED, PREFERRED)
                if random.random() < 0.4
            }
            for kind in ("nodeGroupAffinity", "nodeGroupAntiAffinity")
            if random.random() < 0.5
        }
        path = {
            "volcano.sh/hierarchy": f"root/t{position % 2}/q{position}",
            "volcano.sh/hierarchy-weights": f"1/{position % 2 + 1}/{position + 1}",
        }
        queues.append(
            queue(
                f"q{position}",
                weight=random.randint(1, 4),
                priority=_sometimes(random, 0.3, random.randint(0, 2)),
                reclaimable=_sometimes(random, 0.4, random.random() < 0.6),
                parent=random.choice(above) if tree else None,
                guarantee=_sometimes(random, 0.3, random.choice(LIMITS[:2])),
                deserved=_sometimes(random, 0.7, random.choice(LIMITS)),
                capability=_sometimes(random, 0.4, random.choice(LIMITS[1:])),
                state=random.choice(["Open"] * 7 + ["Closed"]),
                created=random.randint(0, 2),
                annotations=path if random.random() < 0.8 else None,
                **({"affinity": affinity} if random.random() < 0.6 else {}),
            )
        )
    return queues


def _place(random: Random, room: dict[str, Vector], request: Object) -> str | None:
    """Return a node with room for a request, and reserve it; occasionally a node without room."""
    wanted = {**vector(amounts(**request)), "pods": 1.0}
    names = [name for name in room if random.random() < 0.02 or fits(wanted, room[name])]
    if not names:
        return None
    name = random.choice(names)
    room[name] = minus(room[name], wanted)
    return name


def _gang(
    random: Random, name: str, leaves: Sequence[str], room: dict[str, Vector], *, runs: bool
) -> tuple[Object, list[Object]]:
    count = random.randint(1, 5)
    namespace = random.choice(["default"] * 5 + ["s0", "kube-system"])
    roles = [random.choice((None, "ps", "worker", "worker")) for _ in range(count)]
    request, alike = random.choice(REQUESTS), random.random() < 0.7
    members = []
    for position, role in enumerate(roles):
        requested = request if alike else random.choice(REQUESTS)
        place = _place(random, room, requested) if runs and random.random() < 0.9 else None
        own = f"{name}-{random.choice(('', 'x-'))}{position}"
        members.append(_pod(random, own, place, group=name, namespace=namespace, role=role, **requested))
    held = any(member["spec"].get("nodeName") for member in members)
    notes = {
        "volcano.sh/sla-waiting-time": "11h59m55s",
        "volcano.sh/preemptable": random.choice(("true", "false")),
        "volcano.sh/jdb-min-available": random.choice(("1", "50%")),
    }
    minimum = random.choice((0, 1, 1, 1, count, random.randint(1, count)))
    return podgroup(
        name,
        namespace=namespace,
        queue=random.choice(list(leaves)),
        min_member=minimum,
        min_task_member=_sometimes(random, 0.25, {"worker": min(minimum, max(1, roles.count("worker")))}),
        min_resources=_sometimes(
            random, 0.6, random.choice((request, {"cpu": 2, "memory": "2Gi"}, {"pods": 2}))
        ),
        priority_class=random.choice((None, None, "low") if runs else (None, "low", "high", "high")),
        phase="Running" if held else random.choice(("Pending", "Pending", "Inqueue", "")),
        created=random.randint(0, 3),
        annotations={key: text for key, text in notes.items() if random.random() < 0.1},
    ), members


def _pod(random: Random, name: str, place: str | None, **facts: Any) -> Object:
    app = random.choice(APPS)
    labels = {"app": app, **({"volcano.sh/cooldown-time": "13h"} if random.random() < 0.1 else {})}
    spec: Object = {}
    class_name = random.choice([None] * 7 + ["low", "high", "system-node-critical"])
    if class_name is not None:
        spec["priorityClassName"] = class_name
    if random.random() < 0.05:
        spec["preemptionPolicy"] = "Never"
    if random.random() < 0.4:
        spec["tolerations"] = [{"key": "pool", "operator": "Exists"}]
    if random.random() < 0.1:
        spec["nodeSelector"] = {"zone": random.choice(ZONES)}
    if random.random() < 0.2:
        spec["affinity"] = _affinity(random, app)
    if random.random() < 0.15:
        spec["topologySpreadConstraints"] = [_spread(random, app)]
    if place is None and random.random() < 0.06:
        spec["schedulingGates"] = [
            {"name": random.choice(("x", "scheduling.volcano.sh/queue-allocation-gate"))}
        ]
    made = pod(
        name,
        node=place,
        phase=_sometimes(random, 0.08, random.choice(("Pending", "Succeeded", "Failed"))) if place else None,
        preemptable=_sometimes(random, 0.2, random.random() < 0.5),
        deleting=place is not None and random.random() < 0.1,
        created=random.randint(0, 3),
        labels=labels,
        spec=spec,
        **facts,
    )
    if random.random() < 0.08:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": random.choice((80, 81))}]
    if random.random() < 0.06:
        made["spec"]["initContainers"] = [{"name": "init", "resources": {"requests": {"cpu": "2"}}}]
    if place is not None:
        made["status"]["conditions"] = [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": NOW.replace("12:", "09:")}
        ]
    return made


def _term(random: Random) -> Object:
    return {
        "topologyKey": random.choice(("zone", "kubernetes.io/hostname")),
        "labelSelector": {"matchLabels": {"app": random.choice(APPS)}},
        **({"namespaceSelector": {"matchLabels": {"team": "s0"}}} if random.random() < 0.15 else {}),
    }


def _affinity(random: Random, app: str) -> Object:
    kind = random.choice(("nodeAffinity", "podAffinity", "podAntiAffinity", "podAntiAffinity"))
    if kind == "nodeAffinity":
        wanted = {"key": "zone", "operator": random.choice(("In", "NotIn")), "values": [random.choice(ZONES)]}
        term = {"matchExpressions": [wanted]}
        if random.random() < 0.4:
            return {kind: {REQUIRED: {"nodeSelectorTerms": [term]}}}
        return {kind: {PREFERRED: [{"weight": random.choice((1, 50)), "preference": term}]}}
    if random.random() < 0.5:
        weighted = {"weight": random.choice((1, 20, 100)), "podAffinityTerm": _term(random)}
        return {kind: {PREFERRED: [weighted]}}
    term = _term(random)
    if kind == "podAffinity" and random.random() < 0.5:
        term["labelSelector"] = {"matchLabels": {"app": app}}
    return {kind: {REQUIRED: [term]}}


def _spread(random: Random, app: str) -> Object:
    return {
        "maxSkew": random.choice((1, 2)),
        "topologyKey": random.choice(("zone", "kubernetes.io/hostname")),
        "whenUnsatisfiable": random.choice(("DoNotSchedule", "ScheduleAnyway")),
        "labelSelector": {"matchLabels": {"app": app}},
    }


def _budget(random: Random, app: str) -> Object:
    return {
        "metadata": {"name": app, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": random.randint(0, 3)},
    }


def _quota(random: Random) -> Object:
    hard = {"cpu": str(random.randint(2, 6)), "pods": "5"}
    return {
        "metadata": {"name": "quota", "namespace": "default"},
        "status": {"hard": hard, "used": {"cpu": "1"}},
    }
