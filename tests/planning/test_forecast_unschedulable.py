"""Jobs that a forecast reports as unschedulable do not fit the nodes; all others start in the end."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from planning.forecasts.record import Record, record_of
from planning.forecasts.storage import packed, unpacked
from planning.forecasts.unschedulable import MOST_EXAMINED, Unschedulable
from planning.forecasts.verdict import verdict
from scheduler_core.replay import replay_document
from tests.builders import GPU, Object, conf, job, node, pod, podgroup, queue, scenario
from tests.trials import trials

CONF = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "nodeorder"])
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
TOLERATES = {"tolerations": [{"key": "gpu", "operator": "Exists"}]}


def arriving(at: float, name: str, specs: list[Object], least: int, **requests: Any) -> Object:
    """Return the event of a job with a pod of each specification; each runs for 10 s."""
    seconds = {"queuecast/run-seconds": "10"}
    group = podgroup(name, queue="a", min_member=least, phase="Pending", annotations=seconds)
    made = [pod(f"{name}-{n}", group=name, spec=spec, **requests) for n, spec in enumerate(specs)]
    for thing in (group, *made):
        del thing["metadata"]["creationTimestamp"]
    return {"at": at, "create": {"podgroups": [group], "pods": made}}


def forecast(nodes: list[Object], *events: Object, of_conf: Object = CONF, horizon: float = 900) -> Record:
    document = scenario(
        nodes=nodes,
        queues=[queue("a")],
        conf=of_conf,
        replay={"period_seconds": 1, "horizon_seconds": horizon, "events": list(events)},
    )
    return record_of(document, replay_document(document))


NODES = [node("plain", cpu=4), node("gpu", cpu=8, taints=[TAINT])]


def test_the_verdict_says_which_jobs_fit_no_node_and_why() -> None:
    record = forecast(
        NODES,
        arriving(5, "fits", [{}], 1, cpu=4),
        arriving(10, "large", [{}], 1, cpu=6),
        arriving(20, "larger", [{}], 1, cpu=7),
        arriving(30, "tolerates", [TOLERATES], 1, cpu=7),
    )
    (found,) = record.unschedulable
    reasons = "0/2 nodes are unavailable: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."
    assert found == Unschedulable("a", 2, "default/large", 10.0, reasons)
    (finding,) = [one for one in verdict(record, {}) if one.kind == "unschedulable"]
    assert (finding.tone, finding.queue, finding.at) == ("harm", "a", 10.0)
    assert finding.says == (
        "2 jobs of a cannot start: their pods fit no node, not even an empty one. For default/large, "
        f'"{reasons}"'
    )
    assert unpacked(packed(record)).unschedulable == record.unschedulable


def test_the_verdict_names_gangs_that_are_larger_than_the_cluster_also_of_waiting_vcjobs() -> None:
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}
    document = scenario(
        nodes=NODES,
        queues=[queue("a")],
        jobs=[
            job(
                "large", queue="a", tasks=[{"name": "w", "replicas": 3, "template": template}], minAvailable=3
            ),
            job(
                "fits", queue="a", tasks=[{"name": "w", "replicas": 3, "template": template}], minAvailable=2
            ),
        ],
        conf=CONF,
        replay={"period_seconds": 1, "horizon_seconds": 60, "events": []},
    )
    record = record_of(document, replay_document(document))
    (found,) = record.unschedulable
    assert (found.cause, found.jobs, found.nodes) == (
        "no_room",
        1,
        "2 of the 3 pods that must run together fit.",
    )
    (finding,) = [one for one in verdict(record, {}) if one.kind == "unschedulable"]
    assert finding.says.startswith(
        "1 job of a cannot start: too few of its pods fit the nodes together, even if no others were there."
    )
    assert unpacked(packed(record)).unschedulable == record.unschedulable


def test_the_verdict_names_jobs_that_request_more_than_their_queue_may_have() -> None:
    limited = conf("enqueue, allocate", ["priority", "gang"], ["predicates", "capacity"])
    job_of_4 = arriving(10, "large", [{}] * 4, 4, cpu=1)
    elastic = arriving(20, "elastic", [{}] * 4, 2, cpu=1)
    more: Object = {"at": 300, "replace": {"queues": [queue("a", capability={"cpu": 4})]}}

    def found(*events: Object, of_conf: Object = limited, cpu: int = 3) -> Record:
        document = scenario(
            nodes=[node("n", cpu=8)],
            queues=[queue("a", capability={"cpu": cpu})],
            conf=of_conf,
            replay={"period_seconds": 1, "horizon_seconds": 200, "events": list(events)},
        )
        return record_of(document, replay_document(document))

    record = found(job_of_4, elastic)
    assert record.jobs.started.tolist()[0] == 20, "elastic"
    (one,) = record.unschedulable
    assert (one.cause, one.job, one.nodes) == ("limit", "default/large", "4 cores of at most 3 cores.")
    (finding,) = [one for one in verdict(record, {}) if one.kind == "unschedulable"]
    assert finding.says.startswith(
        "1 job of a cannot start: it requests more than the queue's capability. For"
    )
    assert unpacked(packed(record)).unschedulable == record.unschedulable
    assert found(job_of_4, more).unschedulable == (one,), "the change is after the end"
    more["at"] = 100
    assert found(job_of_4, more).unschedulable == ()
    assert found(job_of_4, cpu=4).unschedulable == ()
    assert found(job_of_4, of_conf=CONF).unschedulable == (), "no plugin limits queues"


def test_a_job_starts_without_pods_beyond_its_minimum() -> None:
    selects = {"nodeSelector": {"zone": "none"}}
    record = forecast(NODES, arriving(0, "elastic", [{}, selects], 1, cpu=1))
    assert record.unschedulable == ()
    record = forecast(NODES, arriving(0, "gang", [{}, selects], 2, cpu=1))
    assert [one.job for one in record.unschedulable] == ["default/gang"]


def test_nodes_that_come_later_and_their_changes_count() -> None:
    large = arriving(0, "large", [{}], 1, cpu=6)
    added: Object = {"at": 895, "create": {"nodes": [node("new", cpu=16)]}}
    assert forecast(NODES, large, added, horizon=890).unschedulable == ()
    open_again: Object = {"at": 895, "replace": {"nodes": [node("gpu", cpu=8)]}}
    assert forecast(NODES, large, open_again, horizon=890).unschedulable == ()
    assert len(forecast(NODES, large).unschedulable) == 1


def test_a_replaced_node_keeps_its_name_and_its_status() -> None:
    large = arriving(0, "large", [{}], 1, cpu=8)
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gpu"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    named = arriving(0, "named", [{"affinity": {"nodeAffinity": required}}], 1, cpu=8)
    open_again: Object = {"at": 95, "replace": {"nodes": [node("gpu", cpu=2)]}}
    for arrival in (large, named):
        assert forecast(NODES, arrival, open_again, horizon=90).unschedulable == ()
        assert forecast(NODES, arrival, open_again, horizon=100).jobs.started[0] == 95
        assert len(forecast(NODES, arrival, horizon=90).unschedulable) == 1


@pytest.mark.parametrize("plugin", ["tdm", "nodegroup"])
def test_nothing_is_said_where_nodes_answer_otherwise_at_other_times(plugin: str) -> None:
    of_conf = conf("enqueue, allocate", ["priority", "gang"], ["predicates", plugin])
    assert forecast(NODES, arriving(0, "large", [{}], 1, cpu=60), of_conf=of_conf).unschedulable == ()


def test_pods_that_follow_others_are_left_out() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}}
    follows = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    assert forecast(NODES, arriving(0, "large", [follows], 1, cpu=60)).unschedulable == ()


def test_pods_of_the_snapshot_that_have_a_node_need_no_other() -> None:
    document = scenario(
        nodes=[node("gpu", cpu=8, taints=[TAINT]), node("plain", cpu=4)],
        queues=[queue("a")],
        podgroups=[podgroup("gang", queue="a", min_member=2)],
        pods=[
            pod("gang-0", group="gang", node="gpu", cpu=6),
            pod("gang-1", group="gang", spec={"nodeSelector": {"zone": "later"}}, cpu=1),
        ],
        conf=CONF,
        replay={"period_seconds": 1, "horizon_seconds": 20, "events": []},
    )
    (found,) = record_of(document, replay_document(document)).unschedulable
    assert found.nodes == "0/2 nodes are unavailable: 2 node(s) didn't match Pod's node affinity/selector."
    document["nodes"].append(node("later", cpu=1, labels={"zone": "later"}))
    document["replay"]["horizon_seconds"] = 0
    assert record_of(document, replay_document(document)).unschedulable == ()


def test_pods_that_fit_once_others_took_the_devices_of_a_node_are_left_out() -> None:
    keeps = {"enable": True, "resources": GPU, "resourceProportion": {f"{GPU}.cpu": 1, f"{GPU}.memory": 0}}
    of_conf = conf(
        "enqueue, allocate, backfill",
        ["priority", "gang"],
        ["predicates", ("resource-strategy-fit", {"arguments": {"proportional": keeps}})],
    )
    nodes = [node("gpu", cpu=8, memory="64Gi", gpu=8)]
    waits, devices = arriving(0, "cpu", [{}], 1, cpu=4, memory="1Gi"), arriving(5, "gpu", [{}], 1, gpu=4)
    alone = forecast(nodes, waits, of_conf=of_conf, horizon=20)
    assert alone.jobs.started[0] != alone.jobs.started[0]
    assert alone.unschedulable == ()
    assert forecast(nodes, waits, devices, of_conf=of_conf, horizon=20).jobs.started[0] >= 5


def test_no_more_kinds_than_the_limit_are_examined() -> None:
    events = [arriving(n, f"kind-{n}", [{}], 1, cpu=100 + n) for n in range(MOST_EXAMINED + 5)]
    (found,) = forecast(NODES, *events).unschedulable
    assert found.jobs == MOST_EXAMINED


@pytest.mark.parametrize("seed", trials(range(400), always=40))
def test_reported_jobs_are_those_whose_pods_do_not_fit_together(seed: int) -> None:
    """In time the other jobs start."""
    random = Random(seed)
    nodes = [
        node(
            f"node-{n}",
            cpu=random.choice((2, 4, 8)),
            labels={"zone": random.choice("ab")},
            taints=[TAINT] if random.random() < 0.4 else [],
            unschedulable=random.random() < 0.1,
        )
        for n in range(random.randint(1, 4))
    ]
    events, expected = [], Counter[str]()
    for number in range(random.randint(1, 12)):
        zone, tolerates, cpu = random.choice(("a", "b", "")), random.random() < 0.5, random.randint(1, 9)
        spec: Object = {
            **(TOLERATES if tolerates else {}),
            **({"nodeSelector": {"zone": zone}} if zone else {}),
        }
        pods = random.choice((1, 1, 2, 4))
        events.append(arriving(float(number), f"job-{number}", [spec] * pods, pods, cpu=cpu))
        room = sum(
            int(one["status"]["allocatable"]["cpu"]) // cpu
            for one in nodes
            if _fits(one, zone, tolerates, cpu)
        )
        expected["no_node"] += not room
        expected["no_room"] += 0 < room < pods
    record = forecast(nodes, *events)
    assert Counter({one.cause: one.jobs for one in record.unschedulable}) == +expected
    assert sum(map(bool, record.jobs.started == record.jobs.started)) == len(events) - expected.total()


def _fits(one: Any, zone: str, tolerates: bool, cpu: int) -> bool:
    return (
        int(one["status"]["allocatable"]["cpu"]) >= cpu
        and zone in ("", one["metadata"]["labels"]["zone"])
        and (tolerates or not one["spec"].get("taints"))
        and not one["spec"].get("unschedulable")
    )
