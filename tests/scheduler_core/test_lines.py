"""Equal waiting jobs form a line: the result for the first one holds for all of them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence

import pytest

from scheduler_core.framework.lines import InLine, Line, Lines
from scheduler_core.framework.session import Session
from scheduler_core.replay import Replay, replay_document
from scheduler_core.validate import Inspection
from tests.builders import Object, conf, node, podgroup, pods, queue, scenario
from tests.scheduler_core.replays import CONFS, crowded_replay, small_replay
from tests.trials import trials

SEEDS = range(9)
TREE = conf(
    "enqueue, allocate, preempt, reclaim, backfill",
    ["priority", "gang", "conformance"],
    ["predicates", ("capacity", {"enableHierarchy": True}), "nodeorder"],
)


def opened(document: Object, **how: bool) -> Replay:
    return Replay(document, Inspection(document), **how)


def crowd(seed: int) -> Object:
    return {**crowded_replay(seed), "scheduler_conf": CONFS[seed % len(CONFS)]}


@pytest.mark.parametrize("seed", trials(SEEDS, always=2))
def test_replay_with_lines_equals_a_replay_that_tries_every_job(seed: int) -> None:
    document = crowd(seed)
    anew = {"name": "", **opened(document, anew=True).run()}
    assert json.dumps(replay_document(document)) == json.dumps({**anew, "name": document["name"]})


@pytest.mark.parametrize("seed", trials([0, 1], always=1))
def test_replay_with_lines_equals_a_plain_replay_in_a_queue_tree(seed: int) -> None:
    document = {**crowded_replay(seed), "scheduler_conf": TREE}
    for leaf in list(document["queues"]):
        name = leaf["metadata"]["name"]
        leaf["spec"]["parent"] = f"over-{name}"
        document["queues"].append(queue(f"over-{name}", deserved=leaf["spec"]["deserved"]))
    anew = {"name": "", **opened(document, anew=True).run()}
    assert json.dumps(replay_document(document)) == json.dumps({**anew, "name": document["name"]})


@pytest.mark.parametrize("seed", trials(SEEDS, always=2))
def test_replay_with_lines_equals_a_plain_replay_when_queues_share_parents(seed: int) -> None:
    document = grown(crowded_replay(f"tree {seed}"), two=seed % 2)
    holds = 0
    for step in (replay := opened(document)).steps():
        holds += step.session.orders.queue_key() is not None
    assert holds > 0
    assert json.dumps(replay.run()) == json.dumps(opened(document, anew=True).run())


def grown(document: Object, *, two: int) -> Object:
    """Distribute queues over parents in turn; with `two`, put the first queue directly below root."""
    parents = [queue("over-a", deserved={"cpu": "3"}), queue("over-b", deserved={"cpu": "5"})]
    for number, leaf in enumerate(document["queues"][two:]):
        leaf["spec"]["parent"] = parents[number % 2]["metadata"]["name"]
    return {**document, "scheduler_conf": TREE, "queues": [*document["queues"], *parents]}


@pytest.mark.parametrize("document", [*map(small_replay, (3, 4)), *map(crowd, (4, 5))])
def test_lines_kept_across_sessions_equal_new_lines(document: Object) -> None:
    replay, seen = opened(document), 0
    for _ in replay.steps():
        replay.moment()
        session = replay.simulation.open_session()
        if "lines" in session.__dict__:
            seen += 1
            assert content_of(session.lines) == content_of(Lines(session.jobs, session.orders.job_key))
    assert seen > 10


def content_of(lines: Lines) -> tuple[object, ...]:
    return keys_of(lines.pending), keys_of(lines.enqueued), sorted(lines.single)


def keys_of(lines: dict[str, dict[Hashable, Line]]) -> object:
    return {
        queue: {name: [job.key for _, job in line.entries] for name, line in of_queue.items()}
        for queue, of_queue in lines.items()
    }


def test_session_tries_only_the_first_of_equal_waiting_jobs() -> None:
    session = session_of_a_full_cluster(waiting=200)
    tried = [job.key for job in session.jobs.values() if job.fit_errors]
    assert [decision.op for decision in session.decisions] == []
    assert len(tried) <= 1


def test_rejected_line_is_retried_after_evictions_from_its_queue() -> None:
    document = full_queue_that_loses_a_pod()
    enqueued, evicted = {}, {}
    for entry in replay_document(document)["log"]:
        for decision in entry["decisions"]:
            (enqueued if decision["op"] == "enqueue" else evicted)[decision["job"]] = entry["t"]
    assert (list(evicted.values()), enqueued) == ([0], {"default/rejected": 1})
    anew = {"name": "", **opened(document, anew=True).run()}
    assert json.dumps(replay_document(document)) == json.dumps({**anew, "name": document["name"]})


def full_queue_that_loses_a_pod() -> Object:
    """Return a queue at its capability, where a job is enqueued once another queue has reclaimed its share.

    The accounts that the second session finds are those that the first one has left: minimums name pods, too,
    so that nothing of what the jobs hold is elastic.
    """
    one = {"cpu": "1", "pods": "1"}
    return scenario(
        conf=conf("enqueue, allocate, reclaim, backfill", ["priority"], ["predicates", "capacity"]),
        nodes=[node("n", cpu=4, memory="64Gi")],
        queues=[
            queue("full", deserved={"cpu": "2"}, capability={"cpu": "4"}),
            queue("poor", deserved={"cpu": "2"}),
        ],
        podgroups=[podgroup(f"runs-{n}", queue="full", phase="Running", min_resources=one) for n in range(4)]
        + [podgroup("rejected", queue="full", phase="Pending", min_resources=one)]
        + [podgroup("reclaims", queue="poor", min_resources=one)],
        pods=[
            *(pod for number in range(4) for pod in pods(f"runs-{number}", 1, cpu=1, node="n")),
            *pods("rejected", 1, cpu=1),
            *pods("reclaims", 1, cpu=1),
        ],
        replay={"period_seconds": 1, "horizon_seconds": 5, "termination_seconds": 30, "events": []},
    )


def session_of_a_full_cluster(waiting: int, *others: Object, plugins: Sequence[str] = ()) -> Session:
    """Return a session where two-core jobs wait for a node with one idle core.

    `others` are further nodes, `plugins` further plugins.
    """
    filters = ["predicates", "capacity", *plugins]
    document = scenario(
        conf=conf("enqueue, allocate, reclaim, backfill", ["priority", "gang"], filters),
        nodes=[node("n", cpu=4, memory="64Gi"), *others],
        queues=[queue("default")],
        podgroups=[podgroup("runs", min_member=1, phase="Running")]
        + [podgroup(f"w{number:03d}", min_member=1, phase="Inqueue") for number in range(waiting)],
        pods=[
            *pods("runs", 1, cpu=3, node="n"),
            *(pod for number in range(waiting) for pod in pods(f"w{number:03d}", 1, cpu=2)),
        ],
        replay={"period_seconds": 1, "horizon_seconds": 5, "events": []},
    )
    return next(opened(document).steps()).session


def test_jobs_of_several_lines_are_merged_in_order_without_touched_jobs() -> None:
    class Job:
        def __init__(self, key: str) -> None:
            self.key = key

    jobs = {key: Job(key) for key in "abcdef"}
    in_line = InLine(lambda job: (job.key,), {"c": jobs["c"]})  # type: ignore[dict-item]
    for keys in ("ace", "bd"):
        line = Line()
        line.entries = [((key,), jobs[key]) for key in keys]  # type: ignore[misc]
        in_line.add(line)
    in_line.push(jobs["f"])  # type: ignore[arg-type]
    assert sorted(job.key for job in in_line.items) == ["a", "b", "d", "e", "f"]
    assert [in_line.pop().key for _ in range(2)] == ["a", "b"]
    in_line.skip_rest_of_line()
    assert [in_line.pop().key for _ in range(len(in_line))] == ["e", "f"]
