"""Checks of proposals that unblock a job, on the documents themselves instead of in the search.

Everything here edits scenarios as a person would, object by object, and reads results in the documented
format; nothing is shared with the code of the search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from scheduler_core import prepare, simulate_document
from scheduler_core.explain import unblocking
from scheduler_core.quantity import parse_quantity

Object = dict[str, Any]
CLUSTER_WIDE = ("queues", "nodes", "priorityclasses", "namespaces")
PLACED = ("Allocated", "Binding", "Bound", "Running", "Succeeded")
HUGE = {"cpu": "100k", "memory": "1Pi", "pods": "10k"}


# reading results


def entries(result: Object) -> dict[str, Object]:
    """Return the jobs of the last cycle by name."""
    return {entry["name"]: entry for entry in result["cycles"][-1]["podgroups"]}


def has_minimum(entry: Object) -> bool:
    """Return whether a job has as many placed pods as it needs, and is ready for the scheduler."""
    placed = sum(task["status"] in PLACED for task in entry["tasks"])
    return bool(entry["session_job_ready"]) and placed >= max(1, entry["minAvailable"])


def is_served(result: Object, job: str, before: Object) -> bool:
    """Return whether a job has, or is pipelined to, its minimum; if it had that before, all its pods.

    A job that loses pods of its own for the others does not have them all.
    """
    if "error" in result or job not in entries(result):
        return False
    entry = entries(result)[job]
    pipelined = sum(task["status"] == "Pipelined" for task in entry["tasks"])
    placed = sum(task["status"] in PLACED for task in entry["tasks"])
    reserved = bool(
        entry["session_job_pipelined"] and pipelined and placed + pipelined >= max(1, entry["minAvailable"])
    )
    if not (has_minimum(entry) or reserved):
        return False
    lost = {pod for pod, of in evictions(result).items() if of == job} - places(entry).keys()
    return not (has_minimum(before) and (entry["task_status"].get("Pending") or lost))


def evictions(result: Object) -> dict[str, str]:
    """Return the job of each evicted pod, over all cycles."""
    return {
        step["pod"]: step["job"]
        for cycle in result["cycles"]
        for step in cycle["decisions"]
        if step["op"] == "evict" and step["state"] == "committed"
    }


def evicted_times(result: Object) -> Counter[str]:
    """Return how often each pod is evicted, over all cycles."""
    steps = (step for cycle in result["cycles"] for step in cycle["decisions"])
    return Counter(step["pod"] for step in steps if step["op"] == "evict" and step["state"] == "committed")


def places(entry: Object) -> dict[str, tuple[bool, str]]:
    """Return whether each placed or pipelined pod of a job is placed, and its node."""
    return {
        task["pod"]: (task["status"] in PLACED, task["node"])
        for task in entry["tasks"]
        if task["status"] in (*PLACED, "Pipelined")
    }


# edits


def edited(document: Object, changes: list[Object]) -> Object:
    """Return a scenario with some changes applied by hand."""
    made = deepcopy(document)
    for change in changes:
        if change["kind"] == "conf":
            made["scheduler_conf"] = change["after"]
            continue
        objects = made.setdefault(change["kind"], [])
        objects = objects["items"] if isinstance(objects, dict) else objects
        found = [entry for entry in objects if key_of(change["kind"], entry) == change["key"]]
        if not change["field"]:
            for entry in found:
                objects.remove(entry)
            if change["after"] is not None:
                objects.append(change["after"])
            continue
        assert found, f"{change['kind']} {change['key']} is not there"
        *path, last = change["field"].split(".")
        place = found[0]
        for name in path:
            if isinstance(place, list):
                place = place[int(name)]
            else:
                place[name] = place.get(name) or {}
                place = place[name]
        if change["after"] is None:
            place.pop(last, None)
        else:
            place[last] = change["after"]
    return made


def key_of(kind: str, entry: Object) -> str:
    """Return the key of an object in a change."""
    name: str = entry["metadata"]["name"]
    return name if kind in CLUSTER_WIDE else f"{entry['metadata'].get('namespace') or 'default'}/{name}"


def items(document: Object, kind: str) -> list[Object]:
    """Return the objects of a kind, to be edited."""
    value = document.setdefault(kind, [])
    objects: list[Object] = value["items"] if isinstance(value, dict) else value
    return objects


def named(document: Object, kind: str, key: str) -> Object | None:
    """Return an object by its key."""
    return next((entry for entry in items(document, kind) if key_of(kind, entry) == key), None)


class Simple:
    """The simple edits that a person would try for a waiting job.

    Parameters
    ----------
    document, result : mapping
        The scenario and its result.
    job : str
        The job.

    """

    def __init__(self, document: Object, result: Object, job: str) -> None:
        self.document = document
        self.entry = entries(result)[job]
        self.job = job
        self.actions: list[str] = result["actions"]
        self.total: Object = result["cycles"][-1]["at_open"]["total_resource"]
        self.waiting = {task["pod"] for task in self.entry["tasks"] if task["status"] == "Pending"}

    def __iter__(self) -> Iterator[tuple[str, Object]]:
        """Yield each edit by name, with the edited scenario."""
        for name, edit in self.edits().items():
            made = deepcopy(self.document)
            if edit(made) is not False:
                yield name, made

    def edits(self) -> dict[str, Callable[[Object], Any]]:
        """Return the edits by name; each returns False if there is nothing to edit."""
        return {
            "queue set to Open": self.opened,
            "scheduling gates removed": lambda made: self.on_pods(made, "schedulingGates"),
            "capability of the queue removed": lambda made: self.on_queues(
                made, "capability", [self.queue(made)]
            ),
            "capability of all queues removed": lambda made: self.on_queues(made, "capability", None),
            "guarantee of all queues removed": lambda made: self.on_queues(made, "guarantee", None),
            "guarantee of the queue raised": lambda made: self.given(made, "guarantee"),
            "deserved of the queue raised": lambda made: self.given(made, "deserved"),
            "weight times 10": lambda made: self.weight(made, 10),
            "weight times 100": lambda made: self.weight(made, 100),
            "all queues reclaimable": self.reclaimable,
            "minMember 1": lambda made: self.on_group(made, minMember=1, minResources=None),
            "minTaskMember removed": lambda made: self.on_group(made, minTaskMember=None),
            "minTaskMember and minMember": lambda made: self.on_group(
                made, minTaskMember=None, minMember=1, minResources=None
            ),
            "selector dropped": lambda made: self.on_pods(made, "nodeSelector"),
            "affinity dropped": lambda made: self.on_pods(made, "affinity"),
            "selector and affinity dropped": lambda made: self.on_pods(made, "nodeSelector", "affinity"),
            "everything tolerated": self.tolerant,
            "nodes uncordoned": self.uncordoned,
            "request halved": lambda made: self.smaller(made, 2),
            "request quartered": lambda made: self.smaller(made, 4),
            "one node much larger": self.larger_node,
            "a large node added": self.large_node,
            "nodes doubled": self.more_nodes,
            "highest priority": self.first,
            **{f"action {name}": self.action(name) for name in ("allocate", "reclaim", "preempt")},
            "no action enqueue": self.no_enqueue,
            **{
                f"{plugin}.{switch} off": self.switch(plugin, switch)
                for plugin in ("gang", "drf", "priority", "proportion", "capacity", "conformance")
                for switch in ("enableReclaimable", "enablePreemptable")
            },
            "no overcommit": self.switch("overcommit", "enableJobEnqueued"),
        }

    def queue(self, made: Object) -> Object | None:
        """Return the job's queue."""
        return named(made, "queues", self.entry["queue"])

    def opened(self, made: Object) -> Any:
        """Open every queue."""
        closed = [
            q for q in items(made, "queues") if (q.get("status") or {}).get("state") not in (None, "", "Open")
        ]
        for queue in closed:
            queue["status"]["state"] = "Open"
        return bool(closed)

    def on_queues(self, made: Object, part: str, queues: list[Object | None] | None) -> Any:
        """Remove a part of the spec of some queues, by default of all."""
        having = [
            q for q in (items(made, "queues") if queues is None else queues) if q and q["spec"].get(part)
        ]
        for queue in having:
            queue["spec"].pop(part)
        return bool(having)

    def given(self, made: Object, part: str) -> Any:
        """Give the queue all resources."""
        queue = self.queue(made)
        if queue is None:
            return False
        amounts = {
            name: f"{int(amount)}m"
            if name == "cpu"
            else str(int(amount) if name in ("memory", "pods") else int(amount // 1000))
            for name, amount in self.total.items()
            if name != "pods"
        }
        queue["spec"][part] = {"resource": amounts} if part == "guarantee" else amounts
        return True

    def weight(self, made: Object, factor: int) -> Any:
        """Multiply the queue's weight."""
        queue = self.queue(made)
        if queue is None:
            return False
        queue["spec"]["weight"] = int(queue["spec"].get("weight") or 1) * factor
        return True

    def reclaimable(self, made: Object) -> Any:
        """Make every queue reclaimable."""
        barred = [q for q in items(made, "queues") if q["spec"].get("reclaimable") is False]
        for queue in barred:
            queue["spec"]["reclaimable"] = True
        return bool(barred)

    def on_group(self, made: Object, **fields: Any) -> Any:
        """Set fields of the PodGroup; None removes one."""
        group = named(made, "podgroups", self.job)
        if group is None:
            return False
        before = deepcopy(group["spec"])
        for name, value in fields.items():
            if value is None:
                group["spec"].pop(name, None)
            else:
                group["spec"][name] = value
        return group["spec"] != before

    def pods(self, made: Object) -> list[Object]:
        """Return the waiting pods."""
        return [pod for pod in items(made, "pods") if key_of("pods", pod) in self.waiting]

    def on_pods(self, made: Object, *parts: str) -> Any:
        """Remove parts of the waiting pods' specs."""
        removed = [
            pod["spec"].pop(part) for pod in self.pods(made) for part in parts if pod["spec"].get(part)
        ]
        return bool(removed)

    def tolerant(self, made: Object) -> Any:
        """Make the waiting pods tolerate every taint."""
        if not any((node.get("spec") or {}).get("taints") for node in items(made, "nodes")):
            return False
        for pod in self.pods(made):
            pod["spec"]["tolerations"] = [{"operator": "Exists"}]
        return True

    def uncordoned(self, made: Object) -> Any:
        """Uncordon every node."""
        cordoned = [n for n in items(made, "nodes") if (n.get("spec") or {}).get("unschedulable")]
        for node in cordoned:
            node["spec"].pop("unschedulable")
        return bool(cordoned)

    def smaller(self, made: Object, divisor: int) -> Any:
        """Divide the requests of the waiting pods and minResources; devices stay whole."""
        for pod in self.pods(made):
            for container in [
                *(pod["spec"].get("containers") or ()),
                *(pod["spec"].get("initContainers") or ()),
            ]:
                resources = container.get("resources") or {}
                for part in ("requests", "limits"):
                    if resources.get(part):
                        resources[part] = divided(resources[part], divisor)
        group = named(made, "podgroups", self.job)
        if group is not None and group["spec"].get("minResources"):
            group["spec"]["minResources"] = divided(group["spec"]["minResources"], divisor)
        return True

    def larger_node(self, made: Object) -> Any:
        """Make the first schedulable node huge."""
        node = next((n for n in items(made, "nodes") if not (n.get("spec") or {}).get("unschedulable")), None)
        if node is None:
            return False
        self.enlarge(node)
        return True

    def enlarge(self, node: Object) -> None:
        """Make a node huge in all resources of the cluster and of the waiting pods."""
        scalars = {name for name in self.total if "/" in name}
        more = {**HUGE, **dict.fromkeys(sorted(scalars), "10k")}
        for part in ("allocatable", "capacity"):
            node.setdefault("status", {})[part] = {**(node["status"].get(part) or {}), **more}

    def large_node(self, made: Object) -> Any:
        """Add a huge node like the first."""
        nodes = items(made, "nodes")
        if not nodes:
            return False
        node = deepcopy(nodes[0])
        node["metadata"]["name"] = "added-by-hand"
        node["metadata"].get("labels", {}).pop("kubernetes.io/hostname", None)
        node.setdefault("spec", {}).pop("unschedulable", None)
        self.enlarge(node)
        nodes.append(node)
        return True

    def more_nodes(self, made: Object) -> Any:
        """Add a copy of each node."""
        nodes = items(made, "nodes")
        for node in list(nodes):
            twin = deepcopy(node)
            twin["metadata"]["name"] += "-by-hand"
            labels = twin["metadata"].get("labels") or {}
            if "kubernetes.io/hostname" in labels:
                labels["kubernetes.io/hostname"] = twin["metadata"]["name"]
            nodes.append(twin)
        return bool(nodes)

    def first(self, made: Object) -> Any:
        """Give the job and its pods the highest priority."""
        group = named(made, "podgroups", self.job)
        if group is None:
            return False
        items(made, "priorityclasses").append({"metadata": {"name": "by-hand"}, "value": 900_000_000})
        group["spec"]["priorityClassName"] = "by-hand"
        for pod in self.pods(made):
            pod["spec"]["priorityClassName"] = "by-hand"
            pod["spec"].pop("priority", None)
        return True

    def conf(self, made: Object) -> Object:
        """Return the configuration, to be edited."""
        conf = made.get("scheduler_conf")
        if not isinstance(conf, dict):
            raise AssertionError("a scenario of the trial has its configuration as a structure")
        return conf

    def action(self, name: str) -> Callable[[Object], Any]:
        """Return an edit that adds an action."""

        def edit(made: Object) -> Any:
            if name in self.actions:
                return False
            after = [name, *self.actions] if name == "allocate" else [*self.actions, name]
            self.conf(made)["actions"] = ", ".join(sorted(after, key=lambda one: one != "enqueue"))
            return True

        return edit

    def no_enqueue(self, made: Object) -> Any:
        """Remove action enqueue."""
        others = [name for name in self.actions if name != "enqueue"]
        if len(others) in (0, len(self.actions)):
            return False
        self.conf(made)["actions"] = ", ".join(others)
        return True

    def switch(self, plugin: str, switch: str) -> Callable[[Object], Any]:
        """Return an edit that disables a switch of a plugin."""

        def edit(made: Object) -> Any:
            found = False
            for tier in self.conf(made).get("tiers") or ():
                for entry in tier.get("plugins") or ():
                    if entry.get("name") == plugin and entry.get(switch) is not False:
                        entry[switch] = False
                        found = True
            return found

        return edit


def divided(amounts: Mapping[str, Any], divisor: int) -> dict[str, str]:
    """Return amounts divided; a device is not."""
    made = {}
    for name, quantity in amounts.items():
        amount = parse_quantity(str(quantity))
        if name == "cpu":
            made[name] = f"{int(amount * 1000) // divisor}m"
        else:
            whole = int(amount) // divisor
            made[name] = str(max(whole, 1) if amount >= 1 else whole)
    return made


# the trial


@dataclass
class Figures:
    """The counts of a trial, and every wrong case."""

    counts: Counter[str] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)
    unoffered: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        simple, offered = self.counts["a simple change exists"], self.counts["of these offered"]
        lines = [f"{name}: {count}" for name, count in self.counts.items()]
        share = 100 * offered / simple if simple else 100.0
        return "\n".join(
            [*lines, f"offered where a simple change exists: {share:.1f} %", *self.unoffered, *self.false]
        )

    @property
    def coverage(self) -> float:
        """Return the share of waiting jobs with a simple change for which one is offered."""
        simple = self.counts["a simple change exists"]
        return self.counts["of these offered"] / simple if simple else 1.0


def examine(document: Object, figures: Figures, *, jobs: int, brute: bool = True) -> None:
    """Run the search for some waiting jobs of a scenario, and count the correct answers."""
    prepared = prepare(document)
    result = prepared.simulate()
    if "error" in result or not isinstance(document.get("scheduler_conf"), dict):
        return
    base = entries(result)
    waiting = [
        job
        for job, entry in base.items()
        if entry["task_status"].get("Pending") and not is_served(result, job, entry)
    ]
    for job in waiting[:jobs]:
        actual = unblocking(document, job, prepared.simulate)
        figures.counts["waiting jobs"] += 1
        figures.counts["simulations"] += actual["simulations"]
        figures.counts["stopped early"] += not actual["complete"]
        figures.counts["with an offer"] += bool(actual["changes"])
        for offer in actual["changes"]:
            _examine_offer(document, result, job, offer, figures)
        if not brute:
            continue
        name = next(
            (
                name
                for name, made in Simple(document, result, job)
                if is_served(simulate_document(made), job, base[job])
            ),
            None,
        )
        if name is not None:
            figures.counts["a simple change exists"] += 1
            figures.counts["of these offered"] += bool(actual["changes"])
            if not actual["changes"]:
                figures.unoffered.append(f"{document.get('name')} {job}: {name}; {actual['stopped']}")


def _examine_offer(document: Object, result: Object, job: str, offer: Object, figures: Figures) -> None:
    where = f"{document.get('name')} {job}: {offer['reason']['sentence']}"
    before = entries(result)[job]
    after = simulate_document(edited(document, offer["changes"]))
    checks = {
        "runs": is_served(after, job, before),
        "one unit less does not": not any(
            is_served(simulate_document(edited(document, less)), job, before)
            for less in offer["one_step_smaller"]
        ),
        "evictions as stated": _evictions_match(result, after, offer),
        "side effects as stated": _effects_match(result, after, job, offer),
        "members as stated": _members_match(after, job, offer),
    }
    figures.counts["offers"] += 1
    figures.counts[f"offers {offer['id']}"] += 1
    for name, holds in checks.items():
        figures.counts[name] += holds
        if not holds:
            figures.false.append(f"FALSE {name}: {where}")


def _evictions_match(result: Object, after: Object, offer: Object) -> bool:
    was, now = evictions(result), evictions(after)
    more = {entry["pod"] for entry in offer["evicted"]} == now.keys() - was.keys()
    fewer = {entry["pod"] for entry in offer["spared"]} == was.keys() - now.keys()
    times = [evicted_times(result), evicted_times(after)]
    often = {entry["pod"]: (entry["before"], entry["after"]) for entry in offer["repeated"]} == {
        pod: (before, times[1][pod]) for pod, before in times[0].items() if times[1][pod] not in (0, before)
    }
    return more and fewer and often and (offer["runs"] != "after evictions" or bool(now))


def _effects_match(result: Object, after: Object, job: str, offer: Object) -> bool:
    """Return whether every other job with a different outcome is listed with its numbers."""
    was, now = entries(result), entries(after)
    wanted = {}
    for name in was.keys() & now.keys() - {job}:
        old, new = places(was[name]), places(now[name])
        phases = was[name]["phase_after"], now[name]["phase_after"]
        if old != new or phases[0] != phases[1]:
            wanted[name] = (sum(p for p, _ in old.values()), sum(p for p, _ in new.values()))
    stated = {e["job"]: (e["placed"]["before"], e["placed"]["after"]) for e in offer["changed"]}
    silent = "nothing else changes" in offer["reason"]["sentence"]
    nobody = not wanted and not (offer["evicted"] or offer["spared"] or offer["repeated"])
    return stated == wanted and silent == nobody


def _members_match(after: Object, job: str, offer: Object) -> bool:
    """Return whether the numbers of the job are correct, and never below its minimum."""
    entry = entries(after)[job]
    placed = sum(task["status"] in PLACED for task in entry["tasks"])
    pipelined = sum(task["status"] == "Pipelined" for task in entry["tasks"])
    members = offer["members"]
    actual = (members["placed"], members["pipelined"], members["minimum"])
    return (
        actual == (placed, pipelined, max(1, entry["minAvailable"]))
        and placed + pipelined >= members["minimum"]
    )
