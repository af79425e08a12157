"""The decisions of a run about one queue, job, pod or node, and the run before it."""

from collections import Counter
from collections.abc import Iterator

from django.db.models import Q, QuerySet

from planner.runs.models import JobOutcome, Run, Victim
from planner.runs.models.outcome import DecisionState
from planner.runs.selectors.explain import job_story, payload
from planner.runs.selectors.steps import Steps, decisions
from planning.moments import node_moment
from planning.rows import NodeMoment, PodPlace
from planning.rows.stored import NODES, PODS

SHOWN = 200
"""The length of a story's lists; the API pages through all rows."""


def queue_jobs(run: Run, queue: str) -> QuerySet[JobOutcome]:
    """Return the jobs of a queue, waiting ones first (1 query)."""
    return run.job_outcomes.filter(queue=queue).order_by("-pending", "position")


def victims_of_queue(run: Run, queue: str) -> QuerySet[Victim]:
    """Return the victims of a queue (1 query)."""
    return run.victims.filter(queue=queue)


def victims_for_queue(run: Run, queue: str) -> QuerySet[Victim]:
    """Return the victims that were evicted for pods of a queue (1 query)."""
    return run.victims.filter(for_queue=queue)


def job_decisions(run: Run, job: str) -> Steps:
    """Return the steps about a job's own pods (1 query)."""
    return decisions(run).where(job=job)[:SHOWN]


def victims_of_job(run: Run, job: str) -> QuerySet[Victim]:
    """Return the victims among a job's pods (1 query)."""
    return run.victims.filter(job=job)[:SHOWN]


def victims_for_job(run: Run, job: str) -> QuerySet[Victim]:
    """Return the victims that were evicted for a job's pods (1 query)."""
    return run.victims.filter(for_job=job)[:SHOWN]


def pod_place(run: Run, pod: str) -> PodPlace | None:
    """Return the place of a pod at the end, None if no job of the run has it (1 query)."""
    return next((place for place in _places(run) if place.pod == pod), None)


def pod_waits_for(run: Run, place: PodPlace | None) -> str:
    """Return the first obstacle of a waiting pod's job, empty for any other pod (1 query)."""
    story = None if place is None or place.status != "Pending" else job_story(run, place.job)
    return "" if story is None else story.reason.sentence


def pod_decisions(run: Run, pod: str) -> Steps:
    """Return the steps about a pod, and the evictions for it (1 query)."""
    return decisions(run).matching(lambda step: pod in (step.pod, step.for_pod))[:SHOWN]


def victims_around_pod(run: Run, pod: str) -> QuerySet[Victim]:
    """Return the evictions of a pod and for it (1 query)."""
    return run.victims.filter(Q(pod=pod) | Q(for_pod=pod))[:SHOWN]


def node_at_end(run: Run, node: str) -> NodeMoment | None:
    """Return the state of a node at the end of the run, None if the run has no such node (1 query)."""
    cycles = payload(run, NODES) or [[]]
    row = next((row for row in cycles[-1] if row["name"] == node), None)
    return None if row is None else node_moment(node, row)


def node_pods(run: Run, node: str) -> list[PodPlace]:
    """Return the pods of jobs on a node at the end, by job (1 query)."""
    return [place for place in _places(run) if place.node == node]


def node_decisions(run: Run, node: str) -> Steps:
    """Return every step on a node (1 query)."""
    return decisions(run).where(node=node)


def pods_by_step(steps: Steps) -> dict[str, int]:
    """Return the number of pods with committed steps of each kind (no query)."""
    taken = steps.where(state=DecisionState.COMMITTED)
    return Counter(op for op, _ in {(step.op, step.pod) for step in taken})


def victims_on_node(run: Run, node: str) -> QuerySet[Victim]:
    """Return the victims on a node (1 query)."""
    return run.victims.filter(node=node)[:SHOWN]


def pods_named(run: Run, words: str) -> Iterator[PodPlace]:
    """Yield the pods whose name contains the words, ignoring case, in the order of the jobs (1 query)."""
    part = run.traces.filter(part=PODS).first()
    sought = words.lower()
    if part is None or not part.holds(sought):
        return
    for job, pods in part.payload().items():
        for pod, status, node, why in pods:
            if sought in pod.lower():
                yield PodPlace(pod, job, status, node, why)


def node_names(run: Run) -> list[str]:
    """Return the names of the nodes at the end of the run (1 query)."""
    return [node["name"] for node in (payload(run, NODES) or [[]])[-1]]


def _places(run: Run) -> Iterator[PodPlace]:
    for job, pods in (payload(run, PODS) or {}).items():
        for pod, status, node, why in pods:
            yield PodPlace(pod, job, status, node, why)


def run_before(run: Run) -> Run | None:
    """Return the newest run of the same scenario that succeeded before this one was requested (1 query)."""
    earlier = Run.objects.filter(
        scenario=run.scenario_id, state=Run.State.SUCCEEDED, created__lt=run.created, explains=None
    )
    return earlier.order_by("-created").first()
