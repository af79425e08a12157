"""Explanations of a run's decisions, read from the stored parts instead of the whole result."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from planner.runs.models import Run, Victim
from planner.runs.models.outcome import DecisionState
from planning.rows import (
    Amounts,
    ClosestNode,
    Derivation,
    DerivationStep,
    FlowRow,
    JobStory,
    LoopChange,
    LoopPod,
    LoopRow,
    NodesRefusing,
    Reason,
    Shortage,
    Smallest,
    Spared,
    VictimStory,
    Vote,
)
from planning.rows.stored import DESERVED, LOOPS, PENDING, PODS, SPARED, VICTIMS, preemptor_key

Json = Mapping[str, Any]


def payload(run: Run, part: str, key: str = "") -> Any:
    """Return the content of a stored part, None if it was not stored (1 query)."""
    trace = run.traces.filter(part=part, key=key).first()
    return None if trace is None else trace.payload()


# Victims


def victim_story(run: Run, victim: Victim) -> VictimStory | None:
    """Return why a victim was chosen, None if that was not stored (4 queries)."""
    stories = payload(run, VICTIMS) or ()
    story = next((story for story in stories if story["order_in_run"] == victim.order), None)
    if story is None:
        return None
    groups = payload(run, SPARED, preemptor_key(victim.for_pod, victim.for_job)) or ()
    spared = [
        group
        for group in groups
        if group["cycle"] == victim.cycle and group.get("action", victim.action) == victim.action
    ]
    return VictimStory(
        **{name: getattr(victim, name) for name in _OF_THE_ROW},
        **{name: story[name] for name in _OF_THE_STORY},
        room=story.get("room"),
        left=story.get("left"),
        for_job=story["for"]["job"],
        for_queue=story["for"]["queue"],
        reason=Reason(**story["reason"]),
        votes=[_vote(vote) for vote in story["votes"]],
        passed_over=Reason(**story["passed_over"]) if story.get("passed_over") else None,
        place=story["order"]["place"],
        first=Reason(**story["order"]["reason"]),
        smallest=_smallest(story["smallest"]),
        spared_there=_spared_there(run, victim, spared),
        spared_by=_spared_by(spared),
        left_out=Reason(**story["left_out"]) if story.get("left_out") else None,
    )


_OF_THE_ROW = ("order", "cycle", "pod", "job", "queue", "node", "for_pod", "action", "state", "ran_seconds")
_OF_THE_STORY = ("tier", "freed", "needed", "together", "freed_together", "surplus")


def _vote(entry: Json) -> Vote:
    return Vote(**{"counts": None, **entry, "reason": Reason(**entry["reason"])})


def _smallest(entry: Json) -> Smallest:
    return Smallest(entry["count"], entry["exact"], entry["pods"], Reason(**entry["reason"]))


def _spared_by(groups: Sequence[Json]) -> dict[str, int]:
    """Return how many candidates each plugin spared, most first."""
    spared: Counter[str] = Counter()
    for group in groups:
        spared[group["plugin"]] += sum(map(len, group["nodes"].values()))
    return dict(spared.most_common())


def _spared_there(run: Run, victim: Victim, groups: Sequence[Json]) -> list[Spared]:
    """Return the spared candidates on the victim's node, by name (2 queries if there are any)."""
    reasons = {
        pod: (group.get("tier"), group["plugin"], Reason(**group["reason"]))
        for group in groups
        for pod in group["nodes"].get(victim.node, ())
    }
    if not reasons:
        return []
    jobs = {pod: job for job, pods in payload(run, PODS).items() for pod, *_ in pods if pod in reasons}
    queues = dict(run.job_outcomes.filter(job__in=jobs.values()).values_list("job", "queue"))
    return [
        Spared(pod, jobs.get(pod, ""), queues.get(jobs.get(pod, ""), ""), victim.node, *reasons[pod])
        for pod in sorted(reasons)
    ]


def victims_together(run: Run, victim: Victim, story: VictimStory) -> QuerySet[Victim]:
    """Return the victims that were evicted together with one, including itself (1 query)."""
    return run.victims.filter(
        cycle=victim.cycle, action=victim.action, for_pod=victim.for_pod, pod__in=story.together
    )


def victim_neighbours(run: Run, victim: Victim) -> dict[str, int | None]:
    """Return the steps of the previous and the next victim (2 queries)."""
    others = run.victims.values_list("order", flat=True)
    return {
        "before": others.filter(order__lt=victim.order).last(),
        "after": others.filter(order__gt=victim.order).first(),
    }


