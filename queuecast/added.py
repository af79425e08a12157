"""Workloads that are added to a scenario in files."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from planning.node_constraints import constraints_for
from planning.workload_fields import JOBS, job_of, new_job_problems
from queuecast.backend import Json
from queuecast.core import faults
from queuecast.plans import key_of, read_bytes
from queuecast.problems import errors_of, problem, refusal
from queuecast.sending import bare_document

_ADDED = (JOBS, "podgroups", "pods", "priorityclasses")
"""The lists that a text of new workloads may contain."""


def read_workloads(text: str) -> Json:
    """Return the lists of objects in a text; raise Refused with all problems."""
    reading = read_bytes([("manifest", text.encode())])
    if wrong := errors_of(faults(reading.document)):
        raise refusal(wrong)
    added = {kind: held for kind, held in bare_document(reading).items() if kind in _ADDED and held}
    if not added:
        raise refusal([_no_workload()])
    return added


def new_job(document: Mapping[str, Any], fields: Mapping[str, Any]) -> Json:
    """Return the list with a new job of these fields; raise Refused with all problems."""
    if wrong := new_job_problems(fields):
        raise refusal([asdict(one) for one in wrong])
    return {JOBS: [job_of(fields, document.get("now"), constraints_for(document, fields))]}


def refuse_taken(document: Mapping[str, Any], added: Mapping[str, Any]) -> None:
    """Raise Refused if objects of these names exist."""
    if taken := list(_taken(document, added)):
        raise refusal(taken)


def _no_workload() -> Json:
    message, fix = (
        "the text contains no job, PodGroup or pod",
        "write a vcjob, a PodGroup with its pods, or pods",
    )
    return problem(rule="workload.none", severity="error", message=message, path="documents", fix=fix)


def _taken(document: Mapping[str, Any], added: Mapping[str, Any]) -> Iterator[Json]:
    for kind, things in added.items():
        there = {key_of(kind, held) for held in document.get(kind) or ()}
        for key in (key_of(kind, thing) for thing in things if kind != "priorityclasses"):
            if key in there:
                name = "/".join(key)
                yield problem(
                    rule="name.taken", severity="error", message="a workload with this name already exists",
                    path=f"{kind}.{name}", actual=name, fix="choose another name",
                )  # fmt: skip
