"""Rows about a waiting job, and what would unblock it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planning.rows.amounts import Amounts
from planning.rows.explanations import Reason


@dataclass(frozen=True)
class Shortage:
    """The required, available and missing amount of one resource at a gate."""

    resource: str
    required: float
    available: float
    missing: float

    @property
    def exceeded(self) -> float:
        """Return by how much the limit is already exceeded, 0 if it is not."""
        return max(0.0, -self.available)


@dataclass(frozen=True)
class NodesRefusing:
    """How many nodes reject a pod for one reason."""

    count: int
    text: str
    reason: Reason


@dataclass(frozen=True)
class ClosestNode:
    """The node that lacks least of a pod's request: what it lacks, and what of that it has free."""

    node: str
    lacks: Amounts
    free: Amounts


@dataclass(frozen=True)
class JobStory:
    """The first obstacle of a waiting job; `queue` is the one that lacks room, maybe an ancestor."""

    job: str
    gate: str
    plugin: str
    queue: str
    pod: str
    members: Mapping[str, int]
    reason: Reason
    short: Sequence[Shortage]
    nodes: Sequence[NodesRefusing]
    closest: ClosestNode | None


@dataclass(frozen=True)
class Check:
    """One check on the path to an eviction, and its result."""

    passed: bool
    reason: Reason


@dataclass(frozen=True)
class Checklist:
    """Why an action did or did not evict pods for a job; `evicted` is their number."""

    action: str
    evicted: int
    stopped_at: str
    conclusion: Reason | None
    checks: Sequence[Check]


@dataclass(frozen=True)
class Unblocking:
    """A change with which a job would run, and its other effects.

    `members` are the job's pods placed, pipelined and pending, and its minimum; `cost` is how many pods of
    others are evicted or lose their place; `changed` has every other job whose pods or phase differ,
    `repeated` the pods that are evicted in both cases, but more or less often.
    """

    id: str
    reason: Reason
    runs: str
    members: Mapping[str, int]
    cost: int
    changes: Sequence[Mapping[str, Any]]
    evicted: Sequence[Mapping[str, str]]
    spared: Sequence[Mapping[str, str]]
    changed: Sequence[Mapping[str, Any]]
    stopped: Sequence[str]
    started: Sequence[str]
    repeated: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Search:
    """What a search for a job found, or has found so far.

    `stopped` says what was not tried when it ended early, `not_enough` which kinds of change do not help.
    """

    job: str
    waits: bool
    simulations: int
    complete: bool
    stopped: Reason | None
    changes: Sequence[Unblocking]
    not_enough: Sequence[Reason]
    checklist: Sequence[Checklist]
