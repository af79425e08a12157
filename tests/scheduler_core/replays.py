"""Replays generated from a seed: small clusters with jobs that arrive over a few minutes."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from tests.builders import Object, conf, job, node, podgroup, pods, priority_class, queue, scenario

CONFS = (
    conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "proportion", "binpack"]),
    conf(
        "enqueue, allocate, reclaim, backfill",
        ["priority", "gang", "conformance"],
        ["predicates", "capacity", "nodeorder"],
    ),
    conf(
        "enqueue, allocate, preempt, reclaim, backfill",
        ["priority", "gang", "conformance"],
        ["drf", "overcommit", "predicates", "proportion", "nodeorder"],
    ),
)
CLOCKED = (
    conf(
        "enqueue, allocate, preempt, reclaim, backfill",
        ["priority", "gang", "conformance", ("sla", {"arguments": {"sla-waiting-time": "1m30s"}})],
        ["overcommit", "predicates", "proportion", "nodeorder"],
    ),
    conf(
        "enqueue, allocate, preempt, reclaim, backfill",
        ["priority", "gang", "conformance", "cdp"],
        ["drf", "predicates", "capacity", "nodeorder"],
    ),
    conf(
        "enqueue, allocate, backfill, shuffle",
        ["priority", "gang", "conformance"],
        [
            (
                "tdm",
                {"arguments": {"tdm.revocable-zone.night": "11:00-12:01", "tdm.evict.period": "20s"}},
            ),
            "predicates",
            "proportion",
        ],
    ),
)
"""Configurations with plugins that read the clock."""
EVICTED = ("restart", "resume", "restart-job", "delete")


class Dice:
    """Numbers that depend only on a seed."""

    def __init__(self, seed: object) -> None:
        self._seed = seed
        self._drawn = 0

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to below `limit`."""
        self._drawn += 1
        digest = sha256(f"{self._seed} {self._drawn}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % limit

    def one_of(self, choices: Sequence[Any]) -> Any:
        """Return one of the choices."""
        return choices[self.below(len(choices))]


def small_replay(seed: object, *, jobs: int = 18, **timeline: Any) -> Object:
    """Return a replay of a few minutes on a few nodes."""
    dice = Dice(seed)
    names = ["a", "b", "c"][: 2 + dice.below(2)]
    queues = [
        queue(name, weight=1 + dice.below(3), deserved={"cpu": 2 + 2 * dice.below(3), "memory": "8Gi"})
        for name in names
    ]
    events = [_arrival(dice, number, dice.one_of(names)) for number in range(jobs)]
    if dice.below(3) == 0:
        events.append({"at": 60 + dice.below(60), "delete": {"nodes": ["n0"]}})
    if dice.below(3) == 0:
        heavier = queue(names[0], weight=5, deserved={"cpu": 8, "memory": "16Gi"})
        events.append({"at": 30 + dice.below(60), "replace": {"queues": [heavier]}})
    return scenario(
        nodes=[node(f"n{number}", cpu=4, memory="8Gi") for number in range(2 + dice.below(2))],
        queues=queues,
        priorityclasses=[priority_class("low", 10), priority_class("high", 1000)],
        conf=dice.one_of(CONFS),
        replay={
            "period_seconds": dice.one_of([1, 2, 5]),
            "horizon_seconds": 240,
            "start_delay_seconds": dice.one_of([0, 0, 3]),
            "termination_seconds": dice.one_of([0, 5, 30]),
            "evicted": dice.one_of(EVICTED),
            "events": events,
            **timeline,
        },
    )


def _arrival(dice: Dice, number: int, to: str) -> Object:
    """Return the event of an arriving job."""
    size = 1 + dice.below(3)
    name = f"j{number:02d}"
    group = podgroup(
        name,
        queue=to,
        min_member=1 + dice.below(size),
        min_resources={"cpu": 1},
        priority_class=dice.one_of(["low", "high"]),
        phase="Pending",
        annotations={"queuecast/run-seconds": str(5 + dice.below(60))},
    )
    members = pods(name, size, cpu=dice.one_of(["500m", 1, 2]), memory="1Gi")
    for thing in (group, *members):
        del thing["metadata"]["creationTimestamp"]
    return {"at": dice.below(120) + dice.below(4) / 4, "create": {"podgroups": [group], "pods": members}}


def crowded_replay(seed: object) -> Object:
    """Return a replay with many equal jobs, most of which wait."""
    dice = Dice(f"crowd {seed}")
    document = small_replay(seed, jobs=0)
    document["replay"]["events"] = [event for event in document["replay"]["events"] if "delete" not in event]
    for entry in document["queues"]:
        entry["spec"]["capability"] = {"cpu": 3 + dice.below(6)}
    names = [entry["metadata"]["name"] for entry in document["queues"]]
    for number in range(50):
        document["replay"]["events"].append(_one_of_many(dice, number, dice.one_of(names)))
    return document


def _one_of_many(dice: Dice, number: int, to: str) -> Object:
    """Return the event of one of many equal jobs, of one pod or a gang."""
    size, cpu = dice.one_of([(1, 1), (1, 1), (1, 2), (2, 2), (3, 1)])
    name = f"j{number:02d}"
    group = podgroup(
        name,
        queue=to,
        min_member=size,
        min_resources={"cpu": size * cpu},
        priority_class=dice.one_of(["low", "low", "high"]),
        phase="Pending",
        annotations={"queuecast/run-seconds": str(10 + dice.below(60))},
    )
    members = pods(name, size, cpu=cpu, memory="64Mi")
    for thing in (group, *members):
        del thing["metadata"]["creationTimestamp"]
    return {"at": dice.below(100), "create": {"podgroups": [group], "pods": members}}


def clocked_replay(seed: object, **timeline: Any) -> Object:
    """Return a replay with plugins that read the clock."""
    document = small_replay(seed, horizon_seconds=420, **timeline)
    dice = Dice(f"clock {seed}")
    for event in document["replay"]["events"]:
        for member in event.get("create", {}).get("pods", ()):
            marks = {"volcano.sh/preemptable": "true", "volcano.sh/cooldown-time": f"{10 + dice.below(60)}s"}
            member["metadata"]["annotations"].update(marks)
        for group in event.get("create", {}).get("podgroups", ()):
            if dice.below(2):
                group["metadata"]["annotations"]["sla-waiting-time"] = f"{5 + dice.below(100)}s"
    document["nodes"][0]["metadata"]["labels"]["volcano.sh/revocable-zone"] = "night"
    document["scheduler_conf"] = CLOCKED[hash_free(seed) % len(CLOCKED)]
    return document


def hash_free(seed: object) -> int:
    """Return a whole number that depends only on a seed."""
    return seed if isinstance(seed, int) else int.from_bytes(sha256(str(seed).encode()).digest()[:4], "big")


JOB_CONFS = (
    conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "proportion", "binpack"]),
    conf(
        "enqueue, allocate, reclaim, backfill",
        ["priority", "conformance", "predicates", "capacity"],
        ["gang"],
    ),
    conf(
        "enqueue, allocate, preempt, reclaim, backfill",
        ["priority", "conformance", "cdp"],
        ["drf", "overcommit", "predicates", "capacity"],
    ),
)
POLICIES: Sequence[Sequence[Object]] = (
    [],
    [{"event": "PodEvicted", "action": "RestartJob"}],
    [{"event": "PodFailed", "action": "RestartJob"}, {"event": "PodEvicted", "action": "RestartTask"}],
    [{"event": "PodFailed", "action": "RestartPod", "timeout": "5s"}],
    [
        {"event": "TaskCompleted", "action": "CompleteJob"},
        {"event": "*", "action": "AbortJob", "timeout": "9s"},
    ],
    [
        {"event": "PodPending", "action": "TerminateJob", "timeout": "1m"},
        {"exitCode": 3, "action": "RestartJob"},
    ],
)


