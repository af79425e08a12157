"""Recorded scenarios with random mutations, deterministic by number."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.builders import GPU, GROUP_NAME, Object

CASES = Path(__file__).parents[1] / "fidelity" / "cases"
FAMILIES = (
    *("capacity", "capacity_hierarchy", "cycles", "drf", "gang", "gated", "hdrf", "mixed", "mutated"),
    *("overcommit", "preempt", "proportion_reclaim", "protect", "predicates", "switches", "targeted"),
)
ACTIONS = (
    *("enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle"),
)
PLUGINS = (
    *(
        "priority",
        "gang",
        "conformance",
        "drf",
        "predicates",
        "proportion",
        "capacity",
        "nodeorder",
        "binpack",
    ),
    *("overcommit", "sla", "tdm", "cdp", "pdb", "nodegroup", "resourcequota", "resource-strategy-fit"),
)
SWITCHES = (
    *("enableHierarchy", "enablePreemptable", "enableReclaimable", "enablePredicate", "enableJobOrder"),
    *("enableJobStarving", "enableJobPipelined", "enableJobReady", "enableTaskOrder", "enableQueueOrder"),
    *("enabledAllocatable", "enabledOverused", "enableNodeOrder", "enableVictim", "enableJobEnqueued"),
)
AMOUNTS = ("0", "0.0001", "1m", "1", "7", "1e12", "9Ei", "99999999999999999999")
RESOURCES = ("cpu", "memory", "pods", GPU, "ephemeral-storage", "example.com/thing")
TIMES = ("2026-01-01T00:00:00Z", "2031-12-31T23:59:59Z", "1970-01-01T00:00:00Z")
Mutation = Callable[[Random, Object], None]


@cache
def recorded(family: str) -> list[bytes]:
    """Return the scenarios of a family as JSON strings."""
    with gzip.open(CASES / f"{family}.jsonl.gz") as lines:
        return list(lines)


def mutated(number: int, families: Sequence[str] = FAMILIES) -> Object:
    """Return a mutated scenario of one of the given families."""
    random = Random(number)
    family = random.choice(families)
    scenario: Object = json.loads(random.choice(recorded(family)))["scenario"]
    scenario["name"] = f"{number} of {scenario['name']}"
    scenario["cycles"] = random.choice((1, 1, 1, 2, 3, 4))
    for _ in range(random.randint(1, 8)):
        random.choice(MUTATIONS)(random, scenario)
    return scenario


def _any(random: Random, scenario: Object, kind: str) -> Object | None:
    things = scenario.get(kind) or []
    return random.choice(things) if things else None


def _spec(random: Random, scenario: Object, kind: str) -> Object:
    thing = _any(random, scenario, kind)
    return {} if thing is None else thing.setdefault("spec", {})


def _conf(random: Random, scenario: Object) -> Object:
    conf = scenario.get("scheduler_conf")
    if not isinstance(conf, dict) or "tiers" not in conf:
        conf = scenario["scheduler_conf"] = {"actions": "enqueue, allocate", "tiers": [{"plugins": []}]}
    return conf


def _plugin(random: Random, scenario: Object) -> Object:
    plugins = [plugin for tier in _conf(random, scenario)["tiers"] for plugin in tier.get("plugins") or []]
    return random.choice(plugins) if plugins else {}


def _amounts(random: Random) -> dict[str, str]:
    return {name: random.choice(AMOUNTS) for name in random.sample(RESOURCES, random.randint(0, 3))}


def actions(random: Random, scenario: Object) -> None:
    """Shuffle the actions, and repeat some of them."""
    chosen = random.choices(ACTIONS, k=random.randint(1, 8))
    _conf(random, scenario)["actions"] = ", ".join(chosen)


def switches(random: Random, scenario: Object) -> None:
    """Toggle a plugin's switch."""
    plugin = _plugin(random, scenario)
    plugin[random.choice(SWITCHES)] = random.random() < 0.5


def plugins(random: Random, scenario: Object) -> None:
    """Replace the tiers."""
    names = random.sample(PLUGINS, random.randint(0, 8))
    cut = random.randint(0, len(names))
    tiers = [[{"name": name} for name in part] for part in (names[:cut], names[cut:])]
    _conf(random, scenario)["tiers"] = [{"plugins": tier} for tier in tiers]


def parents(random: Random, scenario: Object) -> None:
    """Change a queue's parent to none, a missing queue, itself or any other."""
    names = [queue["metadata"]["name"] for queue in scenario.get("queues") or []]
    _spec(random, scenario, "queues")["parent"] = random.choice(["", "nowhere", "root", *names])


def queue_limits(random: Random, scenario: Object) -> None:
    """Give a queue unusual amounts."""
    field, amounts = random.choice(("capability", "deserved", "guarantee")), _amounts(random)
    if random.random() < 0.3 and amounts:
        amounts[next(iter(amounts))] = "-1"
    _spec(random, scenario, "queues")[field] = {"resource": amounts} if field == "guarantee" else amounts


def queue_state(random: Random, scenario: Object) -> None:
    """Change other fields of a queue."""
    spec = _spec(random, scenario, "queues")
    spec["weight"] = random.choice((0, 1, 2**31 - 1))
    spec["reclaimable"] = random.random() < 0.5
    spec["priority"] = random.choice((-5, 0, 10**6))
    queue = _any(random, scenario, "queues")
    if queue is not None:
        queue["status"] = {"state": random.choice(("Open", "Closed", "Closing", "", "Unknown"))}


