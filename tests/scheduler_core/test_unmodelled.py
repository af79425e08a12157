"""Is what the core does not model named, object by object?"""

from __future__ import annotations

from scheduler_core import simulate_document
from tests.builders import Object, node, pod, podgroup, queue, scenario


def notes(**fields: object) -> list[str]:
    result = simulate_document(scenario(nodes=[node("n1", cpu=4)], **fields))  # type: ignore[arg-type]
    told: list[str] = result["notes"]
    return [note for note in told if "not modelled" in note]


def test_pods_with_volumes_and_claims_are_named() -> None:
    volume: Object = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    pods = [
        pod("stored", spec=volume),
        pod("plain", spec={"volumes": [{"name": "scratch", "emptyDir": {}}]}),
        pod("claimed", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}),
    ]
    assert notes(pods=pods) == [
        "volumes of pods default/stored are not modelled: binding, zones and limits of volumes refuse"
        " no node",
        "resource claims of pods default/claimed are not modelled: dynamic resources refuse no node and count"
        " in no queue",
    ]


def test_podgroups_with_topology_and_subgroups_are_named() -> None:
    group = podgroup("train")
    group["spec"] |= {"networkTopology": {"mode": "hard"}, "subGroupPolicy": [{"name": "worker"}]}
    assert notes(podgroups=[group]) == [
        "networkTopology of podgroups default/train are not modelled: the whole cluster counts as near",
        "subGroupPolicy of podgroups default/train are not modelled: only the whole gang counts",
    ]


def test_queues_with_quotas_of_device_classes_are_named() -> None:
    named = queue("gpus", capability={"deviceclass/gpu.example.com": "4"})
    other = queue("memory", guarantee={"memory.deviceclass/gpu.example.com": "80Gi"})
    assert notes(queues=[other, named, queue("plain", capability={"cpu": 4})]) == [
        "quotas of device classes of queues gpus, memory are not modelled: no resource claim counts"
        " against them"
    ]


def test_lists_that_nobody_reads_are_named() -> None:
    assert notes(hypernodes={"s0": {}}) == [
        "hypernodes not modelled: nodes are not grouped by network topology"
    ]


def test_an_ordinary_scenario_has_nothing_to_name() -> None:
    assert notes(podgroups=[podgroup("train")], pods=[pod("train-0", group="train", cpu=1)]) == []