def job_replay(seed: object, *, jobs: int = 12, **timeline: Any) -> Object:
    """Return a replay of Jobs with policies, failures, checkpoints and a CronJob."""
    dice = Dice(f"jobs {seed}")
    names = ["a", "b"]
    queues = [
        queue(name, weight=1 + dice.below(3), deserved={"cpu": 2 + 2 * dice.below(3)}) for name in names
    ]
    events = [
        {
            "at": dice.below(150) + dice.below(4) / 4,
            "create": {"jobs": [vcjob(dice, number, dice.one_of(names))]},
        }
        for number in range(jobs)
    ]
    events.append({"at": 60 + dice.below(60), dice.one_of(["drain", "lose"]): {"nodes": ["n0"]}})
    events.append({"at": 200, "delete": {"nodes": ["n0"]}})
    events.append({"at": 210, "create": {"nodes": [node("n9", cpu=4, memory="8Gi")]}})
    cron = {
        "metadata": {"name": "tick"},
        "spec": {
            "schedule": "*/1 * * * *",
            "concurrencyPolicy": dice.one_of(["Allow", "Forbid", "Replace"]),
            "jobTemplate": {"spec": vcjob(dice, 99, "a")["spec"]},
        },
    }
    events.append({"at": 30, "create": {"cronjobs": [cron]}})
    return scenario(
        nodes=[node(f"n{number}", cpu=4, memory="8Gi") for number in range(2 + dice.below(2))],
        queues=queues,
        priorityclasses=[priority_class("low", 10), priority_class("high", 1000)],
        conf=dice.one_of(JOB_CONFS),
        replay={
            "period_seconds": dice.one_of([1, 2]),
            "horizon_seconds": 360,
            "start_delay_seconds": dice.one_of([0, 2]),
            "checkpoint_seconds": dice.one_of([0, 0, 7]),
            "restore_seconds": 2,
            "terminal_phase_first": bool(dice.below(4)),
            "events": events,
            **timeline,
        },
    )