def queue_gone(random: Random, scenario: Object) -> None:
    """Remove a queue, or `root` and `default`."""
    if scenario.get("queues") and random.random() < 0.7:
        scenario["queues"].remove(random.choice(scenario["queues"]))
    else:
        scenario["default_queues"] = False


def groups(random: Random, scenario: Object) -> None:
    """Change the requirements of a PodGroup."""
    spec = _spec(random, scenario, "podgroups")
    spec["minMember"] = random.choice((0, 1, 2, 5, 2**31 - 1))
    if random.random() < 0.5:
        spec["minResources"] = random.choice((_amounts(random), {}, {"cpu": "-2"}))
    if random.random() < 0.3:
        spec["minTaskMember"] = {random.choice(("a", "worker", "")): random.choice((0, 1, 99))}
    names = [queue["metadata"]["name"] for queue in scenario.get("queues") or []]
    if random.random() < 0.5:
        spec["queue"] = random.choice(["", "nowhere", "root", *names])


def phases(random: Random, scenario: Object) -> None:
    """Change the phase of a PodGroup."""
    group = _any(random, scenario, "podgroups")
    if group is not None:
        phase = random.choice(("", "Pending", "Inqueue", "Running", "Unknown", "Completed"))
        group["status"] = {"phase": phase}


def requests(random: Random, scenario: Object) -> None:
    """Change the requests of a pod."""
    spec = _spec(random, scenario, "pods")
    for container in spec.get("containers") or []:
        container["resources"] = {"requests": _amounts(random)}


def places(random: Random, scenario: Object) -> None:
    """Move a pod to another node, or to none."""
    pod = _any(random, scenario, "pods")
    if pod is None:
        return
    names = [node["metadata"]["name"] for node in scenario.get("nodes") or []]
    pod.setdefault("spec", {})["nodeName"] = random.choice(["", "nowhere", *names])
    status = pod.setdefault("status", {})
    status["phase"] = random.choice(("Pending", "Running", "Succeeded", "Failed", "Unknown"))
    status["nominatedNodeName"] = random.choice(["", "nowhere", *names])
    if random.random() < 0.3:
        pod["metadata"]["deletionTimestamp"] = random.choice(TIMES)


def pod_facts(random: Random, scenario: Object) -> None:
    """Change a pod's PodGroup and priority."""
    pod = _any(random, scenario, "pods")
    if pod is None:
        return
    annotations = pod["metadata"].setdefault("annotations", {}) or {}
    pod["metadata"]["annotations"] = annotations
    groups = [group["metadata"]["name"] for group in scenario.get("podgroups") or []]
    annotations[GROUP_NAME] = random.choice(["", "nowhere", *groups])
    annotations["volcano.sh/preemptable"] = random.choice(("true", "false", "maybe"))
    annotations["volcano.sh/task-spec"] = random.choice(("a", "worker", ""))
    spec = pod.setdefault("spec", {})
    spec["priority"] = random.choice((-(2**31), 0, 2**31 - 1))
    spec["preemptionPolicy"] = random.choice(("Never", "PreemptLowerPriority"))
    if random.random() < 0.3:
        spec["schedulingGates"] = [
            {"name": random.choice(("x", "scheduling.volcano.sh/queue-allocation-gate"))}
        ]


def nodes(random: Random, scenario: Object) -> None:
    """Remove a node, or change its allocatable."""
    node = _any(random, scenario, "nodes")
    if node is None:
        return
    if random.random() < 0.2:
        scenario["nodes"].remove(node)
    elif random.random() < 0.2:
        node["status"] = {}
    else:
        node.setdefault("status", {})["allocatable"] = _amounts(random)
        node.setdefault("spec", {})["unschedulable"] = random.random() < 0.3


def settings(random: Random, scenario: Object) -> None:
    """Change the scenario's own settings."""
    scenario["evicted"] = random.choice(("requeue", "delete"))
    scenario["termination_cycles"] = random.choice((0, 1, 3))
    scenario["cycle_seconds"] = random.choice((0, 1, 1e6))
    scenario["admission_defaults"] = random.random() < 0.7
    scenario["controllers"] = random.random() < 0.3
    if random.random() < 0.5:
        scenario.pop("now", None)


def arguments(random: Random, scenario: Object) -> None:
    """Give a plugin or an action unusual arguments."""
    plugin = _plugin(random, scenario)
    plugin["arguments"] = {
        random.choice(("binpack.weight", "overcommit-factor", "ancestorReclaimLevel", "sla-waiting-time")): (
            random.choice((0, -1, 1e9, "x", "2m", True))
        )
    }
    topology = {"enableTopologyAwarePreemption": True}
    _conf(random, scenario)["configurations"] = [{"name": "preempt", "arguments": topology}]


def twins(random: Random, scenario: Object) -> None:
    """Add a copy of a pod."""
    pod = _any(random, scenario, "pods")
    if pod is not None:
        twin: Any = json.loads(json.dumps(pod))
        twin["metadata"]["name"] += f"-twin-{len(scenario['pods'])}"
        twin["metadata"].pop("uid", None)
        scenario["pods"].append(twin)


MUTATIONS: tuple[Mutation, ...] = (
    *(actions, actions, actions, switches, plugins, parents, queue_limits, queue_state, queue_gone, groups),
    *(phases, requests, places, pod_facts, nodes, settings, arguments, twins),
)
