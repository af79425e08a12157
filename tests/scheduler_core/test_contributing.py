"""The example plugin of CONTRIBUTING works as described and meets the plugin contract."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.actions.registry import ACTIONS
from scheduler_core.framework.session import Session
from scheduler_core.rendering import plain
from tests.builders import Object, conf, node, podgroup, pods, priority_class, queue, scenario, session_of
from tests.scheduler_core.clusters import SEARCH
from tests.scheduler_core.plugin_contract import assert_keeps_contract

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


def built() -> ModuleType:
    """Return the documented plugin as a module."""
    (text,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    module = ModuleType("reserved_nodes")
    exec(compile(text, str(PAGE), "exec"), module.__dict__)  # noqa: S102 - a page of this project
    return module


PLUGIN = built()


def ran(document: Object, actions: str, **arguments: str) -> Session:
    plugins = ["priority", "gang", (PLUGIN.NAME, {"arguments": arguments}), "proportion", "predicates"]
    configured = {**document, "scheduler_conf": conf(actions, plugins)}
    session = session_of(configured, explain=True, further={PLUGIN.NAME: PLUGIN.open_session})
    for action in session.conf.actions:
        session.action = action
        ACTIONS[action](session)
    return session


def placed(session: Session) -> dict[str, str]:
    return {decision.pod: decision.node for decision in session.decisions if decision.op == "bind"}


def two_queues(count: int) -> Object:
    reserved = {PLUGIN.LABEL: "b"}
    return scenario(
        nodes=[
            node(f"n{number:02}", cpu=8, labels=reserved if number == 1 else {}) for number in range(count)
        ],
        queues=[queue("a"), queue("b")],
        podgroups=[podgroup("x", queue="a"), podgroup("y", queue="b")],
        pods=[*pods("x", 3, cpu=1), *pods("y", 3, cpu=1)],
    )


def test_reserved_nodes_accept_only_pods_of_their_queue_and_pods_are_spread() -> None:
    for count in (3, 60):
        session = ran(two_queues(count), "allocate")
        nodes = placed(session)
        assert len(nodes) == 6
        assert "n01" not in {nodes[f"default/x-{number}"] for number in range(3)}
        assert [nodes[f"default/y-{number}"] for number in range(3)] == ["n00", "n01", "n02"]
        actual = [plain(report()) for report in session.registry.reports]
        assert {"b on 0": 1, "b on 1": 1, "b on 2": 1}.items() <= next(
            report["placed"].items() for report in actual if "placed" in report
        )


def test_pods_of_the_protected_namespace_are_not_evicted() -> None:
    urgent = {"priorityClassName": "urgent"}
    document = scenario(
        nodes=[node("n0", cpu=2)],
        podgroups=[
            podgroup("kept", phase="Running", namespace="prod"),
            podgroup("low", phase="Running", min_member=0),
            podgroup("high", priority_class="urgent"),
        ],
        pods=[
            *pods("kept", 1, node="n0", cpu=1, namespace="prod"),
            *pods("low", 1, node="n0", cpu=1),
            *pods("high", 1, cpu=1, spec=urgent),
        ],
        priorityclasses=[priority_class("urgent", 100)],
    )
    document["podgroups"][0]["spec"]["minMember"] = 0
    session = ran(document, "preempt", **{"reserved-nodes.protected": "prod"})
    assert [decision.pod for decision in session.decisions if decision.op == "evict"] == ["default/low-0"]
    open_to_all = ran(document, "preempt")
    assert [decision.op for decision in open_to_all.decisions if decision.op == "evict"] == ["evict"]


@SEARCH
@given(data=st.data())
def test_documented_plugin_meets_the_plugin_contract(data: st.DataObject) -> None:
    assert_keeps_contract(
        data, PLUGIN.NAME, [{}, {"reserved-nodes.protected": "s0"}], opener=PLUGIN.open_session
    )
