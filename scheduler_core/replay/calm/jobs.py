"""The jobs of a calm replay: waiting, bound, running and ended."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor

from scheduler_core.decision import Decision
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.model.queue_part import Part, part_of
from scheduler_core.model.status import TaskStatus
from scheduler_core.replay.agenda import Due, Kind
from scheduler_core.replay.calm.arrivals import Arrival
from scheduler_core.replay.calm.kinds import JobKind
from scheduler_core.replay.calm.lines import CalmJob, Lines
from scheduler_core.replay.calm.objects import Objects
from scheduler_core.replay.course import Course
from scheduler_core.replay.fixpoint import Change, moves_reservation, reads_whole_minimum
from scheduler_core.replay.records import JobRecord
from scheduler_core.transitions import write_status

Places = list[tuple[int, PodShape]]


class CalmJobs:
    """The jobs that have arrived or waited since the calm began, and the parts of all jobs in queue sums.

    Attributes
    ----------
    pending, enqueued : Lines
        The waiting jobs.
    parts : dict
        What jobs add to the sums of their queues from the next session on, by key; None: the job is deleted.
    ending : set of str
        The jobs of which some, but not all, pods have ended.

    Parameters
    ----------
    session : Session
        The session of the living state.
    course : Course
        Processes all other events.
    found : iterable of JobInfo
        The jobs that the last session bound, or that have ended since.

    """

    def __init__(self, session: Session, course: Course, found: Iterable[JobInfo]) -> None:
        self.session = session
        self.course = course
        self.world = course.world
        self.objects = Objects(course)
        self.pending, self.enqueued = Lines(), Lines()
        self.parts: dict[str, Part | None] = {}
        self.ending: set[str] = set()
        self._found = list(found)
        self._reads_whole_minimum = reads_whole_minimum(session)
        self._jobs: dict[str, CalmJob] = {}
        self._job_of: dict[str, CalmJob] = {}
        self._bound: list[CalmJob] = []
        self._places: dict[str, Places] = {}

    # arrivals

    def add_arrival(self, arrival: Arrival, kind: JobKind, time: float) -> bool:
        """Add an arriving job; False if an object of one of its names exists."""
        pods = self.world.cluster.pods.infos
        if arrival.key in self._jobs or arrival.key in self.world.podgroups:
            return False
        for key in arrival.pod_keys:
            if key in pods or key in self._job_of:
                return False
        job = CalmJob(arrival, kind, time, float(floor(self.world.begin + time)))
        self.world.records.jobs[job.key] = JobRecord(kind.queue.name, time)
        self._jobs[job.key] = job
        self.pending.add(job)
        self.parts[job.key] = kind.new.part
        return True

    def add_waiting(self, job: JobInfo, arrival: Arrival, kind: JobKind) -> bool:
        """Add a waiting job that has objects; False if it has changed since its arrival."""
        tasks = job.by_status[TaskStatus.PENDING].values()
        if job.phase not in ("", "Pending", "Inqueue") or any(task.nominated for task in tasks):
            return False
        if not len(tasks) == job.size == len(arrival.pods):
            return False
        if job.size > 1 and any(self.world.lives[key].returns for key in arrival.pod_keys):
            return False  # restarted pods may be in another order
        taken = CalmJob(arrival, kind, 0.0, job.creation, written=True, enqueued=not job.is_pending)
        self._jobs[job.key] = taken
        (self.enqueued if taken.enqueued else self.pending).add(taken)
        return True

    # decisions of sessions

    def enqueue(self, job: CalmJob, time: float) -> None:
        """Mark a job as enqueued; it is already in its new line."""
        job.enqueued = True
        self.parts[job.key] = job.kind.enqueued.part
        record = self.world.records.jobs[job.key]
        if record.enqueued is None:
            record.enqueued = time
        if job.written:
            self.objects.write_status(job)

    def run(self, job: CalmJob, nodes: list[int], time: float) -> None:
        """Start the pods of a job, which has left its line."""
        arrival, names = job.arrival, self.session.nodes.names
        job.nodes, job.bound = nodes, time
        self.parts[job.key] = job.kind.bound.part
        self._bound.append(job)
        for pod, node in zip(arrival.pod_keys, nodes, strict=True):
            self.session.decisions.append(Decision("allocate", "bind", job.key, pod, names[node]))
        if job.written:
            self._places[job.key] = [(node, job.kind.task.shape) for node in nodes]
            self.objects.bind(job, names)
            return
        self.world.records.jobs[job.key].started = time
        self._job_of.update(dict.fromkeys(arrival.pod_keys, job))
        if arrival.seconds is not None:
            self.world.agenda.plan(time + arrival.seconds, Kind.FINISH, arrival.pod_keys[0])

    def close(self) -> Change:
        """Set the jobs that the previous session bound to Running; return how much that changes."""
        self.session.is_closed = True
        if not self._bound and not self._found:
            return Change.NOTHING
        bound = [job for job in self._bound if self._jobs.get(job.key) is job]
        found = [job for job in self._found if job.key in self.world.podgroups]
        self._bound, self._found = [], []
        whole = self._reads_whole_minimum
        changed = [job for job in found if job.phase != "Running"]
        moves = any(moves_reservation(job, whole=whole) for job in changed)
        for job in bound:
            minimum = job.kind.job.min_resources
            moves = moves or (whole and minimum is not None and not minimum.is_nothing())
            self._mark_running(job)
        for known in found:
            known.phase = "Running"
            write_status(self.world.podgroups, known)
            known.keep()
            self.parts[known.key] = part_of(known)
        if moves and self.pending:
            return Change.STATE
        return Change.PHASES if bound or changed else Change.NOTHING

    def _mark_running(self, job: CalmJob) -> None:
        job.runs = True
        self.parts[job.key] = job.kind.running.part
        if job.written:
            self.objects.write_status(job)

    # ends of jobs

    def end(self, due: Due, found: Places) -> Places | None:
        """End a pod; return the nodes of its job's pods if the job has ended, else None.

        `found` are the nodes of these pods if the session found the job running.
        """
        pod = str(due.key)
        job = self._job_of.get(pod)
        if job is not None:
            return self._end_whole(job, due.time)
        key = self.world.lives[pod].job
        self.course.process(due)
        if key in self.world.podgroups:
            self.ending.add(key)
            return None
        self.ending.discard(key)
        self._jobs.pop(key, None)
        self.parts[key] = None
        return self._places.pop(key, []) or found

    def _end_whole(self, job: CalmJob, time: float) -> Places:
        """End a job without objects, whose pods all run equally long."""
        self.world.records.jobs[job.key].finished = time
        del self._jobs[job.key]
        for pod in job.arrival.pod_keys:
            del self._job_of[pod]
        self.parts[job.key] = None
        return [(node, job.kind.task.shape) for node in job.nodes]

    # the end of the calm

    def write(self) -> dict[str, Arrival]:
        """Write the objects of all jobs without any, and return their arrivals by key."""
        written = {}
        for job in self._jobs.values():
            if not job.written:
                self.objects.write(job, self.session.nodes.names)
                written[job.key] = job.arrival
        return written

    def nodes(self) -> set[int]:
        """Return the nodes of running pods that were bound since the calm began."""
        bound = [job.nodes for job in self._jobs.values()]
        bound += [[node for node, _ in places] for places in self._places.values()]
        return {node for nodes in bound for node in nodes}
