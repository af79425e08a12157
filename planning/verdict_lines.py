"""The verdict on a run in sentences, compared with its baseline."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from planning.impossible_jobs import NEVER
from planning.rows import Amounts
from planning.units import amount_text, part_text, percent, resource_label
from planning.utilisation import ResourceUse
from planning.verdict import MovedQueue, StarvedQueue, StuckJob, Verdict
from planning.verdict_evictions import BrokenGang
from scheduler_core.explain.wording import agreed, listed
from traces.text import counted

NAMED = 3
"""The most queues or jobs in a sentence."""
GOOD, BAD, WARN, INFO = "good", "bad", "warn", "info"


@dataclass(frozen=True)
class Line:
    """One sentence of a verdict.

    `count` is its figure, `before` the same figure of the baseline, None without one; `place` is the part of
    the page that has the details.
    """

    id: str
    level: str
    sentence: str
    count: float
    before: float | None
    unit: str
    place: str

    @property
    def change(self) -> float | None:
        """Return by how much the figure differs from the baseline's."""
        return None if self.before is None else self.count - self.before


def verdict_lines(verdict: Verdict, baseline: Verdict | None = None) -> list[Line]:
    """Return the sentences of a verdict: harm first, then what is in order, then how full the nodes are."""
    lines = [*_lines(verdict, baseline)]
    order = {BAD: 0, WARN: 1, INFO: 2, GOOD: 2}
    return [*sorted(lines, key=lambda line: order[line.level]), *_usage(verdict, baseline)]


def _lines(verdict: Verdict, baseline: Verdict | None) -> Iterator[Line]:
    def line(
        id: str, level: str, sentence: str, figure: Callable[[Verdict], float], unit: str, place: str
    ) -> Line:
        before = None if baseline is None else figure(baseline)
        return Line(id, level, sentence, figure(verdict), before, unit, place)

    for id, sentence, unit, place in (
        ("starved", _starved(verdict), "queue", "queues"),
        ("pushed_below", _pushed(verdict), "queue", "flow"),
        ("broken", _broken(verdict), "job", "victims"),
        ("lifted_above", _lifted(verdict), "queue", "queues"),
        ("never", _never(verdict), "job", "pending"),
    ):
        count, before = verdict.counts.get(id, 0), baseline.counts.get(id, 0) if baseline else 0
        level = _LEVEL[id] if count else GOOD
        if count or before or id == "starved":
            yield Line(id, level, sentence, count, before if baseline else None, unit, place)
    if verdict.loops or (baseline and baseline.loops):
        level = BAD if verdict.loops else GOOD
        yield line("loops", level, _loops(verdict), lambda one: one.loops, "loop", "loops")
    if verdict.evictions is not None:
        level = GOOD if not verdict.evictions.evictions else WARN if verdict.evictions.excess else INFO
        yield line("evictions", level, _evictions(verdict), _evicted, "pod", "victims")
    level = INFO if verdict.waiting_jobs or verdict.counts.get("ignored") else GOOD
    yield line("waiting", level, _waiting(verdict), lambda one: one.waiting_jobs, "job", "pending")


_LEVEL = {"starved": BAD, "pushed_below": BAD, "broken": BAD, "lifted_above": WARN, "never": BAD}


def _evicted(verdict: Verdict) -> float:
    return verdict.evictions.pods if verdict.evictions else 0


def _starved(verdict: Verdict) -> str:
    count = verdict.counts["starved"]
    if not verdict.divided:
        return (
            "No queue has a deserved amount: none has a PodGroup, or neither proportion nor capacity is "
            "configured."
        )
    unmeasured = verdict.counts.get("unmeasured", 0)
    if not count and unmeasured:
        have = agreed(unmeasured, "has", "have")
        return (
            f"No queue with a deserved amount is starved; {counted(unmeasured, 'queue')} with waiting jobs "
            f"{have} none in this session."
        )
    if not count:
        return (
            "No queue is starved: each one with waiting jobs holds what it deserves, or all that it "
            "requests, of the most contested resource."
        )
    are = agreed(count, "is", "are")
    return (
        f"{counted(count, 'queue')} {are} starved, with waiting jobs and less than deserved: "
        f"{_named(verdict.starved, count, _starved_queue)}."
    )


