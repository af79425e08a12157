"""Review of a whole plan, one set of rules for page, API, import and command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.lint.conf import conf_of, conf_problems
from scheduler_core.lint.groups import pods_without_group
from scheduler_core.lint.plan import Plan
from scheduler_core.lint.totals import total_problems
from scheduler_core.lint.tree import tree_problems
from scheduler_core.lint.unmodelled import unmodelled_problems
from scheduler_core.problem import Problem, Severity
from scheduler_core.release import release_of
from scheduler_core.validate import Inspection

REFUSED = frozenset(
    {
        "queue.unknown_field",
        "queue.weight",
        "queue.priority",
        "queue.annotations",
        "podgroup.unknown_field",
        "podgroup.annotations",
        "queue.negative",
        "queue.fraction",
        "queue.guarantee_without_deserved",
        "queue.deserved_below_guarantee",
        "queue.deserved_above_capability",
        "queue.state",
        "queue.path_length",
        "queue.path_weight",
        "queue.path_inner",
        "queue.own_parent",
        "queue.depth",
        "queue.parent_missing",
        "queue.parent_has_pods",
        "queue.capability_above_ancestor",
        "queue.capability_below_descendant",
        "queue.children_guarantee",
        "queue.children_deserved",
        "job.queue_missing",
        "job.queue_closed",
        "job.not_leaf",
        "job.no_task",
        "job.minimum",
        "job.negative",
        "job.dependency_missing",
        "job.dependency_circle",
        "job.dependency_repeated",
        "job.task_repeated",
        "job.policy",
        "job.partition",
        "podgroup.queue_missing",
        "podgroup.queue_closed",
    }
)
"""Rules of CRDs and admission webhooks: the object would be refused, but it can be simulated."""

_RANK: Mapping[Severity, int] = {"error": 0, "warning": 1, "remark": 2}


def review(document: Mapping[str, Any], before: Inspection | None = None) -> list[Problem]:
    """Return all problems and remarks of a plan, errors first.

    An error means that Volcano refuses an object, or that the plan cannot be simulated; a warning that
    Volcano accepts it although it harms users; a remark points out what is easily overlooked.

    Parameters
    ----------
    document : mapping
        A scenario as `simulate_document` takes it.
    before : Inspection, optional
        The inspection of another scenario; identical lists are not inspected again.

    """
    inspection = Inspection(document, before)
    of_form = inspection.problems()
    found = [_with_severity(problem) for problem in of_form if not problem.path.startswith("scheduler_conf")]
    release = release_of(document)
    found += conf_problems(document.get("scheduler_conf"), release)
    conf = conf_of(document.get("scheduler_conf"), release)
    if not any(is_unsound(problem) for problem in of_form):
        pods = inspection.read_pods()
        found += [*_of_schema(inspection), *unmodelled_problems(document, pods)]
        found += pods_without_group(document, pods)
        if conf is not None:
            plan = Plan(document, conf)
            found += [*tree_problems(plan), *total_problems(plan)]
    return sorted(found, key=lambda problem: _RANK[problem.severity])


def _of_schema(inspection: Inspection) -> list[Problem]:
    return [found for kind in ("queues", "podgroups") for found in inspection.lists[kind].of_schema]


def is_unsound(problem: Problem) -> bool:
    """Return whether a problem found by `validate` prevents further checks."""
    return problem.severity == "error" and not problem.path.startswith("scheduler_conf")


def _with_severity(problem: Problem) -> Problem:
    return replace(problem, severity="error") if problem.rule in REFUSED else problem
