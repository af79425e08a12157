"""Plugin tdm, which lets pods run on revocable nodes for a time: ``spec/node_plugins.md`` 5."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

from tests.reference.cluster import Node
from tests.reference.jobs import Job
from tests.reference.plugin import PERMIT, REJECT, Plugin
from tests.reference.pods import PREEMPTABLE, TRUE, Task
from tests.reference.resources import Panic
from tests.reference.times import duration

ZONE = "volcano.sh/revocable-zone"
LEAST, MOST = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"
RANGE = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")


class Tdm(Plugin):
    @property
    def zones(self) -> dict[str, str]:
        prefix = "tdm.revocable-zone."
        zones = {key.replace(prefix, ""): value for key, value in self.arguments.items() if prefix in key}
        if not all(isinstance(text, str) for text in zones.values()):
            raise Panic("a revocable zone is not a text")
        return zones

    def is_active(self, zone: str) -> bool:
        found = RANGE.fullmatch(self.zones.get(zone, "").strip())
        if found is None:
            return False
        first_hour, first_minute, last_hour, last_minute = map(int, found.groups())
        if max(first_hour, last_hour) > 23 or max(first_minute, last_minute) > 59:
            return False
        now = datetime.fromtimestamp(int(self.session.cluster.now), UTC)
        start = now.replace(hour=first_hour, minute=first_minute, second=0)
        end = now.replace(hour=last_hour, minute=last_minute, second=0)
        if start >= end:
            end += timedelta(days=1)
        return start <= now <= end

    def predicate(self, task: Task, node: Node) -> list[int]:
        zone = node.labels.get(ZONE)
        return [3] if zone and not (self.is_active(zone) and may_be_revoked(task)) else []

    def node_order(self, task: Task, node: Node) -> float | None:
        zone = node.labels.get(ZONE)
        if zone and not self.is_active(zone):
            return None
        return 100.0 if zone and may_be_revoked(task) else 0.0

    def preemptable(self, task: Task, candidates: list[Task]) -> list[Task]:
        if task.preemptable or may_be_revoked(task):
            return []
        nodes = self.session.cluster.nodes
        return _in_budget(
            [
                victim
                for victim in candidates
                if victim.preemptable
                and victim.status == "Running"
                and not nodes[victim.node].labels.get(ZONE)
            ]
        )

    def victim_tasks(self, _running: list[Task]) -> list[Task]:
        process, now = self.session.process, self.session.cluster.now
        text = self.arguments.get("tdm.evict.period")
        if text is not None and not isinstance(text, str):
            raise Panic("tdm.evict.period is not a text")
        period = duration(text)
        if process.get("tdm", -math.inf) + (60.0 if period is None else period) > now:
            return []
        process["tdm"] = now
        victims: list[Task] = []
        for zone in sorted(self.zones):
            if not self.is_active(zone):
                victims += _in_budget(self.movable(zone))
        return victims

    def movable(self, zone: str) -> list[Task]:
        """Return the evictable tasks on the nodes of a zone."""
        nodes = [node for node in self.session.cluster.nodes.values() if node.labels.get(ZONE) == zone]
        tasks = [task for node in nodes for task in node.in_order() if task.job is not None]
        return [task for task in tasks if task.preemptable and task.status == "Running"]

    def job_order(self, left: Job, right: Job) -> int:
        return left.preemptable - right.preemptable

    def job_pipelined(self, job: Job) -> int:
        return PERMIT if job.is_pipelined() else REJECT

    def job_starving(self, job: Job) -> bool:
        return not job.preemptable and job.count("Pending") > 0


def may_be_revoked(task: Task) -> bool:
    """Return whether a pod may run on revocable nodes."""
    if ZONE in task.notes:
        return task.notes[ZONE] == "*"
    return task.notes.get(PREEMPTABLE) in TRUE


def _in_budget(victims: list[Task]) -> list[Task]:
    grouped: dict[str, list[Task]] = {}
    for victim in victims:
        grouped.setdefault(victim.job.key, []).append(victim)
    return [victim for key in sorted(grouped) for victim in grouped[key][: _budget(grouped[key][0].job)]]


def _budget(job: Job) -> int:
    running = job.count("Running")
    if job.notes.get(LEAST):
        least = _amount(job.notes[LEAST], len(job.tasks))
        return running - least if running >= least else 1
    if job.notes.get(MOST):
        unavailable = len(job.tasks) - job.count("Succeeded", "Failed", "Running")
        return max(0, _amount(job.notes[MOST], len(job.tasks)) - unavailable)
    return 1


def _amount(text: str, whole: int) -> int:
    number = text.removesuffix("%")
    if not re.fullmatch(r"[+-]?\d+", number):
        return 0
    return math.ceil(int(number) * whole / 100) if text.endswith("%") else int(number)
