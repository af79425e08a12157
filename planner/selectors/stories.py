"""What did a run do about one queue, or one job, and which run was before it?"""

from django.db.models import QuerySet

from planner.models import Decision, JobOutcome, Run, Victim

SHOWN = 200
"""A story's lists end here; the API pages through all of it."""


def queue_jobs(run: Run, queue: str) -> QuerySet[JobOutcome]:
    """Return the jobs of a queue, those that wait first (1 query)."""
    return run.job_outcomes.filter(queue=queue).order_by("-pending", "position")[:SHOWN]


def victims_of_queue(run: Run, queue: str) -> QuerySet[Victim]:
    """Return the victims that were taken from a queue (1 query)."""
    return run.victims.filter(queue=queue)[:SHOWN]


def victims_for_queue(run: Run, queue: str) -> QuerySet[Victim]:
    """Return the victims that were evicted for pods of a queue (1 query)."""
    return run.victims.filter(for_queue=queue)[:SHOWN]


def job_decisions(run: Run, job: str) -> QuerySet[Decision]:
    """Return the steps about a job's own pods (1 query)."""
    return run.decisions.filter(job=job)[:SHOWN]


def victims_of_job(run: Run, job: str) -> QuerySet[Victim]:
    """Return the victims among a job's pods (1 query)."""
    return run.victims.filter(job=job)[:SHOWN]


def victims_for_job(run: Run, job: str) -> QuerySet[Victim]:
    """Return the victims that were evicted for a job's pods (1 query)."""
    return run.victims.filter(for_job=job)[:SHOWN]


def run_before(run: Run) -> Run | None:
    """Return the newest run of the same scenario that succeeded before this one was asked for (1 query)."""
    earlier = Run.objects.filter(scenario=run.scenario_id, state=Run.State.SUCCEEDED, created__lt=run.created)
    return earlier.order_by("-created").first()
