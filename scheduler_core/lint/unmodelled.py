"""Remarks on features that the core does not model, worded as in the notes of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.lint.plan import items
from scheduler_core.model.pod_info import PodInfo
from scheduler_core.model.unmodelled import (
    DEVICE_QUOTAS,
    POD_PARTS,
    PODGROUP_PARTS,
    UNREAD_LISTS,
    limits_device_classes,
    named,
)
from scheduler_core.problem import Problem, spell_steps

Object = Mapping[str, Any]
Found = Sequence[tuple[int, Object]]
"""Objects with their positions in their list."""

RULE = "plan.not_modelled"


def unmodelled_problems(document: Object, pods: Sequence[PodInfo]) -> Iterator[Problem]:
    """Yield a remark for each feature that a valid document uses and the core does not model."""
    for name, meaning in UNREAD_LISTS.items():
        if document.get(name):
            yield Problem(RULE, "remark", name, f"{name} is not modelled. {meaning}", field=name)
    claiming = [(place, info.given) for place, info in enumerate(pods) if info.template.claims]
    listed = {
        "pods": claiming,
        "jobs": list(enumerate(items(document, "jobs"))),
        "podgroups": list(enumerate(items(document, "podgroups"))),
        "queues": list(enumerate(items(document, "queues"))),
    }
    for kind, what, field, uses, meaning in _PARTS:
        using = [(place, thing) for place, thing in listed[kind] if uses(thing)]
        if using:
            first, _ = using[0]
            path = spell_steps(kind, first, *field)
            subject = named((_key(kind, thing) for _, thing in using), _KINDS[kind])
            message = f"{subject}: {what} {'is' if what in _SINGULAR else 'are'} not modelled. {meaning}"
            yield Problem(RULE, "remark", path, message, field=spell_steps(*field))


def _in_a_template(uses: Callable[[Object], bool]) -> Callable[[Object], bool]:
    """Return a check of whether the pods of a vcjob use a feature."""

    def used(job: Object) -> bool:
        tasks = (job.get("spec") or {}).get("tasks") or ()
        templates = ((task.get("template") or {}).get("spec") for task in tasks)
        return any(uses({"spec": spec}) for spec in templates if spec)

    return used


def _has_volumes(job: Object) -> bool:
    """Return whether a vcjob mounts volumes into all of its pods."""
    return bool((job.get("spec") or {}).get("volumes"))


_FIELDS = {"volumes": "volumes", "resource claims": "resourceClaims"}
_SINGULAR = ("networkTopology", "subGroupPolicy")
_KINDS = {"pods": "pod", "jobs": "job", "podgroups": "PodGroup", "queues": "queue"}
_PARTS = [
    *(("pods", what, ("spec", _FIELDS[what]), uses, says) for what, (uses, says) in POD_PARTS.items()),
    *(
        ("jobs", what, ("spec", "tasks"), _in_a_template(uses), says)
        for what, (uses, says) in POD_PARTS.items()
    ),
    ("jobs", "volumes", ("spec", "volumes"), _has_volumes, POD_PARTS["volumes"][1]),
    ("jobs", "networkTopology", ("spec", "networkTopology"), *PODGROUP_PARTS["networkTopology"]),
    *(("podgroups", what, ("spec", what), uses, says) for what, (uses, says) in PODGROUP_PARTS.items()),
    ("queues", "device class quotas", ("spec",), limits_device_classes, DEVICE_QUOTAS),
]
"""List, feature, field, check of its use, and the consequence of leaving it out."""


def _key(kind: str, thing: Object) -> str:
    metadata = thing["metadata"]
    return (
        metadata["name"]
        if kind == "queues"
        else f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
    )
