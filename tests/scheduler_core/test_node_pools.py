"""Jobs that some nodes never take, because of taints, labels or node groups, are skipped like other jobs."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest

from tests.builders import Object, node
from tests.scheduler_core.replays import Dice, crowded_replay, storm_replay
from tests.scheduler_core.test_calm import compare
from tests.scheduler_core.test_lines import session_of_a_full_cluster
from tests.trials import trials

TAINT = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
PLACES: list[Object] = [
    {},
    {},
    {"nodeSelector": {"pool": "a"}},
    {"nodeSelector": {"pool": "b"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]},
]
GROUP = "volcano.sh/nodegroup-name"


def on_pools(document: Object, seed: int, *, grouped: bool = False) -> Object:
    """Divide the nodes of a replay into pools, some tainted, cordoned or with room for few pods.

    Jobs select a pool, tolerate the taint, or use a port. `grouped`: plugin nodegroup refuses nodes, too.
    """
    document, dice = deepcopy(document), Dice(f"pools {seed}")
    for number, one in enumerate(document["nodes"]):
        one["metadata"]["labels"] |= {"pool": "ab"[number % 2], GROUP: "gh"[number % 2]}
        tainted = {"taints": [TAINT]}
        one["spec"] |= dice.one_of([{}, tainted, {"unschedulable": True}, tainted, {}])
        one["status"]["allocatable"]["pods"] = dice.one_of([2, 3, 110])
    for event in document["replay"]["events"]:
        spec = dice.one_of(PLACES)
        port = [{"containerPort": 80, "hostPort": 80}] if dice.below(8) == 0 else []
        for pod in event.get("create", {}).get("pods", ()):
            pod["spec"] |= spec
            if port:
                pod["spec"]["containers"][0]["ports"] = port
    if grouped:
        document["scheduler_conf"]["tiers"][1]["plugins"].append({"name": "nodegroup"})
        groups = {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["g"]}}
        document["queues"][0]["spec"]["affinity"] = groups
    return document


@pytest.mark.parametrize("seed", trials(range(200), always=4))
@pytest.mark.parametrize("made", [crowded_replay, storm_replay])
def test_replays_on_pools_match_full_sessions(made: Callable[[int], Object], seed: int) -> None:
    compare(on_pools(made(seed), seed))


@pytest.mark.parametrize("seed", trials(range(100), always=2))
def test_replays_on_pools_match_full_sessions_with_two_plugins_that_refuse_nodes(seed: int) -> None:
    compare(on_pools(storm_replay(seed), seed, grouped=True))


@pytest.mark.parametrize(("plugins", "recorded"), [((), 0), (("nodegroup",), 200)])
def test_equal_jobs_share_errors_that_rule_out_what_the_only_predicate_refuses_for_good(
    plugins: tuple[str, ...], recorded: int
) -> None:
    tainted = node("other", cpu=4, memory="64Gi", taints=[TAINT])
    session = session_of_a_full_cluster(200, tainted, plugins=plugins)
    assert [decision.op for decision in session.decisions] == []
    assert sum(bool(job.fit_errors) for job in session.jobs.values()) == recorded
