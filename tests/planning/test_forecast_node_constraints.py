"""Pods of a trace run on the nodes that pods of their queue in the snapshot may run on."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest

import manifests
from planner.clusters.sample import sample_document
from planning.constraint_choices import LIKE_QUEUE, NODE_CONSTRAINTS, NONE
from planning.forecasts.document import Times, arrivals_of, forecast_of
from planning.forecasts.shared import Shared
from planning.forecasts.trace_texts import csv_of, read_workload
from planning.forecasts.workload import Fitting, drawn_from, fitted_to, leaf_queues
from planning.node_constraints import KnownConstraints, known_constraints
from scheduler_core.replay import replay_document
from tests.builders import Object, conf, node, pod, podgroup, priority_class, queue, scenario
from tests.traces.builders import trace_job
from traces import Role, Trace, TraceJob, Unreadable, read_trace

CONF = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates"])
GPU = "nvidia.com/gpu"
TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}
TOLERATES = [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}]
H100 = {"nodeSelector": {"gpu": "h100"}, "tolerations": TOLERATES}
A100 = {"nodeSelector": {"gpu": "a100"}, "tolerations": TOLERATES}
ADDED = [
    {"key": f"node.kubernetes.io/{what}", "effect": "NoExecute", "tolerationSeconds": 300}
    for what in ("not-ready", "unreachable")
]  # fmt: skip


def running(name: str, of_queue: str, spec: Mapping[str, Any], count: int = 1, **requests: Any) -> Object:
    """Return a running job."""
    return {
        "podgroups": [podgroup(name, queue=of_queue, min_member=count)],
        "pods": [
            pod(f"{name}-{number}", group=name, spec=spec, node="gpu-0", **requests)
            for number in range(count)
        ],
    }


def cluster(*jobs: Object) -> Object:
    parts = {kind: [thing for one in jobs for thing in one[kind]] for kind in ("podgroups", "pods")}
    queues = [queue("root"), queue("a"), queue("b")]
    return scenario(nodes=[node("gpu-0", cpu=8, memory="8Gi", taints=[TAINT])], queues=queues, **parts)


def wants(of_queue: str, constraints: Mapping[str, Any] | None = None, **requests: str) -> TraceJob:
    return trace_job("job", of_queue, 0.0, 60.0, requests=requests, constraints=constraints)


def assumed(document: Object, job: TraceJob) -> tuple[Any, str]:
    """Return the constraints that a trace's job has in a scenario, and where they come from."""
    text, source = known_constraints(document).of_pod(job.queue, job.roles[0].requests)
    return json.loads(text), source


def test_a_job_has_the_constraints_of_most_jobs_of_its_queue_with_the_same_devices() -> None:
    document = cluster(
        running("one", "a", H100, **{GPU: 1}),
        running("two", "a", H100, **{GPU: 2}),
        running("large", "a", A100, count=5, **{GPU: 1}),
        running("other", "b", A100, **{GPU: 1}),
        running("plain", "a", {"nodeSelector": {"cpu": "epyc"}}, cpu=1),
    )
    assert assumed(document, wants("a", **{GPU: "4", "cpu": "1"})) == (H100, "queue")
    assert assumed(document, wants("b", **{GPU: "4"})) == (A100, "queue")
    assert assumed(document, wants("a", cpu="1")) == ({"nodeSelector": {"cpu": "epyc"}}, "queue")
    assert assumed(document, wants("a", **{GPU: "0"})) == ({"nodeSelector": {"cpu": "epyc"}}, "queue")


def test_a_job_runs_on_nodes_that_are_large_enough_for_it() -> None:
    def of(pool: str, gpus: int) -> Object:
        return node(f"{pool}-0", cpu=8, memory="8Gi", labels={"gpu": pool}, taints=[TAINT], **{GPU: gpus})

    jobs = [running(f"small-{number}", "a", H100, **{GPU: 2}) for number in range(3)]
    document = {
        **cluster(*jobs, running("large", "a", A100, **{GPU: 8})),
        "nodes": [of("h100", 4), of("a100", 8)],
    }
    assert assumed(document, wants("a", **{GPU: "2"})) == (H100, "queue")
    assert assumed(document, wants("a", **{GPU: "8"})) == (A100, "queue"), "like pods of this size"
    assert assumed(document, wants("a", **{GPU: "6"})) == (A100, "queue"), "no node with H100 has so many"
    assert assumed(document, wants("a", **{GPU: "1"})) == (H100, "queue")
    assert assumed(document, wants("a", **{GPU: "16"})) == (H100, "queue"), "no node has so many"


def test_the_devices_of_all_containers_count_for_the_size_of_an_example() -> None:
    one = {"name": "one", "resources": {"limits": {GPU: "1"}}}
    double = running("double", "a", {**A100, "containers": [one, {**one, "name": "two"}]})
    document = cluster(running("small", "a", H100, **{GPU: 1}), double)
    assert assumed(document, wants("a", **{GPU: "1"})) == (H100, "queue")
    assert assumed(document, wants("a", **{GPU: "2"})) == (A100, "queue")