def _starved_queue(queue: StarvedQueue) -> str:
    part = part_text(queue.resource, queue.allocated, queue.deserved)
    lacking = amount_text(queue.resource, queue.part * queue.deserved)
    jobs = counted(queue.jobs, "waiting job")
    return f"{queue.queue} has {part} and lacks {lacking} that it requests, with {jobs}"


def _pushed(verdict: Verdict) -> str:
    count = verdict.counts["pushed_below"]
    if not count:
        return "Evictions left no queue below what it deserves at the end of the run."
    named = _named(verdict.pushed_below, count, _move)
    theirs = agreed(count, "it deserves", "they deserve")
    return f"Evictions left {counted(count, 'queue')} below what {theirs} at the end of the run: {named}."


def _broken(verdict: Verdict) -> str:
    count = verdict.counts.get("broken", 0)
    if not count:
        return "Evictions left every job its minMember, or none of its pods."
    named = _named(verdict.broken, count, _gang)
    theirs = agreed(count, "its minMember", "their minMember")
    return (
        f"Evictions left {counted(count, 'job')} with fewer pods than {theirs}: {named}. Such a job may stop"
        " or restart as a whole, as its policies say; a forecast follows them."
    )


def _gang(job: BrokenGang) -> str:
    return f"{job.job} keeps {job.kept:,} of {counted(job.pods, 'pod')} and needs {job.minimum:,}"


def _lifted(verdict: Verdict) -> str:
    count = verdict.counts["lifted_above"]
    if not count:
        return "No queue was lifted above what it deserves at the end of the run."
    named = _named(verdict.lifted_above, count, _lift)
    were, theirs = agreed(count, "was", "were"), agreed(count, "it deserves", "they deserve")
    return f"{counted(count, 'queue')} {were} lifted above what {theirs} at the end of the run: {named}."


def _move(queue: MovedQueue) -> str:
    after = part_text(queue.resource, queue.after, queue.deserved)
    move = f"from {amount_text(queue.resource, queue.before)} to {after}"
    if queue.before == queue.after:
        move = f"with {after}, as before"
    return f"{queue.queue} {move}, {counted(queue.evicted, 'pod')} evicted"


def _lift(queue: MovedQueue) -> str:
    before = amount_text(queue.resource, queue.before)
    after = amount_text(queue.resource, queue.after)
    deserved = amount_text(queue.resource, queue.deserved)
    for_it = f"{counted(queue.evicted, 'pod')} evicted for it" if queue.evicted else "without evictions"
    return f"{queue.queue} from {before} to {after} where it deserves {deserved}, {for_it}"


def _evictions(verdict: Verdict) -> str:
    evictions = verdict.evictions
    if evictions is None or not evictions.evictions:
        return "No evictions."
    head = f"{counted(evictions.pods, 'pod')} evicted"
    if evictions.evictions > evictions.pods:
        head += f", {counted(evictions.evictions, 'eviction')} over all cycles"
    if not evictions.excess:
        head += "; fewer would not have been enough on the chosen nodes"
    elif evictions.exact:
        enough = f"{evictions.needed:,} would have been enough on the chosen nodes"
        head += f"; {enough}, {evictions.excess:,} in excess"
    else:
        head += f"; at least {evictions.needed:,} needed, at most {evictions.excess:,} in excess"
    held, requested = _held(evictions.freed), _held(evictions.used)
    return f"{head}. Evicted: {held}; requested by the pods that needed room: {requested}."


def _held(amounts: Amounts) -> str:
    names = sorted((name for name, amount in amounts.items() if amount and name != "pods"), key=_by_kind)
    return listed([amount_text(name, amounts[name] or 0.0) for name in names]) if names else "nothing"


