"""Which candidates may be evicted, and is it enough?

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` (Preemptable, Reclaimable, UnifiedEvictable),
``util/scheduler_helper.go`` (ValidateVictims) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.node import add_pairs, fits
from scheduler_core.told import Told
from scheduler_core.trace import Why

_UNSAID: tuple[str, dict[str, Any]] = ("", {})

REFUSED = "refused"
DISJOINT = "disjoint"
DECIDED = "decided"


class Opinion(NamedTuple):
    """What one plugin answered.

    Attributes
    ----------
    accepted : set of str or None
        The uids of the candidates that it accepts; None: it abstained.
    why : dict
        Its reasons by uid.

    """

    tier: int
    plugin: str
    accepted: set[str] | None
    why: Why


class Ballot(NamedTuple):
    """Plugins of one tier whose answers were combined, and what came of it.

    Attributes
    ----------
    opinions : sequence of Opinion
        Without those that abstained.
    outcome : str
        `DECIDED`: what all of them accept are the victims. `REFUSED`: the last one accepts nobody, which ends
        its tier. `DISJOINT`: each accepts somebody, but nobody is accepted by all.

    """

    tier: int
    opinions: Sequence[Opinion]
    outcome: str

    def refuser(self, uid: str) -> Opinion | None:
        """Return whose answer keeps a candidate: of who refused everybody, else of the first to refuse it."""
        if self.outcome is REFUSED or len(self.opinions) == 1:
            return self.opinions[-1]
        return next((one for one in self.opinions if uid not in (one.accepted or ())), None)

    def as_dict(self) -> dict[str, Any]:
        """Return what the explanations show of it."""
        plugins = [opinion.plugin for opinion in self.opinions]
        return Told(tier=self.tier, plugins=plugins, outcome=self.outcome)


class Refusal(NamedTuple):
    """Why a candidate stays."""

    task: TaskInfo
    tier: int
    plugin: str
    text: str
    numbers: dict[str, Any]


@dataclass
class Verdict:
    """Which candidates may be evicted, and when explanations are kept, what was answered on the way.

    Attributes
    ----------
    victims : list
        In the order of the plugin that named them first.
    tier : int
        The number of the tier that decided, from 1; 0 when none did.
    opinions : list of Opinion
        Of every plugin asked.
    ballots : list of Ballot
        In order; only the last one counts. Those before it were passed over.
    evicted : int
        How many of the victims were evicted so far.

    """

    victims: list[TaskInfo] = field(default_factory=list)
    tier: int = 0
    opinions: list[Opinion] = field(default_factory=list)
    ballots: list[Ballot] = field(default_factory=list)
    evicted: int = 0
    _open: list[Opinion] = field(default_factory=list)
    _told: list[dict[str, Any]] | None = None

    def hear(self, opinion: Opinion) -> None:
        """Keep what a plugin answered."""
        self.opinions.append(opinion)
        if opinion.accepted is not None:
            self._open.append(opinion)

    def close(self, outcome: str) -> None:
        """End a ballot; the next opinion begins another one."""
        if self._open:
            self.ballots.append(Ballot(self._open[-1].tier, self._open, outcome))
            self._open = []

    def votes_on(self, task: TaskInfo) -> list[dict[str, Any]]:
        """Return what each plugin answered about one candidate."""
        votes = []
        for tier, plugin, accepted, why in self.opinions:
            verdict = "abstain" if accepted is None else "permit" if task.uid in accepted else "refuse"
            text, numbers = why.get(task.uid, _UNSAID)
            vote = {"tier": tier, "plugin": plugin, "verdict": verdict, "why": text, "numbers": numbers}
            votes.append(vote)
        return votes

    def refusals(self, candidates: Iterable[TaskInfo]) -> Iterator[Refusal]:
        """Yield the candidates that stay, each with the answer that keeps it: one of the last ballot."""
        if not self.ballots:
            return
        victims = {task.uid for task in self.victims}
        last = self.ballots[-1]
        for task in candidates:
            if task.uid not in victims:
                opinion = last.refuser(task.uid)
                if opinion is not None:
                    text, numbers = opinion.why.get(task.uid, _UNSAID)
                    yield Refusal(task, opinion.tier, opinion.plugin, text, numbers)

    def told_ballots(self) -> list[dict[str, Any]]:
        """Return the ballots as data, the same list as long as the verdict stands."""
        if self._told is None:
            self._told = [ballot.as_dict() for ballot in self.ballots]
        return self._told


def ask_victims(
    session: Session, point: Point, initiator: TaskInfo, candidates: Sequence[TaskInfo], *context: Any
) -> Verdict:
    """Return the victims of the first tier that names any.

    A plugin that accepts nobody ends its tier and the next tier is asked with all candidates again; an
    intersection that runs empty starts afresh with the next plugin of the same tier.
    """
    verdict = Verdict()
    explained = session.trace is not None
    for number, tier in enumerate(session.registry.tiers_of(point), start=1):
        victims: list[TaskInfo] | None = None
        for added in tier:
            why: Why | None = {} if explained else None
            accepted: list[TaskInfo] | None = added.fn(initiator, candidates, *context, why)
            if explained:
                uids = None if accepted is None else {task.uid for task in accepted}
                verdict.hear(Opinion(number, added.plugin, uids, why or {}))
            if accepted is None:
                continue
            if not accepted:
                victims = None
                verdict.close(REFUSED)
                break
            if victims is None:
                victims = accepted
            else:
                named = {task.uid for task in accepted}
                victims = [task for task in victims if task.uid in named] or None
                if victims is None:
                    verdict.close(DISJOINT)
        if victims is not None:
            verdict.victims, verdict.tier = victims, number
            verdict.close(DECIDED)
            return verdict
    return verdict


def tell_spared(
    session: Session, for_task: TaskInfo, candidates: Sequence[TaskInfo], verdict: Verdict
) -> None:
    """Keep which candidates stay, and whose answer keeps them; what was answered before is replaced."""
    if session.trace is not None:
        _tell(session, candidates, verdict, for_task.key, "")


def tell_spared_for_gang(
    session: Session, job: JobInfo, candidates: Sequence[TaskInfo], verdict: Verdict
) -> None:
    """Keep which candidates stay when a whole gang looks for room, and whose answer keeps them."""
    if session.trace is not None:
        _tell(session, candidates, verdict, "", job.key)


def _tell(
    session: Session, candidates: Sequence[TaskInfo], verdict: Verdict, for_pod: str, for_job: str
) -> None:
    trace, action = session.trace, session.action
    assert trace is not None, "the caller has looked"
    purpose = action, for_pod or for_job
    spared = trace.spared.get(purpose)
    if spared is None:
        if for_pod and len(verdict.victims) == len(candidates):
            return
        spared = trace.spared[purpose] = {}
    for task in verdict.victims if spared else ():
        spared.pop(task.key, None)
    plainly = len(verdict.ballots) == 1 and verdict.tier
    shared: dict[str, Any] = {} if plainly else {"ballots": verdict.told_ballots()}
    if for_job:
        shared["for_job"] = for_job
    for task, tier, plugin, text, numbers in verdict.refusals(candidates):
        spared[task.key] = {
            "pod": task.key,
            "for": for_pod,
            "action": action,
            "tier": tier,
            "plugin": plugin,
            "why": text,
            "numbers": numbers,
            **shared,
        }


def tell_left_out(session: Session, for_task: TaskInfo, nodes: int) -> None:
    """Keep on how many of the nodes that would take a task nobody was asked, as it could not help."""
    if session.trace is not None:
        session.trace.leave_out(for_task.key, nodes)


def victims_suffice(session: Session, preemptor: TaskInfo, node: int, victims: Sequence[TaskInfo]) -> bool:
    """Tell whether evicting all the victims would make room for the preemptor on the node."""
    available = list(session.nodes.future_of[node])
    for victim in victims:
        add_pairs(available, victim.shape.amounts, 1.0)
    return fits(preemptor, available)
