"""Hypothesis strategies: small, plausible clusters with legal configurations.

Names are a letter and a number (nodes ``n0``, queues ``q0``, PodGroups ``g0``, pods ``g0-0``, classes ``c0``,
namespaces ``s0``), so that `renamed` can rename everything and keep every order of names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from scheduler_core.actions.registry import ACTIONS
from scheduler_core.plugins.registry import OPENERS
from tests.builders import (
    Object,
    Plugin,
    conf,
    node,
    pod,
    podgroup,
    priority_class,
    queue,
    scenario,
)

Draw = st.DrawFn

SEARCH = settings(max_examples=int(os.environ.get("QUEUECAST_EXAMPLES", "12")))
FEW = settings(SEARCH, max_examples=max(SEARCH.max_examples // 2, 1))
"""For tests in which one example takes long."""

CLASSES = [priority_class("c0", 10), priority_class("c1", 100), priority_class("c2", 1000)]
NODE_SIZES = (
    {"cpu": 2, "memory": "4Gi"},
    {"cpu": 4, "memory": "8Gi", "gpu": 2},
    {"cpu": 8, "memory": "8Gi", "gpu": 4},
)
REQUESTS = (
    {"cpu": "500m", "memory": "512Mi"},
    {"cpu": 1, "memory": "1Gi"},
    {"cpu": 2, "memory": "512Mi"},
    {"cpu": 1, "memory": "1Gi", "gpu": 1},
    {"cpu": "250m", "memory": "2Gi"},
    {},
)
MILLI = {
    "cpu": {"500m": 500, 1: 1000, 2: 2000, "250m": 250},
    "memory": {"512Mi": 512, "1Gi": 1024, "2Gi": 2048},
}
LIMITS = ({"cpu": 1, "memory": "1Gi"}, {"cpu": 2, "memory": "4Gi"}, {"cpu": 4, "memory": "8Gi", "gpu": 2})
CAPABILITIES = ({"cpu": 2, "memory": "4Gi"}, {"cpu": 6, "memory": "12Gi", "gpu": 2}, {"cpu": 16})
TAINT = {"key": "pool", "value": "batch", "effect": "NoSchedule"}
TOLERATION = {"key": "pool", "operator": "Exists"}
QUEUE_PLUGINS = ("proportion", "capacity")

# The extender needs an HTTP server, which is not part of a scenario.
PLUGINS = tuple(sorted({*OPENERS} - {"extender", *QUEUE_PLUGINS}))
SWITCHES = (
    "enableJobOrder",
    "enableQueueOrder",
    "enableTaskOrder",
    "enableJobStarving",
    "enablePreemptable",
    "enableReclaimable",
    "enablePreemptive",
    "enabledOverused",
    "enabledAllocatable",
    "enableNodeOrder",
    "enableJobEnqueued",
    "enableJobReady",
    "enableJobPipelined",
)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy that often draws nothing."""
    return st.one_of(st.none(), st.none(), strategy)


# nodes and queues


@st.composite
def node_lists(draw: Draw) -> list[Object]:
    """Return one to three nodes, by name, some labelled, some tainted."""
    nodes = []
    for number in range(draw(st.integers(1, 3))):
        labels = {"zone": draw(st.sampled_from(["east", "west"]))}
        nodes.append(
            node(
                f"n{number}",
                labels=labels,
                taints=draw(st.sampled_from([(), (), (), (TAINT,)])),
                unschedulable=draw(st.sampled_from([False] * 7 + [True])),
                **{**draw(st.sampled_from(NODE_SIZES)), "pods": draw(st.sampled_from([110, 110, 4]))},
            )
        )
    return nodes


@st.composite
def queue_lists(draw: Draw, *, tree: bool) -> list[Object]:
    """Return one to four queues; in a tree each has an earlier queue or root as its parent."""
    queues: list[Object] = []
    for number in range(draw(st.integers(1, 4))):
        parents = ["root", *(entry["metadata"]["name"] for entry in queues)]
        path = f"root/q{number % 2}/q{number}"
        queues.append(
            queue(
                f"q{number}",
                weight=draw(st.integers(1, 4)),
                priority=draw(maybe(st.integers(0, 2))),
                reclaimable=draw(maybe(st.booleans())),
                parent=draw(st.sampled_from(parents)) if tree else None,
                guarantee=draw(maybe(st.just({"cpu": 1, "memory": "1Gi"}))),
                deserved=draw(maybe(st.sampled_from(LIMITS))),
                capability=draw(maybe(st.sampled_from(CAPABILITIES))),
                state=draw(st.sampled_from(["Open"] * 6 + ["Closed"])),
                created=draw(st.integers(0, 3)),
                annotations={
                    "volcano.sh/hierarchy": path,
                    "volcano.sh/hierarchy-weights": f"1/2/{number + 1}",
                },
            )
        )
    return queues


def leaves(queues: Sequence[Object]) -> list[str]:
    """Return the queues without children."""
    parents = {entry["spec"].get("parent") for entry in queues}
    return [entry["metadata"]["name"] for entry in queues if entry["metadata"]["name"] not in parents]


# gangs


