"""Plugin drf: shares of jobs, and of queues in a tree. ``spec/drf.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.reference.cluster import Queue
from tests.reference.jobs import Job
from tests.reference.plugin import Plugin
from tests.reference.pods import Task
from tests.reference.resources import Panic, Vector, added, names_of, sub, total, vector

if TYPE_CHECKING:
    from tests.reference.session import Session


class Place:
    """A node of the tree: a leaf for every job, an inner node for every part of a queue's path."""

    def __init__(self, weight: float) -> None:
        self.weight, self.children = weight, {}
        self.job: Job | None = None
        self.allocated, self.share, self.saturated = vector(None), 0.0, False


class Drf(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        self.held = {key: job.allocated() for key, job in session.cluster.jobs.items()}
        self.tree = session.entries["drf"].get("enableHierarchy") is True
        self.root = Place(1.0)
        for job in session.cluster.jobs.values() if self.tree else ():
            self.plant(job)
        self.measure()

    def share(self, amounts: Vector) -> float:
        whole = self.session.cluster.total
        return max([0.0, *[amounts.get(name, 0.0) / whole[name] for name in names_of(whole)]])

    def job_order(self, left: Job, right: Job) -> int:
        mine, theirs = (self.share(self.held[job.key]) for job in (left, right))
        return (mine > theirs) - (mine < theirs)

    def preemptable(self, task: Task, candidates: list[Task]) -> list[Task]:
        mine = self.share(added(self.held[task.job.key], task.request))
        left: dict[str, Vector] = {}
        accepted = []
        for victim in candidates:
            key = victim.job.key
            left[key] = sub(left.get(key, self.held[key]), victim.request)
            theirs = self.share(left[key])
            if mine < theirs or abs(mine - theirs) <= 0.000001:
                accepted.append(victim)
        return accepted

    def allocate(self, task: Task) -> None:
        self.held[task.job.key] = added(self.held[task.job.key], task.request)
        self.measure()

    def deallocate(self, task: Task) -> None:
        self.held[task.job.key] = sub(self.held[task.job.key], task.request)
        self.measure()

    # the tree, sections 7 to 9

    def plant(self, job: Job) -> None:
        queue, place = self.session.cluster.queues[job.queue], self.root
        for position, name in enumerate(queue.path[1:], 1):
            if position >= len(queue.path_weights):
                raise Panic(f"{queue.name} has fewer weights than names in its path")
            place = place.children.setdefault(name, Place(_weight(queue.path_weights[position])))
        leaf = place.children[job.key] = Place(1.0)
        leaf.job = job

    def measure(self, held: Mapping[str, Vector] | None = None) -> None:
        """Compute the whole tree for the jobs' current or assumed allocations."""
        if self.tree:
            held = self.held if held is None else held
            whole, used = self.session.cluster.total, total(held.values())
            demanding = {name for name in names_of(whole) if used.get(name, 0.0) < whole[name]}
            self.update(self.root, held, demanding)

    def update(self, place: Place, held: Mapping[str, Vector], demanding: set[str]) -> None:
        if place.job is not None:
            place.allocated = held[place.job.key]
            place.saturated = _is_saturated(place.job, place.allocated, demanding)
        else:
            children = [place.children[key] for key in sorted(place.children)]
            for child in children:
                self.update(child, held, demanding)
            holding = [child for child in children if child.share != 0]
            least = min([1.0, *[self.share(child.allocated) for child in holding if not child.saturated]])
            place.allocated = vector(None)
            for child in holding:
                ratio = 1.0 if child.saturated else least / child.share
                scaled = {name: amount * ratio for name, amount in child.allocated.items()}
                place.allocated = added(place.allocated, scaled)
            place.saturated = all(child.saturated for child in children)
        place.share = self.share(place.allocated)

    def compare(self, left: Queue, right: Queue) -> float:
        mine = theirs = self.root
        depth = min(len(left.path), len(right.path))
        for position in range(depth):
            if mine.saturated != theirs.saturated:
                return 1 if mine.saturated else -1
            difference = mine.share / mine.weight - theirs.share / theirs.weight
            if difference:
                return difference
            if position < depth - 1:
                mine = mine.children[left.path[position + 1]]
                theirs = theirs.children[right.path[position + 1]]
        return 0

    def queue_order(self, left: Queue, right: Queue) -> float:
        return self.compare(left, right) if self.tree else 0

    def reclaimable(self, task: Task, candidates: list[Task]) -> list[Task] | None:
        if not self.tree:
            return None
        queues, mine = self.session.cluster.queues, task.job.key
        accepted = []
        for victim in candidates:
            theirs = victim.job.key
            self.measure(
                self.held
                | {mine: added(self.held[mine], task.request)}
                | {theirs: sub(self.held[theirs], victim.request)}
            )
            if self.compare(queues[task.job.queue], queues[victim.job.queue]) < 0:
                accepted.append(victim)
        self.measure()
        return accepted


def _weight(text: str) -> float:
    try:
        return max(float(text), 1.0)
    except ValueError:
        return 1.0


def _is_saturated(job: Job, allocated: Vector, demanding: set[str]) -> bool:
    request = total(task.request for task in job.tasks)
    return any(
        request.get(name, 0.0) != 0 and (allocated[name] >= request[name] or name not in demanding)
        for name in names_of(allocated)
    )