def vcjob(dice: Dice, number: int, to: str) -> Object:
    """Return a Job of one or two tasks."""
    tasks = [_task(dice, name) for name in ["main", "side"][: 1 + dice.below(2)]]
    made = job(
        f"v{number:02d}",
        tasks=tasks,
        queue=to,
        policies=list(dice.one_of(POLICIES)),
        priorityClassName=dice.one_of(["low", "high"]),
        ttlSecondsAfterFinished=dice.one_of([0, 20, 1000]),
    )
    if dice.below(2):
        made["spec"]["minAvailable"] = 1
    del made["metadata"]["creationTimestamp"]
    return made


def _task(dice: Dice, name: str) -> Object:
    annotations = {"queuecast/run-seconds": str(5 + dice.below(50))}
    if not dice.below(3):
        annotations["queuecast/exit-code"] = dice.one_of(["1,0", "3,3,0", "1"])
    requests = {"cpu": dice.one_of(["500m", "1", "2"]), "memory": "512Mi"}
    spec = {
        "containers": [{"name": "main", "image": "i", "resources": {"requests": requests}}],
        "terminationGracePeriodSeconds": dice.one_of([0, 5, 30]),
        "restartPolicy": dice.one_of(["Never", "Never", "OnFailure"]),
    }
    template = {"metadata": {"annotations": annotations}, "spec": spec}
    return {"name": name, "replicas": 1 + dice.below(3), "template": template}


OF_A_TREE = conf(
    "enqueue, allocate, preempt, reclaim, backfill",
    ["priority", "gang", "conformance"],
    ["predicates", ("capacity", {"enableHierarchy": True}), "nodeorder"],
)
"""A configuration for queues in a tree."""
CALM_CONFS = (
    conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "capacity", "binpack"]),
    conf(
        "enqueue, allocate, reclaim, backfill",
        ["priority", "gang", "conformance"],
        ["predicates", "capacity", "nodeorder"],
    ),
    conf(
        "enqueue, allocate, backfill",
        ["priority", "gang", "conformance"],
        ["overcommit", "drf", "predicates", "proportion", "nodeorder"],
    ),
    conf(
        "enqueue, allocate, preempt, reclaim, backfill",
        ["priority", "gang", "conformance"],
        ["overcommit", "predicates", "proportion", "nodeorder", "binpack"],
    ),
    OF_A_TREE,
)


def calm_replay(seed: object, *, jobs: int = 80) -> Object:
    """Return a replay with few kinds of jobs, most of which wait only briefly."""
    dice = Dice(f"calm {seed}")
    names = ["a", "b", "c"][: 1 + dice.below(3)]
    used = dice.below(len(CALM_CONFS))
    queues = [_queue_of_few(dice, name) for name in names]
    if CALM_CONFS[used] is OF_A_TREE:
        queues = [
            {**entry, "spec": {**entry["spec"], "parent": dice.one_of(["left", "right"])}} for entry in queues
        ]
        queues += [queue(name, deserved={"cpu": 10, "memory": "32Gi"}) for name in ("left", "right")]
        queues.append(queue("root", deserved={"cpu": 40, "memory": "128Gi"}))
    kinds = [_kind(dice, dice.one_of(names)) for _ in range(1 + dice.below(5))]
    until = dice.one_of([300, 600, 1200])
    events = [_of_kind(dice, number, dice.one_of(kinds), until) for number in range(jobs)]
    if dice.below(4) == 0:
        events.append({"at": dice.below(until), "replace": {"queues": [_queue_of_few(dice, names[0])]}})
    if dice.below(4) == 0:
        events.append({"at": dice.below(until), "drain": {"nodes": ["n1"]}})
    if dice.below(4) == 0:
        events.append(_arrival(dice, 99, names[0]))
    return scenario(
        nodes=[
            node(f"n{number}", cpu=4 + 4 * dice.below(2), memory="16Gi")
            for number in range(3 + dice.below(4))
        ],
        queues=queues,
        priorityclasses=[priority_class("low", 10), priority_class("high", 1000)],
        conf=CALM_CONFS[used],
        replay={
            "period_seconds": dice.one_of([1, 1, 2, 5]),
            "horizon_seconds": 2 * until,
            "termination_seconds": dice.one_of([0, 5, 30]),
            "evicted": dice.one_of(EVICTED),
            "events": events,
        },
    )


