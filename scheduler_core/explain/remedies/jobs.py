"""Remedies in a waiting job: gates, minimums and priority."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.explain.changes import Change
from scheduler_core.explain.cycle_view import items, key_of
from scheduler_core.explain.remedies.remedy import Axis, Remedy, Sizes, counter
from scheduler_core.explain.remedies.waiting import Waiting
from scheduler_core.explain.wording import counted, listed
from scheduler_core.model.snapshot import job_priorities
from scheduler_core.resource_list import quantities, read_resource_list


def gate_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield a remedy that removes the scheduling gates, one pod after another."""
    gated = [spec for spec in waiting.specs if spec.spec.get("schedulingGates")]
    if not gated:
        return
    stated = [gate for spec in gated for gate in spec.spec["schedulingGates"]]
    names = sorted({gate["name"] for gate in stated if gate.get("name")})
    word = "scheduling gate" if len(names) == 1 else "scheduling gates"

    def freed(steps: int) -> list[str]:
        return [pod for spec in gated[:steps] for pod in spec.pods]

    yield counter(
        "unblock.gates",
        "scheduling gate",
        Axis(len(gated)),
        lambda steps: [spec.change("schedulingGates", None) for spec in gated[:steps]],
        lambda steps: (
            f"{word} {listed(names)} removed from {counted(len(freed(steps)), 'pod')} of job {waiting.job}"
            + (f" ({listed(freed(steps))})" if len(freed(steps)) <= 3 else "")
        ),
        lambda steps: {"job": waiting.job, "pods": freed(steps), "gates": names},
        lambda steps: counted(len(freed(steps)), "gated pod"),
    )


def member_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield remedies that lower minMember and the minimum of roles; minResources is lowered accordingly."""
    minimum = waiting.entry["minAvailable"]
    spec: Mapping[str, Any] = (waiting.podgroup or {}).get("spec") or {}
    if minimum > 1 and (waiting.podgroup or waiting.vcjob) is not None:
        yield counter(
            "unblock.members",
            f"minMember of job {waiting.job}",
            Axis(minimum - 1),
            lambda steps: _fewer(waiting, spec, minimum, minimum - steps),
            lambda steps: f"minMember of job {waiting.job}: {minimum - steps} instead of {minimum}",
            lambda steps: {"job": waiting.job, "before": minimum, "after": minimum - steps},
            lambda steps: f"minMember {minimum - steps}",
        )
    roles = {role: int(number or 0) for role, number in sorted((spec.get("minTaskMember") or {}).items())}
    wanted = {role: number for role, number in roles.items() if number > 0}
    if wanted:
        yield _roles(waiting, spec, wanted, minimum)


def _fewer(waiting: Waiting, spec: Mapping[str, Any], minimum: int, after: int) -> list[Change]:
    if waiting.vcjob is not None:
        before = waiting.vcjob["spec"].get("minAvailable")
        return [Change("jobs", key_of(waiting.vcjob), "spec.minAvailable", before, after)]
    made = [Change("podgroups", waiting.job, "spec.minMember", spec.get("minMember"), after)]
    stated = spec.get("minResources")
    if stated:
        smaller = quantities(read_resource_list(stated).multi(after / minimum))
        smaller = {name: smaller[name] for name in stated if name in smaller}
        made.append(Change("podgroups", waiting.job, "spec.minResources", stated, smaller))
    return made


def _roles(waiting: Waiting, spec: Mapping[str, Any], roles: Mapping[str, int], minimum: int) -> Remedy:
    """Return a remedy over minMember, which is kept if possible, and the minimum of each role."""
    names = list(roles)
    stated = spec["minTaskMember"]
    axes = [Axis(max(0, minimum - 1)), *(Axis(roles[name]) for name in names)]

    def after(sizes: Sizes) -> dict[str, int]:
        return {name: roles[name] - size for name, size in zip(names, sizes[1:], strict=True) if size}

    def members(sizes: Sizes) -> int:
        return minimum - sizes[0]

    def changes(sizes: Sizes) -> list[Change]:
        made = []
        if after(sizes):
            made.append(
                Change("podgroups", waiting.job, "spec.minTaskMember", stated, {**stated, **after(sizes)})
            )
        return made + (_fewer(waiting, spec, minimum, members(sizes)) if members(sizes) != minimum else [])

    def sentence(sizes: Sizes) -> str:
        parts = [
            f"minimum of role {name}: {number} instead of {roles[name]}"
            for name, number in after(sizes).items()
        ]
        if members(sizes) != minimum:
            parts.append(f"minMember: {members(sizes)} instead of {minimum}")
        return f"{listed(parts)} (job {waiting.job})"

    return Remedy(
        "unblock.roles",
        f"minimum of roles of job {waiting.job}",
        tuple(axes),
        changes,
        sentence,
        lambda sizes: {
            "job": waiting.job,
            "before": {**roles, "minMember": minimum},
            "after": {**roles, **after(sizes), "minMember": members(sizes)},
        },
        lambda sizes: (
            f"{listed(f'{name} {number}' for name, number in after(sizes).items())}, "
            f"minMember {members(sizes)}"
        ),
    )


def priority_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield a remedy over the priorities that can change the order: those of others, and one above each."""
    owner = waiting.podgroup or waiting.vcjob
    if owner is None:
        return
    kind = "podgroups" if waiting.podgroup is not None else "jobs"
    classes = items(waiting.view.document, "priorityclasses")
    default, by_name = job_priorities(classes)
    mine = waiting.entry["priority"]
    known = {default, *by_name.values(), *(entry["priority"] for entry in waiting.view.jobs.values())}
    values = sorted({value for other in known for value in (other, other + 1) if value > mine})
    if not values:
        return

    def changes(steps: int) -> list[Change]:
        value = values[steps - 1]
        name = next((name for name, of_class in sorted(by_name.items()) if of_class == value), None)
        made = []
        if name is None:
            name = f"priority-{value}"
            made.append(
                Change("priorityclasses", name, "", None, {"metadata": {"name": name}, "value": value})
            )
        before = owner["spec"].get("priorityClassName")
        made.append(Change(kind, key_of(owner), "spec.priorityClassName", before, name))
        for spec in waiting.specs:
            made.append(spec.change("priorityClassName", name))
            if spec.spec.get("priority") is not None:
                made.append(spec.change("priority", None))
        return made

    def at(steps: int) -> int:
        value: int = values[steps - 1] if steps else mine
        return value

    yield counter(
        "unblock.priority",
        f"priority of job {waiting.job}",
        Axis(len(values)),
        changes,
        lambda steps: f"priority of job {waiting.job}: {at(steps)} instead of {mine}",
        lambda steps: {"job": waiting.job, "before": mine, "after": at(steps)},
        lambda steps: f"{at(steps):,}",
    )
