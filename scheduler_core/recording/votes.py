"""Recorded votes of plugins on candidates for eviction, and which of them counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from scheduler_core.decision import Why
from scheduler_core.framework.observer import REFUSED, Votes
from scheduler_core.model.job import TaskInfo

_NO_REASON: tuple[str, dict[str, Any]] = ("", {})


class Answer(NamedTuple):
    """The vote of one plugin.

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
    """The votes of one tier that were combined, without abstentions, and the outcome."""

    tier: int
    answers: Sequence[Answer]
    outcome: str

    def refuser(self, uid: str) -> Answer | None:
        """Return the vote that refuses a candidate: that of a plugin that refused all, else the first."""
        if self.outcome is REFUSED or len(self.answers) == 1:
            return self.answers[-1]
        return next((answer for answer in self.answers if uid not in (answer.accepted or ())), None)


class Refusal(NamedTuple):
    """Why a candidate is not evicted."""

    task: TaskInfo
    tier: int
    plugin: str
    text: str
    numbers: dict[str, Any]


class RecordedVotes(Votes):
    """All votes on some candidates.

    Attributes
    ----------
    victims : sequence of TaskInfo
        The candidates that may be evicted, in the order of the plugin that named them first.
    tier : int
        The number of the tier that decided, from 1; 0 if none did.
    answers : list of Answer
        The votes of all called plugins, in order.
    ballots : list of Ballot
        In order; only the last one counts, the others were passed over.
    evicted : int
        How many of the victims have been evicted so far.

    """

    __slots__ = ("_ballots", "_open", "answers", "ballots", "evicted", "tier", "victims")

    def __init__(self) -> None:
        self.victims: Sequence[TaskInfo] = ()
        self.tier = 0
        self.answers: list[Answer] = []
        self.ballots: list[Ballot] = []
        self.evicted = 0
        self._open: list[Answer] = []
        self._ballots: list[dict[str, Any]] | None = None

    def reasons(self) -> Why:
        """Return the dictionary in which a plugin stores its reasons, by uid."""
        return {}

    def answered(self, tier: int, plugin: str, accepted: Sequence[TaskInfo] | None, why: Why | None) -> None:
        """Record the vote of a plugin."""
        uids = None if accepted is None else {task.uid for task in accepted}
        answer = Answer(tier, plugin, uids, why or {})
        self.answers.append(answer)
        if uids is not None:
            self._open.append(answer)

    def close(self, outcome: str, victims: Sequence[TaskInfo] = ()) -> None:
        """End a ballot; the next vote begins another one."""
        if self._open:
            self.ballots.append(Ballot(self._open[-1].tier, self._open, outcome))
            self._open = []
        if victims:
            self.victims, self.tier = victims, self.ballots[-1].tier

    def on(self, task: TaskInfo) -> list[dict[str, Any]]:
        """Return the votes on one candidate."""
        votes = []
        for tier, plugin, accepted, why in self.answers:
            verdict = "abstain" if accepted is None else "permit" if task.uid in accepted else "refuse"
            text, numbers = why.get(task.uid, _NO_REASON)
            vote = {"tier": tier, "plugin": plugin, "verdict": verdict, "why": text, "numbers": numbers}
            votes.append(vote)
        return votes

    def refusals(self, candidates: Iterable[TaskInfo]) -> Iterator[Refusal]:
        """Yield the refused candidates, each with the vote of the last ballot that refuses it."""
        if not self.ballots:
            return
        victims = {task.uid for task in self.victims}
        last = self.ballots[-1]
        for task in candidates:
            if task.uid not in victims:
                answer = last.refuser(task.uid)
                if answer is not None:
                    text, numbers = answer.why.get(task.uid, _NO_REASON)
                    yield Refusal(task, answer.tier, answer.plugin, text, numbers)

    def ballots_as_data(self) -> list[dict[str, Any]]:
        """Return the ballots as data, always the same list; no vote follows the first call."""
        if self._ballots is None:
            self._ballots = [
                {
                    "tier": ballot.tier,
                    "plugins": [answer.plugin for answer in ballot.answers],
                    "outcome": ballot.outcome,
                }
                for ballot in self.ballots
            ]
        return self._ballots


def recorded(votes: Votes) -> RecordedVotes:
    """Return votes that were recorded.

    Raises
    ------
    TypeError
        If their session has no recorder.

    """
    if not isinstance(votes, RecordedVotes):
        raise TypeError("the votes of this session are not recorded")
    return votes
