"""Which plain rows do pages, charts and the API share?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Quantities = Mapping[str, str]
"""Resource name to quantity as people write it: ``{"cpu": "8", "memory": "32Gi"}``."""
Amounts = Mapping[str, float | None]
"""Resource name to amount in the scheduler's units; None: unlimited, a missing name: nothing is set."""


@dataclass(frozen=True)
class Problem:
    """Something wrong, or worth knowing, about a plan or a text; what is not known is None."""

    rule: str
    severity: str
    message: str
    path: str | None = None
    queue: str | None = None
    field: str | None = None
    actual: Any = None
    limit: Any = None
    fix: str | None = None
    document: str | None = None
    line: int | None = None

    @property
    def is_error(self) -> bool:
        """Does it forbid to save or to simulate?"""
        return self.severity == "error"


@dataclass(frozen=True)
class ConfFinding(Problem):
    """A finding about a configuration.

    `remedy` is the JSON patch of the configuration that mends it, empty where no edit of its own does.
    """

    remedy: Sequence[Mapping[str, Any]] = ()

    @property
    def patch(self) -> str:
        """Return the remedy as a button sends it."""
        return json.dumps(self.remedy, ensure_ascii=False)


# The form of a scheduler configuration. Buttons are JSON patches as texts, empty where nothing is to do.

Choices = Sequence[tuple[str, str]]
"""Names with the JSON patch that choosing one makes."""


@dataclass(frozen=True)
class SwitchField:
    """One switch of a plugin: what is written, empty for nothing, and what then holds (`on` or `off`)."""

    name: str
    value: str
    default: str


@dataclass(frozen=True)
class ArgumentField:
    """One argument: what is written, its type in words, what holds without it, its meaning with its unit."""

    name: str
    value: str
    kind: str
    default: str
    meaning: str
    is_flag: bool
    is_long: bool


@dataclass(frozen=True)
class ActionForm:
    """An action in its place; `key` tells it from others of its name."""

    name: str
    key: str
    up: str
    down: str
    remove: str


@dataclass(frozen=True)
class EntryForm:
    """The arguments of an action; `path` is their JSON pointer."""

    name: str
    path: str
    remove: str
    arguments: Sequence[ArgumentField]


@dataclass(frozen=True)
class PluginForm:
    """A plugin in its place; `patterns` are arguments whose name has an ending of one's own."""

    name: str
    key: str
    says: str
    up: str
    down: str
    earlier: str
    later: str
    remove: str
    path: str
    switches: Sequence[SwitchField]
    arguments: Sequence[ArgumentField]
    patterns: Sequence[str]
    is_known: bool

    @property
    def switches_written(self) -> int:
        """Return how many switches do not stand at their default because something is written."""
        return sum(bool(switch.value) for switch in self.switches)

    @property
    def arguments_written(self) -> int:
        """Return how many arguments are written."""
        return sum(bool(argument.value) for argument in self.arguments)


@dataclass(frozen=True)
class TierForm:
    """A tier, its number counted from 1, and the plugins that it could have, too."""

    number: str
    plugins: Sequence[PluginForm]
    up: str
    down: str
    remove: str
    more_plugins: Choices


@dataclass(frozen=True)
class ConfForm:
    """A configuration as fields and buttons; only `write_default` where the text is empty."""

    actions: Sequence[ActionForm] = ()
    more_actions: Choices = ()
    tiers: Sequence[TierForm] = ()
    add_tier: str = ""
    configured: Sequence[EntryForm] = ()
    more_configured: Choices = ()
    write_default: str = ""


@dataclass(frozen=True)
class QueueRow:
    """One queue of a scenario's tree; rows come parents first, children by name under their parent."""

    name: str
    parent: str
    depth: int
    children: int
    weight: int | None
    priority: int | None
    reclaimable: bool | None
    state: str
    guarantee: Quantities
    deserved: Quantities
    capability: Quantities
    dequeue_strategy: str
    affinity: Mapping[str, Any]
    annotations: Mapping[str, str]
    labels: Mapping[str, str]


