"""Nodes and the pods on them: binds, drains, losses, and image pulls.

A lost node no longer responds: after 40 s it is marked unreachable, 300 s later its pods are deleted, and
they terminate until the node object is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from scheduler_core.model.snapshot import NodeList
from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.runs import PodRuns
from scheduler_core.replay.terminations import Terminations
from scheduler_core.replay.world import World

Object = Mapping[str, Any]

UNREACHABLE = "node.kubernetes.io/unreachable"
MARKED_AFTER = 40.0
TOLERATED = 300.0


class Machines:
    """The nodes of a replay."""

    def __init__(
        self,
        world: World,
        runs: PodRuns,
        terminations: Terminations,
        frozen: Mapping[str, Any] | None = None,
    ) -> None:
        self.world = world
        self.runs = runs
        self.terminations = terminations
        kept = {"lost": [], "pulled": {}} if frozen is None else frozen["machines"]
        self._lost: dict[str, None] = dict.fromkeys(kept["lost"])
        self._pulled: dict[str, float] = dict(kept["pulled"])

    def frozen(self) -> dict[str, Any]:
        """Return the stored state of nodes, as plain data."""
        return {"lost": list(self._lost), "pulled": dict(sorted(self._pulled.items()))}

    @property
    def any_is_lost(self) -> bool:
        """Return whether a node of the cluster no longer responds: pods that are bound there never start."""
        return bool(self._lost)

    # bound pods

    def start_delay(self, key: str, node: str, time: float) -> float:
        """Return the seconds from a bind until the pod runs: its images are pulled, then it starts."""
        if node in self._lost:
            return inf
        spec = self.world.cluster.pods.infos[key].template.pod.get("spec") or {}
        return self._pulls(node, spec, time) + self.world.timeline.start_delay

    def bound(self, key: str, time: float, delay: float) -> None:
        """Plan the start of a pod that was bound; without a delay it runs at once."""
        self.terminations.states.updated(key)
        if self.world.cluster.pods.infos[key].node_name in self._lost:
            self.world.lives[key].on_lost_node = True
            self.world.stir(key)
        elif delay > 0:
            self.world.agenda.plan(time + delay, Kind.START, key)
        else:
            self.runs.plan_end(key, time)

    def _pulls(self, node: str, spec: Object, time: float) -> float:
        """Return how long a pod that is bound now waits for its images; pull the missing ones."""
        table = self.world.timeline.pull
        ready = time
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
            image = container.get("image") or ""
            if image in table and not self._has(node, image):
                ready = max(ready, self._pulled.setdefault(f"{node} {image}", time + float(table[image])))
        return ready - time

    def _has(self, node: str, image: str) -> bool:
        """Return whether a node had an image when it was added."""
        for entry in self.world.cluster.nodes.objects:
            if entry["metadata"]["name"] == node:
                images = (entry.get("status") or {}).get("images") or ()
                return any(image in (listed.get("names") or ()) for listed in images)
        return False

    # nodes

    def delete(self, name: str, time: float) -> None:
        """Delete a node and the pods on it."""
        nodes = self.world.cluster.nodes.objects
        self.world.cluster.nodes = NodeList([node for node in nodes if node["metadata"]["name"] != name])
        self._lost.pop(name, None)
        for key in [key for key in self._pulled if key.partition(" ")[0] == name]:
            del self._pulled[key]
        self.terminations.delete_pods_on(name, time)

    def drain(self, name: str, time: float) -> None:
        """Cordon a node and delete the pods on it, each with its grace period."""
        self._edit(name, lambda node: {**node, "spec": {**(node.get("spec") or {}), "unschedulable": True}})
        for key in self.world.pods_on(name):
            life = self.world.lives[key]
            if not life.has_ended and not life.terminates:
                self.terminations.terminate(key, time)

    def lose(self, name: str, time: float) -> None:
        """Stop a node and the work on it; no controller notices yet."""
        self._lost[name] = None
        for key in self.world.pods_on(name):
            life = self.world.lives[key]
            if not life.has_ended:
                life.on_lost_node = True
                self.world.stir(key)
                self.runs.stop(key, time)
                self.world.agenda.cancel(key)
        self.world.agenda.plan(time + MARKED_AFTER, Kind.NODE, f"{name} unreachable")

    def process(self, planned: str, time: float) -> None:
        """Mark a lost node, or delete a pod on it."""
        name, _, what = planned.partition(" ")
        if what == "unreachable" and name in self._lost:
            self._edit(name, _unreachable)
            for key in self.world.pods_on(name):
                seconds = _tolerates(self.world.cluster.pods[key])
                if seconds is not None and not self.world.lives[key].has_ended:
                    self.world.agenda.plan(time + seconds, Kind.NODE, f"{name} {key}")
        elif what in self.world.lives and not self.world.lives[what].terminates and name in self._lost:
            self.terminations.terminate(what, time)

    def _edit(self, name: str, change: Callable[[Object], Object]) -> None:
        nodes = self.world.cluster.nodes.objects
        self.world.cluster.nodes = NodeList(
            [change(node) if node["metadata"]["name"] == name else node for node in nodes]
        )


def _unreachable(node: Object) -> Object:
    """Return a node as the node controller marks it when it no longer responds."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    taints = [
        *(spec.get("taints") or ()),
        *({"key": UNREACHABLE, "effect": effect} for effect in ("NoSchedule", "NoExecute")),
    ]
    conditions = [entry for entry in status.get("conditions") or () if entry.get("type") != "Ready"]
    return {
        **node,
        "spec": {**spec, "taints": taints},
        "status": {**status, "conditions": [*conditions, {"type": "Ready", "status": "Unknown"}]},
    }


def _tolerates(pod: Object) -> float | None:
    """Return how long a pod stays on an unreachable node before it is deleted; None: forever."""
    for toleration in pod["spec"].get("tolerations") or ():
        fits = toleration.get("key") in (None, "", UNREACHABLE)
        if fits and toleration.get("effect") in (None, "", "NoExecute"):
            seconds = toleration.get("tolerationSeconds")
            return None if seconds is None else float(seconds)
    return TOLERATED
