"""Plugin extender sends the requests that Volcano sends, and interprets the responses as Volcano does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from extender_client import AllowedHosts, ExtenderClient
from scheduler_core import Options, encode, simulate_document
from scheduler_core.plugins.extender.encoding import encode as on_the_wire
from scheduler_core.plugins.extender.wire import Wire
from tests.builders import (
    conf,
    decided,
    node,
    pod,
    podgroup,
    pods,
    priority_class,
    queue,
    scenario,
    session_of,
)
from tests.extender.server import REQUEST_KEYS, ExtenderServer, Raw, neutral

Document = dict[str, Any]
PRIORITIES = [priority_class("low", 10), priority_class("high", 100)]


def extender(prefix: str, *verbs: str, ignorable: bool = False, **arguments: Any) -> tuple[str, Document]:
    """Return a plugin entry with these verbs, each at a path of the same name."""
    named = {f"extender.{name}": value for name, value in arguments.items()}
    payload = {f"extender.{verb}Verb": verb for verb in verbs}
    actual = {"extender.urlPrefix": prefix, "extender.httpTimeout": "2s", "extender.ignorable": ignorable}
    return ("extender", {"arguments": {**actual, **payload, **named}})


def run(document: Document, server: ExtenderServer | None = None) -> Document:
    if server is None:
        return simulate_document(document)
    with ExtenderClient(AllowedHosts([server.host])) as client:
        result = simulate_document(document, Options(extender=client.post))
    assert server.complaints == []
    return result


def pending_gang(*tiers: Any, actions: str = "enqueue, allocate", **fields: Any) -> Document:
    """Return two free nodes and a pending gang of two."""
    return scenario(
        nodes=[node("n0", cpu=4), node("n1", cpu=4)],
        podgroups=[podgroup("a", phase="Pending", min_member=2, min_resources={"cpu": 2})],
        pods=pods("a", 2, cpu=1),
        conf=conf(actions, *tiers),
        **fields,
    )


def contended_node(action: str, *tiers: Any) -> Document:
    """Return a full node and a job that could evict pods from it."""
    victims = "a" if action == "preempt" else "b"
    return scenario(
        nodes=[node("n0", cpu=2)],
        queues=[queue("a"), queue("b")],
        podgroups=[
            podgroup("low", queue=victims, min_member=0, priority_class="low"),
            podgroup("high", queue="a", priority_class="high"),
        ],
        pods=[*pods("low", 2, node="n0", cpu=1), *pods("high", 1, cpu=1)],
        priorityclasses=PRIORITIES,
        conf=conf(action, *tiers),
    )


def bound_to(result: Document) -> dict[str, str]:
    return {d["pod"]: d["node"] for d in result["cycles"][0]["decisions"] if d["op"] == "bind"}


# calls


def test_a_neutral_extender_changes_nothing() -> None:
    base = [["priority", "gang"], ["predicates", "nodeorder"]]
    for document in (
        lambda *more: pending_gang(*base, *more, cycles=2),
        lambda *more: contended_node("preempt", *base, ["conformance"], *more),
        lambda *more: contended_node("reclaim", *base, ["conformance"], *more),
    ):
        with ExtenderServer() as server:
            requested = run(document([extender(server.prefix, *REQUEST_KEYS)]), server)
            assert server.verbs()[0] == "onSessionOpen"
            assert server.verbs()[-1] == "onSessionClose"
        alone = run(document())
        for cycle, other in zip(requested["cycles"], alone["cycles"], strict=True):
            assert cycle["decisions"] == other["decisions"]
            assert cycle["podgroups"] == other["podgroups"]
        assert "error" not in requested


def test_only_configured_verbs_are_called() -> None:
    with ExtenderServer() as server:
        run(pending_gang(["gang"], [extender(server.prefix, "predicate")]), server)
    assert set(server.verbs()) == {"predicate"}


def test_a_verb_is_appended_to_the_prefix_unescaped() -> None:
    with ExtenderServer() as server:
        entry = extender(f"{server.prefix}/base//", predicateVerb="filter/now?x=1")
        result = run(pending_gang(["gang"], [entry], actions="allocate"), None)
        assert f"{server.prefix}/base/filter/now?x=1" in result["error"]


def test_plugin_switches_disable_their_verbs() -> None:
    switches = {
        "enablePredicate": "predicate",
        "enableNodeOrder": "prioritize",
        "enabledOverused": "queueOverused",
        "enableJobEnqueued": "jobEnqueueable",
        "enableJobReady": "jobReady",
    }
    for switch, verb in switches.items():
        with ExtenderServer() as server:
            name, entry = extender(server.prefix, *switches.values())
            run(pending_gang(["gang"], [(name, {**entry, switch: False})]), server)
        assert set(server.verbs()) == set(switches.values()) - {verb}


def test_a_single_candidate_is_not_scored() -> None:
    with ExtenderServer() as server:
        document = pending_gang(["gang"], [extender(server.prefix, "prioritize")])
        document["nodes"].pop()
        run(document, server)
    assert server.verbs() == []


def test_preempt_scores_even_a_single_node() -> None:
    with ExtenderServer() as server:
        run(contended_node("preempt", ["priority"], [extender(server.prefix, "prioritize")]), server)
    assert [len(body["nodes"]) for body in server.bodies("prioritize")] == [1]


MANAGED = {
    "a request": ({"requests": {"example.com/dev": "1"}}, True),
    "only a limit": ({"limits": {"example.com/dev": "1"}}, True),
    "a request of zero": ({"requests": {"cpu": "1", "example.com/dev": "0"}}, True),
    "another resource": ({"requests": {"cpu": "1"}}, False),
}


@pytest.mark.parametrize(("resources", "called"), MANAGED.values(), ids=MANAGED.keys())
def test_task_verbs_are_called_only_for_tasks_with_managed_resources(
    resources: Document, called: bool
) -> None:
    document = pending_gang(["gang"])
    for entry in document["nodes"]:
        entry["status"]["allocatable"]["example.com/dev"] = "4"
    for entry in document["pods"]:
        entry["spec"]["containers"][0]["resources"] = resources
    with ExtenderServer() as server:
        verbs = ("predicate", "prioritize", "allocateFunc", "jobReady")
        entry = extender(server.prefix, *verbs, managedResources=["example.com/dev"])
        document["scheduler_conf"] = conf("allocate", ["gang"], [entry])
        run(document, server)
    assert set(server.verbs()) == (set(verbs) if called else {"jobReady"})


def test_managed_resources_that_are_not_a_list_crash_volcano() -> None:
    entry = extender("http://x", "predicate", managedResources="nvidia.com/gpu")
    assert run(pending_gang([entry]))["error"].startswith("Volcano would crash here")


# effects of responses


def test_a_rejected_node_is_not_chosen() -> None:
    def predicate(request: Document) -> Document:
        refused = request["node"]["Name"] == "n0"
        return {"status": "Too many tasks" if refused else "", "code": 2}

    with ExtenderServer(predicate=predicate) as server:
        result = run(pending_gang(["gang"], [extender(server.prefix, "predicate")]), server)
    assert bound_to(result) == {"default/a-0": "n1", "default/a-1": "n1"}


def test_the_reason_for_a_rejected_node_is_in_the_fit_error() -> None:
    with ExtenderServer(predicate={"status": "Too many tasks", "code": 2}) as server:
        result = run(pending_gang(["gang"], [extender(server.prefix, "predicate")]), server)
    (group,) = result["cycles"][0]["podgroups"]
    assert "0/2 nodes are unavailable: 2 Too many tasks." in group["fit_error"]


def test_scores_are_added_unscaled() -> None:
    with ExtenderServer(prioritize={"nodeScore": {"n1": 0.5, "stranger": 9}}) as server:
        result = run(pending_gang(["gang"], [extender(server.prefix, "prioritize")]), server)
    assert set(bound_to(result).values()) == {"n1"}


def test_no_node_is_chosen_among_several_without_scores() -> None:
    with ExtenderServer(prioritize={}) as server:
        result = run(pending_gang(["gang"], [extender(server.prefix, "prioritize", ignorable=True)]), server)
    assert bound_to(result) == {}


@pytest.mark.parametrize("action", ["preempt", "reclaim"])
def test_an_extender_selects_the_victims(action: str) -> None:
    verb = "preemptable" if action == "preempt" else "reclaimable"

    def second(request: Document) -> Document:
        return {"status": 1, "victims": [t for t in request["evictees"] if t["Name"] == "low-1"]}

    with ExtenderServer(**{verb: second}) as server:
        tiers = [["priority"] if action == "reclaim" else [("priority", {"enablePreemptable": False})]]
        result = run(contended_node(action, *tiers, [extender(server.prefix, verb)]), server)
    assert decided(result["cycles"][0], "evict") == ["default/low-1"]
    (victim,) = result["cycles"][0]["explain"]["victims"]
    assert [vote["verdict"] for vote in victim["votes"] if vote["plugin"] == "extender"] == ["permit"]


def test_an_unknown_victim_is_refused() -> None:
    with ExtenderServer(preemptable={"status": 1, "victims": [{"UID": "nobody"}]}) as server:
        tier = [("priority", {"enablePreemptable": False})]
        result = run(contended_node("preempt", tier, [extender(server.prefix, "preemptable")]), server)
    assert decided(result["cycles"][0], "evict") == []
    assert "victim 'nobody' is not a task of the session" in result["error"]


def test_an_overused_queue_gets_no_resources() -> None:
    with ExtenderServer(queueOverused={"overused": True}) as server:
        result = run(pending_gang(["gang"], [extender(server.prefix, "queueOverused")]), server)
    assert bound_to(result) == {}
    assert result["cycles"][0]["explain"]["pending"]["default/a"]["gate"] == "overused"


VOTES = {-1: "enqueue_reject", 0: "enqueue", 1: "enqueue"}


@pytest.mark.parametrize(("status", "want"), VOTES.items())
def test_an_extender_votes_on_enqueuing_a_job(status: int, want: str) -> None:
    with ExtenderServer(jobEnqueueable={"status": status}) as server:
        result = run(pending_gang(["gang"], [extender(server.prefix, "jobEnqueueable")]), server)
    assert decided(result["cycles"][0], want) == ["default/a"]


def test_a_job_that_is_not_ready_is_not_bound() -> None:
    with ExtenderServer(jobReady={"status": False}) as server:
        result = run(pending_gang(["gang"], [extender(server.prefix, "jobReady")]), server)
    assert bound_to(result) == {}


def test_a_failed_allocation_is_undone() -> None:
    with ExtenderServer(allocateFunc={"errorMessage": "no"}) as server:
        entry = extender(server.prefix, "allocateFunc", "deallocateFunc")
        result = run(pending_gang(["gang"], [entry]), server)
    assert bound_to(result) == {}
    assert server.verbs() == ["allocateFunc", "deallocateFunc"] * 2
    requested, undone = server.bodies("allocateFunc")[0]["task"], server.bodies("deallocateFunc")[0]["task"]
    assert (requested["Status"], requested["NodeName"], requested["LastTransaction"]) == (2, "n0", None)
    assert (undone["Status"], undone["NodeName"]) == (1, "n0")
    assert undone["Pod"]["spec"]["nodeName"] == "n0"


# failures

BROKEN = {
    "a timeout": Raw(b"{}", wait=0.4),
    "a status that is not 200": Raw(b"{}", status=500),
    "an empty response": Raw(b""),
    "invalid JSON": Raw(b"<html>"),
    "a list": Raw(b"[]"),
    "a too large response": Raw(b'{"x":"' + b"a" * (11 * 2**20) + b'"}'),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("ignorable", [True, False], ids=["ignorable", "not ignorable"])
def test_every_failed_response_follows_ignorable(broken: Raw, ignorable: bool) -> None:
    with ExtenderServer(queueOverused=broken) as server:
        timeout = "100ms" if broken.wait else "10s"
        entry = extender(server.prefix, "queueOverused", ignorable=ignorable, httpTimeout=timeout)
        result = run(pending_gang(["gang"], [entry]), server)
    assert bool(bound_to(result)) is ignorable
    assert ("error" in result) is not ignorable
    assert any(note.startswith("Extender: ") for note in result["notes"])


def test_only_the_first_json_value_of_a_large_response_is_read() -> None:
    padded = Raw(b'{"overused":true}' + b" " * (12 * 2**20))
    with ExtenderServer(queueOverused=padded) as server:
        entry = extender(server.prefix, "queueOverused", httpTimeout="10s")
        assert bound_to(run(pending_gang(["gang"], [entry]), server)) == {}


# Whether the pods are bound when a call of a verb fails: (not ignorable, ignorable).
WHEN_FAILING: dict[str, tuple[bool, bool]] = {
    "predicate": (False, True),
    "prioritize": (False, True),
    "queueOverused": (False, True),
    "jobEnqueueable": (False, True),
    "jobReady": (True, False),
    "allocateFunc": (False, True),
    "deallocateFunc": (True, True),
    "onSessionOpen": (True, True),
    "onSessionClose": (True, True),
}


@pytest.mark.parametrize("verb", WHEN_FAILING)
@pytest.mark.parametrize("ignorable", [False, True], ids=["not ignorable", "ignorable"])
def test_a_failed_call_has_the_effect_of_its_verb(verb: str, ignorable: bool) -> None:
    with ExtenderServer(**{verb: Raw(status=503)}) as server:
        # without gang only the extender decides whether a job is ready
        tiers = [] if verb == "jobReady" else [["gang"]]
        result = run(pending_gang(*tiers, [extender(server.prefix, verb, ignorable=ignorable)]), server)
    assert bool(bound_to(result)) is WHEN_FAILING[verb][ignorable]


@pytest.mark.parametrize("ignorable", [False, True], ids=["not ignorable", "ignorable"])
@pytest.mark.parametrize("action", ["preempt", "reclaim"])
def test_a_failed_search_for_victims_ends_the_tier(action: str, ignorable: bool) -> None:
    verb = "preemptable" if action == "preempt" else "reclaimable"
    with ExtenderServer(**{verb: Raw(status=503)}) as server:
        tier = [extender(server.prefix, verb, ignorable=ignorable), "conformance"]
        result = run(contended_node(action, [("priority", {"enablePreemptable": False})], tier), server)
    assert decided(result["cycles"][0], "evict") == []


def test_a_failed_session_opening_disables_the_other_verbs() -> None:
    with ExtenderServer(onSessionOpen=Raw(status=500)) as server:
        run(pending_gang(["gang"], [extender(server.prefix, *REQUEST_KEYS)]), server)
    assert server.verbs() == ["onSessionOpen", "onSessionClose"]


def test_a_failure_that_is_not_ignorable_fails_the_run_but_keeps_the_result() -> None:
    with ExtenderServer(queueOverused=Raw(status=500)) as server:
        result = run(pending_gang(["gang"], [extender(server.prefix, "queueOverused")]), server)
        actual = f"failed queueOverused with extender at URL {server.prefix}/queueOverused, code 500"
    assert result["error"] == f"extender: queueOverused failed: {actual} (extender.ignorable is false)"
    assert result["cycles"]


def test_no_extender_is_called_without_a_client() -> None:
    result = run(pending_gang(["gang"], [extender("http://127.0.0.1:9", "predicate", ignorable=True)]))
    assert bound_to(result) == {"default/a-0": "n0", "default/a-1": "n0"}
    assert any("no extender may be called" in note for note in result["notes"])


# Responses of a server, and by verb whether the real plugin binds the pods afterwards.
READINGS: dict[str, tuple[Any, dict[str, bool]]] = {
    "{}": (
        {},
        {
            "predicate": True,
            "prioritize": False,
            "queueOverused": True,
            "jobEnqueueable": True,
            "jobReady": False,
            "allocateFunc": True,
        },
    ),
    "null": (None, {"predicate": True, "prioritize": False, "queueOverused": True, "jobReady": False}),
    "a string as status": (
        {"status": "nope"},
        {
            "predicate": False,
            "queueOverused": True,
            "jobEnqueueable": False,
            "jobReady": True,
            "allocateFunc": True,
        },
    ),
    "a string and code 7": ({"status": "nope", "code": 7}, {"predicate": True}),
    "a code without a status": ({"code": 2}, {"predicate": True, "prioritize": False, "jobReady": False}),
    "keys in another case": ({"STATUS": "up"}, {"predicate": False}),
    "a code with a fraction": (Raw(b'{"status":"","code":2.0}'), {"predicate": False}),
    "an empty nodeScore": ({"nodeScore": {}}, {"prioritize": True}),
    "scores with an error message": (
        {"nodeScore": {"n1": 1}, "errorMessage": "bad"},
        {"prioritize": False, "allocateFunc": False},
    ),
    "a number as status": ({"status": 1}, {"predicate": False, "jobEnqueueable": True, "jobReady": True}),
    "minus one as status": ({"status": -1}, {"jobEnqueueable": False}),
    "a response with trailing text": (Raw(b'{"overused":true} and more'), {"queueOverused": False}),
}
CASES = [(name, verb) for name, (_, outcomes) in READINGS.items() for verb in outcomes]


@pytest.mark.parametrize(("name", "verb"), CASES, ids=lambda part: part)
def test_a_response_is_interpreted_as_by_the_real_plugin(name: str, verb: str) -> None:
    answer, outcomes = READINGS[name]
    with ExtenderServer(**{verb: lambda _request: answer}) as server:
        tiers = [] if verb == "jobReady" else [["gang"]]
        result = run(pending_gang(*tiers, [extender(server.prefix, verb)]), server)
    assert bool(bound_to(result)) is outcomes[verb]


# how requests are written


def captured(shared: Path, heading: str) -> str:
    """Return a request captured from the real plugin."""
    text = (shared / "spec" / "extender.md").read_text()
    match = re.search(rf"^{re.escape(heading)}.*?\n```json\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[1]


def test_a_predicate_request_equals_the_captured_one(shared: Path) -> None:
    real = captured(shared, "predicate request (real, complete)")
    body = json.loads(real)
    task, host = body["task"]["Pod"], body["node"]["Node"]
    running = body["node"]["Tasks"]["ns1/run-0"]["Pod"]
    session = session_of(
        scenario(
            nodes=[host],
            podgroups=[podgroup("pgA", namespace="ns1"), podgroup("pgB", namespace="ns1")],
            pods=[strip(task), strip(running)],
            conf=conf("allocate", ["gang"]),
            admission_defaults=False,
        )
    )
    wire = Wire(session)
    request = {"task": wire.task(session.jobs["ns1/pgB"].tasks["ns1-pend-0"]), "node": wire.node(0)}
    written = json.loads(on_the_wire(request))
    assert written == with_scheduler(body)
    assert [list(written[part]) for part in written] == [list(body[part]) for part in body]


def test_html_characters_are_escaped_as_in_go() -> None:
    written = on_the_wire({"label": "a<b&c>\u2028", "whole": 1000.0, "large": 1e21, "part": 0.5})
    assert written == b'{"label":"a\\u003cb\\u0026c\\u003e\\u2028","whole":1000,"large":1e+21,"part":0.5}'


def strip(thing: Document) -> Document:
    """Return a pod as a user would write it: with a kind and an empty creationTimestamp."""
    metadata = {"creationTimestamp": None, **thing["metadata"]}
    return {"kind": "Pod", "apiVersion": "v1", **thing, "metadata": metadata}


def with_scheduler(actual: Document) -> Document:
    """Return a captured request whose pods name their scheduler, as pods of a scenario always do."""
    for task in (actual["task"], *actual["node"]["Tasks"].values()):
        task["Pod"]["spec"]["schedulerName"] = "volcano"
    return actual


def test_a_queue_request_equals_the_captured_one(shared: Path) -> None:
    body = json.loads(captured(shared, "queueOverused request (real, complete)"))
    plain = {"metadata": {"name": "q1"}, "spec": {"weight": 3, "capability": {"cpu": 10, "memory": "20Gi"}}}
    session = session_of(scenario(queues=[{**plain, "status": {"state": "Open"}}], admission_defaults=False))
    assert json.loads(on_the_wire({"queue": Wire(session).queue(session.queues["q1"])})) == body


def test_a_job_request_equals_the_captured_one(shared: Path) -> None:
    real = captured(shared, "jobEnqueueable / jobReady request (real")
    body = json.loads(real)
    group = {**body["job"]["PodGroup"]}
    session = session_of(
        scenario(
            queues=[queue("q1")],
            podgroups=[group],
            pods=[pod("pend-0", group="pgB", namespace="ns1", role="worker", cpu="500m", memory="512Mi")],
            priorityclasses=[priority_class("high", 100)],
            conf=conf("allocate", ["gang"]),
            admission_defaults=False,
        )
    )
    written = json.loads(on_the_wire({"job": Wire(session).job(session.jobs["ns1/pgB"])}))
    assert without_tasks(written) == body


def without_tasks(written: Document) -> Document:
    """Return a job with a placeholder for every task."""
    actual = written["job"]
    for holder in (actual, *actual["SubJobs"].values()):
        holder["Tasks"] = dict.fromkeys(holder["Tasks"], "<TaskInfo>")
        holder["TaskStatusIndex"] = {
            status: dict.fromkeys(tasks, "<TaskInfo>") for status, tasks in holder["TaskStatusIndex"].items()
        }
    return written


def test_the_session_opening_sends_jobs_nodes_queues_and_quotas() -> None:
    revocable = node("n1", cpu=4, labels={"volcano.sh/revocable-zone": "rz"})
    quota = {
        "metadata": {"name": "quota", "namespace": "ns1"},
        "status": {"hard": {"cpu": 10}, "used": {"cpu": "1000m"}},
    }
    with ExtenderServer() as server:
        document = pending_gang(["gang"], [extender(server.prefix, "onSessionOpen")], resourcequotas=[quota])
        document["nodes"][1] = revocable
        run(document, server)
        (actual,) = server.bodies("onSessionOpen")
    assert list(actual["Jobs"]) == ["default/a"]
    assert list(actual["Nodes"]) == ["n0", "n1"]
    assert list(actual["RevocableNodes"]) == ["n1"]
    assert list(actual["Queues"]) == ["default", "root"]
    assert actual["NamespaceInfo"] == {
        "ns1": {"Name": "ns1", "QuotaStatus": {"quota": {"hard": {"cpu": "10"}, "used": {"cpu": "1"}}}}
    }
    assert actual["NodeList"] is None


def test_equal_responses_give_equal_results() -> None:
    with ExtenderServer(prioritize=neutral("prioritize")) as server:
        document = pending_gang(["gang"], [extender(server.prefix, *REQUEST_KEYS)])
        assert encode(run(document, server)) == encode(run(document, server))