def flow(run: Run) -> list[FlowRow]:
    """Return what each queue lost to each other queue, most pods first (2 queries)."""
    stories = {story["order_in_run"]: story for story in payload(run, VICTIMS) or ()}
    taken: dict[tuple[str, str, str], list[_Eviction]] = {}
    for order, giver, taker, action, pod, state in run.victims.values_list(
        "order", "queue", "for_queue", "action", "pod", "state"
    ):
        story = stories.get(order, {})
        link = giver, taker or story.get("for", {}).get("queue", ""), action
        taken.setdefault(link, []).append(_Eviction(pod, state, story.get("freed", {})))
    rows = [_flow_row(*link, evictions) for link, evictions in taken.items()]
    return sorted(rows, key=lambda row: (-row.evicted, row.giver, row.taker, row.action))


def loops(run: Run) -> list[LoopRow]:
    """Return the eviction loops of a run (1 query; none for a run of one cycle)."""
    if run.options.get("cycles", 1) < 2:
        return []
    return [_loop(entry) for entry in payload(run, LOOPS) or ()]


def _loop(entry: Json) -> LoopRow:
    lost = entry["lost"]
    return LoopRow(
        **{name: entry[name] for name in ("first_cycle", "period", "turns", "jobs", "queues", "waiting")},
        pods=[LoopPod(**pod) for pod in entry["pods"]],
        evictions=lost["evictions"],
        lost_amounts=lost["amounts"],
        lost_cycles=lost["cycles"],
        lost_seconds=lost["seconds"],
        reason=Reason(**entry["reason"]),
        why=[Reason(**reason) for reason in entry["why"]],
        changes=[
            LoopChange(**{**change, "reason": Reason(**change["reason"])}) for change in entry["changes"]
        ],
        complete=entry["complete"],
    )


class _Eviction(NamedTuple):
    pod: str
    state: str
    freed: Amounts


def _flow_row(giver: str, taker: str, action: str, evictions: Sequence[_Eviction]) -> FlowRow:
    happened = [eviction for eviction in evictions if eviction.state == DecisionState.COMMITTED]
    freed = {eviction.pod: eviction.freed for eviction in happened}
    return FlowRow(
        giver=giver,
        taker=taker,
        action=action,
        evicted=len(freed),
        evictions=len(happened),
        kept=len({eviction.pod for eviction in evictions if eviction.state == DecisionState.KEPT}),
        amounts=summed(freed.values()),
    )


# Deserved


def derivation(run: Run, queue: str) -> Derivation | None:
    """Return how the last cycle calculated a queue's deserved amount, None if not stored (1 query)."""
    entry = (payload(run, DESERVED) or {}).get(queue)
    if entry is None:
        return None
    return Derivation(
        **{name: entry[name] for name in ("queue", "cycle", "plugin", "deserved")},
        summary=Reason(**entry["summary"]),
        steps=[_step(step) for step in entry["steps"]],
        tree=[_step(step) for step in entry["tree"]],
        tree_summary=Reason(**entry["tree_summary"]) if entry["tree_summary"] else None,
    )


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


# Waiting jobs


def job_story(run: Run, job: str) -> JobStory | None:
    """Return the first obstacle of a job, None if none of its pods waits or it was not stored (1 query)."""
    entry = (payload(run, PENDING) or {}).get(job)
    if entry is None:
        return None
    return JobStory(
        job=job,
        **{name: entry[name] for name in ("gate", "plugin", "queue", "pod", "members")},
        reason=Reason(**entry["reason"]),
        short=[Shortage(resource, **facts) for resource, facts in _short(entry).items()],
        nodes=[
            NodesRefusing(refusal["count"], refusal["text"], Reason(**refusal["reason"]))
            for refusal in sorted(entry["nodes"], key=lambda refusal: -refusal["count"])
        ],
        closest=ClosestNode(**entry["closest"]) if entry["closest"] else None,
    )


def _short(entry: Json) -> dict[str, Any]:
    """Return required, available and missing by resource; a gate that counts members has no resource."""
    if entry["short"]:
        return dict(entry["short"])
    facts = {name: entry[name] for name in ("required", "available", "missing")}
    return {} if facts["required"] is None else {entry["resource"] or "pods": facts}


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
