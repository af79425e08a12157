"""Properties of every session, each with the condition under which real Volcano keeps it.

The counterexamples without that condition are in test_counterexamples.py.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_core import Options, simulate_document
from scheduler_core.framework.statement import Statement
from tests.builders import Object, Plugin, conf, decided, last_cycle, session_of
from tests.scheduler_core.clusters import (
    PLUGINS,
    QUEUE_PLUGINS,
    SEARCH,
    SWITCHES,
    TAINT,
    clusters,
    configurations,
)
from tests.scheduler_core.soundness import assert_sound, tasks_of
from tests.scheduler_core.states import operate, state_of

EVERYTHING = "enqueue, allocate, preempt, reclaim, backfill"
GUARDS = ("gang", "conformance", "priority", "drf", "cdp", "pdb")
SILENT = ("predicates", "nodeorder", "binpack", "overcommit")
READY = {"Allocated", "Binding", "Bound", "Running", "Succeeded"}


@SEARCH
@given(document=clusters(cycles=2))
def test_amounts_are_conserved_and_victims_are_legal_in_any_configuration(document: Object) -> None:
    assert_sound(document, simulate_document(document))


@SEARCH
@given(document=clusters(cycles=3))
def test_later_cycles_do_not_change_earlier_ones(document: Object) -> None:
    whole = simulate_document(document)
    assert simulate_document(document, Options(cycles=1))["cycles"] == whole["cycles"][:1]


# bounds: the queue plugin registers ALLOCATABLE, reclaim does not run (it ignores it); `pods` have no bound


@pytest.mark.parametrize("plugin", QUEUE_PLUGINS)
@SEARCH
@given(data=st.data())
def test_allocate_never_takes_a_queue_above_its_limit(plugin: str, data: st.DataObject) -> None:
    configured = configurations(
        actions=("enqueue", "allocate", "backfill", "preempt"),
        queue_plugins=(plugin,),
        switches=sorted({*SWITCHES} - {"enabledAllocatable"}),
    )
    cycle = last_cycle(data.draw(clusters(configured)))
    limit = "deserved" if plugin == "proportion" else "realCapability"
    at_open = {queue["name"]: queue["allocated"] for queue in cycle["at_open"].get("queues", ())}
    for queue in cycle["at_end"].get("queues", ()):
        for resource, amount in queue["allocated"].items():
            allowed = max(at_open[queue["name"]].get(resource, 0), queue.get(limit, {}).get(resource, 0))
            assert resource == "pods" or amount <= allowed, (queue["name"], resource)


# gangs: gang registers JOB_READY, no member is evicted in the same session, no node is overcommitted at first


@SEARCH
@given(
    document=clusters(
        configurations(
            plugins=sorted({*PLUGINS} - {"gang"}),
            switches=sorted({*SWITCHES} - {"enableJobReady"}),
        ).map(lambda configured: with_first(configured, "gang"))
    )
)
def test_gang_is_bound_completely_or_not_at_all(document: Object) -> None:
    cycle = last_cycle(document)
    evicted = {decision["job"] for decision in cycle["decisions"] if decision["op"] == "evict"}
    bound = {decision["job"] for decision in cycle["decisions"] if decision["op"] == "bind"}
    for group in cycle["podgroups"]:
        if group["name"] in bound - evicted:
            assert group["session_job_ready"], group["name"]
            assert group["ready"], group["name"]


def with_first(configured: Object, plugin: str) -> Object:
    """Return a configuration whose first tier starts with one more plugin."""
    first, *others = configured["tiers"]
    return {**configured, "tiers": [{"plugins": [{"name": plugin}, *first["plugins"]]}, *others]}


# protection: only one tier votes, with at most two plugins, so that neither a lower tier nor a third plugin
# permits a victim that one of them refuses


@st.composite
def guarded(draw: st.DrawFn, guard: str) -> Object:
    """Return a configuration where `guard`, alone or with one other plugin, decides on victims."""
    others = draw(st.lists(st.sampled_from([name for name in GUARDS if name != guard]), max_size=1))
    guards: list[Plugin] = [*draw(st.permutations([guard, *others]))]
    if guard not in ("gang", "priority") and not {*others} & {"gang", "priority"}:
        guards.append(("gang", {"enablePreemptable": False, "enableReclaimable": False}))
    silent = {"enablePreemptable": False, "enableReclaimable": False}
    queue_plugin = draw(st.sampled_from(QUEUE_PLUGINS))
    return conf(EVERYTHING, guards, [*SILENT, (queue_plugin, silent)])


@pytest.mark.parametrize("guard", GUARDS)
@SEARCH
@given(data=st.data())
def test_no_victim_is_refused_by_a_plugin_of_the_deciding_tier(guard: str, data: st.DataObject) -> None:
    cycle = last_cycle(data.draw(clusters(guarded(guard))))
    for victim in cycle["explain"]["victims"]:
        assert [vote for vote in victim["votes"] if vote["verdict"] == "refuse"] == []


@SEARCH
@given(document=clusters(guarded("gang")))
def test_evictions_never_take_a_gang_below_its_min_member(document: Object) -> None:
    cycle = last_cycle(document)
    evicted = {decision["job"] for decision in cycle["decisions"] if decision["op"] == "evict"}
    for group in cycle["podgroups"]:
        if group["name"] in evicted:
            states = Counter(task["status"] for task in group["tasks"])
            assert sum(states[state] for state in READY) >= group["minAvailable"], group["name"]


@SEARCH
@given(document=clusters(guarded("conformance")))
def test_no_system_pod_is_evicted(document: Object) -> None:
    for decision in last_cycle(document)["decisions"]:
        assert decision["op"] != "evict" or not decision["pod"].startswith("kube-system/")


@SEARCH
@given(document=clusters(guarded("priority")))
def test_preempt_never_evicts_from_jobs_of_equal_or_higher_priority(document: Object) -> None:
    cycle = last_cycle(document)
    job_of = {task["pod"]: group for group in cycle["podgroups"] for task in group["tasks"]}
    for decision in cycle["decisions"]:
        if decision["op"] == "evict" and decision["action"] == "preempt":
            victim, preemptor = job_of[decision["pod"]], job_of[decision["for"]]
            assert victim is preemptor or victim["priority"] < preemptor["priority"]


# filters: predicates registers PREDICATE with its default arguments; running pods may stay


@SEARCH
@given(
    document=clusters(
        configurations(plugins=sorted({*PLUGINS} - {"predicates"})).map(
            lambda configured: with_first(configured, "predicates")
        )
    )
)
def test_pods_are_never_placed_on_nodes_that_predicates_rejects(document: Object) -> None:
    cycle = last_cycle(document)
    nodes = {node["metadata"]["name"]: node for node in document["nodes"]}
    specs = {
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod["spec"] for pod in document["pods"]
    }
    for decision in cycle["decisions"]:
        if decision["op"] in ("bind", "pipeline", "allocate"):
            node, spec = nodes[decision["node"]], specs[decision["pod"]]
            assert not node["spec"].get("unschedulable")
            assert TAINT not in node["spec"].get("taints", ()) or spec.get("tolerations")
            assert spec.get("nodeSelector", {}).items() <= node["metadata"]["labels"].items()


# shares


@SEARCH
@given(
    document=clusters(
        configurations(plugins=sorted({*PLUGINS} - {"drf"})).map(lambda c: with_first(c, "drf"))
    )
)
def test_drf_share_is_the_largest_fraction_of_any_resource(document: Object) -> None:
    cycle = last_cycle(document)
    for moment in ("at_open", "at_end"):
        total = cycle[moment]["total_resource"]
        for job in cycle[moment].get("drf_jobs", {}).values():
            parts = [amount / total[name] for name, amount in job["allocated"].items() if total.get(name)]
            assert job["share"] == pytest.approx(max(parts, default=0.0))


# statements: victims run (discarding the eviction of a bound pod makes it Running), nodes name scalars


@SEARCH
@given(data=st.data())
def test_discarding_a_statement_restores_every_amount(data: st.DataObject) -> None:
    session = session_of(data.draw(clusters()))
    tasks = [task for job in session.jobs.values() for task in job.tasks.values()]
    assume(len(session.nodes) and tasks)
    before = state_of(session)
    statement = Statement(session)
    for _ in range(data.draw(st.integers(1, 8))):
        operate(
            statement,
            data.draw(st.sampled_from(tasks)),
            data.draw(st.sampled_from(range(len(session.nodes)))),
        )
    statement.discard()
    assert state_of(session) == before


@SEARCH
@given(document=clusters())
def test_pending_explanations_are_only_about_pending_jobs(document: Object) -> None:
    cycle = last_cycle(document)
    waiting = {
        group["name"]
        for group in cycle["podgroups"]
        if group["phase_in_session"] in ("", "Pending")
        or any(task["status"] in ("Pending", "Pipelined", "Allocated") for task in group["tasks"])
    }
    assert {*cycle["explain"]["pending"]} <= waiting


@SEARCH
@given(document=clusters())
def test_explanations_name_only_existing_pods(document: Object) -> None:
    cycle = last_cycle(document)
    pods = {task["pod"] for task in tasks_of(cycle)}
    explanation: dict[str, Any] = cycle["explain"]
    assert {entry["pod"] for entry in explanation["victims"]} <= pods
    assert {entry["pod"] for entry in explanation["spared"]} <= pods
    assert [entry["pod"] for entry in explanation["victims"]] == decided(cycle, "evict")
