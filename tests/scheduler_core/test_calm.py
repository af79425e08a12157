"""Calm sessions decide, record and write what full sessions would, whatever happens between them."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from scheduler_core import Options, simulate_document
from scheduler_core.replay import Replay
from scheduler_core.replay.calm.arrivals import BLOCK, Arrivals, arrival_of
from scheduler_core.replay.calm.kinds import FIRST_KINDS, JobKind
from scheduler_core.validate import Inspection
from tests.builders import Object, conf, node, pods, queue, scenario
from tests.builders import podgroup as podgroup_of
from tests.scheduler_core.replays import calm_replay, crowded_replay
from tests.trials import trials

SEEDS = (0, 1, 2, 6, 11)
"""One seed for each configuration."""


def opened(document: Object, **options: object) -> Replay:
    """Return a replay that has not started."""
    return Replay(document, Inspection(document), **options)  # type: ignore[arg-type]


def report_of(replay: Replay) -> str:
    """Run the rest of a replay, and return everything that it reports."""
    return json.dumps(replay.run())


def is_calm(replay: Replay) -> bool:
    """Return whether the last session was calm."""
    return replay._calm.session is not None


def stopped_in_calm(document: Object, after: int) -> Replay:
    """Return a replay stopped after the given number of calm sessions with decisions."""
    replay, seen = opened(document), 0
    for step in replay.steps():
        seen += is_calm(replay) and bool(step.session.decisions)
        if seen == after:
            break
    return replay


def compare(document: Object) -> None:
    """Compare a replay with one that builds a new snapshot for each session."""
    assert report_of(opened(document)) == report_of(opened(document, anew=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_calm_sessions_match_full_sessions(seed: int) -> None:
    compare(calm_replay(seed))


@pytest.mark.parametrize("seed", trials(range(4), always=2))
def test_calm_sessions_match_full_sessions_when_most_jobs_wait(seed: int) -> None:
    compare(crowded_replay(seed))


@pytest.mark.parametrize("seed", trials(range(4), always=2))
def test_calm_sessions_match_full_sessions_without_gang(seed: int) -> None:
    document = calm_replay(seed)
    document["scheduler_conf"] = conf("enqueue, allocate, backfill", ["priority"], ["predicates", "capacity"])
    compare(document)


def test_calm_sessions_match_full_sessions_with_reclaim_and_no_deserved_amounts() -> None:
    document = crowded_replay(1)
    document["scheduler_conf"] = conf("enqueue, allocate, reclaim", ["priority"], ["drf", "predicates"])
    compare(document)


@pytest.mark.parametrize("seed", trials([1, 2, 3], always=1))
@pytest.mark.parametrize("plugins", [["priority"], ["priority", "gang"]])
def test_calm_sessions_match_full_sessions_with_min_member_zero(seed: int, plugins: list[str]) -> None:
    document = crowded_replay(seed)
    document["scheduler_conf"] = conf("enqueue, allocate, backfill", plugins, ["predicates", "capacity"])
    for event in document["replay"]["events"]:
        for podgroup in event.get("create", {}).get("podgroups", ()):
            podgroup["spec"]["minMember"] -= podgroup["spec"]["minMember"] == 1
    compare(document)


@pytest.mark.parametrize("actions", ["enqueue, allocate, backfill", "enqueue, allocate, reclaim, backfill"])
def test_calm_sessions_match_full_sessions_in_a_tree_without_queue_order(actions: str) -> None:
    """The job of one child is enqueued when that of the other ends: their parent has no room for both."""
    tree = ("capacity", {"enableHierarchy": True, "enableQueueOrder": False})
    limited = queue("parent", parent="root", capability={"cpu": 3, "memory": "8Gi"})
    document = scenario(
        nodes=[node("n0", cpu=8, memory="8Gi")],
        queues=[queue("root"), limited, queue("a", parent="parent"), queue("b", parent="parent")],
        conf=conf(actions, ["priority", "gang", "conformance"], ["predicates", tree]),
        replay={
            "period_seconds": 1,
            "horizon_seconds": 120,
            "events": [
                arrival(f"j{at}", to, at, cpu) for to, at, cpu in (("a", 0, 1), ("a", 10, 2), ("b", 20, 2))
            ],
        },
    )
    compare(document)


def test_pod_bound_in_a_calm_to_a_lost_node_never_runs() -> None:
    document = scenario(
        nodes=[node("n0", cpu=4, memory="8Gi")],
        queues=[queue("a")],
        conf=conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "capacity"]),
        replay={
            "period_seconds": 1,
            "horizon_seconds": 60,
            "events": [
                {"at": 5, "lose": {"nodes": ["n0"]}},
                arrival("j0", "a", 0, 1),
                arrival("j1", "a", 10, 1),
            ],
        },
    )
    compare(document)
    assert opened(document).run()["jobs"]["default/j1"]["started"] is None


def arrival(name: str, to: str, at: float, cpu: int) -> Object:
    """Return the event of a one-pod job that runs for 20 seconds."""
    group = podgroup_of(
        name,
        queue=to,
        min_resources={"cpu": cpu},
        phase="Pending",
        annotations={"queuecast/run-seconds": "20"},
    )
    members = pods(name, 1, cpu=cpu, memory="64Mi")
    for thing in (group, *members):
        del thing["metadata"]["creationTimestamp"]
    return {"at": at, "create": {"podgroups": [group], "pods": members}}


@pytest.mark.long
@pytest.mark.parametrize("seed", [seed for seed in range(400) if seed not in SEEDS])
def test_calm_sessions_match_full_sessions_for_hundreds_of_seeds(seed: int) -> None:
    compare(calm_replay(seed))


def test_most_sessions_are_calm() -> None:
    calm = sessions = decided = 0
    for seed in SEEDS:
        replay = opened(calm_replay(seed))
        for step in replay.steps():
            sessions += 1
            calm += is_calm(replay)
            decided += is_calm(replay) and bool(step.session.decisions)
    assert calm > sessions / 2
    assert decided > 20 * len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_calm_sessions_write_the_same_objects_as_full_sessions(seed: int) -> None:
    """The comparison leaves out the conditions of waiting PodGroups, which nothing reads."""
    document = calm_replay(seed, jobs=30)
    calm = stopped_in_calm(document, 5)
    plain = opened(document, anew=True)
    for step in plain.steps():
        if step.time >= calm.end:
            break
    assert plain.end == calm.end
    assert without_reasons(calm) == without_reasons(plain)


def without_reasons(replay: Replay) -> Object:
    """Return the objects of a replay without the conditions of PodGroups, and counts that are 0."""
    objects: Object = deepcopy(replay.world.objects())
    for podgroup in objects["podgroups"]:
        status = podgroup["status"]
        status.pop("conditions", None)
        podgroup["status"] = {name: value for name, value in status.items() if value}
    return objects


@pytest.mark.parametrize("seed", trials(range(6), always=2))
def test_replay_frozen_after_calm_sessions_resumes_to_the_same_bytes(seed: int) -> None:
    document = calm_replay(seed)
    whole = report_of(opened(document))
    for after in (1, 4, 9):
        frozen = json.loads(json.dumps(stopped_in_calm(document, after).freeze()))
        assert report_of(opened(document, frozen=frozen)) == whole


@pytest.mark.parametrize("seed", trials(range(4), always=2))
def test_moment_after_calm_sessions_decides_the_same_as_a_scenario(seed: int) -> None:
    document = calm_replay(seed)
    for after in (2, 5, 8):
        replay = stopped_in_calm(document, after)
        moment = replay.moment()
        step = next(replay.steps())
        alone = simulate_document(moment, Options(explain=False))["cycles"][0]["decisions"]
        assert committed(alone) == committed([decision.as_dict() for decision in step.session.decisions])


def committed(decisions: list[Object]) -> list[Object]:
    """Return the committed decisions, without their explanations."""
    return [
        {name: text for name, text in entry.items() if name not in ("reason", "state")}
        for entry in decisions
        if entry["op"] in ("enqueue", "bind", "evict") and entry["state"] == "committed"
    ]


def of_many_kinds(seed: int, jobs: int) -> Object:
    """Return a replay with at most the given number of jobs of each kind."""
    document = calm_replay(seed)
    for number, event in enumerate(document["replay"]["events"]):
        for pod in event.get("create", {}).get("pods", ()):
            pod["metadata"]["labels"] = {"number": str(number // jobs)}
    return document


@pytest.mark.parametrize("seed", trials(range(8), always=2))
def test_calm_sessions_match_full_sessions_with_many_job_kinds(seed: int) -> None:
    compare(of_many_kinds(seed, 1 + seed % 4))


def test_few_kinds_are_learned_when_no_two_jobs_are_equal() -> None:
    replay = opened(of_many_kinds(2, 1))
    replay.run()
    assert len(replay._calm._kinds._known) == FIRST_KINDS


@pytest.mark.parametrize("reader", [[], ["overcommit"]])
def test_phase_running_changes_a_kinds_contribution_only_with_overcommit(
    reader: list[str],
) -> None:
    document = calm_replay(0)
    plugins = ["predicates", "capacity", *reader]
    document["scheduler_conf"] = conf("enqueue, allocate, backfill", ["priority", "gang"], plugins)
    replay = opened(document)
    replay.run()
    reserving = [kind for kind in kinds_of(replay) if kind.job.min_resources is not None]
    assert reserving
    for kind in reserving:
        assert (kind.running.part is kind.bound.part) == (not reader)


def kinds_of(replay: Replay) -> list[JobKind]:
    """Return the kinds of jobs that a replay has learned."""
    return [kind for kind in replay._calm._kinds._known.values() if kind is not None]


# arrivals


def one_pod() -> Object:
    """Return the event of a job of one pod."""
    podgroup = {
        "metadata": {"name": "j", "namespace": "default"},
        "spec": {"minMember": 1, "queue": "q"},
    }
    pod = {
        "metadata": {
            "name": "j-0",
            "namespace": "default",
            "uid": "u",
            "annotations": {"scheduling.k8s.io/group-name": "j", "queuecast/run-seconds": "7"},
        },
        "spec": {"schedulerName": "volcano", "containers": [{"name": "c"}]},
    }
    return {"at": 3, "create": {"podgroups": [podgroup], "pods": [pod]}}


def test_arrival_has_job_key_pod_keys_and_run_time() -> None:
    arrival = arrival_of(one_pod())
    assert arrival is not None
    assert (arrival.key, arrival.pod_keys, arrival.seconds) == ("default/j", ["default/j-0"], 7.0)


def test_jobs_that_differ_only_in_name_and_run_time_share_a_kind() -> None:
    event = one_pod()
    other = json.loads(json.dumps(event).replace('"j', '"k').replace('"7"', '"9"').replace('"u"', '"v"'))
    first, second = arrival_of(event), arrival_of(other)
    assert first is not None
    assert second is not None
    assert first.kind == second.kind


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("create", "podgroups", 0, "spec", "minMember"), 2),
        (("create", "podgroups", 0, "spec", "queue"), "other"),
        (("create", "podgroups", 0, "metadata", "labels"), {"a": "b"}),
        (("create", "pods", 0, "spec", "priority"), 7),
        (("create", "pods", 0, "metadata", "labels"), {"a": "b"}),
    ],
)
def test_jobs_with_different_specs_have_different_kinds(path: tuple[str | int, ...], value: object) -> None:
    first, second = arrival_of(one_pod()), arrival_of(changed(path, value))
    assert first is not None
    assert second is not None
    assert first.kind != second.kind


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("delete",), {"nodes": ["n"]}),
        (("create", "nodes"), []),
        (("create", "pods"), []),
        (("create", "podgroups", 0, "metadata", "annotations"), {"sla-waiting-time": "1m"}),
        (("create", "podgroups", 0, "metadata", "creationTimestamp"), "2026-01-01T00:00:00Z"),
        (("create", "pods", 0, "metadata", "annotations"), {"volcano.sh/preemptable": "true"}),
        (("create", "pods", 0, "metadata", "annotations"), {"scheduling.k8s.io/group-name": "other"}),
        (("create", "pods", 0, "metadata", "ownerReferences"), []),
        (("create", "pods", 0, "spec", "nodeName"), "n"),
        (("create", "pods", 0, "spec", "volumes"), [{"name": "v"}]),
    ],
)
def test_other_events_are_not_arrivals(path: tuple[str | int, ...], value: object) -> None:
    assert arrival_of(changed(path, value)) is None


def test_arrivals_read_in_blocks_are_those_of_the_events_in_any_order() -> None:
    events: list[Object] = [one_pod() if number % 3 else {"at": 0} for number in range(2 * BLOCK + 3)]
    arrivals, positions = Arrivals(events), [0, BLOCK, 1, BLOCK - 1, 2 * BLOCK + 2, 5, 4]
    assert [arrivals.of(place) for place in positions] == [arrival_of(events[place]) for place in positions]


def changed(path: tuple[str | int, ...], value: object) -> Object:
    """Return the event of one pod with another value at one path."""
    event = one_pod()
    place = event
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return event


def test_pods_with_different_run_times_are_not_an_arrival() -> None:
    event = one_pod()
    second = deepcopy(event["create"]["pods"][0])
    second["metadata"].update(name="j-1", uid="v")
    event["create"]["pods"].append(second)
    assert arrival_of(event) is not None
    second["metadata"]["annotations"]["queuecast/run-seconds"] = "8"
    assert arrival_of(event) is None
