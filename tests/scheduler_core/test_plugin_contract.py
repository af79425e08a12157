"""Every plugin meets the plugin contract, and a plugin that breaks it is detected."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scheduler_core.framework.bounds import StaticBound
from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.plugin_fn import shape_only
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import TaskInfo
from scheduler_core.plugins.registry import OPENERS
from tests.builders import conf, node, pod, podgroup, pods, queue, scenario, session_of
from tests.scheduler_core.clusters import FEW
from tests.scheduler_core.plugin_contract import Contract, assert_keeps_contract
from tests.scheduler_core.states import task_of

VERBS = ("predicate", "prioritize", "preemptable", "reclaimable", "jobReady")
ARGUMENTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "extender": [
        {"extender.urlPrefix": "http://extender", **{f"extender.{verb}Verb": verb for verb in VERBS}},
        {
            "extender.urlPrefix": "http://extender",
            "extender.predicateVerb": "predicate",
            "extender.managedResources": ["nvidia.com/gpu"],
        },
    ],
    "binpack": [{}, {"binpack.weight": 3, "binpack.cpu": 0, "binpack.resources": "nvidia.com/gpu"}],
    "nodegroup": [{}, {"strict": False, "enablePreferredOrder": True}],
    "nodeorder": [
        {},
        {"mostrequested.weight": 2, "leastrequested.weight": 0},
        {"balancedresource.weight": 0},
    ],
    "predicates": [{}, {"predicate.CacheEnable": True}, {"predicate.PodAffinityEnable": False}],
    "resource-strategy-fit": [
        {},
        {
            "resources": {
                "nvidia.com/*": {"type": "MostAllocated", "weight": 2},
                "cpu": {"type": "LeastAllocated", "weight": 1},
            },
            "sra": {"enable": True, "weight": 2, "resources": "nvidia.com/gpu"},
            "proportional": {
                "enable": True,
                "resources": "nvidia.com/gpu",
                "resourceProportion": {"nvidia.com/gpu.cpu": 2, "nvidia.com/gpu.memory": 1},
            },
        },
    ],
    "tdm": [{}, {"tdm.revocable-zone.rz1": "10:00-21:00", "tdm.revocable-zone.rz2": "20:00-21:00"}],
}


@pytest.mark.parametrize("plugin", OPENERS)
@FEW
@given(data=st.data())
def test_every_plugin_meets_the_contract(plugin: str, data: st.DataObject) -> None:
    assert_keeps_contract(data, plugin, ARGUMENTS.get(plugin, [{}]), extender=answer)


def answer(url: str, body: bytes, _timeout: float | None) -> bytes:
    """Answer as an extender that decides by names alone, accepting two out of three."""
    verb, request = url.rpartition("/")[2], json.loads(body)

    def yes(*names: str) -> bool:
        return zlib.crc32("/".join([verb, *names]).encode()) % 3 > 0

    def accepted() -> Any:
        return {"status": 1, "victims": [task for task in request["evictees"] or () if yes(task["UID"])]}

    def refusal() -> Any:
        fits = yes(request["task"]["UID"], request["node"]["Name"])
        return {} if fits else {"status": "no", "code": 2}

    def scores() -> Any:
        names = [node["Name"] for node in request["nodes"] or ()]
        return {"nodeScore": {name: zlib.crc32(name.encode()) % 100 for name in names}}

    answers: Mapping[str, Callable[[], Any]] = {
        "predicate": refusal,
        "prioritize": scores,
        "preemptable": accepted,
        "reclaimable": accepted,
        "jobReady": lambda: {"status": yes(request["job"]["UID"])},
    }
    return json.dumps(answers[verb]()).encode()


# plugins that break it


def opened() -> Session:
    return session_of(
        scenario(
            nodes=[node(f"n{number}", cpu=8) for number in range(3)],
            queues=[queue("a"), queue("b")],
            podgroups=[podgroup("x", queue="a"), podgroup("y", queue="b"), podgroup("r", queue="b")],
            pods=[*pods("x", 2, cpu=1), *pods("y", 2, cpu=1), pod("r-0", group="r", node="n2", cpu=1)],
            conf=conf("allocate", ["wrong"]),
        )
    )


def by_queue(task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.where(nodes == (task.job is not None and task.job.queue == "b"), 1.0, 0.0)


def by_use(session: Session) -> Callable[[TaskInfo, NDArray[np.intp]], NDArray[np.float64]]:
    return lambda _task, nodes: np.full(len(nodes), float(session.nodes.used[:, 0].sum()))


def by_rank(_task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.arange(len(nodes), dtype=np.float64)


def number_of(_task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
    return nodes.astype(np.float64)


def answers_of(tasks: Sequence[TaskInfo]) -> ClassAnswers:
    return ClassAnswers(lambda nodes: np.repeat(2.0 * nodes[:, np.newaxis], len(tasks), axis=1))


WRONG: dict[str, tuple[Callable[[Session], None], str]] = {
    "class key that ignores the queue": (
        lambda session: session.registry.add_node_order("wrong", by_queue, class_key=shape_only),
        "default/y-0 on n0: 0.0, but 1.0 was kept of default/x-1, which has the same class",
    ),
    "score that reads other nodes": (
        lambda session: session.registry.add_node_order("wrong", by_use(session), class_key=shape_only),
        "default/x-1 on n1: 2000.0, but 1000.0 was kept of default/y-1",
    ),
    "score that depends on the requested nodes": (
        lambda session: session.registry.add_node_order("wrong", by_rank, class_key=shape_only),
        "about nodes [0 2]: [0. 1.], of [0. 1. 2.]",
    ),
    "different formula for a single node": (
        lambda session: session.registry.add_node_order(
            "wrong", number_of, class_key=shape_only, score_node=lambda _task: lambda number: number + 1.0
        ),
        "on n0: 1.0 by the form for one node, 0.0",
    ),
    "different formula for several classes": (
        lambda session: session.registry.add_node_order(
            "wrong",
            number_of,
            class_key=shape_only,
            score_node=lambda _task: lambda number: float(number),
            score_classes=answers_of,
        ),
        "[0. 2. 4.] together, [0. 1. 2.]",
    ),
    "predicate that returns booleans": (
        lambda session: session.registry.add_predicate("wrong", lambda _task, nodes: nodes >= 0),
        "are no numbers of the status table",
    ),
    "predicate that returns one status for all nodes": (
        lambda session: session.registry.add_predicate("wrong", lambda _task, _nodes: np.int32(0)),
        "is no array",
    ),
    "bound that accepts less than the plugin": (
        lambda session: session.registry.add_evictable(
            Point.RECLAIMABLE,
            "wrong",
            lambda _reclaimer, candidates, _why: list(candidates),
            bound=StaticBound(lambda _kind, namespace: namespace == "other"),
        ),
        "['default/r-0'] against its bound",
    ),
    "job order that reads other jobs": (
        lambda session: session.registry.add_job_order(
            "wrong", lambda job: job.key == "default/y" and session.jobs["default/x"].allocated_count > 0
        ),
        "job_order of default/y: [True] is not what is kept",
    ),
}


@pytest.mark.parametrize(("register", "message"), WRONG.values(), ids=WRONG.keys())
def test_plugin_that_breaks_the_contract_is_detected(
    register: Callable[[Session], None], message: str
) -> None:
    session = opened()
    register(session)
    contract = Contract(session, "wrong")
    with pytest.raises(AssertionError) as caught:  # noqa: PT012 - either step may find it
        contract.check()
        Statement(session).allocate(task_of(session, "default-x-0"), 0)
        contract.check()
    assert message in str(caught.value)
