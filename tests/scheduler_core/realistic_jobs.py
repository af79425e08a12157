"""Jobs of clusters as they are run: few kinds, each with its sizes, places, priorities and run times."""

from __future__ import annotations

from copy import deepcopy
from random import Random

from tests.builders import Object, pod, podgroup

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REQUESTS: tuple[Object, ...] = (
    {"cpu": 1, "memory": "1Gi"},
    {"cpu": 1, "memory": "1Gi"},
    {"cpu": 2, "memory": "2Gi"},
    {"cpu": 3, "memory": "1Gi"},
    {"cpu": "500m", "memory": "6Gi"},
    {"cpu": 1, "memory": "2Gi", "gpu": 1},
    {"cpu": 2, "memory": "2Gi", "gpu": 2},
    {},
)
TOLERATIONS: tuple[Object, ...] = (
    {"key": "pool", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
    {"key": "pool", "operator": "Exists"},
    {"operator": "Exists"},
)
GATES = ("example.com/hold", "scheduling.volcano.sh/queue-allocation-gate")


def kind(random: Random, to: str, pools: list[str]) -> Object:
    """Return what the jobs of one kind have in common."""
    size = random.choice((1, 1, 1, 2, 3, 4))
    templates = [_template(random, pools) for _ in range(2 if size > 1 and random.random() < 0.35 else 1)]
    return {
        "name": f"k{random.randint(0, 10**6)}",
        "queue": to,
        "size": size,
        "templates": templates,
        "minimum": size if random.random() < 0.6 else random.randint(0, size),
        "resources": random.choice((None, "whole", "part", {})),
        "class": random.choice(("low", "low", "normal", "high", "polite", None)),
        "pod_class": random.choice((None, None, "low", "high", "polite", "system-cluster-critical")),
        "preemptable": random.choice((None, None, None, True, False)),
        "cooldown": random.choice((None, None, "15s", "1m")),
        "waiting": random.choice((None, None, None, "10s", "40s")),
        "gates": [{"name": random.choice(GATES)}] if random.random() < 0.06 else [],
        "task_member": random.random() < 0.3,
        "seconds": random.choice((None, 10, 30, 30, 60)),
        "namespace": random.choice(("default", "default", "default", "kube-system")),
    }


def simple_kind(random: Random, to: str, pools: list[str]) -> Object:
    """Return a kind of gangs of equal pods that an empty cluster takes, without odd annotations."""
    template = _template(random, pools)
    while not template["requests"] or ("gpu" in template["requests"]) > ("gpu" in pools):
        template = _template(random, pools)
    spec: Object = {"tolerations": [{"operator": "Exists"}]}
    if "gpu" not in template["requests"] and random.random() < 0.3:
        spec["nodeSelector"] = {"pool": random.choice(pools)}
    made, size = kind(random, to, pools), random.choice((1, 1, 2, 3))
    plain = dict.fromkeys(("pod_class", "preemptable", "cooldown", "waiting", "task_member"))
    templates = [{**template, "spec": spec, "port": None}]
    equal = {"size": size, "minimum": size, "templates": templates, "gates": []}
    return {**made, **plain, **equal, "seconds": made["seconds"] or 20}


def _template(random: Random, pools: list[str]) -> Object:
    """Return the requests and the specification of the pods of a role."""
    requests: Object = random.choice(REQUESTS)
    spec: Object = {}
    if "gpu" in requests or random.random() < 0.2:
        spec["tolerations"] = [random.choice(TOLERATIONS)]
    if random.random() < 0.15:
        spec["nodeSelector"] = {"pool": random.choice([*pools, "gone"])}
    if random.random() < 0.12:
        spec["affinity"] = _affinity(random)
    if random.random() < 0.05:
        spread = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": {"matchLabels": {"role": "worker"}}}
        when = random.choice(("DoNotSchedule", "ScheduleAnyway"))
        spec["topologySpreadConstraints"] = [{**spread, "whenUnsatisfiable": when}]
    port = random.choice((8080, 8081)) if random.random() < 0.06 else None
    return {"requests": requests, "spec": spec, "port": port}


def _affinity(random: Random) -> Object:
    term = {
        "topologyKey": random.choice(("zone", "kubernetes.io/hostname")),
        "labelSelector": {"matchLabels": {"role": random.choice(("worker", "ps"))}},
    }
    wanted = {"key": "zone", "operator": random.choice(("In", "NotIn")), "values": [random.choice("ab")]}
    return random.choice(
        (
            {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}}},
            {"nodeAffinity": {PREFERRED: [{"weight": 40, "preference": {"matchExpressions": [wanted]}}]}},
            {"podAntiAffinity": {REQUIRED: [term]}},
            {"podAffinity": {PREFERRED: [{"weight": 30, "podAffinityTerm": term}]}},
        )
    )


def arrival(random: Random, name: str, kind: Object) -> Object:
    """Return the objects of a job of a kind."""
    members = [_pod(f"{name}-{position}", name, position, kind) for position in range(kind["size"])]
    seconds, notes = kind["seconds"], {}
    if seconds is not None:
        notes["queuecast/run-seconds"] = str(seconds + random.choice((0, random.randint(0, 20))))
    if kind["waiting"]:
        notes["sla-waiting-time"] = kind["waiting"]
    group = podgroup(
        name,
        namespace=kind["namespace"],
        queue=kind["queue"],
        min_member=kind["minimum"],
        min_task_member={"worker": 1} if kind["task_member"] and len(kind["templates"]) > 1 else None,
        min_resources=_minimum(kind),
        priority_class=kind["class"],
        phase="Pending",
        annotations=notes,
    )
    for thing in (group, *members):
        del thing["metadata"]["creationTimestamp"]
    return {"podgroups": [group], "pods": members}


def _pod(name: str, group: str, position: int, kind: Object) -> Object:
    number = min(position, len(kind["templates"]) - 1)
    role, template = ("ps", "worker")[number], kind["templates"][number]
    cooldown = {"volcano.sh/cooldown-time": kind["cooldown"]} if kind["cooldown"] else {}
    spec = deepcopy(template["spec"])
    if kind["pod_class"] is not None:
        spec["priorityClassName"] = kind["pod_class"]
    if kind["gates"]:
        spec["schedulingGates"] = kind["gates"]
    made = pod(
        name,
        group=group,
        role=role if len(kind["templates"]) > 1 else None,
        preemptable=kind["preemptable"],
        namespace=kind["namespace"],
        labels={"kind": kind["name"], "role": role, **cooldown},
        spec=spec,
        **template["requests"],
    )
    if template["port"] is not None:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": template["port"]}]
    return made


def _minimum(kind: Object) -> Object | None:
    if kind["resources"] is None or isinstance(kind["resources"], dict):
        return kind["resources"]
    count = kind["minimum"] if kind["resources"] == "part" else kind["size"]
    cpu = kind["templates"][0]["requests"].get("cpu", 1)
    return {"cpu": f"{500 * count}m" if cpu == "500m" else cpu * count, "memory": f"{count}Gi"}
