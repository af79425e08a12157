"""Replays generated from a seed, with pods whose placement depends on other pods."""

from __future__ import annotations

from tests.builders import Object, conf
from tests.scheduler_core.replays import CONFS, Dice, small_replay

ZONE, HOSTNAME, APP, HASH = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "app", "hash"
APPS = ("web", "cache", "db")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
DEPENDENT_CONFS = (
    *CONFS,
    conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "proportion", "nodeorder"]),
    conf(
        "enqueue, allocate, preempt, backfill",
        ["priority", "gang"],
        ["drf", "predicates", "capacity", "nodeorder"],
        preempt={"enableTopologyAwarePreemption": True},
    ),
)


def dependent_replay(seed: object) -> Object:
    """Return a replay of a few minutes: most pods have spread or affinity constraints, or use a host port."""
    dice = Dice(f"dependent {seed}")
    document = small_replay(seed, jobs=30)
    document["scheduler_conf"] = dice.one_of(DEPENDENT_CONFS)
    for number, node in enumerate(document["nodes"]):
        node["metadata"]["labels"] = {HOSTNAME: f"h{number}"}
        if dice.below(5):
            node["metadata"]["labels"][ZONE] = f"z{dice.below(2)}"
    kinds = [_parts(dice) for _ in range(6)]
    for event in document["replay"]["events"]:
        created = event.get("create", {}).get("pods", ())
        labels, spec = dice.one_of(kinds) if dice.below(5) else ({APP: dice.one_of(APPS)}, {})
        for pod in created:
            pod["metadata"]["labels"] = {**labels, HASH: f"x{dice.below(3)}"}
            pod["spec"].update(spec)
            if dice.below(8) == 0:
                port = {"containerPort": 80, "hostPort": 8000 + dice.below(2)}
                pod["spec"]["containers"][0]["ports"] = [port]
    if dice.below(4) == 0:
        document["services"] = [
            {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {APP: "web"}}}
        ]
    return document


def _parts(dice: Dice) -> tuple[Object, Object]:
    """Return the labels of a kind of pods, and the parts of their spec about other pods."""
    return {APP: dice.one_of(APPS)}, dice.one_of([_spread, _required, _preferred])(dice)


def _spread(dice: Dice) -> Object:
    constraint = {
        "maxSkew": 1 + dice.below(2),
        "topologyKey": dice.one_of([ZONE, HOSTNAME]),
        "whenUnsatisfiable": dice.one_of(["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": _selector(dice),
    }
    if dice.below(3) == 0:
        constraint["matchLabelKeys"] = [HASH]
    return {"topologySpreadConstraints": [constraint]}


def _required(dice: Dice) -> Object:
    side = dice.one_of(["podAffinity", "podAntiAffinity", "podAntiAffinity"])
    return {"affinity": {side: {REQUIRED: [_term(dice)]}}}


def _preferred(dice: Dice) -> Object:
    side = dice.one_of(["podAffinity", "podAntiAffinity"])
    term = {"weight": 1 + dice.below(100), "podAffinityTerm": _term(dice)}
    return {"affinity": {side: {PREFERRED: [term]}}}


def _term(dice: Dice) -> Object:
    return {"topologyKey": dice.one_of([ZONE, HOSTNAME]), "labelSelector": _selector(dice)}


def _selector(dice: Dice) -> Object:
    return {"matchLabels": {APP: dice.one_of(APPS)}}
