"""Conversion of the core's result to the rows that pages and scripts filter."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planning.amounts import limited_amounts
from planning.deficits import share_of
from planning.documents import items
from planning.pods import PodClock
from planning.rows import Decision, RunCounts, hangs_below, tree_order
from planning.rows.stored import LOOPS, VERDICT, VICTIMS, Columns, Part, Rows, payload_of
from planning.traces import packed_decisions, parts_of
from planning.utilisation import pool_uses
from planning.verdict import kept, verdict_of
from scheduler_core.explain.cycle_view import CycleView
from scheduler_core.explain.pending import NO_PODS, diagnosis, is_enqueued_without_pods, unknown_queues

Json = Mapping[str, Any]


def rows_of(result: Json, document: Json) -> Rows:
    """Return the rows of the core's `result` for the scenario `document`."""
    cycles = result["cycles"]
    steps = [(cycle["cycle"], step) for cycle in cycles for step in cycle["decisions"]]
    who = _Belongings(cycles)
    clock = PodClock(document, steps)
    why = list(parts_of(result, document))
    queues = list(_queue_rows(cycles[0]["at_open"], cycles[-1]["at_end"], document))
    jobs = list(_job_rows(cycles[-1], CycleView(document, result)))
    victims = [
        _victim(order, cycle, step, who, clock)
        for order, (cycle, step) in enumerate(steps, 1)
        if step["op"] == "evict"
    ]
    explained = {part.part: payload_of(part.packed) for part in why if part.part in (VICTIMS, LOOPS)}
    verdict = verdict_of(
        queues=queues,
        jobs=jobs,
        victims=victims,
        stories=explained.get(VICTIMS),
        loops=explained.get(LOOPS, ()),
        pools=pool_uses(document, cycles[-1]),
        ignored=len(unknown_queues(document)),
    )
    decisions = [_decision(seq, *step) for seq, step in enumerate(steps, 1)]
    return Rows(
        queues=queues,
        jobs=jobs,
        victims=victims,
        parts=[*packed_decisions(decisions), *why, Part.of(VERDICT, kept(verdict))],
        counts=RunCounts.of(decisions, jobs, victims),
    )


class _Belongings:
    """The job of each pod, the queue of each job, and the gang that each victim was chosen for."""

    def __init__(self, cycles: Sequence[Json]) -> None:
        self.gang = {
            (cycle["cycle"], victim["pod"], victim["action"]): victim["for_job"]
            for cycle in cycles
            for victim in cycle.get("explain", {}).get("victims", ())
        }
        jobs = [job for cycle in cycles for job in cycle["podgroups"]]
        self.queue = {job["name"]: job["queue"] for job in jobs}
        self.job = {task["pod"]: job["name"] for job in jobs for task in job["tasks"]}


def _queue_rows(at_open: Json, at_end: Json, document: Json) -> Iterator[Columns]:
    before = {queue["name"]: queue for queue in at_open.get("queues", ())}
    after = {queue["name"]: queue for queue in at_end.get("queues", ())}
    specs = {queue["metadata"]["name"]: queue.get("spec") or {} for queue in items(document.get("queues"))}
    parents = {name: specs.get(name, {}).get("parent") or "" for name in {**specs, **after}}
    places = {name: hangs_below(name, parent) for name, parent in parents.items()}
    for position, (name, depth) in enumerate(tree_order(places)):
        first, last, spec = before.get(name, {}), after.get(name, {}), specs.get(name, {})
        yield Columns(
            queue=name,
            parent=parents[name],
            depth=depth,
            position=position,
            weight=last.get("weight", spec.get("weight")),
            in_session=name in after,
            overused=last.get("overused"),
            share=share_of(last),
            share_at_open=share_of(first),
            deserved=limited_amounts(last.get("deserved")),
            allocated=limited_amounts(last.get("allocated")),
            allocated_at_open=limited_amounts(first.get("allocated")),
            request=limited_amounts(last.get("request")),
            # The core records an empty capability as zeros; resources missing in the spec are unlimited.
            capability=limited_amounts(last.get("capability") if spec.get("capability") else None),
            real_capability=limited_amounts(last.get("realCapability")),
            guarantee=limited_amounts(last.get("guarantee")),
            elastic=limited_amounts(last.get("elastic")),
            inqueue=limited_amounts(last.get("inqueue")),
        )


def why_waiting(job: Json, picture: CycleView) -> tuple[Json, str]:
    """Return the facts of what stops a job of the last cycle, and the message; both empty if nothing does."""
    pending = picture.explain.get("pending", {})
    why: Json = NO_PODS if is_enqueued_without_pods(job) else pending.get(job["name"], {})
    known = diagnosis(picture, job["name"]) if why else None
    sentence = known["reason"]["sentence"] if known is not None else ""
    return why, sentence or job.get("fit_error") or job.get("invalid_reason") or ""


def _job_rows(cycle: Json, picture: CycleView) -> Iterator[Columns]:
    for position, job in enumerate(cycle["podgroups"]):
        why, message = why_waiting(job, picture)
        status = job.get("task_status", {})
        yield Columns(
            job=job["name"],
            queue=job["queue"],
            position=position,
            phase_before=job.get("phase_before") or "",
            phase_after=job.get("phase_after") or "",
            priority=job.get("priority") or 0,
            min_available=job.get("minAvailable") or 0,
            pods=len(job.get("tasks", ())),
            task_status=status,
            pending=status.get("Pending", 0),
            ready=bool(job.get("ready")),
            pipelined=bool(job.get("pipelined")),
            starving=bool(job.get("starving")),
            gate=why.get("gate") or "",
            resource=why.get("resource") or "",
            message=message,
            fit_error=job.get("fit_error") or "",
            pending_reasons=job.get("pending_reasons") or {},
            pending_explain=why,
        )


def _victim(order: int, cycle: int, step: Json, who: _Belongings, clock: PodClock) -> Columns:
    for_pod = step.get("for") or ""
    for_job = who.job.get(for_pod) or who.gang.get((cycle, step["pod"], step["action"]), "")
    job = step.get("job") or ""
    return Columns(
        order=order,
        cycle=cycle,
        pod=step["pod"],
        job=job,
        queue=who.queue.get(job, ""),
        node=step.get("node") or "",
        for_pod=for_pod,
        for_job=for_job,
        for_queue=who.queue.get(for_job, ""),
        action=step["action"],
        reason=step.get("reason") or "",
        state=step["state"],
        ran_seconds=clock.ran_seconds(step["pod"], cycle),
    )


def _decision(seq: int, cycle: int, step: Json) -> Decision:
    return Decision(
        seq=seq,
        cycle=cycle,
        action=step["action"],
        op=step["op"],
        job=step.get("job") or "",
        pod=step.get("pod") or "",
        node=step.get("node") or "",
        reason=step.get("reason") or "",
        for_pod=step.get("for") or "",
        state=step.get("state") or "",
    )
