"""Checks of explanations of waiting jobs, by editing the document and by plain arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import NamedTuple

from scheduler_core import explain, simulate_document
from scheduler_core.conf import parse_conf
from tests.builders import GROUP_NAME, Object

Amounts = Mapping[str, float]

ONCE = {"cycles": 1}
TOLERANCE = 0.1
LARGE = "1000000"
COUNTED = ("cpu", "pods")
ROLE = "volcano.sh/task-spec"
PLACING = ("predicates", "nodegroup", "tdm", "resource-strategy-fit")


class Case(NamedTuple):
    """A scenario with plain lists, and the first cycle of its result."""

    document: Object
    cycle: Object

    @property
    def pending(self) -> Object:
        """Return the explanation of each waiting job."""
        explanation: Object = self.cycle["explain"]["pending"]
        return explanation

    def holds_pods(self, job: str) -> bool:
        """Return whether pods of a job run; then its minimum decides how much of its queue is elastic."""
        entry = next(entry for entry in self.cycle["podgroups"] if entry["name"] == job)
        return set(entry["task_status"]) != {"Pending"}

    def podgroup(self, job: str) -> Object | None:
        """Return a job's PodGroup, None if a controller created it."""
        return next((entry for entry in self.document["podgroups"] if key_of(entry) == job), None)

    def pods_of(self, job: str) -> list[Object]:
        """Return a job's pods, without those of other schedulers."""
        namespace, name = job.split("/")
        schedulers = self.document.get("scheduler_names") or ["volcano"]
        return [
            pod
            for pod in self.document["pods"]
            if pod["spec"].get("schedulerName", schedulers[0]) in schedulers
            and (pod["metadata"].get("namespace") or "default") == namespace
            and (pod["metadata"].get("annotations") or {}).get(GROUP_NAME) == name
        ]


def case_of(document: Object) -> Case | None:
    """Simulate one cycle of a scenario; return None if that is an error."""
    plain = {**document, **ONCE, **{kind: listed(document, kind) for kind in ("podgroups", "pods", "nodes")}}
    result = simulate_document(plain)
    return None if "error" in result else Case(plain, result["cycles"][0])


def listed(document: Object, kind: str) -> list[Object]:
    value = document.get(kind) or []
    return list(value.get("items") or [] if isinstance(value, dict) else value)


def key_of(entry: Object) -> str:
    return f"{entry['metadata'].get('namespace') or 'default'}/{entry['metadata']['name']}"


# enqueue gates


def recheck_enqueue(case: Case) -> Iterator[str]:
    """Yield each check: minResources equal to the remaining amount pass, one unit more does not."""
    for job, shown in case.pending.items():
        podgroup = case.podgroup(job)
        if shown["gate"] != "enqueue" or "short" not in shown or podgroup is None or case.holds_pods(job):
            continue
        for facts in shown["short"].values():
            assert math.isclose(facts["missing"], facts["required"] - facts["available"], abs_tol=1e-6), job
        if any(facts["available"] < 0 for facts in shown["short"].values()):
            yield "enqueue: above the limit already"
            continue
        left = {name: math.floor(facts["available"]) for name, facts in shown["short"].items()}
        assert not _is_refused_again(case, job, shown, left), (job, shown)
        for name, facts in shown["short"].items():
            more = left[name] + 1
            more += more - facts["available"] < TOLERANCE
            assert _is_refused_again(case, job, shown, {**left, name: more}), (job, name, shown)
        yield "enqueue"


def _is_refused_again(case: Case, job: str, actual: Object, minimum: Mapping[str, int]) -> bool:
    """Return whether a job with other minResources is refused by the same plugin, queue and resource."""
    podgroups = [
        _with_minimum(entry, minimum) if key_of(entry) == job else entry
        for entry in case.document["podgroups"]
    ]
    after = simulate_document({**case.document, "podgroups": podgroups})["cycles"][0]
    again = after["explain"]["pending"].get(job, {})
    same = all(again.get(name) == actual.get(name) for name in ("gate", "plugin", "queue"))
    return same and not set(again.get("short", ())).isdisjoint(actual["short"])


def _with_minimum(podgroup: Object, minimum: Mapping[str, int]) -> Object:
    amounts = {
        name: str(size) if name in ("memory", "pods") else f"{size}m" for name, size in minimum.items()
    }
    spec = {**podgroup["spec"], "minResources": {**podgroup["spec"]["minResources"], **amounts}}
    return {**podgroup, "spec": spec}


# closest nodes


