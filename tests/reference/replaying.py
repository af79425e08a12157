"""A plain replay: sessions of the reference over simulated time, by the contract ``spec/replay.md``.

Every session reads all objects. Only sessions are skipped that change nothing according to
the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from tests.reference.admission import conf_of
from tests.reference.comparison import facts_of
from tests.reference.cycles import closed_group, nominated_pod
from tests.reference.engine import decide
from tests.reference.session import Session
from tests.reference.world import World

Object = Mapping[str, Any]

CLOCKED = ("sla", "tdm", "cdp")
RECORDED = ("enqueue", "bind", "evict")


class Replaying(World):
    """A complete replay."""

    def __init__(self, document: Object) -> None:
        super().__init__(document)
        self.document = document
        self.log: list[Object] = []
        self.sessions, self.end = 0, 0.0

    def scenario(self, time: float) -> dict[str, Any]:
        """Return the scheduler's view as a scenario."""
        return {
            **self.document,
            "now": self.stamp(time),
            "nodes": self.nodes,
            "queues": self.queues,
            "podgroups": list(self.groups.values()),
            "pods": list(self.pods.values()),
        }

    def follow(self, session: Session, time: float) -> bool:
        """Apply a session's decisions; return whether they changed anything."""
        made = [one for one in session.decisions if one["state"] == "committed" and one["op"] in RECORDED]
        before = {key: (group.get("status") or {}).get("phase") for key, group in self.groups.items()}
        nominations = self._nominations()
        self.groups = {key: closed_group(group, session) for key, group in self.groups.items()}
        after = {
            key: group["status"].get("phase") for key, group in self.groups.items() if group.get("status")
        }
        for key, story in self.stories.items():
            if story.enqueued is None and after.get(key, "Pending") not in ("", "Pending"):
                story.enqueued = time
        for task in [task for job in session.cluster.jobs.values() for task in job.tasks]:
            if task.key in self.pods:
                self.pods[task.key] = nominated_pod(self.pods[task.key], task)
        self._move(made, time)
        if made:
            self.log.append({"t": time, "decisions": made})
        kept = all((before[key] or "Pending") == (after.get(key) or "Pending") for key in before)
        return bool(made) or not kept or nominations != self._nominations()

    def _nominations(self) -> dict[str, Any]:
        return {
            key: node
            for key, pod in self.pods.items()
            if (node := (pod.get("status") or {}).get("nominatedNodeName"))
        }

    def _move(self, made: list[dict[str, str]], time: float) -> None:
        restarting: dict[str, None] = {}
        for decision in made:
            key = decision.get("pod", "")
            if decision["op"] == "bind":
                self.bind(key, decision["node"], time)
            elif decision["op"] == "evict":
                self.evict(key, time)
                restarting[self.runs[key].group] = None
        if self.mode == "restart-job":
            for group in restarting:
                self.restart(group, time)

    def run(self) -> Object:
        """Run every session and return the result, without the rows of queues."""
        period, horizon = self.plan.get("period_seconds", 1), self.plan["horizon_seconds"]
        process: dict[str, float] = {}
        clocked = reads_clock(self.document)
        still = False
        for number in count():
            time = number * period
            if time > horizon:
                break
            due = self.due.next_time()
            self.sessions, self.end = number + 1, time
            if still and (due is None or due > time):
                continue
            self.advance(time)
            still = not self.follow(decide(self.scenario(time), process), time) and not clocked
            if still and self.due.next_time() is None:
                break
        return {
            "log": self.log,
            "jobs": {key: vars(story) for key, story in sorted(self.stories.items())},
            "sessions": self.sessions,
            "end_seconds": self.end,
        }


def reads_clock(document: Object) -> bool:
    """Return whether a plugin reads the clock; then equal objects may be decided differently later."""
    tiers = conf_of(document)["tiers"]
    return any(entry["name"] in CLOCKED for tier in tiers for entry in tier.get("plugins") or ())


def replay_agrees(entry: Object) -> str | None:
    """Return the first difference from a result, recorded or the core's, None if they are equal.

    Rows of queues are not compared, nor the end of a replay with a plugin that reads the clock.
    """
    document, result = entry["scenario"], entry["result"]
    mine = Replaying(document).run()
    for left, right in zip(mine["log"], result["log"], strict=False):
        ours = (left["t"], [facts_of({**decision, "state": ""}) for decision in left["decisions"]])
        theirs = (right["t"], [facts_of(decision) for decision in right["decisions"]])
        if ours != theirs:
            return f"log: {ours} and {theirs}"
    for key, story in result["jobs"].items():
        if not _alike(mine["jobs"].get(key), story):
            return f"{key}: {mine['jobs'].get(key)} and {story}"
    for name in () if reads_clock(document) else ("sessions", "end_seconds"):
        if mine[name] != result[name]:
            return f"{name}: {mine[name]} and {result[name]}"
    return None if len(mine["log"]) == len(result["log"]) else "one log is longer"


def _alike(mine: Object | None, theirs: Object) -> bool:
    """Return whether two entries of a job are equal; seconds may differ by a millionth."""
    if mine is None or {*mine} != {*theirs}:
        return False
    return all(
        left == right or _are_near(left, right) for left, right in ((mine[key], theirs[key]) for key in mine)
    )


def _are_near(left: Any, right: Any) -> bool:
    return isinstance(left, float | int) and isinstance(right, float | int) and abs(left - right) < 1e-6
