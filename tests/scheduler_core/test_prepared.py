"""A variant of a prepared document gives the same bytes as a run from scratch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from manifests.pools import node_like, numbered_names
from scheduler_core import Options, Reuse, encode, prepare, simulate_document
from scheduler_core.reading import entries
from scheduler_core.result import BRIEF_PARTS
from tests.builders import Object, node, pod, podgroup, queue, scenario
from tests.shared import ROOT
from tests.trials import trials

FAMILIES = ("mixed", "switches", "capacity_hierarchy", "hdrf", "preempt", "cycles", "targeted", "mutated")
EACH = trials([2, 5], always=1)
"""Scenarios of each family."""
EDITS = 6


def documents(each: int) -> list[Object]:
    """Return a few recorded scenarios of each family."""
    cases = ROOT / "tests" / "fidelity" / "cases"
    return [
        entry.scenario
        for family in FAMILIES
        for entry, _ in zip(entries(str(cases / f"{family}.jsonl.gz")), range(each), strict=False)
    ]


# Each edit returns the changed parts of the document; unchanged parts stay the same objects.


def replaced(document: Object, name: str, dice: Random, change: Callable[[Object], Object]) -> Object:
    things = list(document.get(name) or [])
    if things:
        number = dice.randrange(len(things))
        things[number] = change(things[number])
    return {name: things}


def with_spec(thing: Object, **fields: object) -> Object:
    return {**thing, "spec": {**(thing.get("spec") or {}), **fields}}


def weigh(document: Object, dice: Random) -> Object:
    return replaced(document, "queues", dice, lambda entry: with_spec(entry, weight=dice.randrange(9)))


def limit(document: Object, dice: Random) -> Object:
    amounts = {"cpu": str(dice.randrange(1, 40)), "memory": f"{dice.randrange(1, 90)}Gi"}
    field = dice.choice(("capability", "deserved", "guarantee"))
    value = {"resource": amounts} if field == "guarantee" else amounts
    return replaced(document, "queues", dice, lambda entry: with_spec(entry, **{field: value}))


def close(document: Object, dice: Random) -> Object:
    return replaced(document, "queues", dice, lambda entry: {**entry, "status": {"state": "Closed"}})


def drop_queue(document: Object, dice: Random) -> Object:
    queues = list(document.get("queues") or [])
    return {"queues": queues[1:] if dice.random() < 0.5 else queues[:-1]}


def configure(document: Object, dice: Random) -> Object:
    conf = dict(document.get("scheduler_conf") or {"actions": "enqueue, allocate", "tiers": []})
    actions = ["enqueue", "allocate", "preempt", "reclaim", "backfill"]
    conf["actions"] = ", ".join(dice.sample(actions, dice.randrange(1, 6)))
    conf["tiers"] = conf["tiers"][: dice.randrange(1, 3)]
    return {"scheduler_conf": conf}


def resize_pod(document: Object, dice: Random) -> Object:
    requests = {"cpu": f"{dice.randrange(1, 4000)}m", "memory": f"{dice.randrange(1, 9)}Gi"}
    containers = [{"name": "main", "image": "new", "resources": {"requests": requests}}]
    return replaced(document, "pods", dice, lambda entry: with_spec(entry, containers=containers))


def drop_pods(document: Object, dice: Random) -> Object:
    return {"pods": [entry for entry in document.get("pods") or [] if dice.random() < 0.8]}


def add_job(document: Object, dice: Random) -> Object:
    names = [entry["metadata"]["name"] for entry in document.get("queues") or []] or ["default"]
    group = podgroup("added", queue=dice.choice(names), min_member=2)
    members = [
        pod(f"added-{number}", group="added", cpu=1, memory="1Gi", gpu=dice.randrange(2))
        for number in range(3)
    ]
    return {
        "podgroups": [*(document.get("podgroups") or []), group],
        "pods": [*(document.get("pods") or []), *members],
    }


def move_job(document: Object, dice: Random) -> Object:
    names = [entry["metadata"]["name"] for entry in document.get("queues") or []] or ["default"]
    return replaced(
        document, "podgroups", dice, lambda entry: with_spec(entry, queue=dice.choice(names), minMember=1)
    )


def drop_node(document: Object, dice: Random) -> Object:
    nodes = document.get("nodes") or []
    gone = dice.randrange(len(nodes)) if nodes else 0
    return {"nodes": [entry for number, entry in enumerate(nodes) if number != gone]}


def reclass(document: Object, dice: Random) -> Object:
    return replaced(document, "priorityclasses", dice, lambda entry: {**entry, "value": dice.randrange(2000)})


def set_up(document: Object, dice: Random) -> Object:
    settings = {
        "cycles": dice.randrange(1, 4),
        "evicted": dice.choice(("requeue", "delete")),
        "admission_defaults": dice.random() < 0.5,
        "scheduler_names": dice.choice((["volcano"], ["other", "volcano"])),
        "controllers": dice.random() < 0.5,
        "now": "2026-01-03T00:00:00Z",
    }
    chosen = dice.choice(list(settings))
    return {chosen: settings[chosen]}


def spoil(document: Object, dice: Random) -> Object:
    return replaced(document, "queues", dice, lambda entry: with_spec(entry, weight=-1))


def name_twice(document: Object, dice: Random) -> Object:
    pods = document.get("pods") or []
    return {"pods": [*pods, *pods[:1]]}


ALL = (
    weigh,
    limit,
    close,
    drop_queue,
    configure,
    resize_pod,
    drop_pods,
    add_job,
    move_job,
    drop_node,
    reclass,
    set_up,
    spoil,
    name_twice,
)
OF_QUEUES = (weigh, limit, close, drop_queue, configure)


def from_scratch(document: Object, changes: Object, options: Options) -> bytes:
    """Return the result of a run on a copy that shares no object with the document."""
    return encode(simulate_document(json.loads(json.dumps({**document, **changes})), options))


@pytest.mark.parametrize("each", EACH)
def test_variants_give_the_same_bytes_as_runs_from_scratch(each: int) -> None:
    dice = Random(5)
    done = 0
    for document in documents(each):
        prepared = prepare(document)
        for _ in range(EDITS):
            changes: Object = {}
            for edit in dice.sample(ALL, dice.randrange(1, 4)):
                changes |= edit({**document, **changes}, dice)
            options = Options(explain=done % 2 == 0)
            expected = from_scratch(document, changes, options)
            assert encode(prepared.simulate(changes, options)) == expected, (document["name"], changes.keys())
            done += 1
    assert done >= 40 * each


@pytest.mark.parametrize("each", EACH)
def test_variants_over_one_state_give_the_same_bytes_as_runs_from_scratch(each: int) -> None:
    dice = Random(6)
    follows = 0
    for document in documents(each):
        prepared, reuse = prepare(document), Reuse()
        for _ in range(EDITS):
            edits = ALL if dice.random() < 0.4 else OF_QUEUES
            changes: Object = {}
            for edit in dice.sample(edits, dice.randrange(1, 4)):
                changes |= edit({**document, **changes}, dice)
            options = Options(explain=dice.random() < 0.3, cycles=1 if dice.random() < 0.9 else None)
            expected = from_scratch(document, changes, options)
            again = replace(options, reuse=reuse)
            for _ in range(2):
                assert encode(prepared.simulate(changes, again)) == expected, (document["name"], [*changes])
            follows += options.cycles == 1 and b'"error"' not in expected
    assert follows >= 20 * each


def add_nodes(document: Object, dice: Random) -> Object:
    """Return the nodes plus some copies of one of them, with names that sort between the others."""
    nodes = list(document.get("nodes") or [])
    if not nodes:
        return {"nodes": [node("n0", cpu=8, memory="32Gi")]}
    like = dice.choice(nodes)
    names = numbered_names(like["metadata"]["name"], 1 + dice.randrange(3), set(map(name_of, nodes)))
    return {"nodes": [*nodes, *(node_like(like, name) for name in names)]}


def name_of(thing: Object) -> str:
    return str(thing["metadata"]["name"])


@pytest.mark.parametrize("each", EACH)
def test_state_moved_to_other_nodes_equals_a_run_from_scratch(each: int) -> None:
    dice = Random(8)
    stood = 0
    for document in documents(each):
        prepared, reuse = prepare(document), Reuse()
        for _ in range(EDITS):
            changes = {
                **dice.choice((add_nodes, add_nodes, drop_node, weigh))(document, dice),
                **dice.choice((weigh, limit))(document, dice),
            }
            options = Options(explain=False, cycles=1, reasons=dice.random() < 0.5)
            before = reuse._kept
            result = prepared.simulate(changes, replace(options, reuse=reuse))
            assert encode(result) == from_scratch(document, changes, options), (document["name"], [*changes])
            stood += before is not None and reuse._kept is before and "nodes" in changes
    assert stood >= 20 * each


@pytest.mark.parametrize("each", EACH)
def test_brief_result_equals_the_same_parts_of_the_full_result(each: int) -> None:
    dice = Random(7)
    compared = 0
    for document in documents(each):
        prepared, reuse = prepare(document), Reuse()
        for _ in range(2):
            changes = dice.choice(OF_QUEUES)(document, dice)
            shows = frozenset(dice.sample(BRIEF_PARTS, dice.randrange(1, 5)))
            whole = prepared.simulate(changes, Options(explain=False))
            brief = prepared.simulate(changes, Options(explain=False, reuse=reuse, shows=shows))
            assert brief.get("error") == whole.get("error")
            for cycle, shown in zip(whole.get("cycles", ()), brief.get("cycles", ()), strict=True):
                assert shown.keys() == {"cycle", *shows}
                expected = in_brief(cycle, shown)
                assert json.dumps(shown) == json.dumps(expected)
                compared += 1
    assert compared >= 10 * each


def in_brief(cycle: Object, like: Object) -> Object:
    """Return a full cycle reduced to the parts and form of a brief one, with sorted tasks."""
    groups = [
        {
            **{name: group[name] for name in ("name", "queue", "ready")},
            "tasks": sorted(({"status": task["status"]} for task in group["tasks"]), key=json.dumps),
        }
        for group in cycle["podgroups"]
    ]
    for group in like.get("podgroups", ()):
        group["tasks"].sort(key=json.dumps)
    queues = {name: part for name, part in cycle["at_end"].items() if name == "queues"}
    evicted = [one for one in cycle["decisions"] if one["op"] == "evict" and one["state"] == "committed"]
    parts = {**cycle, "at_end": queues, "decisions": evicted, "podgroups": groups}
    return {name: parts[name] for name in like}


def test_failed_session_does_not_affect_the_next_one() -> None:
    document = documents(1)[0]
    prepared, reuse = prepare(document), Reuse()
    options = Options(explain=False, reuse=reuse, cycles=1)
    expected = encode(prepared.simulate(options=options))

    def stop(done: float, what: str) -> None:
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepared.simulate(options=replace(options, progress=stop))
    assert encode(prepared.simulate(options=options)) == expected


def test_variants_do_not_change_the_prepared_document() -> None:
    """Every edit is made to half of the documents."""
    for number, document in enumerate(documents(1)):
        prepared = prepare(document)
        before = encode(prepared.simulate())
        for edit in ALL[number % 2 :: 2]:
            prepared.simulate(edit(document, Random(1)))
        assert encode(prepared.simulate()) == before == from_scratch(document, {}, Options())


def test_variant_can_fix_an_invalid_document() -> None:
    prepared = prepare(scenario(nodes=[node("n0", cpu=1)], queues=[queue("a", weight=-1)]))
    assert "weight" in prepared.simulate()["error"]
    assert "error" not in prepared.simulate({"queues": [queue("a", weight=1)]})


def test_figures_equal_those_of_a_result_at_open() -> None:
    for document in documents(5)[::4]:
        prepared, options = prepare(document), Options(cycles=1)
        figures, result = prepared.figures(options=options), prepared.simulate(options=options)
        if "error" in result:
            continue
        cycle = result["cycles"][0]
        assert figures["notes"] == result["notes"]
        assert figures["at_open"] == cycle["at_open"]
        assert figures["explain"]["deserved"] == cycle["explain"]["deserved"]