def recheck_closest(case: Case) -> Iterator[str]:
    """Yield each check: the closest node accepts the pod once it has room."""
    for job, shown in case.pending.items():
        closest = shown.get("closest")
        if closest is None or shown["gate"] != "node":
            continue
        if _looks_at_other_pods(case.document):
            yield "closest: depends on other pods"
            continue
        document = _alone_on(case, job, shown["pod"], closest["node"], closest["lacks"])
        after = simulate_document(document)["cycles"][0]
        if after["explain"]["pending"].get(job, {}).get("gate") == "refused":
            yield "closest: a plugin refuses every place at last"
            continue
        decisions = after["decisions"]
        assert [(step.get("pod"), step.get("node")) for step in decisions if step["op"] == "bind"] == [
            (shown["pod"], closest["node"])
        ], (job, shown)
        yield "closest"


def _looks_at_other_pods(document: Object) -> bool:
    """Return whether any pod has a constraint that depends on other pods."""
    for pod in document["pods"]:
        spec = pod["spec"]
        affinity = spec.get("affinity") or {}
        if affinity.get("podAffinity") or affinity.get("podAntiAffinity"):
            return True
        if spec.get("topologySpreadConstraints"):
            return True
        if any(
            port.get("hostPort") for one in spec.get("containers") or () for port in one.get("ports") or ()
        ):
            return True
    return False


def _alone_on(case: Case, job: str, pod: str, node: str, named: Iterable[str]) -> Object:
    """Return a scenario with one waiting pod and one node with a huge amount of room."""
    podgroup = deepcopy(case.podgroup(job))
    assert podgroup is not None, job
    podgroup["spec"].update(minMember=1, minTaskMember={}, minResources=None)
    podgroup["status"] = {"phase": "Inqueue"}
    conf = parse_conf(case.document.get("scheduler_conf"))
    options = {option.name: option for option in conf.options()}
    given = {"tiers": [{"plugins": [{"name": "predicates"}]}], **(case.document.get("scheduler_conf") or {})}
    plugins = [
        entry
        for tier in given["tiers"]
        for entry in tier.get("plugins") or ()
        if entry["name"] in PLACING and entry["name"] in options
    ]
    return {
        **case.document,
        "scheduler_conf": {"actions": "allocate", "tiers": [{"plugins": plugins}]},
        "podgroups": [podgroup],
        "pods": [entry for entry in case.document["pods"] if key_of(entry) == pod],
        "nodes": [
            _enlarged(entry, named) for entry in case.document["nodes"] if entry["metadata"]["name"] == node
        ],
        "jobs": [],
    }


def _enlarged(node: Object, named: Iterable[str]) -> Object:
    """Return a node with huge amounts of all its resources, and of some others."""
    status = node.get("status") or {}
    names = {*(status.get("allocatable") or {}), *named, "cpu", "memory", "pods"}
    amounts = {name: LARGE if name in COUNTED else f"{LARGE}Gi" for name in sorted(names)}
    return {**node, "status": {**status, "allocatable": amounts, "capacity": amounts}}


# gangs, roles, scheduling gates


def recheck_gangs(case: Case) -> Iterator[str]:
    """Yield each check: members, roles and gated pods, counted in the document."""
    for job, shown in case.pending.items():
        podgroup, pods = case.podgroup(job), case.pods_of(job)
        lost = any(step["op"] == "evict" and step["job"] == job for step in case.cycle["decisions"])
        if podgroup is None or case.document.get("jobs") or lost:
            continue
        if shown["gate"] == "gang":
            counted = [pod for pod in pods if _is_valid(pod)]
            if shown.get("roles"):
                roles = Counter((pod["metadata"].get("annotations") or {}).get(ROLE, "") for pod in counted)
                wanted = podgroup["spec"]["minTaskMember"]
                short = {
                    role: (int(size), roles[role]) for role, size in wanted.items() if roles[role] < int(size)
                }
                actual = {entry["role"]: (entry["required"], entry["available"]) for entry in shown["roles"]}
                assert actual == short, (job, shown)
                yield "role"
            else:
                actual = shown["required"], shown["available"]
                assert actual == (podgroup["spec"]["minMember"], len(counted)), (job, shown)
                yield "gang"
        if shown["gate"] == "schedulingGate":
            gated = [pod for pod in pods if pod["spec"].get("schedulingGates") and _is_pending(pod)]
            assert shown["gated"] == len(gated), (job, shown)
            assert set(shown["pods"]) <= {key_of(pod) for pod in gated}
            names = {gate["name"] for pod in gated for gate in pod["spec"]["schedulingGates"]}
            assert shown["gates"] == sorted(names)
            yield "scheduling gate"


def _is_valid(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase") or (
        "Running" if pod["spec"].get("nodeName") else "Pending"
    )
    leaves = bool(pod["metadata"].get("deletionTimestamp"))
    return phase == "Succeeded" or (phase in ("Pending", "Running") and not leaves)