def _queue_of_few(dice: Dice, name: str) -> Object:
    more = {"capability": {"cpu": 6 + dice.below(20)}} if dice.below(3) == 0 else {}
    return queue(
        name, weight=1 + dice.below(3), deserved={"cpu": 3 + dice.below(8), "memory": "16Gi"}, **more
    )


def _kind(dice: Dice, to: str) -> Object:
    """Return the common parts of the jobs of a kind."""
    size, cpu = dice.one_of([1, 1, 1, 2, 3]), 1 + dice.below(3)
    minimum = {"min_resources": {"cpu": size * cpu, "memory": f"{size}Gi"}} if dice.below(4) else {}
    return {"queue": to, "size": size, "cpu": cpu, "class": dice.one_of(["low", "low", "high"]), **minimum}


def _of_kind(dice: Dice, number: int, kind: Object, until: int) -> Object:
    """Return the event of an arriving job of a kind."""
    name = f"j{number:02d}"
    group = podgroup(
        name,
        queue=kind["queue"],
        min_member=kind["size"],
        priority_class=kind["class"],
        phase="Pending",
        annotations={"queuecast/run-seconds": str(5 + dice.below(60))},
        **({"min_resources": kind["min_resources"]} if "min_resources" in kind else {}),
    )
    members = pods(name, kind["size"], cpu=kind["cpu"], memory="1Gi")
    for thing in (group, *members):
        del thing["metadata"]["creationTimestamp"]
    return {"at": dice.below(until) + dice.below(4) / 4, "create": {"podgroups": [group], "pods": members}}


STORM_CONFS = (
    conf(
        "enqueue, allocate, reclaim, backfill",
        ["priority", "gang"],
        ["conformance", "predicates", "capacity", "binpack"],
    ),
    conf(
        "enqueue, allocate, preempt, reclaim, allocate, backfill",
        ["priority", "gang", "conformance"],
        ["drf", "overcommit", "predicates", "proportion", "nodeorder"],
    ),
    OF_A_TREE,
    conf("enqueue, allocate, reclaim", ["priority", "conformance"], ["drf", "predicates", "capacity"]),
)
"""Configurations with reclaim, one without gang, one with a second allocate."""


def storm_replay(seed: object, *, jobs: int = 60, nodes: int = 4) -> Object:
    """Return a replay in which queues repeatedly reclaim their deserved amounts.

    Most jobs have one pod, some are gangs or elastic; many pods are terminating at any time.
    """
    dice = Dice(f"storm {seed}")
    conf_number = dice.below(len(STORM_CONFS))
    names = ["a", "b", "c"]
    share = max(nodes, 4)
    queues = [queue(name, weight=1 + dice.below(3), deserved=_part(dice, share)) for name in names]
    if STORM_CONFS[conf_number] is OF_A_TREE:
        queues = [{**entry, "spec": {**entry["spec"], "parent": "root"}} for entry in queues]
        queues.append(queue("root", deserved={"cpu": 100, "memory": "1000Gi"}))
    until = 60 + dice.below(60)
    return scenario(
        nodes=[node(f"n{number}", cpu=2 + 2 * dice.below(2), memory="16Gi") for number in range(nodes)],
        queues=queues,
        priorityclasses=[priority_class("low", 10), priority_class("high", 1000)],
        conf=STORM_CONFS[conf_number],
        replay={
            "period_seconds": dice.one_of([1, 1, 2]),
            "horizon_seconds": 150,
            "start_delay_seconds": dice.one_of([0, 0, 3]),
            "termination_seconds": dice.one_of([4, 9, 30]),
            "evicted": dice.one_of(EVICTED),
            "events": [_of_storm(dice, number, dice.one_of(names), until) for number in range(jobs)],
        },
    )


def _part(dice: Dice, nodes: int) -> Object:
    return {"cpu": nodes // 2 + dice.below(nodes), "memory": f"{4 * nodes}Gi"}


def _of_storm(dice: Dice, number: int, to: str, until: int) -> Object:
    """Return the event of a one-pod job, a gang or an elastic job."""
    size, minimum = dice.one_of([(1, 1), (1, 1), (1, 1), (1, 1), (1, 0), (2, 2), (3, 1)])
    cpu, name = 1 + dice.below(2), f"j{number:02d}"
    group = podgroup(
        name,
        queue=to,
        min_member=minimum,
        priority_class=dice.one_of(["low", "low", "high"]),
        phase="Pending",
        annotations={"queuecast/run-seconds": str(20 + dice.below(60))},
        **({"min_resources": {"cpu": minimum * cpu}} if dice.below(3) else {}),
    )
    members = pods(name, size, cpu=cpu, memory="1Gi")
    for thing in (group, *members):
        del thing["metadata"]["creationTimestamp"]
    return {"at": dice.below(until) + dice.below(4) / 4, "create": {"podgroups": [group], "pods": members}}
