"""What did evictions move between queues? Ribbons from queue to queue, drawn by the server.

The geometry is in whole thousandths of the width and in pixels of the height: the page stretches it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planning.rows import FlowRow

HEIGHT = 260
GAP = 14
SHORTEST = 3.0
WIDTH = 1000


@dataclass(frozen=True)
class End:
    """A queue at one side of the chart."""

    queue: str
    amount: float
    top: float
    height: float

    @property
    def middle(self) -> float:
        """Return where its name stands."""
        return round(self.top + self.height / 2, 1)


@dataclass(frozen=True)
class Ribbon:
    """What one queue lost to another, as the outline of a band."""

    giver: str
    taker: str
    amount: float
    path: str


@dataclass(frozen=True)
class FlowFigure:
    """The chart of a flow: queues that gave on the left, queues that took on the right."""

    height: float
    givers: Sequence[End]
    takers: Sequence[End]
    ribbons: Sequence[Ribbon]


def flow_figure(rows: Sequence[FlowRow], resource: str) -> FlowFigure:
    """Return the ribbons of one resource, `pods` being the evicted pods; flows of nothing are not drawn."""
    flows = [(row, _amount(row, resource)) for row in rows]
    drawn = [(row, amount) for row, amount in flows if amount > 0]
    total = sum(amount for _, amount in drawn)
    scale = HEIGHT / total if total else 0.0
    givers = _side([(row.giver, amount) for row, amount in drawn], scale)
    takers = _side([(row.taker, amount) for row, amount in drawn], scale)
    ends = [*givers.values(), *takers.values()]
    return FlowFigure(
        height=max((end.top + end.height for end in ends), default=0.0),
        givers=list(givers.values()),
        takers=list(takers.values()),
        ribbons=list(_ribbons(drawn, givers, takers, scale)),
    )


def _amount(row: FlowRow, resource: str) -> float:
    return float(row.evicted) if resource == "pods" else row.amounts.get(resource) or 0.0


def _side(flows: Sequence[tuple[str, float]], scale: float) -> dict[str, End]:
    """Return the queues of one side from top to bottom, as they first appear."""
    amounts: dict[str, float] = {}
    for queue, amount in flows:
        amounts[queue] = amounts.get(queue, 0.0) + amount
    ends, top = {}, 0.0
    for queue, amount in amounts.items():
        height = max(amount * scale, SHORTEST)
        ends[queue] = End(queue, amount, round(top, 1), round(height, 1))
        top += height + GAP
    return ends


def _ribbons(
    drawn: Sequence[tuple[FlowRow, float]], givers: dict[str, End], takers: dict[str, End], scale: float
) -> list[Ribbon]:
    left = {queue: end.top for queue, end in givers.items()}
    right = {queue: end.top for queue, end in takers.items()}
    ribbons = []
    for row, amount in drawn:
        thick = max(amount * scale, SHORTEST)
        path = _band(left[row.giver], right[row.taker], thick)
        ribbons.append(Ribbon(row.giver, row.taker, amount, path))
        left[row.giver] += thick
        right[row.taker] += thick
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
