"""Chart of what evictions moved between queues: ribbons from queue to queue, as SVG paths.

Coordinates are thousandths of the width and pixels of the height: the page stretches the width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from planning.rows import FlowRow
from planning.units import scale_of

HEIGHT = 260
GAP = 30
"""The height between two ends, enough for the name of a queue above its amount."""
COLOURS = 5
MOST = 10
"""How many queues of each side are drawn on their own; the others are drawn as one."""
SHORTEST = 3.0
WIDTH = 1000
LONGEST = 24
"""How many letters of a queue's name are drawn."""


@dataclass(frozen=True)
class End:
    """A queue on one side of the chart."""

    queue: str
    amount: float
    top: float
    height: float
    colour: int
    """The colour of the giver whose bands start here; takers have none."""
    amount_text: str
    """The amount with its unit."""

    @property
    def name(self) -> str:
        """Return the queue's name as it is drawn."""
        name = self.queue or "no queue"
        return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"

    @property
    def middle(self) -> float:
        """Return the height at which its name is drawn."""
        return round(self.top + self.height / 2, 1)


@dataclass(frozen=True)
class Ribbon:
    """What one queue lost to another, as the outline of a band."""

    giver: str
    taker: str
    amount: float
    path: str
    colour: int


@dataclass(frozen=True)
class FlowFigure:
    """The chart of a flow: queues that lose pods on the left, queues that gain on the right."""

    height: float
    givers: Sequence[End]
    takers: Sequence[End]
    ribbons: Sequence[Ribbon]
    is_gathered: bool = False
    """Whether some queues are drawn as one."""

    @property
    def letters(self) -> int:
        """Return the room that the longest name or amount needs: letters, rounded up to a multiple of 4."""
        texts = [text for end in (*self.givers, *self.takers) for text in (end.name, end.amount_text)]
        return 4 * ceil(max(map(len, texts), default=0) / 4)


@dataclass(frozen=True)
class Flow:
    """What one end on the left lost to one on the right."""

    giver: str
    taker: str
    amount: float


def flow_figure(rows: Sequence[FlowRow], resource: str) -> FlowFigure:
    """Return the ribbons of one resource, or of evicted pods for `pods`; empty flows are not drawn.

    If a side has more than `MOST` queues, those with the smallest amounts are drawn as one.
    """
    flows = [Flow(row.giver, row.taker, _amount(row, resource)) for row in rows]
    some = [flow for flow in flows if flow.amount > 0]
    drawn = _gathered(some)
    total = sum(flow.amount for flow in drawn)
    scale = HEIGHT / total if total else 0.0
    queues = _ends(some)
    givers = _side([(flow.giver, flow.amount) for flow in drawn], scale, queues, resource)
    takers = _side([(flow.taker, flow.amount) for flow in drawn], scale, queues, resource)
    ends = [*givers.values(), *takers.values()]
    return FlowFigure(
        height=max((end.top + end.height for end in ends), default=0.0),
        givers=list(givers.values()),
        takers=list(takers.values()),
        ribbons=list(_ribbons(drawn, givers, takers, scale)),
        is_gathered=_ends(drawn) != queues,
    )


def _gathered(flows: Sequence[Flow]) -> list[Flow]:
    """Return the flows between the ends that are drawn, largest first if some were merged."""
    givers = _places([(flow.giver, flow.amount) for flow in flows])
    takers = _places([(flow.taker, flow.amount) for flow in flows])
    amounts: dict[tuple[str, str], float] = {}
    for flow in flows:
        ends = givers[flow.giver], takers[flow.taker]
        amounts[ends] = amounts.get(ends, 0.0) + flow.amount
    others = {place for places in (givers, takers) for queue, place in places.items() if place != queue}
    if not others:
        return list(flows)
    ranked = sorted(
        amounts.items(), key=lambda entry: (entry[0][0] in others, entry[0][1] in others, -entry[1])
    )
    return [Flow(*ends, amount) for ends, amount in ranked]


def _ends(flows: Sequence[Flow]) -> set[str]:
    return {end for flow in flows for end in (flow.giver, flow.taker)}


def _places(parts: Sequence[tuple[str, float]]) -> dict[str, str]:
    """Return the end at which each queue is drawn: its own or that of the others."""
    amounts: dict[str, float] = {}
    for queue, amount in parts:
        amounts[queue] = amounts.get(queue, 0.0) + amount
    ranked = sorted(amounts, key=lambda queue: (-amounts[queue], queue))
    if len(ranked) <= MOST + 1:
        return {queue: queue for queue in ranked}
    rest = f"{len(ranked) - MOST} other queues"
    return {queue: queue if place < MOST else rest for place, queue in enumerate(ranked)}


def _amount(row: FlowRow, resource: str) -> float:
    return float(row.evicted) if resource == "pods" else row.amounts.get(resource) or 0.0


def _side(
    flows: Sequence[tuple[str, float]], scale: float, queues: set[str], resource: str
) -> dict[str, End]:
    """Return the ends of one side from top to bottom: queues in order of appearance, then the others."""
    amounts: dict[str, float] = {}
    for queue, amount in flows:
        amounts[queue] = amounts.get(queue, 0.0) + amount
    ends, top = {}, 0.0
    for number, (queue, amount) in enumerate(sorted(amounts.items(), key=lambda end: end[0] not in queues)):
        height = max(amount * scale, SHORTEST)
        text = scale_of(resource, amount).say(amount)
        ends[queue] = End(queue, amount, round(top, 1), round(height, 1), number % COLOURS, text)
        top += height + GAP
    return ends


def _ribbons(
    drawn: Sequence[Flow], givers: dict[str, End], takers: dict[str, End], scale: float
) -> list[Ribbon]:
    left = {queue: end.top for queue, end in givers.items()}
    right = {queue: end.top for queue, end in takers.items()}
    ribbons = []
    for flow in drawn:
        thick = max(flow.amount * scale, SHORTEST)
        path = _band(left[flow.giver], right[flow.taker], thick)
        ribbons.append(Ribbon(flow.giver, flow.taker, flow.amount, path, givers[flow.giver].colour))
        left[flow.giver] += thick
        right[flow.taker] += thick
    return ribbons


def _band(left: float, right: float, thick: float) -> str:
    """Return the outline of a band from the left edge to the right one.

    >>> _band(0, 20, 10)
    'M0 0.0C500 0.0 500 20.0 1000 20.0V30.0C500 30.0 500 10.0 0 10.0Z'
    """
    half = WIDTH // 2
    over = f"M0 {left:.1f}C{half} {left:.1f} {half} {right:.1f} {WIDTH} {right:.1f}"
    low, high = left + thick, right + thick
    return f"{over}V{high:.1f}C{half} {high:.1f} {half} {low:.1f} 0 {low:.1f}Z"
