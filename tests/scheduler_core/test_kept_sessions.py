"""A session shared by variants decides the same as a session opened for one variant alone."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import NamedTuple

import pytest

from benchmarks.generator import CONF, Size, cluster
from scheduler_core import Options, Reuse, encode, prepare, simulate_document
from tests.builders import Object

SIZE = Size(nodes=50, pods=250, queues=8, levels=2, pending=24)
VARIANTS = 12
FIRST, SECOND = CONF["tiers"]
OF_QUEUES: dict[str, list[Object]] = {
    "tree of queues": [{"name": "capacity", "enableHierarchy": True}],
    "quotas": [{"name": "capacity"}],
    "weights": [{"name": "proportion"}],
}
TWICE: list[Object] = [{"name": "proportion"}, {"name": "drf"}]


def edited(document: Object, dice: Random) -> Object:
    """Return the queues with some deserved amounts, capabilities, weights or states changed."""
    queues = list(document["queues"])
    for _ in range(1 + dice.randrange(3)):
        place = dice.randrange(len(queues))
        entry = queues[place]
        amount = {"cpu": str(dice.randrange(1, 90)), "memory": f"{dice.randrange(4, 200)}Gi"}
        spec = dice.choice(
            (
                {"deserved": amount},
                {"deserved": amount},
                {"capability": amount},
                {"guarantee": {"resource": {"cpu": str(dice.randrange(1, 9))}}},
                {"weight": 1 + dice.randrange(9)},
                {"reclaimable": dice.random() < 0.5},
                {"priority": dice.randrange(3)},
            )
        )
        queues[place] = {**entry, "spec": {**entry["spec"], **spec}}
        if dice.random() < 0.1:
            queues[place]["status"] = {"state": "Closed"}
    return {"queues": queues}


class VariantCounts(NamedTuple):
    """How many variants reused a session, and how many of them had evictions."""

    kept: int
    evicted: int


def compare_variants(plugins: list[Object], dice: Random, *, reasons: bool) -> VariantCounts:
    """Compare the bytes of successive variants over one state with those of runs from scratch."""
    second = [plugin for plugin in SECOND["plugins"] if plugin["name"] != "capacity"]
    tiers = [FIRST, {"plugins": [*second, *plugins]}]
    document = {**cluster(SIZE), "scheduler_conf": {**CONF, "tiers": tiers}}
    prepared, reuse = prepare(document), Reuse()
    options = Options(explain=False, reasons=reasons)
    over_one_state = replace(options, reuse=reuse)
    kept = evicted = 0
    for number in range(VARIANTS):
        changes, before = edited(document, dice), reuse._session
        explain = number % 6 == 5  # opens a session of its own on the shared state
        result = encode(prepared.simulate(changes, replace(over_one_state, explain=explain)))
        assert result == encode(simulate_document({**document, **changes}, replace(options, explain=explain)))
        kept += before is not None and reuse._session is before
        evicted += b'"op":"evict"' in result
    return VariantCounts(kept, evicted)


@pytest.mark.parametrize("plugins", OF_QUEUES)
@pytest.mark.parametrize("reasons", [True, False], ids=["with reasons", "without reasons"])
def test_reused_session_gives_the_same_bytes_as_a_run_from_scratch(plugins: str, reasons: bool) -> None:
    actual = compare_variants(OF_QUEUES[plugins], Random(plugins), reasons=reasons)
    assert actual.kept >= VARIANTS // 2
    assert actual.evicted >= VARIANTS // 4


def test_session_with_a_plugin_listed_twice_is_not_reused() -> None:
    assert compare_variants(TWICE, Random(3), reasons=True).kept == 0
