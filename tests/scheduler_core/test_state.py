"""The state kept across sessions equals a state built anew for each session."""

from __future__ import annotations

import doctest
import gc
import json
from pathlib import Path

import pytest

from scheduler_core.admission import Admission
from scheduler_core.model.changes import ChangeLog
from scheduler_core.model.pod_info import PodInfo, PodTable
from scheduler_core.model.pod_template import PodTemplate
from scheduler_core.model.queue_part import Part, computed_part, part_of
from scheduler_core.model.snapshot import take_snapshot
from scheduler_core.options import Options
from scheduler_core.replay import Replay, replay_document
from scheduler_core.resource import Resource
from scheduler_core.simulate import Simulation
from scheduler_core.validate import Inspection
from tests.builders import Object, conf, node, podgroup, pods, queue, scenario
from tests.scheduler_core.replays import job_replay, small_replay
from tests.scheduler_core.states import state_of
from tests.trials import trials

SEEDS = range(16)


PAGE = Path(__file__).resolve().parents[2] / "docs" / "state.md"


def opened(document: Object, **how: bool) -> Replay:
    return Replay(document, Inspection(document), **how)


@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_kept_state_equals_a_new_snapshot_in_every_session(seed: int) -> None:
    replay = opened(small_replay(f"state {seed}"))
    for _ in replay.steps():
        replay.moment()
        living = state_of(replay.simulation.open_session())
        anew = state_of(replay.simulation.open_new(take_snapshot(replay.simulation.cluster)))
        assert living == anew


@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_kept_state_does_not_change_the_replay_result(seed: int) -> None:
    document = small_replay(f"state {seed}")
    anew = {"name": "", **opened(document, anew=True).run()}
    assert json.dumps(replay_document(document)) == json.dumps({**anew, "name": document["name"]})


@pytest.mark.parametrize("document", [*map(small_replay, range(4)), *map(job_replay, range(4))])
def test_updated_pods_equal_pods_read_again(document: Object) -> None:
    replay = opened(document)
    table, followed = PodTable(), 0
    for _ in replay.steps():
        for info in replay.simulation.cluster.pods.infos.values():
            followed += bool(info.node_name)
            again = table.read(info.given)
            for name in set(PodInfo.__slots__) - {"template"}:
                assert getattr(info, name) == getattr(again, name), name
            for name in set(PodTemplate.__slots__) - {"pod", "sound", "followers"}:
                assert getattr(info.template, name) == getattr(again.template, name), name
    assert followed > 20


@pytest.mark.parametrize("seed", range(4))
def test_cached_job_contributions_to_queues_equal_recomputed_ones(seed: int) -> None:
    replay = opened(small_replay(f"sums {seed}"))
    for _ in replay.steps():
        replay.moment()
        session = replay.simulation.open_session()
        for job in session.jobs.values():
            assert parts_told(part_of(job)) == parts_told(computed_part(job))


def parts_told(part: Part) -> list[object]:
    actual = [entry.as_dict() if isinstance(entry, Resource) else entry for entry in part.amounts]
    return [part.queue, *actual]


def test_trimmed_change_log_still_reports_later_changes() -> None:
    log = ChangeLog(3)
    for number in range(10_000):
        log.add(number % 3)
    seen = len(log)
    log.add(2)
    log.trim()
    assert len(log) == seen + 1
    assert set(log.since(seen)) == {2}
    assert set(log.since(seen - 5000)) == {0, 1, 2}


def test_example_in_docs_state_gives_the_documented_output() -> None:
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_memory_does_not_grow_with_the_number_of_cycles() -> None:
    simulation = steady_simulation(cycles=500)
    objects = []
    for number, _ in enumerate(simulation.steps()):
        write_job(simulation, number)
        if number >= 10:
            delete_job(simulation, number - 10)
        if number % 100 == 99:
            gc.collect()
            objects.append(len(gc.get_objects()))
    assert max(objects[2:]) - min(objects[2:]) < 200


def test_job_without_pods_is_enqueued_once_and_its_later_pods_are_bound() -> None:
    simulation = steady_simulation(cycles=4)
    simulation.cluster.podgroups["default/j0"] = podgroup("j0", min_member=0, phase="Pending")
    decided = []
    for number, session in enumerate(simulation.steps()):
        decided.append([decision.op for decision in session.decisions])
        if number == 1:
            simulation.cluster.pods["default/j0-0"] = pods("j0", 1, cpu=1)[0]
    assert decided == [["enqueue"], [], ["bind"], []]


def steady_simulation(cycles: int) -> Simulation:
    document = scenario(
        conf=conf(
            "enqueue, allocate, backfill",
            ["priority", "gang"],
            ["drf", "predicates", "capacity", "nodeorder"],
        ),
        nodes=[node(f"n{number}", cpu=8, memory="16Gi") for number in range(4)],
        queues=[queue("default")],
    )
    read = Inspection(document).conf
    assert read is not None
    options = Options(explain=False, reasons=False, cycles=cycles)
    return Simulation(document, read, Admission(document), options)


def write_job(simulation: Simulation, number: int) -> None:
    name = f"j{number}"
    simulation.cluster.podgroups[f"default/{name}"] = podgroup(name, min_member=2, phase="Pending")
    for member in pods(name, 2, cpu=1):
        simulation.cluster.pods[f"default/{member['metadata']['name']}"] = member


def delete_job(simulation: Simulation, number: int) -> None:
    del simulation.cluster.podgroups[f"default/j{number}"]
    for member in range(2):
        del simulation.cluster.pods[f"default/j{number}-{member}"]