def _by_kind(resource: str) -> tuple[bool, str]:
    """Return the rank of a resource: devices first, as they are scarce."""
    return resource in ("cpu", "memory", "ephemeral-storage"), resource


def _loops(verdict: Verdict) -> str:
    if not verdict.loops:
        return "No eviction loop."
    pods = counted(verdict.looping_pods, "pod")
    are = agreed(verdict.looping_pods, "is", "are")
    return f"{counted(verdict.loops, 'eviction loop')}: {pods} {are} evicted and bound again without end."


def _never(verdict: Verdict) -> str:
    count = verdict.counts["never"]
    if not count:
        return "No waiting job is known to be unable to run."
    reasons = {text: number for why, text in NEVER.items() if (number := verdict.counts[f"never_{why}"])}
    many = [f"{counted(number, 'job')}: {text}" for text, number in reasons.items()]
    why = "; ".join(many if len(many) > 1 else reasons)
    named = _named(verdict.never, count, lambda job: job.job)
    return f"{counted(count, 'job')} can never run as things are ({why}): {named}."


def _waiting(verdict: Verdict) -> str:
    return f"{_waiting_jobs(verdict)}{_ignored(verdict)}."


def _waiting_jobs(verdict: Verdict) -> str:
    if not verdict.waiting_jobs:
        return f"No job waits: {_all(verdict.jobs)}"
    wait = agreed(verdict.waiting_jobs, "waits", "wait")
    pods = counted(verdict.waiting_pods, "pending pod")
    text = f"{verdict.waiting_jobs:,} of {counted(verdict.jobs, 'job')} {wait}, with {pods}"
    number = verdict.counts.get("without_pods", 0)
    if number:
        text += f"; {number:,} of these {agreed(number, 'job has', 'jobs have')} no pods yet"
    return text


def _all(jobs: int) -> str:
    if jobs == 1:
        return "the only one has no pending pods"
    return f"none of the {jobs:,} has pending pods" if jobs else "the session has none"


def _ignored(verdict: Verdict) -> str:
    number = verdict.counts.get("ignored", 0)
    if not number:
        return ""
    name = agreed(number, "another job names a queue that does", f"{number:,} other jobs name queues that do")
    return f"; {name} not exist, and the scheduler ignores {agreed(number, 'it', 'them')}"


def _usage(verdict: Verdict, baseline: Verdict | None) -> Iterator[Line]:
    before = {use.resource: use for use in baseline.usage} if baseline else {}
    for use in sorted(verdict.usage, key=lambda use: (-use.part, use.resource)):
        was = before.get(use.resource)
        part = round(use.part * 100, 1)
        earlier = None if was is None else round(was.part * 100, 1)
        yield Line(f"usage {use.resource}", INFO, _use(use), part, earlier, "%", "nodes")


def _use(use: ResourceUse) -> str:
    used = part_text(use.resource, use.used, use.total)
    text = f"{resource_label(use.resource)}: {percent(use.part)} used ({used})"
    if not use.free:
        return f"{text}, nothing free."
    text += f", {amount_text(use.resource, use.free)} free"
    if use.unusable:
        unusable = amount_text(use.resource, use.unusable)
        text += f" ({unusable} on nodes that are cordoned, not ready or under pressure)"
    if use.stranded is None:
        return f"{text}, at most {amount_text(use.resource, use.largest)} on one node."
    if not use.stranded:
        return f"{text}."
    stranded = amount_text(use.resource, use.stranded)
    if use.stranded == use.free:
        return f"{text}, all on nodes where no waiting pod that requests it fits."
    return f"{text}, of which at least {stranded} on nodes where no waiting pod that requests it fits."


def _named(
    shown: Sequence[StarvedQueue] | Sequence[MovedQueue] | Sequence[BrokenGang] | Sequence[StuckJob],
    count: int,
    say: Callable[..., str],
) -> str:
    named = [say(one) for one in shown[:NAMED]]
    more = [f"{count - len(named):,} more"] if count > len(named) else []
    return "; ".join([*named, *more])
