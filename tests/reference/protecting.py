"""Plugins conformance, cdp and pdb: ``spec/node_plugins.md`` 2 to 4."""

from __future__ import annotations

from tests.reference.plugin import Plugin
from tests.reference.pods import Task
from tests.reference.selectors import InvalidSelectorError, selects
from tests.reference.times import duration, seconds

CRITICAL = ("system-cluster-critical", "system-node-critical")
COOLDOWN = "volcano.sh/cooldown-time"


class Conformance(Plugin):
    def preemptable(self, _task: Task, candidates: list[Task]) -> list[Task]:
        return [
            victim
            for victim in candidates
            if victim.spec.get("priorityClassName") not in CRITICAL and victim.namespace != "kube-system"
        ]

    reclaimable = preemptable

    unified_evictable = preemptable


class Cdp(Plugin):
    def preemptable(self, _task: Task, candidates: list[Task]) -> list[Task]:
        return [victim for victim in candidates if not self.is_protected(victim)]

    reclaimable = preemptable

    def is_protected(self, task: Task) -> bool:
        time = duration(task.labels.get(COOLDOWN, task.notes.get(COOLDOWN)))
        phase = task.pod_status.get("phase") or ("Running" if task.spec.get("nodeName") else "Pending")
        if time is None or phase != "Running":
            return False
        scheduled = [
            condition.get("lastTransitionTime")
            for condition in task.pod_status.get("conditions") or ()
            if condition.get("type") == "PodScheduled" and condition.get("status") == "True"
        ]
        return bool(scheduled and scheduled[0]) and seconds(scheduled[0]) + time > self.session.cluster.now


class Pdb(Plugin):
    def preemptable(self, _task: Task | None, candidates: list[Task]) -> list[Task]:
        allowed = [
            (budget.get("status") or {}).get("disruptionsAllowed") or 0
            for budget in self.session.cluster.budgets
        ]
        accepted = []
        for victim in candidates:
            violates = not victim.labels
            for number, budget in enumerate(self.session.cluster.budgets):
                if victim.labels and _guards(budget, victim):
                    allowed[number] -= 1
                    violates = violates or allowed[number] < 0
            if not violates:
                accepted.append(victim)
        return accepted

    reclaimable = preemptable

    def victim_tasks(self, running: list[Task]) -> list[Task]:
        return self.preemptable(None, running)


def _guards(budget: dict[str, object], victim: Task) -> bool:
    selector = (budget.get("spec") or {}).get("selector")
    if (budget["metadata"].get("namespace") or "default") != victim.namespace or not selector:
        return False
    if not (selector.get("matchLabels") or selector.get("matchExpressions")):
        return False
    try:
        guarded = selects(selector, victim.labels)
    except InvalidSelectorError:
        return False
    return guarded and victim.name not in ((budget.get("status") or {}).get("disruptedPods") or {})