def _is_pending(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase") or "Pending"
    return (
        phase == "Pending"
        and not pod["spec"].get("nodeName")
        and not pod["metadata"].get("deletionTimestamp")
    )


# checklists


def recheck_checklists(case: Case) -> Iterator[str]:
    """Yield each check: a checklist without an eviction has a failed check, and concludes with it."""
    result = {"actions": parse_conf(case.document.get("scheduler_conf")).actions, "cycles": [case.cycle]}
    for entry in explain.reclaim_checklist(case.document, result):
        for shown in entry["actions"]:
            failed = [check["reason"] for check in shown["checks"] if not check["passed"]]
            assert failed or _was_helped(case, shown["action"], entry["job"]), (entry["job"], shown)
            assert shown["conclusion"] == (failed[0] if failed else shown["checks"][-1]["reason"])
            yield "checklist"


def _was_helped(case: Case, action: str, job: str) -> bool:
    """Return whether an action placed pods of a job, with or without evictions."""
    return any(
        (step["action"], step["op"], step["job"]) == (action, "pipeline", job)
        for step in case.cycle["decisions"]
    )


# deserved amounts


def recheck_rounds(case: Case) -> Iterator[str]:
    """Yield each check: every round of proportion, recomputed with plain numbers."""
    moment = case.cycle["at_open"]
    explanation = case.cycle["explain"]["deserved"]
    queues = moment.get("queues") or ()
    if moment.get("queue_plugin") != "proportion" or not queues:
        return
    rounds = divided(moment["total_resource"], queues)
    for queue in queues:
        steps = [step for step in explanation[queue["name"]] if step["plugin"] == "proportion"]
        mine = [turn[queue["name"]] for turn in rounds if queue["name"] in turn]
        assert len(steps) == len(mine), (queue["name"], len(steps), len(mine))
        for step, deserved in zip(steps, mine, strict=True):
            assert _alike(step["deserved"], deserved), (queue["name"], step, deserved)
        covered = all(
            amount - mine[-1].get(name, 0.0) < TOLERANCE for name, amount in queue["request"].items()
        )
        assert steps[-1]["covered"] == covered, queue["name"]
        yield "rounds"


def divided(total: Amounts, queues: Sequence[Object]) -> list[dict[str, dict[str, float]]]:
    """Return the deserved amount of each participating queue after each round."""
    names = sorted({*total, *(name for queue in queues for name in (*queue["request"], *queue["guarantee"]))})
    remaining = {name: float(total.get(name, 0.0)) for name in names}
    deserved = {queue["name"]: dict.fromkeys(names, 0.0) for queue in queues}
    unmet, rounds = list(queues), []
    scalars = [name for name in total if name not in ("cpu", "memory")]
    while unmet and sum(queue["weight"] for queue in unmet) > 0:
        first, weights = not rounds, sum(queue["weight"] for queue in unmet)
        before = {queue["name"]: dict(deserved[queue["name"]]) for queue in unmet}
        met = []
        for queue in unmet:
            mine = deserved[queue["name"]]
            for name in names:
                offered = mine[name] + remaining[name] * (queue["weight"] / weights)
                limit = queue["realCapability"].get(name, math.inf)
                requested = queue["request"].get(name, 0.0)
                mine[name] = max(min(offered, limit, requested), queue["guarantee"].get(name, 0.0))
            gained = first and (scalars or set(queue["guarantee"]) - {"cpu", "memory"})
            covered = all(
                queue["request"].get(name, 0.0) < mine[name]
                or abs(queue["request"].get(name, 0.0) - mine[name]) < TOLERANCE
                for name in names
            )
            if covered or (mine == before[queue["name"]] and not gained):
                met.append(queue["name"])
        rounds.append({queue["name"]: dict(deserved[queue["name"]]) for queue in unmet})
        left = {
            name: max(
                remaining[name]
                - sum(deserved[queue["name"]][name] - before[queue["name"]][name] for queue in unmet),
                0.0,
            )
            for name in names
        }
        unmet = [queue for queue in unmet if queue["name"] not in met]
        changed = left != remaining or (first and any(total[name] == 0 for name in scalars))
        if not changed or all(left[name] < TOLERANCE for name in names if name != "pods"):
            break
        remaining = left
    return rounds


def _alike(actual: Amounts, mine: Amounts) -> bool:
    return all(
        math.isclose(actual.get(name, 0.0), mine.get(name, 0.0), rel_tol=1e-9, abs_tol=1e-6)
        for name in actual
    )


def all_checks(case: Case) -> Counter[str]:
    """Check every explanation of the waiting jobs of a case; return the number of checks by kind."""
    checks = (recheck_enqueue, recheck_closest, recheck_gangs, recheck_rounds)
    return Counter(what for check in checks for what in check(case))
