"""Checks and simulations of documents by the core."""

from collections.abc import Callable, Mapping
from typing import Any

import manifests
from planning.documents import of_live_cluster
from queuecast.plans import new_problems
from queuecast.problems import Json, Refused, as_problem
from queuecast.sending import bare_document
from scheduler_core import Options, prepare, problems
from scheduler_core.explain import with_loops
from scheduler_core.lint import review


def faults(document: Mapping[str, Any]) -> list[Json]:
    """Return every problem that prevents the simulation of a plan."""
    try:
        found = problems(manifests.resolve(document))
    except manifests.Unreadable as error:
        return [as_problem(one) for one in error.problems]
    return [as_problem(one) for one in found if one.severity == "error"]


def reviewed(document: Mapping[str, Any]) -> list[Json]:
    """Return all findings about a plan; errors first."""
    try:
        return [as_problem(one) for one in review(manifests.resolve(document))]
    except manifests.Unreadable as error:
        return [as_problem(one) for one in error.problems]


def introduced(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Json]:
    """Return the problems of a plan that its base document does not have."""
    return new_problems(reviewed(before), reviewed(after))


def simulate(document: Mapping[str, Any], progress: Callable[[float, str], None] | None = None) -> Json:
    """Return the core's result, or raise Refused with every problem of the plan."""
    if wrong := faults(document):
        raise Refused("The plan cannot be simulated.", wrong)
    prepared, options = prepare(manifests.resolve(document)), Options(progress=progress)
    result = with_loops(prepared, prepared.simulate(options=options), options)
    if "error" in result:
        raise Refused(str(result["error"]), code="not_simulated")
    return result


def snapshot_document(reading: manifests.Reading) -> Json:
    """Return the files of a cluster as one scenario document, whose clock is the time of a live export."""
    bare = bare_document(reading)
    if reading.is_scenario:
        return bare
    exported = manifests.export_time(bare)
    return {**of_live_cluster(bare), **({"now": exported} if exported else {})}