@dataclass(frozen=True)
class ExportStep:
    """One write on the way to a scenario; `halfway` when a later one brings the queue to what it shall be."""

    verb: str
    queue: str
    halfway: bool


@dataclass(frozen=True)
class Export:
    """How to change a cluster into the scenario.

    `changed` and `whole` are YAML to apply from top to bottom; `script` deletes, opens and closes queues;
    `impossible` is what Volcano's webhook accepts in no order.
    """

    steps: Sequence[ExportStep]
    deletions: Sequence[str]
    states: Mapping[str, str]
    conf_changed: bool
    impossible: Sequence[Problem]
    changed: str
    whole: str
    script: str


@dataclass(frozen=True)
class QueueFigures:
    """What a run made of one queue. Amounts are those at the end of the last cycle unless named otherwise."""

    queue: str
    parent: str
    depth: int
    weight: int | None
    share: float | None
    share_at_open: float | None
    deserved: Amounts
    allocated: Amounts
    allocated_at_open: Amounts
    request: Amounts
    capability: Amounts
    real_capability: Amounts
    guarantee: Amounts
    elastic: Amounts
    inqueue: Amounts
    overused: bool | None
    in_session: bool


@dataclass(frozen=True)
class RunCounts:
    """How much a run decided, in numbers of pods and jobs; `evictions` counts each time, not each pod."""

    bound: int
    pipelined: int
    evictions: int
    victims_committed: int
    victims_kept: int
    victims_failed: int
    jobs: int
    jobs_pending: int


# Why a run decided so


@dataclass(frozen=True)
class Reason:
    """A reason: its id, one sentence, and the numbers behind it."""

    id: str
    sentence: str
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class Vote:
    """What one plugin answered about one candidate.

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
    """A candidate that stayed, and the plugin that kept it; `tier` is None where it was not kept."""

    pod: str
    job: str
    queue: str
    node: str
    tier: int | None
    plugin: str
    reason: Reason


@dataclass(frozen=True)
class Smallest:
    """How few of the evictable pods would have been enough; where not `exact`, at least this many."""

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
        """Return how many candidates stayed, on all nodes."""
        return sum(self.spared_by.values())


@dataclass(frozen=True)
class DerivationStep:
    """One step towards what a queue deserves: a round of dividing, or a level of a tree."""

    plugin: str
    number: int
    queue: str
    terms: Mapping[str, Any]
    amounts: Mapping[str, Amounts]
    clipped_by: Mapping[str, str]


@dataclass(frozen=True)
class Derivation:
    """How a queue came to what it deserves, and where it stands in the tree of drf where there is one."""

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
    """A pod that a loop evicts: in which cycles of the run, and for how many cycles it runs in a turn."""

    pod: str
    job: str
    queue: str
    request: Amounts
    evicted_in: Sequence[int]
    placed_in: Sequence[int]
    ran_cycles: int


@dataclass(frozen=True)
class LoopChange:
    """A change that ends a loop: the evictions until then, and the pods that wait at the end."""

    reason: Reason
    changes: Sequence[Mapping[str, Any]]
    evicted: int
    waiting: int


@dataclass(frozen=True)
class LoopRow:
    """An eviction loop: who takes part, what each turn loses, why it turns and what ends it.

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


@dataclass(frozen=True)
class FlowRow:
    """What one queue lost to another: pods evicted or kept back, and what the evicted ones held.

    A pod that is evicted in several cycles counts once in `evicted` and `amounts`, each time in `evictions`.
    """

    giver: str
    taker: str
    action: str
    evicted: int
    evictions: int
    kept: int
    amounts: Amounts


@dataclass(frozen=True)
class Shortage:
    """What a gate asked for of one resource, what there was, and what was missing."""

    resource: str
    required: float
    available: float
    missing: float

    @property
    def exceeded(self) -> float:
        """Return by how much the limit is exceeded already, 0 where it is not."""
        return max(0.0, -self.available)