def test_a_job_without_an_example_in_its_queue_only_tolerates_what_others_tolerate() -> None:
    document = cluster(running("one", "a", H100, **{GPU: 1}), running("cpu", "a", A100, cpu=1))
    assert assumed(document, wants("b", **{GPU: "1"})) == ({"tolerations": TOLERATES}, "others")
    assert assumed(document, wants("b", cpu="1")) == ({}, "devices")


def test_without_any_example_a_job_tolerates_taints_with_the_names_of_its_devices() -> None:
    found = assumed(cluster(), wants("a", **{"amd.com/gpu": "1", GPU: "1"}))
    keys = [{"key": name, "operator": "Exists", "effect": "NoSchedule"} for name in ("amd.com/gpu", GPU)]
    assert found == ({"tolerations": keys}, "devices")


def test_pods_of_one_node_and_tolerations_that_kubernetes_adds_are_no_example() -> None:
    pinned: Any = {"nodeSelector": {"kubernetes.io/hostname": "gpu-0"}}
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gpu-0"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    document = cluster(
        running("pinned", "a", pinned, **{GPU: 1}),
        running("again", "a", {"affinity": {"nodeAffinity": required}}, **{GPU: 1}),
        running("real", "b", {"tolerations": ADDED}, cpu=1),
    )
    assert assumed(document, wants("a", **{GPU: "1"})) == ({"tolerations": TOLERATES}, "devices")
    assert assumed(document, wants("b", cpu="1")) == ({}, "queue")


def test_affinity_to_nodes_is_kept_and_affinity_to_pods_is_not() -> None:
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]}
    affinity = {"nodeAffinity": preferred, "podAntiAffinity": preferred}
    document = cluster(running("one", "a", {"affinity": affinity}, cpu=1))
    assert assumed(document, wants("a", cpu="1")) == ({"affinity": {"nodeAffinity": preferred}}, "queue")


def test_the_templates_of_a_job_are_examples_too() -> None:
    container = {"name": "main", "resources": {"limits": {GPU: "8"}}}
    template = {"spec": {**H100, "containers": [container]}}
    vcjob = {"metadata": {"name": "train"}, "spec": {"queue": "b", "tasks": [{"template": template}]}}
    assert assumed({**cluster(), "jobs": [vcjob]}, wants("b", **{GPU: "1"})) == (H100, "queue")


