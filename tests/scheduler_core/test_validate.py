"""Every invalid scenario gets one clear problem that names the object and the field."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core import Problem, encode, problems, simulate_document
from scheduler_core.admission import Admission
from scheduler_core.validate import Inspection
from tests.builders import Object, amounts, conf, job, node, pod, podgroup, priority_class, queue, scenario
from tests.scheduler_core.replays import small_replay

Document = dict[str, Any]


def sound() -> Document:
    """Return a valid scenario with one object of every kind."""
    task = {
        "name": "w",
        "replicas": 2,
        "minAvailable": 1,
        "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": amounts(cpu=1)}}]}},
    }
    document = scenario(
        nodes=[node("n0", cpu=4, taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])],
        queues=[
            queue("a", parent="root", capability={"cpu": 4}),
            queue("b", parent="a", capability={"cpu": 2}),
        ],
        podgroups=[
            podgroup("g", queue="b", min_resources={"cpu": 1}, min_task_member={"w": 1}, priority_class="p")
        ],
        pods=[pod("g-0", group="g", cpu=1), pod("g-1", group="g", node="n0", cpu=1)],
        priorityclasses=[priority_class("p", 5)],
        jobs=[job("train", tasks=[task], queue="b")],
        resourcequotas=[
            {"metadata": {"name": "q"}, "spec": {"hard": amounts(cpu=4)}, "status": {"hard": amounts(cpu=4)}}
        ],
        namespaces=[{"metadata": {"name": "default"}}],
        poddisruptionbudgets=[
            {
                "metadata": {"name": "b"},
                "spec": {"selector": {"matchLabels": {"app": "x"}}},
                "status": {"disruptionsAllowed": 1},
            }
        ],
        conf=conf("allocate", ["gang"]),
        cycles=1,
    )
    unshared: Document = json.loads(json.dumps(document))
    return unshared


def test_valid_scenario_has_no_problems() -> None:
    assert problems(sound()) == []
    assert "error" not in simulate_document(sound())


class Broken(NamedTuple):
    """A value set at a path, and the problem it gives."""

    path: str
    value: Any
    rule: str
    subject: str


REMOVED = object()
SUBJECTS = {
    "nodes": "node n0",
    "queues": "queue a",
    "podgroups": "podgroup default/g",
    "pods": "pod default/g-0",
    "priorityclasses": "priority class p",
    "jobs": "job default/train",
    "resourcequotas": "resource quota default/q",
    "namespaces": "namespace default",
    "poddisruptionbudgets": "disruption budget default/b",
}
CONTAINER = "spec.containers.0"
TASK = "spec.tasks.0"
LIMITS = {"queues": ["spec.capability.cpu"], "podgroups": ["spec.minResources.cpu"]}
AMOUNTS = {
    "nodes": ["status.allocatable.cpu", "status.allocatable.pods", "status.capacity.cpu"],
    "pods": [f"{CONTAINER}.resources.requests.cpu"],
    "jobs": [f"{TASK}.template.spec.containers.0.resources.requests.cpu"],
    "resourcequotas": ["spec.hard.cpu", "status.hard.cpu"],
}
UNREADABLE = ["", "abc", "1 Gi", "1Gb", "0x10", "1e", True, [], {}, "9" * 5000]
NEGATIVE = ["-1", -1, "-500m"]
OBJECTS = {
    "nodes": ["metadata", "spec", "status", "metadata.labels", "status.allocatable"],
    "queues": ["metadata", "spec", "status", "spec.capability", "metadata.annotations"],
    "podgroups": ["metadata", "spec", "status", "spec.minTaskMember", "spec.minResources"],
    "pods": ["metadata", "spec", "status", CONTAINER, f"{CONTAINER}.resources", "metadata.annotations"],
    "jobs": ["metadata", "spec", TASK, f"{TASK}.template"],
    "priorityclasses": ["metadata"],
    "resourcequotas": ["metadata", "spec"],
    "namespaces": ["metadata"],
    "poddisruptionbudgets": ["metadata", "spec", "spec.selector"],
}
LISTS = {"nodes": ["spec.taints"], "pods": ["spec.containers"], "jobs": ["spec.tasks"]}
TEXTS = {
    "nodes": ["metadata.labels.zone", "spec.taints.0.key", "spec.taints.0.effect"],
    "queues": ["spec.parent"],
    "podgroups": ["spec.queue", "spec.priorityClassName"],
    "pods": ["metadata.uid", "metadata.namespace", "spec.nodeName", "spec.schedulerName"],
    "jobs": ["spec.queue", f"{TASK}.name"],
}
NUMBERS = {
    "queues": ["spec.weight"],
    "podgroups": ["spec.minMember", "spec.minTaskMember.w"],
    "priorityclasses": ["value"],
    "jobs": ["spec.minAvailable", f"{TASK}.replicas", f"{TASK}.minAvailable"],
    "poddisruptionbudgets": ["status.disruptionsAllowed"],
    "pods": ["spec.priority"],
}
UNSIGNED = {"queues": ["spec.weight"], "podgroups": ["spec.minMember"], "jobs": [f"{TASK}.replicas"]}
TIMES = {
    "pods": ["metadata.creationTimestamp", "status.startTime"],
    "podgroups": ["metadata.creationTimestamp"],
}
FLAGS = {
    "nodes": ["spec.unschedulable"],
    "queues": ["spec.reclaimable"],
    "priorityclasses": ["globalDefault"],
}


def cases() -> list[Broken]:
    """Return every kind of invalid value at every path of a valid scenario."""
    broken = []

    def each(places: dict[str, list[str]], rule: str, *values: Any) -> None:
        for name, paths in places.items():
            subject = SUBJECTS[name]
            for path in paths:
                for value in values:
                    broken.append(Broken(f"{name}.0.{path}", value, rule, subject))

    each({**AMOUNTS, **LIMITS}, "quantity.unreadable", *UNREADABLE)
    each(AMOUNTS, "quantity.negative", *NEGATIVE)
    each(OBJECTS, "form.type", "text", 7, ["list"])
    each(LISTS, "form.type", {"an": "object"}, "text")
    each(TEXTS, "form.type", 7, ["list"], {"an": "object"})
    each(NUMBERS, "form.type", "7", 1.5, True, [])
    each(NUMBERS, "number.range", 2**31, -(2**31) - 1, 10**30)
    each(UNSIGNED, "number.range", -1)
    each(TIMES, "time.unreadable", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01")
    each(TIMES, "time.unreadable", "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z")
    each(TIMES, "time.unreadable", "2026-01-01T00:00:60Z", "2026-01-01T24:00:00Z", "0000-01-01T00:00:00Z")
    each(TIMES, "time.unreadable", "2026-01-01T00:00:00+25:00", "2026-01-01T00:00:00-10:60")
    each(TIMES, "form.type", 12)
    each(FLAGS, "form.type", "true", 1)
    each({name: ["metadata"] for name in SUBJECTS}, "form.missing", REMOVED)
    each({name: ["metadata.name"] for name in SUBJECTS}, "form.missing", REMOVED, "")
    each({name: ["metadata.name"] for name in SUBJECTS}, "name.illegal", "a/b")
    return broken


CASES = cases()


def with_value(path: str, value: Any) -> Document:
    document = sound()
    holder: Any = document
    *way, last = path.split(".")
    for step in way:
        holder = holder[int(step)] if isinstance(holder, list) else holder.setdefault(step, {})
    if value is REMOVED:
        del holder[last]
    else:
        holder[int(last) if isinstance(holder, list) else last] = value
    return document


def errors(document: Any) -> list[Problem]:
    return [problem for problem in problems(document) if problem.severity == "error"]


def test_at_least_200_invalid_cases_are_covered() -> None:
    assert len(CASES) >= 200


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path}={str(case.value)[:20]}")
def test_invalid_field_gives_one_error_with_its_path(case: Broken) -> None:
    document = with_value(case.path, case.value)
    (found,) = errors(document)
    assert found.rule == case.rule
    named = "metadata" not in case.path and not case.path.endswith((".spec", ".status"))
    list_name = case.path.split(".")[0]
    assert found.message.startswith(case.subject if named else case.subject.split(" ")[0])
    assert found.path.startswith(f"{list_name}[0]")
    field = case.path.split(".")[-1]
    assert field in found.path or f"[{field}]" in found.path
    result = simulate_document(document)
    assert result["error"].startswith(found.message)
    assert "cycles" not in result


def with_twins(name: str) -> Document:
    document = sound()
    document[name].append(copy.deepcopy(document[name][0]))
    return document


def with_settings(**fields: Any) -> Document:
    return {**sound(), **fields}


WHOLE_SCENARIOS: dict[str, tuple[Callable[[], Any], str, str]] = {
    **{
        f"two {name} of one name": (lambda name=name: with_twins(name), "name.duplicate", SUBJECTS[name])
        for name in SUBJECTS
    },
    "not an object": (list, "form.type", "the scenario"),
    "list given as a string": (lambda: with_settings(pods="none"), "form.type", "pods"),
    "object given as a number": (lambda: with_settings(nodes=[3]), "form.type", "node number 1"),
    "null object": (lambda: with_settings(nodes=[None]), "form.type", "node number 1"),
    "invalid clock": (lambda: with_settings(now="noon"), "time.unreadable", "now"),
    "no cycle": (lambda: with_settings(cycles=0), "number.range", "cycles"),
    "too many cycles": (lambda: with_settings(cycles=10**9), "number.range", "cycles"),
    "negative cycle seconds": (lambda: with_settings(cycle_seconds=-1), "number.range", "cycle_seconds"),
    "unknown eviction mode": (lambda: with_settings(evicted="move"), "word.unknown", "evicted"),
    "scheduler names that are not a list": (
        lambda: with_settings(scheduler_names="volcano"),
        "form.type",
        "scheduler_names",
    ),
    "an unknown action": (
        lambda: with_settings(scheduler_conf=conf("allocate, dance", ["gang"])),
        "conf.rejected",
        "dance",
    ),
    "tiers that are not a list": (
        lambda: with_settings(scheduler_conf={"actions": "allocate", "tiers": "gang"}),
        "conf.rejected",
        "tiers",
    ),
    "job with a billion pods": (
        lambda: with_value("jobs.0.spec.tasks.0.replicas", 10**9),
        "job.too_many_pods",
        "job default/train",
    ),
    "duplicate task name": (
        lambda: with_value("jobs.0.spec.tasks", sound()["jobs"][0]["spec"]["tasks"] * 2),
        "job.task_twice",
        "job default/train: spec.tasks[1].name",
    ),
    "an amount without a value": (
        lambda: with_value("nodes.0.status.allocatable.cpu", None),
        "quantity.unreadable",
        "status.allocatable.cpu is empty",
    ),
    "unknown pod phase": (
        lambda: with_value("pods.0.status.phase", "Dancing"),
        "word.unknown",
        "pod default/g-0: status.phase",
    ),
}


@pytest.mark.parametrize(("build", "rule", "says"), WHOLE_SCENARIOS.values(), ids=WHOLE_SCENARIOS.keys())
def test_invalid_scenario_gives_the_expected_error(build: Callable[[], Any], rule: str, says: str) -> None:
    found = errors(build())
    assert {problem.rule for problem in found} == {rule}
    assert any(says in problem.message for problem in found)
    assert found[0].message in simulate_document(build())["error"]


WARNINGS: dict[str, tuple[str, Any, str]] = {
    "podgroup with a missing queue is ignored": ("podgroups.0.spec.queue", "gone", "podgroup.queue_missing"),
    "pod on a missing node uses no resources": ("pods.1.spec.nodeName", "gone", "pod.node_missing"),
    "job in a queue with children is refused": ("jobs.0.spec.queue", "a", "job.not_leaf"),
    "queue refused by the webhook": (
        "queues.1.spec.capability.cpu",
        "5",
        "queue.capability_above_ancestor",
    ),
    "job with a missing queue is refused": ("jobs.0.spec.queue", "gone", "job.queue_missing"),
    "podgroup with a missing priority class has the default": (
        "podgroups.0.spec.priorityClassName",
        "gone",
        "class.missing",
    ),
    "node without pod capacity accepts no pods": ("nodes.0.status.allocatable", {"cpu": "4"}, "node.no_pods"),
    "node without allocatable accepts no pods": ("nodes.0.status", {}, "node.no_allocatable"),
    "negative limit is used in arithmetic": ("queues.1.spec.capability.cpu", "-1", "quantity.negative"),
    "negative minimum is used in arithmetic": (
        "podgroups.0.spec.minResources.cpu",
        "-1",
        "quantity.negative",
    ),
    "amount above 2^63 is capped": ("nodes.0.status.allocatable.cpu", "9999999999999999E", "quantity.huge"),
    "minimum above the replicas is refused": ("jobs.0.spec.tasks.0.minAvailable", 5, "job.minimum"),
    "plugin unknown to Volcano is ignored": (
        "scheduler_conf.tiers.0.plugins.0.name",
        "gagn",
        "conf.unknown_plugin",
    ),
    "plugin that is not modelled is reported": (
        "scheduler_conf.tiers.0.plugins.0.name",
        "numaaware",
        "conf.not_modelled",
    ),
}


@pytest.mark.parametrize(("path", "value", "rule"), WARNINGS.values(), ids=WARNINGS.keys())
def test_value_that_volcano_accepts_is_only_a_warning(path: str, value: Any, rule: str) -> None:
    document = with_value(path, value)
    assert rule in {problem.rule for problem in problems(document)}
    assert errors(document) == []
    assert "error" not in simulate_document(document)


def test_missing_parent_queue_crashes_volcano_once_a_pod_is_allocated() -> None:
    document = with_value("queues.1.spec.parent", "gone")
    assert [problem.rule for problem in problems(document)] == ["queue.parent_missing"]
    assert simulate_document(document)["error"].startswith("Volcano would crash here: queue b")


def test_podgroup_in_a_queue_with_children_is_reported_for_hierarchical_capacity() -> None:
    document = with_value("podgroups.0.spec.queue", "a")
    assert problems(document) == []
    hierarchy = ("capacity", {"enableHierarchy": True})
    document["scheduler_conf"] = conf("allocate", ["gang"], [hierarchy])
    assert [problem.rule for problem in problems(document)] == ["podgroup.not_leaf"]


def test_all_problems_are_reported_at_once_with_errors_first() -> None:
    document = with_value("queues.0.spec.weight", -1)
    document["pods"][0]["spec"]["priority"] = "high"
    document["podgroups"][0]["spec"]["queue"] = "gone"
    found = problems(document)
    assert [problem.severity for problem in found] == ["error", "error", "warning"]
    assert [problem.queue for problem in found] == ["a", "", ""]


def test_path_quotes_keys_that_are_not_plain() -> None:
    (found,) = errors(with_value("pods.0.spec.overhead", {"nvidia.com/gpu": "x"}))
    assert found.path == 'pods[0].spec.overhead["nvidia.com/gpu"]'
    assert found.field == 'spec.overhead["nvidia.com/gpu"]'


def test_at_most_a_thousand_problems_are_listed() -> None:
    document = scenario(pods=[pod(f"p-{number}", priority=2**40) for number in range(1500)])
    found = problems(document)
    assert len(found) == 1001
    assert "500 more problems" in found[-1].message


def test_problems_beyond_the_limit_are_counted_in_amounts_too() -> None:
    found = problems(scenario(pods=[pod(f"p-{number}", cpu="lots") for number in range(1500)]))
    assert "500 more problems" in found[-1].message


@pytest.mark.parametrize("seed", range(20))
def test_valid_events_are_checked_once_and_invalid_events_every_time(seed: int) -> None:
    dice = Random(seed)
    given = small_replay(seed)
    broken = [
        {"at": -1},
        {"at": 1, "create": {"pods": [{"metadata": {"name": ""}}]}},
        {"at": 1, "create": {"pods": [pod("x", cpu="much")]}},
        {"at": 1, "delete": {"nodes": [1]}},
        {"at": 1, "replace": {"queues": [queue("a", weight=-1)]}},
        {"at": 1, "scheduler_conf": {"tiers": 5}},
        {"at": 1, "create": {"nodes": [node("n", **{"no domain": 1})]}},
        5,
    ]
    known = [*given["replay"]["events"], *broken]
    before: Inspection | None = None
    for _ in range(4):
        events = dice.sample(known, dice.randrange(len(known)))
        document = {**given, "replay": {**given["replay"], "events": [*events, *events[:2]]}}
        before = Inspection(document, before)
        assert before.problems() == Inspection(json.loads(json.dumps(document))).problems()


def test_pod_that_differs_from_checked_ones_is_checked_itself() -> None:
    pods = [pod(f"p-{number}", cpu=1) for number in range(3)]
    pods[2]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "x"
    assert [problem.path for problem in errors(scenario(pods=pods))] == [
        "pods[2].spec.containers[0].resources.requests.cpu"
    ]


UNLIKE = {
    "boolean instead of a number": ("spec", "priority", True),
    "number instead of a node name": ("spec", "nodeName", 5),
    "zero instead of a node name": ("spec", "nodeName", 0),
    "number among volumes": ("spec", "volumes", [5]),
    "string instead of volumes": ("spec", "volumes", "x"),
    "non-numeric port": ("spec", "containers", [{"ports": [{"containerPort": True}]}]),
    "object instead of volumes": ("spec", "volumes", {}),
    "list instead of labels": ("metadata", "labels", []),
    "string instead of owner references": ("metadata", "ownerReferences", ""),
    "object instead of conditions": ("status", None, {"phase": "Running", "conditions": {}}),
    "zero instead of a namespace": ("metadata", "namespace", 0),
    "number instead of a uid": ("metadata", "uid", 7),
    "number instead of a label value": ("metadata", "labels", {"a": 1}),
    "invalid timestamp": ("metadata", "creationTimestamp", "x"),
    "invalid owner reference": ("metadata", "ownerReferences", [{"uid": 1}]),
    "unknown phase": ("status", "phase", "Gone"),
    "text instead of a container's state": ("status", "containerStatuses", [{"state": "over"}]),
    "list instead of a container's end": ("status", "containerStatuses", [{"state": {"terminated": []}}]),
    "invalid time of a container's end": (
        "status",
        "containerStatuses",
        [{"state": {"terminated": {"finishedAt": "x"}}}],
    ),
    "conditions without a phase": ("status", None, {"conditions": 5}),
    "list instead of a status": ("status", None, []),
    "list instead of a spec": ("spec", None, []),
}


@pytest.mark.parametrize(("part", "field", "value"), UNLIKE.values(), ids=UNLIKE.keys())
def test_invalid_pod_gives_the_same_errors_among_valid_ones(part: str, field: str | None, value: Any) -> None:
    wrong = pod("wrong", priority=1)
    if field is None:
        wrong[part] = value
    else:
        wrong[part] = {**wrong[part], field: value}
    others = [pod(f"p-{number}", priority=1) for number in range(3)]
    alone = [problem.message for problem in errors(scenario(pods=[wrong]))]
    among = [problem.message for problem in errors(scenario(pods=[*others, wrong]))]
    assert alone
    assert alone == among


@pytest.mark.parametrize("value", [True, 1.5, "1"])
def test_pod_value_true_is_not_confused_with_one(value: Any) -> None:
    def listening(name: str, port: Any) -> Object:
        spec = {"containers": [{"name": "c", "ports": [{"containerPort": port}]}], "schedulerName": "volcano"}
        return {"metadata": {"name": name}, "spec": spec, "status": {"phase": "Pending"}}

    others = [listening("a", 1), listening("b", 1)]
    alone = [problem.message for problem in errors(scenario(pods=[listening("wrong", value)]))]
    among = [problem.message for problem in errors(scenario(pods=[*others, listening("wrong", value)]))]
    assert alone
    assert alone == among


def test_only_unfinished_pods_miss_their_podgroup() -> None:
    document = scenario(pods=[pod("runs", group="gone"), pod("ended", group="gone")], podgroups=[])
    document["pods"][1]["status"] = {"phase": "Succeeded"}
    missing = [one.path for one in problems(document) if one.rule == "pod.podgroup_missing"]
    assert missing == ['pods[0].metadata.annotations["scheduling.k8s.io/group-name"]']


def test_deeply_nested_pods_are_accepted() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    spec = {"containers": [{"name": "c", "env": deep}], "schedulerName": "volcano"}
    pods = [{"metadata": {"name": name}, "spec": {**spec}} for name in ("a", "b", "c")]
    assert not problems(scenario(pods=pods, podgroups=[]))
    assert "error" not in simulate_document(scenario(pods=pods))
    assert len(Admission(scenario(pods=pods)).cluster().pods) == 3


def test_invalid_pod_among_hundreds_is_reported_with_its_index() -> None:
    pods = [pod(f"p-{number}", cpu=1) for number in range(300)]
    pods[200]["metadata"]["labels"] = {"a": 1}
    assert [problem.path for problem in errors(scenario(pods=pods))] == ["pods[200].metadata.labels.a"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every nested value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for step, entry in inner for place in places(entry, (*way, step)))]


PLACES = places(sound())


@given(document=JSON)
def test_validation_never_fails_on_any_json(document: Any) -> None:
    problems(document)
    simulate_document(document)


@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), JSON), min_size=1, max_size=3))
def test_validation_never_fails_on_any_value_in_any_field(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    document: Any = sound()
    for way, value in changes:
        document = replaced(document, way, value)
    found = problems(document)
    result = simulate_document(document)
    assert ("error" in result) >= any(problem.severity == "error" for problem in found)
    json.loads(encode(result))


def replaced(holder: Any, way: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of nested data with another value at a path that still exists."""
    if not way:
        return value
    step, *rest = way
    if isinstance(holder, dict) and step in holder:
        return {**holder, step: replaced(holder[step], tuple(rest), value)}
    if isinstance(holder, list) and isinstance(step, int) and step < len(holder):
        return [*holder[:step], replaced(holder[step], tuple(rest), value), *holder[step + 1 :]]
    return holder
