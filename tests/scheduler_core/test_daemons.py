"""New nodes get the pods of DaemonSets, and static pods, of a node with the same labels and taints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from manifests.pools import node_like
from scheduler_core import Options, prepare, simulate_document
from scheduler_core.framework.reuse import Reuse
from scheduler_core.replay import Replay, replay_document
from scheduler_core.validate import Inspection
from tests.builders import Object, conf, node, pod, podgroup, pods, queue, scenario

CONF = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "nodeorder"])
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def owned(name: str, kind: str, owner: str, on: str, **requests: Any) -> Object:
    """Return a running pod that another scheduler, or the kubelet, has placed."""
    made = pod(name, node=on, phase="Running", spec={"schedulerName": "default-scheduler"}, **requests)
    made["metadata"]["ownerReferences"] = [{"kind": kind, "name": owner, "uid": owner, "controller": True}]
    return made


def cluster(*more: Object, waiting: int = 2) -> Object:
    """Return a node of 4 cores with 2.5 taken up by its own pods, and waiting pods of 2 cores."""
    old = node("old", cpu=4, labels={"pool": "a", "kubernetes.io/hostname": "old"})
    own = [
        owned("agent-x7", "DaemonSet", "agent", "old", cpu="500m"),
        owned("proxy-old", "Node", "old", "old", cpu="2"),
        owned("agent-y8", "DaemonSet", "agent", "other", cpu="500m"),
    ]
    other = node("other", cpu=1, taints=[TAINT], labels={"pool": "b"})
    jobs = [podgroup(f"job-{number}", queue="a") for number in range(waiting)]
    wait = [pod(f"job-{number}-0", group=f"job-{number}", cpu=2) for number in range(waiting)]
    return scenario(
        nodes=[old, other, *more], queues=[queue("a")], podgroups=jobs, pods=[*own, *wait], conf=CONF
    )


def placed(result: Any) -> int:
    (cycle,) = result["cycles"]
    return sum(step["op"] == "bind" for step in cycle["decisions"])


def like_old(name: str) -> Object:
    (old,) = [one for one in cluster()["nodes"] if one["metadata"]["name"] == "old"]
    return node_like(old, name)


def test_a_node_like_another_has_room_for_no_more_pods_than_that_one() -> None:
    # 4 cores less 0.5 of the DaemonSet and 2 of the static pod
    assert placed(simulate_document(cluster())) == 0
    result = simulate_document(cluster(like_old("new-1"), like_old("new-2")))
    assert placed(result) == 0
    note = "pods of DaemonSets on new nodes, like those of a node with the same labels and taints."
    assert f"Added: 4 {note}" in result["notes"]


def test_a_node_that_is_no_copy_has_the_pods_that_the_scenario_gives_it() -> None:
    equal = like_old("new")
    del equal["metadata"]["annotations"]
    assert placed(simulate_document(cluster(equal))) == 2
    joins = {"at": 5, "create": {"nodes": [equal]}}
    replayed: Any = replay_document({**cluster(), "replay": {"horizon_seconds": 9, "events": [joins]}})
    assert [len(entry["decisions"]) for entry in replayed["log"]][-1:] == [2]


def test_a_node_with_other_labels_has_none() -> None:
    assert placed(simulate_document(cluster(node("new", cpu=4, labels={"pool": "c"})))) == 2


def test_a_cordoned_twin_counts_and_pods_that_ended_do_not() -> None:
    document = cluster(like_old("new"))
    document["nodes"][0]["spec"]["unschedulable"] = True
    document["nodes"][0]["spec"]["taints"] = [
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    ]
    assert placed(simulate_document(document)) == 0
    for one in document["pods"][:2]:
        one["status"]["phase"] = "Succeeded"
    assert placed(simulate_document(document)) == 2


@pytest.mark.parametrize("reuse", [True, False])
def test_variants_with_other_nodes_equal_runs_from_scratch(reuse: bool) -> None:
    document = cluster()
    prepared, options = prepare(document), Options(reuse=Reuse() if reuse else None)
    counts = [2, 0, 1, 1, 2]
    for count in counts:
        nodes = [*document["nodes"], *(like_old(f"new-{number}") for number in range(count))]
        varied = prepared.simulate({"nodes": nodes}, options)
        assert varied == simulate_document({**document, "nodes": nodes}, options)
        assert (f"Added: {2 * count} pods" in " ".join(varied["notes"])) is (count > 0)


def test_a_node_that_joins_during_a_replay_gets_them_too() -> None:
    joins = {"at": 5, "create": {"nodes": [like_old("new"), node("large", cpu=4, labels={"pool": "c"})]}}
    document = {**cluster(), "replay": {"horizon_seconds": 9, "events": [joins]}}
    replayed: Any = replay_document(document)
    binds = [step["node"] for entry in replayed["log"] for step in entry["decisions"] if step["op"] == "bind"]
    assert binds == ["large", "large"]
    replay = Replay(document, Inspection(document))
    replay.run()
    assert {"default/agent-new", "default/proxy-new"} <= set(replay.world.cluster.pods)


def test_pods_of_a_scenario_keep_their_names() -> None:
    document = cluster(like_old("new"))
    (named,) = pods("agent", 1, cpu=1)
    named["metadata"]["name"] = "agent-new"
    result = simulate_document({**document, "pods": [*document["pods"], named]})
    assert "Added: 1 pod of DaemonSets" in " ".join(result["notes"])


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_replays_in_which_nodes_join_give_the_same_bytes_anew_and_from_a_frozen_state(steps: int) -> None:
    joins = [
        {
            "at": at,
            "create": {"nodes": [like_old(f"new-{at}"), node(f"large-{at}", cpu=4, labels={"pool": "c"})]},
        }
        for at in (3, 6)
    ]
    leaves: Object = {"at": 8, "delete": {"nodes": ["new-3"]}}
    document = {**cluster(waiting=6), "replay": {"horizon_seconds": 12, "events": [*joins, leaves]}}
    inspection = Inspection(document)
    whole = Replay(document, inspection).run()
    assert json.dumps(Replay(document, inspection, anew=True).run()) == json.dumps(whole)
    replay = Replay(document, inspection)
    for _, _ in zip(range(steps), replay.steps(), strict=False):
        pass
    frozen = json.loads(json.dumps(replay.freeze()))
    assert json.dumps(Replay(document, inspection, frozen=frozen).run()) == json.dumps(whole)
