"""Remedies in the waiting pods: smaller requests, fewer placement constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.explain.changes import Change, value_at
from scheduler_core.explain.cycle_view import Object, items
from scheduler_core.explain.remedies.remedy import Axis, Option, Remedy, Sizes, choice
from scheduler_core.explain.remedies.waiting import (
    PodSpec,
    Waiting,
    as_quantity,
    round_amounts,
    smallest_unit,
)
from scheduler_core.explain.wording import listed
from scheduler_core.model.pod import container_requests, is_sidecar
from scheduler_core.resource import MIN_RESOURCE, Resource
from scheduler_core.resource_list import read_resource_list
from scheduler_core.units import amount_text, exact_amount_text

_LEAST_LEFT = 10
"""A request is cut to a tenth at most: a pod that needs 8 cores cannot use a millicore."""
_MOST_NODES = 16
_REPELLING = ("NoSchedule", "NoExecute")
_CONSTRAINTS = (
    ("nodeSelector", "node selector"),
    ("affinity.nodeAffinity", "node affinity"),
    ("affinity.podAffinity", "pod affinity"),
    ("affinity.podAntiAffinity", "pod anti-affinity"),
    ("topologySpreadConstraints", "topology spread constraints"),
)


# smaller requests


def request_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield a remedy over an upper limit to the request of every waiting pod, by resource."""
    if not waiting.pods or {pod for spec in waiting.specs for pod in spec.pods} != set(waiting.pods):
        return
    tops = {
        name: max(request.get(name, 0.0) for request in waiting.requests.values()) for name in waiting.request
    }
    if any((spec.spec.get("resources") or {}).get("requests") for spec in waiting.specs):
        return  # requests of the pod itself, which replace those of its containers
    stated: Mapping[str, Any] = ((waiting.podgroup or {}).get("spec") or {}).get("minResources") or {}
    before = read_resource_list(stated)
    overhead = Resource()
    for spec in waiting.specs:
        overhead.set_max_resource(read_resource_list(spec.spec.get("overhead")))
    names, units, axes = [], [], []
    for name, top in tops.items():
        unit = smallest_unit(name, [request.get(name, 0.0) for request in waiting.requests.values()])
        most = int((top - max(top / _LEAST_LEFT, unit, overhead.get(name))) // unit)
        if most > 0:
            guess = min(-(-waiting.missing(name) // unit), most)
            names.append(name)
            units.append(unit)
            axes.append(Axis(most, guess, round_amounts(name, unit), -int(top // unit)))
    if not names:
        return

    def limits(sizes: Sizes) -> dict[str, float]:
        return {
            name: tops[name] - size * unit
            for name, unit, size in zip(names, units, sizes, strict=True)
            if size
        }

    def changes(sizes: Sizes) -> list[Change]:
        at_most = limits(sizes)
        made = []
        for spec in waiting.specs:
            request = waiting.requests[spec.pods[0]]
            over = {name: limit for name, limit in at_most.items() if request.get(name, 0.0) > limit}
            made += _cut(spec, over)
        after = {
            name: as_quantity(name, max(before.get(name) - _saved(waiting, name, limit), 0.0))
            for name, limit in at_most.items()
            if name in stated
        }
        if after:
            place = ("podgroups", waiting.job, "spec.minResources")
            made.append(Change(*place, stated, {**stated, **after}))
        return made

    def sentence(sizes: Sizes) -> str:
        text = ", ".join(
            f"{exact_amount_text(name, limit)} instead of {exact_amount_text(name, tops[name])}"
            for name, limit in limits(sizes).items()
        )
        who = "the waiting pod" if len(waiting.pods) == 1 else "each waiting pod"
        alike = all(request == waiting.requests[waiting.pods[0]] for request in waiting.requests.values())
        return f"{who} of job {waiting.job} requests {'' if alike else 'at most '}{text}"

    yield Remedy(
        "unblock.request",
        f"request of the pods of job {waiting.job}",
        tuple(axes),
        changes,
        sentence,
        lambda sizes: {"job": waiting.job, "before": tops, "after": {**tops, **limits(sizes)}},
        lambda sizes: f"{listed(amount_text(name, limit) for name, limit in limits(sizes).items())} a pod",
    )


def _saved(waiting: Waiting, resource: str, limit: float) -> float:
    """Return by how much a limit per pod lowers the total request of the job's minimum."""
    pods = waiting.pods[: max(1, waiting.entry["minAvailable"])]
    return sum(max(0.0, waiting.requests[pod].get(resource, 0.0) - limit) for pod in pods)


def _cut(spec: PodSpec, limits: Mapping[str, float]) -> list[Change]:
    """Return the changes that reduce a pod's request to some limits."""
    stated = spec.spec.get("containers") or (), spec.spec.get("initContainers") or ()
    overhead = read_resource_list(spec.spec.get("overhead"))
    after = stated
    for name, limit in limits.items():
        after = _within(*after, name, limit - overhead.get(name))
    fields = zip(("containers", "initContainers"), stated, after, strict=True)
    return [spec.change(field, list(now)) for field, was, now in fields if list(now) != list(was)]


def _within(
    containers: Sequence[Object], before: Sequence[Object], resource: str, limit: float
) -> tuple[Sequence[Object], Sequence[Object]]:
    """Return containers and init containers that request no more of a resource than a limit.

    Containers share the cut, the largest first, and then sidecars, which run beside them; each other init
    container runs beside the sidecars that start before it.
    """
    beside = [one for one in before if is_sidecar(one)]
    together = [*containers, *beside]
    amounts = [_requested(one, resource) for one in together]
    excess = sum(amounts) - limit
    left = list(amounts)
    by_size = sorted(range(len(together)), key=lambda place: (place >= len(containers), -amounts[place]))
    for place in by_size:
        cut = min(max(excess, 0.0), amounts[place])
        left[place], excess = amounts[place] - cut, excess - cut
    sidecars, running, after = iter(left[len(containers) :]), 0.0, []
    for one in before:
        if is_sidecar(one):
            amount = next(sidecars)
            running += amount
        else:
            amount = min(_requested(one, resource), max(limit - running, 0.0))
        after.append(_with_request(one, resource, amount))
    cut_ones = zip(containers, left, strict=False)
    return [_with_request(one, resource, amount) for one, amount in cut_ones], after


def _requested(container: Object, resource: str) -> float:
    return read_resource_list(container_requests(container, default_requests=True)).get(resource)


def _with_request(container: Object, resource: str, amount: float) -> Object:
    """Return a container with another request, and an equal limit if the resource cannot be overcommitted."""
    if amount == _requested(container, resource):
        return container
    stated = container.get("resources") or {}
    quantity = as_quantity(resource, amount)
    resources = {**stated, "requests": {**(stated.get("requests") or {}), resource: quantity}}
    limits = stated.get("limits") or {}
    if resource in limits and resource not in ("cpu", "memory"):
        resources["limits"] = {**limits, resource: quantity}
    return {**container, "resources": resources}


# placement


def placement_remedies(waiting: Waiting) -> Iterator[Remedy]:
    """Yield a choice among all constraints that keep the waiting pods off nodes."""
    options = [*_demands(waiting), *_ports(waiting), *_tolerations(waiting), *_cordons(waiting)]
    if options:
        yield choice(
            "unblock.placement",
            f"constraint on the nodes of job {waiting.job}",
            options,
            lambda names: f"{listed(names)} (job {waiting.job})",
        )


def _demands(waiting: Waiting) -> Iterator[Option]:
    for field, words in _CONSTRAINTS:
        changes = [spec.change(field, None) for spec in waiting.specs if value_at(spec.spec, field)]
        if changes:
            selector = changes[0].before
            alike = all(change.before == selector for change in changes)
            if alike and field == "nodeSelector":
                words += f" {', '.join(f'{name}={value}' for name, value in sorted(selector.items()))}"
            yield Option(f"{words} removed", changes)


def _ports(waiting: Waiting) -> Iterator[Option]:
    changes = []
    for spec in waiting.specs:
        containers = spec.spec.get("containers") or []
        after = [
            {**one, "ports": [port for port in one["ports"] if not port.get("hostPort")]}
            if one.get("ports")
            else one
            for one in containers
        ]
        if after != containers:
            changes.append(spec.change("containers", after))
    if changes:
        yield Option("host ports removed", changes)


def _tolerations(waiting: Waiting) -> Iterator[Option]:
    """Yield a toleration for each taint of the nodes."""
    taints: dict[tuple[str, str, str], None] = {}
    for node in items(waiting.view.document, "nodes"):
        for taint in (node.get("spec") or {}).get("taints") or ():
            if taint.get("effect") in _REPELLING:
                taints[taint.get("key") or "", taint.get("value") or "", taint["effect"]] = None
    for key, value, effect in taints:
        toleration = {"key": key, "operator": "Equal", "value": value, "effect": effect}
        changes = []
        for spec in waiting.specs:
            stated = spec.spec.get("tolerations") or []
            if toleration not in stated:
                changes.append(spec.change("tolerations", [*stated, toleration]))
        if changes:
            yield Option(f"taint {key}{'=' if value else ''}{value}:{effect} tolerated", changes)


def _cordons(waiting: Waiting) -> Iterator[Option]:
    cordoned = [
        str(node["metadata"]["name"])
        for node in items(waiting.view.document, "nodes")
        if (node.get("spec") or {}).get("unschedulable")
    ]
    for name in cordoned[:_MOST_NODES]:
        yield Option(f"node {name} uncordoned", [Change("nodes", name, "spec.unschedulable", True, None)])


def fits_when_empty(offered: Resource, request: Mapping[str, float]) -> bool:
    """Return whether a pod fits an empty node with these allocatable amounts."""
    return all(amount <= offered.get(name) + MIN_RESOURCE for name, amount in request.items())
