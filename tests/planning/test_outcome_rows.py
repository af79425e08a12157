"""The rows of a result are the same from every reader, and after writing and reading them."""

import io
import json

import pytest

from planning.outcomes import rows_of
from planning.rows.stored import VERDICT, Rows, payload_of
from scheduler_core import Options, encode, prepare
from scheduler_core.explain import with_loops
from tests.planner.recorded import recorded
from tests.scheduler_core.answers import evicted_and_bound_again

DOCUMENTS = {
    **{family: recorded(family, 0)["scenario"] for family in ("mixed", "cycles", "preempt", "hdrf")},
    "loop": evicted_and_bound_again(),
}


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("explain", [True, False])
def test_rows_of_a_result_equal_those_of_its_bytes_and_survive_storing(name: str, explain: bool) -> None:
    document, options = DOCUMENTS[name], Options(explain=explain)
    prepared = prepare(document)
    result = with_loops(prepared, prepared.simulate(options=options), options)
    rows = rows_of(result, document)
    assert rows == rows_of(json.loads(encode(result)), document)
    written = io.BytesIO()
    rows.write(written)
    written.seek(0)
    assert Rows.read(written) == rows
    assert written.read() == b""


def test_a_pipelined_pod_that_is_bound_later_is_not_counted_as_pipelined() -> None:
    document = recorded("cycles", 3)["scenario"]
    result = prepare(document).simulate()
    steps = [step for cycle in result["cycles"] for step in cycle["decisions"]]
    pipelined, bound = ({step["pod"] for step in steps if step["op"] == op} for op in ("pipeline", "bind"))
    assert pipelined == bound
    counts = rows_of(result, document).counts
    assert (counts.bound, counts.pipelined) == (len(bound), 0)


def test_a_pod_that_is_evicted_and_not_bound_again_is_not_counted_as_bound() -> None:
    document = {**evicted_and_bound_again(), "cycles": 7}
    counts = rows_of(prepare(document).simulate(), document).counts
    assert (counts.bound, counts.victims_committed, counts.evictions) == (0, 1, 4)


def test_a_vcjob_without_a_podgroup_that_names_an_unknown_queue_is_counted_as_ignored() -> None:
    document = evicted_and_bound_again()
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
    spec = {
        "queue": "nowhere",
        "minAvailable": 1,
        "tasks": [{"name": "t", "replicas": 1, "template": template}],
    }
    document["jobs"] = [{"metadata": {"name": "lost"}, "spec": spec}]
    parts = rows_of(prepare(document).simulate(), document).parts
    verdict = next(payload_of(part.packed) for part in parts if part.part == VERDICT)
    assert verdict["counts"]["ignored"] == 1


def test_a_pod_that_several_gangs_evict_names_the_gang_of_each_cycle() -> None:
    document = recorded("capacity", 25)["scenario"]
    conf = document["scheduler_conf"]
    conf = {**conf, "actions": f"{conf['actions']}, gangreclaim, gangpreempt"}
    document |= {"scheduler_conf": conf, "cycles": 4, "requeue": True}
    result = prepare(document).simulate()
    gangs = [
        (victim["pod"], victim["for_job"])
        for cycle in result["cycles"]
        for victim in cycle["explain"]["victims"]
        if not victim["for"]
    ]
    rows = [(row["pod"], row["for_job"]) for row in rows_of(result, document).victims if not row["for_pod"]]
    assert rows == gangs
    assert len(dict(rows)) < len(set(rows)), "a pod is evicted for two gangs"