def test_a_job_and_its_podgroup_count_once() -> None:
    container = {"name": "main", "resources": {"limits": {GPU: "8"}}}
    spec = {"queue": "a", "tasks": [{"template": {"spec": {**A100, "containers": [container]}}}]}
    vcjob = {"metadata": {"name": "train"}, "spec": spec}
    others = [running(name, "a", H100, **{GPU: 1}) for name in ("one", "two")]
    of_job = running("train-1", "a", A100, **{GPU: 8})
    of_job["podgroups"][0]["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "train"}]
    document = {**cluster(*others, of_job), "jobs": [vcjob]}
    assert assumed(document, wants("a", **{GPU: "1"})) == (H100, "queue")


def test_constraints_of_the_trace_come_first_and_none_removes_all() -> None:
    document = cluster(running("one", "a", H100, **{GPU: 1}))
    work = Trace((wants("a", A100, **{GPU: "1"}), wants("a", {}, **{GPU: "1"}), wants("a", **{GPU: "1"})))
    found = {}
    for fitting in (Fitting(), Fitting(node_constraints=NONE)):
        fitted, problems = fitted_to(work, ["a", "b"], fitting, fitting.known_constraints(document))
        assert problems == []
        found[fitting.node_constraints] = [job.roles[0].constraints for job in fitted.jobs], fitted.notes
    message = "Assumed: pods of 1 job of the trace select nodes and tolerate taints like most jobs of their"
    assert found == {
        "like_queue": ([A100, {}, H100], (f"{message} queue.",)),
        NONE: ([{}, {}, {}], ()),
    }


def test_pods_arrive_with_the_constraints_and_run_on_a_tainted_node() -> None:
    example = cluster(running("one", "a", {"tolerations": TOLERATES}, cpu=1))
    empty = {**example, "podgroups": [], "pods": [], "scheduler_conf": CONF}
    started = {}
    for choice in NODE_CONSTRAINTS:
        fitting = Fitting(node_constraints=choice)
        work = Trace((wants("a", cpu="1", memory="1Gi"),))
        fitted, _ = fitted_to(work, ["a", "b"], fitting, fitting.known_constraints(example))
        events = arrivals_of(fitted, Times(horizon=300)).events
        replay = {"period_seconds": 1, "horizon_seconds": 300, "events": list(events)}
        result: Any = replay_document({**empty, "replay": replay})
        started[choice] = result["jobs"]["trace/job"]["started"]
    assert started == {LIKE_QUEUE: 0, NONE: None}


def test_forecasts_of_variants_share_arrivals_only_with_equal_constraints() -> None:
    shared, work = Shared(), Trace((wants("a", **{GPU: "1"}),))
    documents = [cluster(running("one", "a", like, **{GPU: 1})) for like in (H100, A100, H100)]
    first, second, third = (
        shared.arrivals(work, document, Fitting(), Times(horizon=60))[0] for document in documents
    )
    assert first is third
    assert first.events[0]["create"]["pods"][0]["spec"]["nodeSelector"] == H100["nodeSelector"]
    assert second.events[0]["create"]["pods"][0]["spec"]["nodeSelector"] == A100["nodeSelector"]


def test_variants_with_the_same_pods_share_the_examples_but_not_the_rooms_of_nodes() -> None:
    document = cluster(running("one", "a", H100, **{GPU: 1}), running("two", "a", A100, **{GPU: 2}))
    large = node("large", labels=A100["nodeSelector"], **{GPU: 16})
    more = {**document, "nodes": [*document["nodes"], large]}
    other = {**document, "pods": list(document["pods"])}
    shared = Shared()
    examples = shared.examples(document)
    assert shared.examples(more) is examples
    assert shared.examples(other) is not examples
    known = Fitting().known_constraints(more, shared.examples)
    assert known == known_constraints(more) != known_constraints(document)


# traces with constraints


def test_a_trace_of_objects_keeps_the_constraints_also_as_csv_and_when_drawn() -> None:
    done: Any = running("one", "a", {**H100, "tolerations": [*TOLERATES, *ADDED]}, **{GPU: 1})
    for one in done["pods"]:
        one["status"] |= {
            "startTime": "2026-11-22T12:00:00Z",
            "containerStatuses": [{"state": {"terminated": {"finishedAt": "2026-11-22T12:10:00Z"}}}],
        }
    trace = read_trace(json.dumps(done))
    assert [job.roles[0].constraints for job in trace.jobs] == [H100]
    written = csv_of(trace)
    read, problems = read_workload(written)
    assert problems == []
    assert read is not None
    assert read.trace.jobs == trace.jobs
    drawn, _ = drawn_from(read.trace, Fitting(), 36000.0, 1)
    assert drawn.jobs
    assert {json.dumps(job.roles[0].constraints) for job in drawn.jobs} == {json.dumps(H100)}


def test_csv_has_no_column_for_constraints_without_any() -> None:
    trace = read_trace("name,queue,submit_seconds,constraints\nx,a,0,\n")
    assert trace.jobs[0].roles[0].constraints is None
    assert "constraints" not in next(csv.reader(StringIO(csv_of(trace))))


@pytest.mark.parametrize(
    "cell", ["{", "[]", "1", '"x"', '{"nodeName": "a"}', '{"tolerations": {}}', "[" * 9999]
)
def test_a_cell_that_is_no_constraints_is_an_error_at_its_place(cell: str) -> None:
    text = StringIO()
    csv.writer(text).writerows([["name", "queue", "submit_seconds", "constraints"], ["x", "a", "0", cell]])
    with pytest.raises(Unreadable) as refused:
        read_trace(text.getvalue())
    (problem,) = refused.value.problems
    assert (problem.line, problem.column) == (2, "constraints")
    assert "nodeSelector" in problem.fix


def test_each_role_of_a_job_gets_the_constraints_of_pods_like_its_own() -> None:
    document = cluster(running("one", "a", H100, **{GPU: 1}), running("two", "a", {}))
    plain, devices = Role(1, {"cpu": "1"}), Role(2, {GPU: "1"})
    work = Trace((TraceJob("job", "a", 0.0, 60.0, (plain, devices), 3),))
    fitted, _ = fitted_to(work, ["a", "b"], Fitting(), known_constraints(document))
    assert [role.constraints for role in fitted.jobs[0].roles] == [{}, H100]
    assert [note.partition(" of the trace")[0] for note in fitted.notes] == ["Assumed: pods of 1 job"]


# priority classes


def test_pods_have_the_priority_class_of_their_job_and_an_unknown_one_is_noted() -> None:
    jobs = [
        trace_job(f"job-{name}", "a", 0.0, 60.0, priority_class=name) for name in ("high", "nope", "nope", "")
    ]
    jobs = [replace(job, name=f"job-{number}") for number, job in enumerate(jobs)]
    document = {**cluster(), "priorityclasses": [priority_class("high", 100)]}
    forecast, _ = forecast_of(document, Trace(tuple(jobs)), Times(horizon=60))
    created = [event["create"] for event in forecast.document["replay"]["events"]]
    for part in ("podgroups", "pods"):
        named = [event[part][0]["spec"].get("priorityClassName") for event in created]
        assert named == ["high", "nope", "nope", None]
    (note,) = [note for note in forecast.notes if "priority" in note]
    assert note == (
        "Assumed: the default priority of 2 jobs of the trace, as the scenario has no priority class nope."
    )


# the sample


def test_jobs_with_gpus_start_on_the_tainted_nodes_of_the_sample() -> None:
    document = manifests.resolve(sample_document())
    job = trace_job("job", "agents", 7200.0, 60.0, requests={"cpu": "8", "memory": "32Gi", GPU: "4"})
    fitted, _ = fitted_to(Trace((job,)), leaf_queues(document), Fitting(), known_constraints(document))
    assert fitted.jobs[0].roles[0].constraints
    assert KnownConstraints().of_pod(job.queue, job.roles[0].requests)[1] == "devices"
