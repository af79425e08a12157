"""Why did a run decide so? Read from the parts that were kept, none of it from the whole result."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner.models import Run, Trace, Victim
from planner.models.outcome import DecisionState
from planner.rows import Amounts, DerivationStep, FlowRow, Spared, VictimStory, Vote

Json = Mapping[str, Any]


def told(run: Run, part: str, key: str = "") -> Any:
    """Return what a part of the run's explanations holds, None when it was not kept (1 query)."""
    trace = run.traces.filter(part=part, key=key).first()
    return None if trace is None else trace.told()


# Victims


def victim_story(victim: Victim) -> VictimStory | None:
    """Return why a victim was chosen, None when nothing was kept of it (2 queries)."""
    entries = {entry["order"]: entry for entry in told(victim.run, Trace.VICTIMS) or ()}
    entry = entries.get(victim.order)
    if entry is None:
        return None
    together = [other for other in entries.values() if _share_a_purpose(entry, other)]
    return VictimStory(
        **{name: getattr(victim, name) for name in _OF_THE_ROW},
        for_job=entry["for_job"],
        tier=entry["tier"],
        place=entry["place"],
        votes=[Vote(**vote) for vote in entry["votes"]],
        freed=entry["freed"],
        needed=entry["needed"],
        together=[other["order"] for other in together],
        freed_together=summed(other["freed"] for other in together),
        spared=_spared(told(victim.run, Trace.SPARED, victim.for_pod) or (), victim),
    )


_OF_THE_ROW = (
    "order", "cycle", "pod", "job", "queue", "node", "for_pod", "for_queue", "action", "state", "reason",
    "ran_seconds",
)  # fmt: skip


def _share_a_purpose(one: Json, other: Json) -> bool:
    return all(one[name] == other[name] for name in ("cycle", "action", "for", "for_job", "node"))


def _spared(entries: Iterable[Json], victim: Victim) -> Sequence[Spared]:
    """Return the candidates of the victim's cycle that stayed, those of its own node first."""
    rows = [
        Spared(
            **{name: entry.get(name, "") for name in ("pod", "job", "queue", "node", "plugin", "why")},
            cycle=entry["cycle"],
            numbers=entry["numbers"],
        )
        for entry in entries
        if entry["cycle"] == victim.cycle
    ]
    return sorted(rows, key=lambda row: (row.node != victim.node, row.node, row.pod))


def flow(run: Run) -> list[FlowRow]:
    """Return what each queue lost to each other, the most pods first (2 queries)."""
    freed = {entry["order"]: entry["freed"] for entry in told(run, Trace.VICTIMS) or ()}
    taken: dict[tuple[str, str], list[Victim]] = {}
    for victim in run.victims.only("order", "queue", "for_queue", "state"):
        taken.setdefault((victim.queue, victim.for_queue), []).append(victim)
    pairs = sorted(taken.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [_flow_row(giver, taker, victims, freed) for (giver, taker), victims in pairs]


def _flow_row(giver: str, taker: str, victims: Sequence[Victim], freed: Mapping[int, Amounts]) -> FlowRow:
    states = Counter(victim.state for victim in victims)
    return FlowRow(
        giver=giver,
        taker=taker,
        evicted=states[DecisionState.COMMITTED],
        kept=states[DecisionState.KEPT],
        amounts=summed(
            freed.get(victim.order, {}) for victim in victims if victim.state == DecisionState.COMMITTED
        ),
    )


# Deserved


def derivation(run: Run, queue: str) -> list[DerivationStep]:
    """Return how the last cycle came to what a queue deserves; empty when nothing was kept (1 query)."""
    sessions = told(run, Trace.SESSIONS)
    return [_step(entry) for entry in sessions[-1]["deserved"].get(queue, ())] if sessions else []


def _step(entry: Json) -> DerivationStep:
    rest = {name: value for name, value in entry.items() if name not in _NAMED}
    return DerivationStep(
        plugin=entry["plugin"],
        number=entry.get("round", entry.get("level", 0)),
        queue=entry.get("queue", entry.get("node", "")),
        terms={name: value for name, value in rest.items() if not isinstance(value, dict)},
        amounts={name: value for name, value in rest.items() if isinstance(value, dict)},
        clipped_by=entry.get("clipped_by", {}),
    )


_NAMED = ("plugin", "round", "level", "queue", "node", "clipped_by")


def summed(vectors: Iterable[Amounts]) -> dict[str, float | None]:
    """Return the sum of amounts by resource.

    >>> summed([{"cpu": 500.0}, {"cpu": 1000.0, "pods": 1.0}])
    {'cpu': 1500.0, 'pods': 1.0}
    """
    total: dict[str, float | None] = {}
    for vector in vectors:
        for resource, amount in vector.items():
            total[resource] = (total.get(resource) or 0.0) + (amount or 0.0)
    return total