@st.composite
def gangs(
    draw: Draw, number: int, queues: Sequence[str], free: list[dict[str, float]]
) -> tuple[Object, list[Object]]:
    """Return a PodGroup and its pods; running pods use free resources of their node."""
    name = f"g{number}"
    count = draw(st.integers(1, 4))
    namespace = draw(st.sampled_from(["default"] * 5 + ["s0", "kube-system"]))
    request = draw(st.sampled_from(REQUESTS))
    running = number < 4 and draw(st.sampled_from([True, True, False]))
    class_name = draw(st.sampled_from([None, None, "c0"] if running else [None, "c0", "c1", "c2"]))
    extra: Object = {"priorityClassName": class_name} if class_name else {}
    if draw(st.sampled_from([False, False, True])):
        extra["tolerations"] = [TOLERATION]
    if draw(st.sampled_from([False, False, False, True])):
        extra["nodeSelector"] = {"zone": "east"}
    made = []
    for position in range(count):
        place = _take(free, request) if running else None
        made.append(
            pod(
                f"{name}-{position}",
                group=name,
                namespace=namespace,
                node=place,
                role=draw(st.sampled_from([None, "worker"])),
                preemptable=draw(st.sampled_from([None] * 5 + [True, False])),
                deleting=place is not None and draw(st.sampled_from([False] * 7 + [True])),
                created=draw(st.integers(0, 3)),
                labels={"app": name},
                spec=extra,
                **request,
            )
        )
    held = any("nodeName" in entry["spec"] for entry in made)
    group = podgroup(
        name,
        namespace=namespace,
        queue=draw(st.sampled_from(list(queues))),
        min_member=draw(st.sampled_from([1, 1, 1, count])),
        min_resources=draw(st.sampled_from([None, request or None])),
        priority_class=class_name,
        phase="Running" if held else draw(st.sampled_from(["Pending", "Inqueue"])),
        created=draw(st.integers(0, 3)),
    )
    return group, made


def _take(free: list[dict[str, float]], request: Mapping[str, Any]) -> str | None:
    """Return the first node with room for a request, and reserve it."""
    wanted = {
        "cpu": MILLI["cpu"].get(request.get("cpu"), 0),
        "memory": MILLI["memory"].get(request.get("memory"), 0),
        "gpu": request.get("gpu", 0),
        "pods": 1,
    }
    for number, room in enumerate(free):
        if all(room[name] >= amount for name, amount in wanted.items()):
            for name, amount in wanted.items():
                room[name] -= amount
            return f"n{number}"
    return None


def _room(entry: Object) -> dict[str, float]:
    allocatable = entry["status"]["allocatable"]
    return {
        "cpu": int(allocatable["cpu"]) * 1000,
        "memory": int(allocatable["memory"].removesuffix("Gi")) * 1024,
        "gpu": int(allocatable.get("nvidia.com/gpu", 0)),
        "pods": int(allocatable["pods"]),
    }


# configurations


@st.composite
def configurations(
    draw: Draw,
    *,
    actions: Sequence[str] = tuple(ACTIONS),
    plugins: Sequence[str] = PLUGINS,
    queue_plugins: Sequence[str] = QUEUE_PLUGINS,
    switches: Sequence[str] = SWITCHES,
) -> Object:
    """Return a configuration that Volcano accepts: one to three tiers, some switches off, most actions.

    `enqueue` comes first, as it may crash after evictions (see test_counterexamples); `shuffle`, which leaves
    nothing to preempt, comes last.
    """
    order = sorted(
        draw(st.permutations(actions)), key=lambda action: (action != "enqueue", action == "shuffle")
    )
    named = [action for action in order if draw(st.sampled_from([True, True, True, False]))] or ["allocate"]
    chosen = [
        plugin for plugin in draw(st.permutations(plugins)) if draw(st.sampled_from([True, True, False]))
    ]
    known = [plugin for plugin in queue_plugins if plugin in OPENERS]
    if known:
        chosen.insert(draw(st.integers(0, len(chosen))), draw(st.sampled_from(known)))
    cuts = sorted(draw(st.lists(st.integers(0, len(chosen)), max_size=2)))
    tiers = [chosen[start:end] for start, end in zip([0, *cuts], [*cuts, len(chosen)], strict=True)]
    return conf(
        ", ".join(named), *[[draw(_entries(plugin, tier, switches)) for plugin in tier] for tier in tiers]
    )


@st.composite
def _entries(draw: Draw, plugin: str, tier: Sequence[str], switches: Sequence[str]) -> Plugin:
    fields: dict[str, Any] = {}
    if switches and draw(st.sampled_from([False, False, False, True])):
        fields[draw(st.sampled_from(switches))] = False
    if plugin == "capacity" or (plugin == "drf" and "proportion" not in tier):
        fields["enableHierarchy"] = draw(st.booleans())
    return plugin, fields


# scenarios


@st.composite
def clusters(
    draw: Draw,
    configured: st.SearchStrategy[Object] | None = None,
    *,
    tree: bool | None = None,
    cycles: int = 1,
) -> Object:
    """Return a scenario: up to eight gangs, the first ones mostly running, and pods without a PodGroup.

    Parameters
    ----------
    configured : strategy, optional
        Of scheduler configurations; None: any of `configurations`.
    tree : bool, optional
        Whether queues have parents; None: either.

    """
    nodes = draw(node_lists())
    queues = draw(queue_lists(tree=draw(st.booleans()) if tree is None else tree))
    free = [_room(entry) for entry in nodes]
    groups, pods = [], []
    for number in range(draw(st.integers(1, 8))):
        group, members = draw(gangs(number, leaves(queues), free))
        groups.append(group)
        pods += members
    if draw(st.booleans()) and (place := _take(free, REQUESTS[0])) is not None:
        pods.append(pod("o0-0", node=place, **REQUESTS[0]))
    return scenario(
        nodes=nodes,
        queues=queues,
        podgroups=groups,
        pods=pods,
        priorityclasses=CLASSES,
        conf=draw(configurations() if configured is None else configured),
        cycles=cycles,
        evicted=draw(st.sampled_from(["requeue", "delete"])),
    )


def renamed(text: bytes) -> bytes:
    """Return a document or a result with all generated names changed and their order kept."""
    return re.sub(rb"\b([nqgcso]\d)(?=[\"/\-\\ ,.>:])", rb"\1x", text)
