"""Helpers that evaluate filters and scores for one pending pod."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from tests.builders import Object, Plugin, conf, pod, podgroup, scenario, session_of
from tests.scheduler_core.states import task_of

FITS = "ok"


def opened(
    nodes: Sequence[Object],
    incoming: Sequence[Object],
    *plugins: Plugin,
    there: Sequence[Object] = (),
    **fields: Any,
) -> Session:
    """Return a session with existing and pending pods, all of one PodGroup."""
    return session_of(
        scenario(
            nodes=nodes,
            podgroups=[podgroup("group")],
            pods=[*there, *incoming],
            conf=conf("allocate", plugins or ["predicates"]),
            **fields,
        )
    )


def coming(name: str = "new", **facts: Any) -> Object:
    """Return a pending pod; facts unknown to the builder become parts of its spec."""
    known = {"labels", "annotations", "cpu", "memory", "gpu", "namespace", "priority"}
    spec = {fact: value for fact, value in facts.items() if fact not in known}
    return pod(name, group="group", spec=spec, **{fact: facts[fact] for fact in facts if fact in known})


def answers(session: Session, name: str = "new", *, looked_at: bool = True) -> dict[str, str]:
    """Return each node's rejection codes for a pod, in order, by default after the pre-predicates."""
    task = task_of(session, f"default-{name}")
    if looked_at:
        session.plugins.pre_predicate(task)
    actual = {}
    for number, node in enumerate(session.nodes.names):
        statuses = session.statuses.lists[session.placement.predicates.predicate_on(task, number)]
        actual[node] = " ".join(str(int(status.code)) for status in statuses) or FITS
    return actual


def passing(session: Session, name: str = "new") -> list[str]:
    """Return the nodes that accept a pod."""
    return [node for node, codes in answers(session, name).items() if codes == FITS]


def reasons(session: Session, node: str, name: str = "new") -> list[str]:
    """Return a node's reasons to reject a pod."""
    task = task_of(session, f"default-{name}")
    session.plugins.pre_predicate(task)
    number = session.placement.predicates.predicate_on(task, session.nodes.index[node])
    return [status.reason for status in session.statuses.lists[number]]


def scores(
    session: Session, name: str = "new", *, batch: bool = True, per_node: bool = True
) -> dict[str, float]:
    """Return the total score of each node, with all nodes as candidates."""
    task = task_of(session, f"default-{name}")
    total = [0.0] * len(session.nodes)
    for point, query in ((Point.NODE_ORDER, per_node), (Point.BATCH_NODE_ORDER, batch)):
        for fn in session.functions[point] if query else ():
            total = [
                before + more
                for before, more in zip(total, fn(task, session.placement.all).tolist(), strict=True)
            ]
    return dict(zip(session.nodes.names, total, strict=True))
