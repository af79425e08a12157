"""Edits of a scenario's workloads. One call makes one revision, for any number of objects."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import transaction

from planner.accounts.models import User
from planner.errors import Invalid
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planner.scenarios.services.objects import objects_write
from planner.scenarios.services.revisions import revision_lock
from planning.importing import read_cluster
from planning.node_constraints import constraints_for
from planning.rows import Problem
from planning.states import ObjectKey, object_key
from planning.workload_edits import Wanted, WorkloadEdits
from planning.workload_fields import JOBS, KINDS, MOST_OBJECTS, field_problems, job_of, new_job_problems

ADDED_KINDS = (*KINDS, "priorityclasses")
"""The lists that a text of new workloads may contain."""


@transaction.atomic
def job_add(
    *, scenario: Scenario, fields: Mapping[str, Any], expected_revision: int, user: User | None = None
) -> list[ObjectKey]:
    """Add a vcjob by its fields: name, namespace, queue, replicas, minMember, requests, priority.

    Its pods have the node constraints of pods in their queue, or none (`node_constraints`). Raises as
    `objects_write` does.
    """
    workloads = _locked(scenario, expected_revision, user)
    if problems := new_job_problems(fields):
        raise Invalid(problems)
    objects = objects_in(scenario, state_of(scenario))
    document = {kind: list(objects.of_kind(kind).values()) for kind in ("nodes", *KINDS)}
    job = job_of(fields, objects.content.document.get("now"), constraints_for(document, fields))
    wanted: Wanted = {(JOBS, object_key(JOBS, job)): job}
    return _write(scenario, workloads, wanted, expected_revision, user)


@transaction.atomic
def workloads_add(
    *, scenario: Scenario, text: str, expected_revision: int, user: User | None = None
) -> list[ObjectKey]:
    """Add the vcjobs, PodGroups and pods of a text, YAML or JSON; raises as `objects_write` does."""
    workloads = _locked(scenario, expected_revision, user)
    read = read_cluster([("text", text.encode())], now="", keep=settings.KEEP_ANNOTATIONS)
    problems = [problem for problem in read.problems if problem.is_error]
    wanted: Wanted = {}
    for kind in ADDED_KINDS if not problems else ():
        for manifest in read.document.get(kind) or ():
            wanted[kind, object_key(kind, manifest)] = manifest
    if not wanted and not problems:
        message = "The text contains no job, PodGroup or pod."
        fix = "Paste a vcjob, a PodGroup with its pods, or pods."
        problems.append(Problem("workload.none", "error", message, path="documents", fix=fix))
    if problems:
        raise Invalid(problems)
    return _write(scenario, workloads, wanted, expected_revision, user)


@transaction.atomic
def workload_copy(
    *,
    scenario: Scenario,
    kind: str,
    key: str,
    count: int,
    expected_revision: int,
    user: User | None = None,
) -> list[ObjectKey]:
    """Add waiting copies of a workload; raises as `objects_write` does."""
    workloads = _locked(scenario, expected_revision, user)
    _require(workloads, kind, key)
    limit = MOST_OBJECTS // max(1, len(list(workloads.parts(kind, key))))
    if not 1 <= count <= limit:
        message = f"{count} is not between 1 and {limit}; one edit adds at most {MOST_OBJECTS} objects."
        fix = f"Enter a whole number from 1 to {limit}."
        raise Invalid([Problem("number.range", "error", message, path="count", actual=count, fix=fix)])
    return _write(scenario, workloads, workloads.copied(kind, key, count), expected_revision, user)


@transaction.atomic
def workload_update(
    *,
    scenario: Scenario,
    kind: str,
    key: str,
    fields: Mapping[str, Any],
    expected_revision: int,
    user: User | None = None,
) -> list[ObjectKey]:
    """Change queue, priority class, minMember, replicas or requests; raises as `objects_write` does."""
    workloads = _locked(scenario, expected_revision, user)
    _require(workloads, kind, key)
    if problems := field_problems(f"{kind}.{key}", fields) or [*workloads.problems(kind, key, fields)]:
        raise Invalid(problems)
    wanted = workloads.changed(kind, key, fields)
    return objects_write(scenario=scenario, wanted=wanted, expected_revision=expected_revision, user=user)


@transaction.atomic
def workload_remove(
    *, scenario: Scenario, kind: str, key: str, expected_revision: int, user: User | None = None
) -> list[ObjectKey]:
    """Remove a workload with its PodGroup and pods; raises as `objects_write` does."""
    workloads = _locked(scenario, expected_revision, user)
    _require(workloads, kind, key)
    wanted = workloads.removed(kind, key)
    return objects_write(scenario=scenario, wanted=wanted, expected_revision=expected_revision, user=user)


def _locked(scenario: Scenario, expected: int, user: User | None) -> WorkloadEdits:
    revision_lock(scenario=scenario, expected=expected, user=user)
    return WorkloadEdits(objects_in(scenario, state_of(scenario)))


def _require(workloads: WorkloadEdits, kind: str, key: str) -> None:
    if workloads.row(kind, key) is None:
        message = "No such workload."
        problem = Problem("workload.missing", "error", message, path=f"{kind}.{key}", fix="Choose another.")
        raise Invalid([replace(problem, actual=key)])


def _write(
    scenario: Scenario, workloads: WorkloadEdits, wanted: Wanted, expected: int, user: User | None
) -> list[ObjectKey]:
    """Add objects; raise Invalid if one exists already."""
    there = {"jobs": workloads.jobs, "podgroups": workloads.podgroups, "pods": workloads.pods}
    message, fix = "A workload with this name already exists.", "Choose another name."
    problems = [
        Problem("name.taken", "error", message, path=f"{kind}.{key}", actual=key, fix=fix)
        for kind, key in wanted
        if key in there.get(kind, ())
    ]
    if len(wanted) > MOST_OBJECTS:
        message = f"One edit adds at most {MOST_OBJECTS} objects."
        problems.append(
            Problem(
                "number.range",
                "error",
                message,
                path="documents",
                actual=len(wanted),
                limit=MOST_OBJECTS,
                fix="Add them in several edits.",
            )
        )
    if problems:
        raise Invalid(problems)
    return objects_write(scenario=scenario, wanted=wanted, expected_revision=expected, user=user)
