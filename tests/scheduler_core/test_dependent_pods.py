"""The Kubernetes view of the nodes, updated between sessions, equals a new one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.model import k8s_nodes
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.replay import Replay
from scheduler_core.validate import Inspection
from tests.builders import Object
from tests.scheduler_core.dependent import dependent_replay
from tests.trials import trials

SEEDS = (1, 5, 7, 0, 2, 3)
"""One seed for each of several configurations, the first ones first."""


def opened(document: Object, *, anew: bool = False) -> Replay:
    return Replay(document, Inspection(document), anew=anew)


def counts_by_node(view: K8sNodeSnapshot) -> dict[str, Any]:
    """Return all counts per node; a count without pods equals one that was never requested."""
    return {
        "room": view.room_of,
        "taken": view.taken_of,
        "ports": [{port for row, port in enumerate(view.ports) if used[row]} for used in view.used_ports.T],
        "repelling": view.pods.repelling.tolist(),
        "relating": view.pods.relating.tolist(),
        "kinds": {
            key: there
            for key, kind in view.pods._kinds.items()
            if (there := {node: pods for node, pods in kind.on_nodes.items() if pods})
        },
    }


def counts_of(view: K8sNodeSnapshot, of: K8sNodeSnapshot) -> list[list[int]]:
    """Return a view's counts under the names used by another view."""
    return [
        view.pods.live_counts(name, weight_of).tolist() for name, (_, weight_of) in of.pods._listeners.items()
    ]


@pytest.mark.parametrize("seed", trials(SEEDS, always=1))
def test_updated_node_view_equals_a_new_one_in_every_session(seed: int) -> None:
    replay, compared = opened(dependent_replay(seed)), 0
    for _ in replay.steps():
        replay.moment()
        view = replay.simulation.open_session().k8s_nodes
        again = K8sNodeSnapshot(replay.simulation.open_session().snapshot)
        assert counts_by_node(view) == counts_by_node(again)
        assert counts_of(view, view) == counts_of(again, view)
        compared += bool(view.pods._listeners)
    assert compared > 10


@pytest.mark.parametrize("seed", trials(SEEDS, always=1))
def test_reused_sessions_and_node_view_do_not_change_the_replay_result(seed: int) -> None:
    document = dependent_replay(seed)
    replay, last = opened(document), None
    sessions = renewed = 0
    for step in replay.steps():
        sessions += 1
        renewed += step.session is last
        last = step.session
    assert json.dumps(replay.run()) == json.dumps(opened(document, anew=True).run())
    assert renewed > sessions * 0.7


@pytest.mark.parametrize("seed", trials(range(4), always=1))
def test_replay_result_does_not_depend_on_how_much_the_view_keeps(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = dependent_replay(seed)
    kept = json.dumps(opened(document).run())
    monkeypatch.setattr(k8s_nodes, "MOST_ADDED", 2)
    assert json.dumps(opened(document).run()) == kept
