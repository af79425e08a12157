"""The objects of a plain replay, and their changes between sessions. ``spec/replay.md``.

Everything is an object of the scenario; only the times of runs are kept beside them. Jobs with a
controller, owners, checkpoints, image pulls, lost nodes and closed queues are not implemented here.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

from tests.reference.admission import items, key_of
from tests.reference.cluster import clock
from tests.reference.cycles import bound_pod, evicted_pod, returned_pod
from tests.reference.pods import group_of
from tests.reference.timeline import FINISH, GONE, START, Due, Run, Story
from tests.reference.times import moment, seconds

Object = Mapping[str, Any]

RUN = "queuecast/run-seconds"
TERMINATION = 30


class World:
    """The objects, the due events, and the story of each job.

    Attributes
    ----------
    stories : dict
        By the namespace/name of the PodGroup.
    returning : dict
        The terminating pods of a job that is restarted as a whole, by the same key.

    """

    def __init__(self, document: Object) -> None:
        self.plan: Object = document["replay"]
        self.mode = self.plan.get("evicted", "restart")
        self.begin = clock(document)
        self.stories: dict[str, Story] = {}
        self.groups: dict[str, Object] = {}
        self.pods: dict[str, Object] = {}
        self.nodes, self.queues = list(items(document, "nodes")), list(items(document, "queues"))
        self.runs: dict[str, Run] = {}
        self.returning: dict[str, set[str]] = {}
        self.due = Due()
        for group in items(document, "podgroups"):
            created = group["metadata"].get("creationTimestamp")
            self._create_group(group, seconds(created) - self.begin if created else None)
        for pod in items(document, "pods"):
            self._create_pod(pod, 0.0)
        for key in self.groups:
            self._record_start(key)
        for number, event in enumerate(self.plan.get("events") or ()):
            self.due.event(event["at"], number)

    # objects

    def _create_group(self, group: Object, submitted: float | None) -> None:
        key = key_of(group)
        self.groups[key] = group
        story = self.stories[key] = Story(group["spec"].get("queue") or "default", submitted)
        if (group.get("status") or {}).get("phase", "Pending") not in ("", "Pending"):
            story.enqueued = 0.0

    def _create_pod(self, pod: Object, time: float) -> None:
        key, metadata = key_of(pod), pod["metadata"]
        self.pods[key] = pod
        run = self.runs[key] = Run(metadata.get("uid") or key.replace("/", "-"), group_of(pod), None)
        run.left = self._whole_run(key)
        status = pod.get("status") or {}
        if self._leaves(key):
            since = seconds(metadata["deletionTimestamp"]) - self.begin
            self.due.plan(key, GONE, max(since + self._termination(pod), time))
        elif status.get("phase") == "Running":
            run.since = seconds(status["startTime"]) - self.begin if status.get("startTime") else time
            if run.left is not None:
                self.due.plan(key, FINISH, time + max(run.left - (time - run.since), 1.0))
        elif status.get("phase", "Pending") == "Pending" and pod["spec"].get("nodeName"):
            self.due.plan(key, START, time + self.plan.get("start_delay_seconds", 0))

    def _whole_run(self, key: str) -> float | None:
        for holder in (self.pods[key], self.groups.get(self.runs[key].group)):
            stated = ((holder or {}).get("metadata", {}).get("annotations") or {}).get(RUN)
            if stated is not None:
                return float(stated)
        return None

    def _write(self, key: str, **status: Any) -> None:
        pod = self.pods[key]
        self.pods[key] = {**pod, "status": {**(pod.get("status") or {}), **status}}

    def _phase(self, key: str) -> str:
        return (self.pods[key].get("status") or {}).get("phase") or "Pending"

    def _members(self, group: str) -> list[str]:
        return sorted([key for key, run in self.runs.items() if run.group == group])

    def _leaves(self, key: str) -> bool:
        return bool(self.pods[key]["metadata"].get("deletionTimestamp"))

    def stamp(self, time: float) -> str:
        """Return the timestamp of a time."""
        return moment(floor(self.begin + time))

    # due events

    def advance(self, until: float) -> None:
        """Process all due events."""
        while (time := self.due.next_time()) is not None and time <= until:
            kind, key = self.due.pop()
            if kind == FINISH:
                self._finish(key, time)
            elif kind == GONE:
                self._gone(key, time)
            elif kind == START:
                self._start(key, time)
            else:
                self._happen(self.plan["events"][key], time)

    def _happen(self, event: Object, time: float) -> None:
        new = event.get("create") or {}
        for group in new.get("podgroups") or ():
            self._create_group(self._stamped(group, time), time)
        for pod in new.get("pods") or ():
            self._create_pod(self._stamped(pod, time), time)
        self.nodes += [self._stamped(node, time) for node in new.get("nodes") or ()]
        self.queues += [self._stamped(queue, time) for queue in new.get("queues") or ()]
        for name in ("queues", "nodes"):
            for thing in (event.get("replace") or {}).get(name) or ():
                setattr(self, name, [_replaced(old, thing) for old in getattr(self, name)])
        for name in (event.get("delete") or {}).get("nodes") or ():
            self._delete_node(name, time)
        for name in (event.get("drain") or {}).get("nodes") or ():
            self._drain(name, time)

    def _stamped(self, thing: Object, time: float) -> Object:
        return {**thing, "metadata": {"creationTimestamp": self.stamp(time), **thing["metadata"]}}

    def _delete_node(self, name: str, time: float) -> None:
        self.nodes = [node for node in self.nodes if node["metadata"]["name"] != name]
        stopped = set()
        for key in self._active_on(name):
            stopped.add(self.runs[key].group)
            self._stop(key, time)
            self._gone(key, time)
        if self.mode == "restart-job":
            for group in sorted(stopped & set(self.groups)):
                self.restart(group, time)

    def _drain(self, name: str, time: float) -> None:
        for position, node in enumerate(self.nodes):
            if node["metadata"]["name"] == name:
                self.nodes[position] = {**node, "spec": {**(node.get("spec") or {}), "unschedulable": True}}
        for key in self._active_on(name):
            self._delete(key, time)

    def _active_on(self, name: str) -> list[str]:
        on_it = [key for key, pod in self.pods.items() if pod["spec"].get("nodeName") == name]
        return sorted([key for key in on_it if self._phase(key) in ("Pending", "Running")])

    def _delete(self, key: str, time: float) -> None:
        """Delete a pod that has not been deleted before."""
        if not self._leaves(key):
            pod = self.pods[key]
            deleted = {**pod["metadata"], "deletionTimestamp": self.stamp(time)}
            self._leave(key, time, {**pod, "metadata": deleted})

    # runs

    def _start(self, key: str, time: float) -> None:
        run = self.runs[key]
        self._write(key, phase="Running", startTime=self.stamp(time))
        run.since = time
        if run.left is not None:
            self.due.plan(key, FINISH, time + run.left)
        self._record_start(run.group)

    def _record_start(self, group: str) -> None:
        story = self.stories.get(group)
        if story is None or story.started is not None or group not in self.groups:
            return
        members = self._members(group)
        running = [key for key in members if self._phase(key) == "Running" and not self._leaves(key)]
        starts = sorted([since for key in running if (since := self.runs[key].since) is not None])
        minimum = max(int(self.groups[group]["spec"].get("minMember") or 0), 1)
        if len(starts) >= minimum:
            story.started = starts[minimum - 1]

    def _finish(self, key: str, time: float) -> None:
        self._write(key, phase="Succeeded")
        self._end_job(self.runs[key].group, time)

    def _end_job(self, group: str, time: float) -> None:
        members = self._members(group)
        if group in self.groups and members and all(self._phase(key) == "Succeeded" for key in members):
            self.stories[group].finished = time
            del self.groups[group]
            self.returning.pop(group, None)
            for key in members:
                self._forget(key)

    def _forget(self, key: str) -> None:
        del self.pods[key], self.runs[key]
        self.due.cancel(key)

    def _stop(self, key: str, time: float) -> None:
        """Interrupt a run."""
        run = self.runs[key]
        if self._phase(key) == "Running" and run.since is not None and not self._leaves(key):
            if self.mode != "resume":
                self._lose(run, time - run.since)
            elif run.left is not None:
                run.left -= time - run.since
        run.since = None
        self.due.cancel(key)

    def _lose(self, run: Run, lost: float) -> None:
        if run.group in self.stories:
            self.stories[run.group].lost_seconds += lost

    def _gone(self, key: str, time: float) -> None:
        group = self.runs[key].group
        if self.mode == "delete":
            self._forget(key)
            self._end_job(group, time)
            return
        self._return(key, time)
        rest = self.returning.get(group, set())
        rest.discard(key)
        if group in self.returning and not rest:
            del self.returning[group]
            for other in self._members(group):
                if self._phase(other) == "Succeeded":
                    self._return(other, time)

    def _return(self, key: str, time: float) -> None:
        run, pod = self.runs[key], self.pods[key]
        run.returns += 1
        self.due.cancel(key)
        run.since = None
        if self.mode != "resume":
            run.left = self._whole_run(key)
        self.pods[key] = returned_pod(pod, f"{run.uid}-re{run.returns}", self.stamp(time))

    def _leave(self, key: str, time: float, pod: Object) -> None:
        """Start the termination of a pod; `pod` is the object written by the eviction or the deletion."""
        self._stop(key, time)
        self.pods[key] = pod
        self.due.plan(key, GONE, time + self._termination(pod))

    def _termination(self, pod: Object) -> float:
        given = self.plan.get("termination_seconds")
        if given is None:
            given = pod["spec"].get("terminationGracePeriodSeconds")
        return TERMINATION if given is None else float(given)

    def restart(self, group: str, time: float) -> None:
        """Restart a job: remaining pods terminate, then all pods are recreated, including succeeded ones."""
        for key in self._members(group):
            phase = self._phase(key)
            if phase == "Succeeded" and self.runs[key].since is not None:
                self._lose(self.runs[key], self._whole_run(key) or 0.0)
                self.runs[key].since = None
            elif phase != "Succeeded" and self.pods[key]["spec"].get("nodeName"):
                self._delete(key, time)
        leaving = {key for key in self._members(group) if self._leaves(key)}
        self.returning.setdefault(group, set()).update(leaving)

    # decisions

    def evict(self, key: str, time: float) -> None:
        """Start the termination of a pod evicted by a session."""
        self.stories[self.runs[key].group].evictions += 1
        self._leave(key, time, evicted_pod(self.pods[key], self.stamp(time)))

    def bind(self, key: str, node: str, time: float) -> None:
        """Bind a pod to a node; it runs immediately, or after the start delay."""
        delay = self.plan.get("start_delay_seconds", 0)
        self.pods[key] = bound_pod(self.pods[key], node, self.stamp(time))
        if delay:
            status = {name: value for name, value in self.pods[key]["status"].items() if name != "startTime"}
            self.pods[key] = {**self.pods[key], "status": {**status, "phase": "Pending"}}
            self.due.plan(key, START, time + delay)
        else:
            self._start(key, time)


def _replaced(old: Object, new: Object) -> Object:
    if old["metadata"]["name"] != new["metadata"]["name"]:
        return old
    return {**new, "status": old.get("status") or {}}
