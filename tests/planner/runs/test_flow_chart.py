"""The chart of evictions from queue to queue stays legible with many queues."""

import math

from planner.runs.charts.flow import MOST, flow_figure
from planning.rows import FlowRow


def flow_row(giver: str, taker: str, pods: int) -> FlowRow:
    return FlowRow(giver, taker, "reclaim", pods, pods, 0, {"cpu": 1000.0 * pods})


def test_a_few_queues_are_all_drawn() -> None:
    rows = [flow_row(f"gives-{number}", "takes", number + 1) for number in range(MOST + 1)]
    figure = flow_figure(rows, "pods")
    assert len(figure.givers) == MOST + 1
    assert not figure.is_gathered


def test_the_smallest_of_many_queues_are_drawn_as_one_with_the_same_total() -> None:
    rows = [
        flow_row(f"gives-{number:03}", f"takes-{(number * 7 + other) % 100:03}", number + 1)
        for number in range(100)
        for other in range(3)
    ]
    figure = flow_figure(rows, "pods")
    assert figure.is_gathered
    names = {end.queue for end in figure.givers}
    assert names == {"90 other queues", *(f"gives-{number:03}" for number in range(90, 100))}
    assert len(figure.takers) == MOST + 1
    assert [end.queue for end in (figure.givers[-1], figure.takers[-1])] == ["90 other queues"] * 2
    drawn = math.fsum(ribbon.amount for ribbon in figure.ribbons)
    assert drawn == sum(row.evicted for row in rows)
    assert math.fsum(end.amount for end in figure.givers) == drawn
    assert figure.height < 700


def test_the_room_beside_the_bands_is_that_of_the_longest_name_or_amount() -> None:
    assert flow_figure([flow_row("a", "b", 3)], "cpu").letters == len("3 cores") + 1
    assert flow_figure([flow_row("a", "analytics-batch", 3)], "cpu").letters == 16
    [cut] = flow_figure([flow_row("a" * 63, "b", 3)], "cpu").givers
    assert cut.name == "a" * 23 + "…"
