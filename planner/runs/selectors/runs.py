"""Runs and their outcomes: lists are querysets, to filter and to page; figures are plain rows."""

import re
from dataclasses import fields
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.runs.models import JobOutcome, PublicLink, Run
from planner.runs.models.outcome import WAITS
from planner.runs.selectors.steps import decisions
from planner.scenarios.models import Scenario
from planning.rows import QueueFigures, RunCounts

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def runs(user: User) -> QuerySet[Run]:
    """Return the runs that an account may see, newest first, without input and result (1 query).

    Searches are left out: they belong to the run that they are about.
    """
    return _runs_and_searches(user).filter(explains=None)


def runs_and_baselines(user: User) -> QuerySet[Run]:
    """Return the runs that an account may see and their baselines: all that have a page of their own."""
    return _runs_and_searches(user).filter(Q(explains=None) | Q(is_baseline=True))


def get_run(user: User, run_id: UUID) -> Run:
    """Return a run or a search with its scenario, or raise Run.DoesNotExist (1 query)."""
    return _runs_and_searches(user).get(pk=run_id)


def _runs_and_searches(user: User) -> QuerySet[Run]:
    present = Run.objects.filter(scenario__removed=None)
    return visible(present.select_related("workspace", "scenario", "owner", "outcome"), user)


def run_of_present(scenario: Scenario) -> Run | None:
    """Return the newest run of the current revision that did not fail, None without one (1 query)."""
    present = scenario.runs.filter(explains=None, scenario_revision=scenario.revision)
    return present.exclude(state__in=(Run.State.FAILED, Run.State.CANCELLED)).order_by("-created").first()


def queue_figures(run: Run) -> list[QueueFigures]:
    """Return the figures of each queue, in tree order (1 query)."""
    names = [field.name for field in fields(QueueFigures)]
    return [QueueFigures(**values) for values in run.queue_outcomes.values(*names)]


def job_outcome(run: Run, job: str) -> JobOutcome | None:
    """Return a job of a run, None if there is none of that key (1 query; 2 for a vcjob's name).

    `job` is the namespace and name of a PodGroup, or of the vcjob that Volcano created it for: that
    PodGroup is named after the vcjob and its UID. A vcjob without a UID has `NAMESPACE-NAME` in its place.
    """
    exact = run.job_outcomes.filter(job=job).first()
    if exact is not None:
        return exact
    made = re.compile(rf"{re.escape(job)}-({_UUID}|{re.escape(job.replace('/', '-', 1))})")
    named = run.job_outcomes.filter(job__startswith=f"{job}-")
    return next((outcome for outcome in named.iterator() if made.fullmatch(outcome.job)), None)


def pending_jobs(run: Run) -> QuerySet[JobOutcome]:
    """Return the jobs that wait at the end of the run (1 query)."""
    return run.job_outcomes.filter(WAITS)


def jobs_waiting(run: Run) -> dict[str, int]:
    """Return how many jobs of each queue wait at the end of the run (1 query)."""
    counted = pending_jobs(run).order_by().values_list("queue").annotate(Count("pk"))
    return dict(counted)


def run_counts(run: Run) -> RunCounts:
    """Return how much the run decided (no query; 3 for a run stored before this was counted)."""
    if run.outcome is not None and run.outcome.counts is not None:
        return RunCounts(**run.outcome.counts)
    return RunCounts.of(
        decisions(run),
        run.job_outcomes.values("pending", "pods", "phase_after", "task_status"),
        run.victims.values("pod", "state"),
    )


def links_of(run: Run) -> QuerySet[PublicLink]:
    """Return the public links of a run, newest first, including expired ones (1 query)."""
    return PublicLink.objects.filter(run=run).select_related("made_by")
