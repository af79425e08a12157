"""Curves that are drawn together, thinned, show what was true at one moment."""

import random
from collections.abc import Iterator

import pytest

from planning.forecasts.curves import curves, part_curve, stack_curves
from planning.forecasts.machines import Pool
from planning.forecasts.record import Record
from planning.forecasts.steps import Steps
from tests.planning.test_forecast_service import NO_EVICTIONS, NO_JOBS

GPUS, END = 128_000.0, 100_000.0
NODES = Steps.of([(0.0, GPUS), (END / 2, GPUS / 2)])


def changing_hands() -> Record:
    """Return a forecast in which three queues share all that the nodes offer, every 10 s in other parts."""
    random.seed(1)
    changes: dict[str, list[tuple[float, float]]] = {"a": [], "b": [], "c": []}
    for time in range(0, int(END), 10):
        first, second = sorted(random.choices(range(129), k=2))
        for queue, gpus in zip(changes, (first, second - first, 128 - second), strict=True):
            changes[queue].append((float(time), gpus * NODES.at(time) / 128))
    queues = {queue: {"allocated": {"gpu": Steps.of(rows)}} for queue, rows in changes.items()}
    pools = (Pool("g8", NODES, {"gpu": NODES}),)
    return Record("", END, 10.0, 10_000, NO_JOBS, NO_EVICTIONS, queues, tuple(queues), pools, ())


def sums(of: Iterator[list[float]]) -> list[float]:
    return [sum(values) for values in zip(*of, strict=True)]


@pytest.mark.parametrize(("begin", "end"), [(0.0, END), (20_000.0, 80_000.0), (30_000.0, 30_100.0)])
def test_queues_of_a_stack_never_hold_more_than_the_nodes_offer(begin: float, end: float) -> None:
    record = changing_hands()
    everything, *stack = stack_curves(record, "gpu", begin, end, record.leaves)
    assert sums(iter([curve.values for curve in stack])) == pytest.approx(everything.values)
    assert everything.values == pytest.approx(NODES.at(everything.t).tolist())
    assert len(everything.t) <= 1001
    for curve in stack:
        assert curve.t == everything.t
        assert curve.values == record.steps(curve.queue, "allocated", "gpu").at(curve.t).tolist()


def test_curves_that_are_thinned_each_on_its_own_do_not_add_up() -> None:
    record = changing_hands()
    own = [curve for curve in curves(record, "gpu", 0.0, END) if curve.figure == "allocated"]
    shown = [Steps.of(zip(curve.t, curve.values, strict=True)).at(own[0].t).tolist() for curve in own]
    assert max(sums(iter(shown))) > 1.2 * GPUS


def test_the_allocated_part_is_that_of_the_nodes_at_the_same_moment() -> None:
    part = part_curve(changing_hands(), "gpu", 0.0, END)
    assert max(part.values) == pytest.approx(1.0)
