"""Properties of every session, each with the condition under which real Volcano keeps it.

Where it does not, the counter-example is a test of test_counterexamples.py.
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
def test_amounts_are_conserved_and_victims_legal_under_any_configuration(document: Object) -> None:
    assert_sound(document, simulate_document(document))


@SEARCH
@given(document=clusters(cycles=3))
def test_later_cycles_change_nothing_of_earlier_ones(document: Object) -> None:
    whole = simulate_document(document)
    assert simulate_document(document, Options(cycles=1))["cycles"] == whole["cycles"][:1]


# bounds: the plugin of the queues answers ALLOCATABLE, reclaim does not run (it never asks); `pods` have none


@pytest.mark.parametrize("plugin", QUEUE_PLUGINS)
@SEARCH
@given(data=st.data())
def test_no_queue_passes_its_limit_through_allocate(plugin: str, data: st.DataObject) -> None:
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


# gangs: gang answers JOB_READY, no member is evicted in the same session, no node is over-committed at first


@SEARCH
@given(
    document=clusters(
        configurations(
            plugins=sorted({*PLUGINS} - {"gang"}),
            switches=sorted({*SWITCHES} - {"enableJobReady"}),
        ).map(lambda configured: with_first(configured, "gang"))
    )
)
def test_a_gang_is_bound_whole_or_not_at_all(document: Object) -> None:
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


# protection: only one tier answers, with at most two plugins, so that neither a lower tier nor a third plugin
# hands out what one of them refuses


@st.composite
def guarded(draw: st.DrawFn, guard: str) -> Object:
    """Return a configuration in which `guard`, alone or beside one other, decides who may be evicted."""
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
def test_nobody_is_evicted_whom_a_plugin_of_the_deciding_tier_refuses(
    guard: str, data: st.DataObject
) -> None:
    cycle = last_cycle(data.draw(clusters(guarded(guard))))
    for victim in cycle["explain"]["victims"]:
        assert [vote for vote in victim["votes"] if vote["verdict"] == "refuse"] == []


@SEARCH
@given(document=clusters(guarded("gang")))
def test_no_job_falls_below_its_minimum(document: Object) -> None:
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
def test_nobody_preempts_a_job_as_important_as_his_own(document: Object) -> None:
    cycle = last_cycle(document)
    job_of = {task["pod"]: group for group in cycle["podgroups"] for task in group["tasks"]}
    for decision in cycle["decisions"]:
        if decision["op"] == "evict" and decision["action"] == "preempt":
            victim, preemptor = job_of[decision["pod"]], job_of[decision["for"]]
            assert victim is preemptor or victim["priority"] < preemptor["priority"]


# filters: predicates answers PREDICATE with its default arguments; who ran before may stay


@SEARCH
@given(
    document=clusters(
        configurations(plugins=sorted({*PLUGINS} - {"predicates"})).map(
            lambda configured: with_first(configured, "predicates")
        )
    )
)
def test_nobody_is_placed_where_predicates_forbids_it(document: Object) -> None:
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
def test_a_share_is_the_largest_part_of_any_resource(document: Object) -> None:
    cycle = last_cycle(document)
    for moment in ("at_open", "at_end"):
        total = cycle[moment]["total_resource"]
        for job in cycle[moment].get("drf_jobs", {}).values():
            parts = [amount / total[name] for name, amount in job["allocated"].items() if total.get(name)]
            assert job["share"] == pytest.approx(max(parts, default=0.0))


# statements: victims run (taking back the eviction of a bound pod makes it run), nodes name scalars


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
def test_what_is_told_of_a_pending_job_is_about_a_pending_job(document: Object) -> None:
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
def test_explanations_name_what_exists(document: Object) -> None:
    cycle = last_cycle(document)
    pods = {task["pod"] for task in tasks_of(cycle)}
    told: dict[str, Any] = cycle["explain"]
    assert {entry["pod"] for entry in told["victims"]} <= pods
    assert {entry["pod"] for entry in told["spared"]} <= pods
    assert [entry["pod"] for entry in told["victims"]] == decided(cycle, "evict")
