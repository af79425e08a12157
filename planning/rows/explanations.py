"""Rows of explanations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planning.rows.amounts import Amounts


@dataclass(frozen=True)
class Reason:
    """A reason: its id, one sentence, and the numbers behind it."""

    id: str
    sentence: str
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class Vote:
    """The vote of one plugin on one candidate.

    `counts` is false where its tier was passed over, or Volcano started afresh after it; None where that was
    not kept.
    """

    tier: int
    plugin: str
    verdict: str
    counts: bool | None
    reason: Reason


@dataclass(frozen=True)
class Spared:
    """A candidate that was spared, and the plugin that protected it; `tier` is None if not stored."""

    pod: str
    job: str
    queue: str
    node: str
    tier: int | None
    plugin: str
    reason: Reason


@dataclass(frozen=True)
class Smallest:
    """The smallest sufficient number of evictions; a lower bound if not `exact`."""

    count: int
    exact: bool
    pods: Sequence[str]
    reason: Reason


@dataclass(frozen=True)
class VictimStory:
    """Why one pod was chosen as a victim.

    `place` is its turn among those evicted together: for the same pod on the same node, or for the same gang.
    `first` says what put it before the next one; `surplus` is what became free beyond what was needed.
    `room` is what the node had free before, `left` what it has then: room and freed, less what was needed.
    Both are None for a gang, whose victims are on several nodes, and where they were not kept.
    `passed_over` says which votes do not count and why, None where all do or where it was not kept.
    `left_out` says how many nodes were not considered, None where there is none or where it was not kept.
    """

    order: int
    cycle: int
    pod: str
    job: str
    queue: str
    node: str
    for_pod: str
    for_job: str
    for_queue: str
    action: str
    state: str
    ran_seconds: float | None
    tier: int
    reason: Reason
    votes: Sequence[Vote]
    passed_over: Reason | None
    place: int
    first: Reason
    freed: Amounts
    needed: Amounts
    together: Sequence[str]
    freed_together: Amounts
    surplus: Amounts
    room: Amounts | None
    left: Amounts | None
    smallest: Smallest
    spared_there: Sequence[Spared]
    spared_by: Mapping[str, int]
    left_out: Reason | None

    @property
    def spared_total(self) -> int:
        """Return how many candidates were spared, on all nodes."""
        return sum(self.spared_by.values())


@dataclass(frozen=True)
class DerivationStep:
    """One step of the calculation of deserved: a round of the division, or a level of a tree."""

    plugin: str
    number: int
    queue: str
    terms: Mapping[str, Any]
    amounts: Mapping[str, Amounts]
    clipped_by: Mapping[str, str]


@dataclass(frozen=True)
class Derivation:
    """How a queue's deserved amount was calculated, and its place in the tree of drf if there is one."""

    queue: str
    cycle: int
    plugin: str
    deserved: Amounts
    summary: Reason
    steps: Sequence[DerivationStep]
    tree: Sequence[DerivationStep]
    tree_summary: Reason | None


@dataclass(frozen=True)
class LoopPod:
    """A pod that a loop evicts: in which cycles of the run, and for how many cycles it runs per turn."""

    pod: str
    job: str
    queue: str
    request: Amounts
    evicted_in: Sequence[int]
    placed_in: Sequence[int]
    ran_cycles: int


@dataclass(frozen=True)
class LoopChange:
    """A change that ends a loop: the evictions until then, and the waiting pods at the end."""

    reason: Reason
    changes: Sequence[Mapping[str, Any]]
    evicted: int
    waiting: int


@dataclass(frozen=True)
class LoopRow:
    """An eviction loop: its pods, the losses of each turn, why it continues and what ends it.

    `turns` are those that the run saw; `complete` says whether every change was tried.
    """

    first_cycle: int
    period: int
    turns: int
    pods: Sequence[LoopPod]
    jobs: Sequence[str]
    queues: Sequence[str]
    waiting: Sequence[str]
    evictions: int
    lost_amounts: Amounts
    lost_cycles: int
    lost_seconds: float
    reason: Reason
    why: Sequence[Reason]
    changes: Sequence[LoopChange]
    complete: bool
