"""Configurations of clusters that use every rule."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.builders import Object, Plugin, conf

ACTIONS = ("allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim")
PLUGINS = (
    *("priority", "gang", "conformance", "drf", "predicates", "nodeorder", "binpack", "overcommit", "sla"),
    *("tdm", "cdp", "pdb", "nodegroup", "resourcequota", "resource-strategy-fit"),
)
RARELY = ("tdm", "nodegroup", "pdb", "resource-strategy-fit")
SWITCHES = (
    *("enablePreemptable", "enableReclaimable", "enablePredicate", "enableJobOrder", "enableQueueOrder"),
    *("enableJobStarving", "enableJobPipelined", "enableJobReady", "enableTaskOrder", "enableNodeOrder"),
    *("enabledAllocatable", "enabledOverused", "enablePreemptive", "enabledVictim", "enableJobEnqueued"),
)
ARGUMENTS: dict[str, tuple[Object, ...]] = {
    "capacity": ({}, {"ancestorReclaimLevel": 1}, {"ancestorReclaimLevel": 2}),
    "nodeorder": ({}, {"mostrequested.weight": 3, "leastrequested.weight": 0}, {"podaffinity.weight": 9}),
    "binpack": ({}, {"binpack.weight": 7, "binpack.resources": "nvidia.com/gpu"}),
    "overcommit": ({}, {"overcommit-factor": 1.0}, {"overcommit-factor": 3}),
    "sla": ({}, {"sla-waiting-time": "11h59m50s"}),
    "nodegroup": ({}, {"strict": False}, {"strict": "false", "enablePreferredOrder": True}),
    "tdm": ({"tdm.revocable-zone.z": "10:00-14:00"}, {"tdm.revocable-zone.z": "13:00-14:00"}),
    "predicates": (
        {},
        {},
        {"predicate.PodAffinityEnable": False},
        {"predicate.TaintTolerationEnable": False},
    ),
    "resource-strategy-fit": (
        {},
        {"resources": {"cpu": {"type": "MostAllocated", "weight": 2}, "nvidia.com/*": {"weight": 5}}},
        {"sra": {"enable": True, "resources": "nvidia.com/gpu", "weight": 10}},
        {"proportional": {"enable": True, "resources": "nvidia.com/gpu"}},
    ),
}


def odd_configuration(random: Random) -> Object:
    """Return a configuration without actions after a gang's evictions, which are not covered."""
    gangs = random.random() < 0.35
    actions = random.sample(ACTIONS[:2], 2) if gangs else random.sample(ACTIONS[:4], random.randint(2, 4))
    actions += random.sample(ACTIONS[4:], 1) if gangs else []
    actions = ["enqueue"] * (random.random() < 0.8) + actions + ["shuffle"] * (random.random() < 0.1)
    chosen = [name for name in PLUGINS if random.random() < (0.15 if name in RARELY else 0.75)]
    if random.random() < 0.95:
        chosen.append(random.choice(("proportion", "capacity", "capacity")))
    random.shuffle(chosen)
    cut = random.randint(0, len(chosen))
    tiers = [chosen[:cut], chosen[cut:]]
    preempt = {"enableTopologyAwarePreemption": True, "minCandidateNodesPercentage": random.choice((10, 100))}
    return conf(
        ", ".join(actions),
        *[[_entry(random, name, tier) for name in tier] for tier in tiers],
        **({"preempt": preempt} if random.random() < 0.15 else {}),
        **({"allocate": {"predicateErrorCacheEnable": False}} if random.random() < 0.1 else {}),
    )


def _entry(random: Random, name: str, tier: Sequence[str]) -> Plugin:
    fields: Object = {}
    if random.random() < 0.15:
        fields[random.choice(SWITCHES)] = False
    if name in ARGUMENTS and random.random() < 0.7:
        fields["arguments"] = random.choice(ARGUMENTS[name])
    if name in ("capacity", "nodegroup") or (name == "drf" and "proportion" not in tier):
        fields["enableHierarchy"] = random.random() < 0.5
    return name, fields