@dataclass(frozen=True)
class NodesRefusing:
    """How many nodes reject a pod for one reason."""

    count: int
    text: str
    reason: Reason


@dataclass(frozen=True)
class ClosestNode:
    """The node that lacks least of what a pod asks for: what it lacks, and what of that it has free."""

    node: str
    lacks: Amounts
    free: Amounts


@dataclass(frozen=True)
class JobStory:
    """What stopped a waiting job first; `queue` is the one that lacks room, an ancestor of its own maybe."""

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
    """Why an action did, or did not, evict anybody for a job; `evicted` counts the pods that it did."""

    action: str
    evicted: int
    stopped_at: str
    conclusion: Reason | None
    checks: Sequence[Check]


@dataclass(frozen=True)
class Unblocking:
    """A change with which a job would run, with all that it also does.

    `members` are the job's pods placed, pipelined and pending, and its minimum; `cost` is how many pods of
    others are evicted or lose their place; `refused` is why Volcano's webhook would not take it; `changed`
    has every other job whose pods or phase differ.
    """

    id: str
    reason: Reason
    runs: str
    members: Mapping[str, int]
    cost: int
    refused: Sequence[str]
    changes: Sequence[Mapping[str, Any]]
    evicted: Sequence[Mapping[str, str]]
    spared: Sequence[Mapping[str, str]]
    changed: Sequence[Mapping[str, Any]]
    stopped: Sequence[str]
    started: Sequence[str]


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


@dataclass(frozen=True)
class PodPlace:
    """Where a pod of a job stands at the end of a run; `why` says why it waits."""

    pod: str
    job: str
    status: str
    node: str
    why: str


@dataclass(frozen=True)
class QueueMoment:
    """How a queue stood at one step."""

    queue: str
    allocated: Amounts
    deserved: Amounts
    share: float


@dataclass(frozen=True)
class NodeMoment:
    """How a node stood at one step; `free` is what is idle or being released, less what is promised."""

    node: str
    idle: Amounts
    releasing: Amounts
    pipelined: Amounts
    free: Amounts


@dataclass(frozen=True)
class Moment:
    """How queues and nodes stood just after one step."""

    queues: Sequence[QueueMoment]
    nodes: Sequence[NodeMoment]


def hangs_below(name: str, parent: str) -> str:
    """Return under which queue `name` stands: as in Volcano, one without a parent hangs below root."""
    return parent or ("" if name == "root" else "root")


def tree_order(parents: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return names with their depths, parents first, children by name; `parents` maps child to parent.

    A queue whose parent is missing, or that hangs in a circle, stands at the top: who mends it must see it.

    >>> tree_order({"b": "a", "a": "root", "root": "", "c": "b", "d": "gone"})
    [('d', 0), ('root', 0), ('a', 1), ('b', 2), ('c', 3)]
    >>> tree_order({"x": "y", "y": "x"})
    [('x', 0), ('y', 1)]
    """
    children: dict[str, list[str]] = {}
    for name in sorted(parents):
        children.setdefault(parents[name], []).append(name)
    tops = [name for name in sorted(parents) if parents[name] not in parents]
    order: dict[str, int] = {}
    for top in [*tops, *sorted(parents)]:
        waiting = [(top, 0)]
        while waiting:
            name, depth = waiting.pop()
            if name not in order:
                order[name] = depth
                waiting += [(child, depth + 1) for child in reversed(children.get(name, []))]
    return list(order.items())


class Decision(NamedTuple):
    """One step that a run took, as it is kept: in this order of fields, empty where one does not apply."""

    seq: int
    cycle: int
    action: str
    op: str
    job: str
    pod: str
    node: str
    reason: str
    for_pod: str
    state: str

    @property
    def state_label(self) -> str:
        """Return what became of the step, as pages say it; empty when it has no state."""
        return self.state.capitalize()
