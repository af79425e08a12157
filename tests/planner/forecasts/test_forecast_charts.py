"""Figures of forecasts are legible with many queues, and correct until the end of the window."""

from itertools import pairwise

import numpy as np
import pytest

from planner.forecasts.charts import OWN, arrivals_figure, queues_figure, stacked_figure, waiting_figure
from planner.forecasts.wait_charts import cdf_figure, waits_figure
from planning.forecasts.curves import Curve

END = 7200.0
SHOWN = (0.0, END / 3600)


def allocated(number: int, cores: float) -> Curve:
    return Curve(f"q{number:02}", "allocated", [0.0, 60.0, END], [0.0, cores * 1000, 0.0])


def test_a_curve_keeps_its_last_value_until_the_end_of_the_window() -> None:
    [trace] = waiting_figure([Curve("q", "waiting", [0.0, END], [3.0, 0.0])], SHOWN, {"q": 0})["data"]
    assert (trace["x"], trace["y"]) == ([0.0, 2.0], [3.0, 3.0])


def test_the_stacked_chart_groups_the_smallest_queues_and_keeps_the_total() -> None:
    stack = [
        Curve("", "allocated", [0.0, 60.0, END], [0.0, 100_000.0, 0.0]),
        *(allocated(number, number + 1) for number in range(12)),
    ]
    capacity = Curve("", "capacity", [0.0], [200_000.0])
    largest_first = {f"q{11 - number:02}": number for number in range(12)}
    *bands, offered = stacked_figure(stack, capacity, "cpu", SHOWN, largest_first, hidden=4)["data"]
    assert [band["name"] for band in bands] == [*(f"q{n:02}" for n in range(12 - OWN, 12)), "9 other queues"]
    assert sum(band["y"][-1] for band in bands) == pytest.approx(100.0)
    assert (offered["x"], offered["y"]) == ([0.0, 2.0], [200.0, 200.0])
    arrivals = arrivals_figure({f"q{number}": [number + 1] for number in range(OWN + 1)}, 60.0)["data"]
    assert arrivals[-1]["name"] == "1 other queue"


def test_a_queue_has_one_colour_in_all_figures() -> None:
    numbers = {"b": 0, "a": 1, "c": 9}
    curves = [Curve(queue, "allocated", [0.0, END], [1000.0, 0.0]) for queue in "abc"]
    capacity = Curve("", "capacity", [0.0], [9000.0])
    waits = {queue: np.array([1.0, 2.0]) for queue in "abc"}
    figures = [
        stacked_figure([curves[0], *curves], capacity, "cpu", SHOWN, numbers)["data"][:3],
        waiting_figure(curves, SHOWN, numbers)["data"],
        waits_figure(waits, numbers)["data"],
        cdf_figure(waits, numbers)["data"],
    ]
    for traces in figures:
        colours = {trace["name"]: trace["meta"] for trace in traces}
        assert colours == {"a": "queue-1", "b": "queue-0", "c": "queue-1"}
    assert figures[1][2]["line"]["dash"] == "dot"


def test_a_request_far_above_the_other_figures_leaves_the_axis_and_is_named() -> None:
    def requested(number: int, cores: float) -> Curve:
        return Curve(f"q{number:02}", "request", [0.0, END], [cores * 1000, 0.0])

    curves = [allocated(1, 4), requested(1, 250), allocated(2, 4), requested(2, 12)]
    layout = queues_figure(curves, "cpu", SHOWN)["layout"]
    assert layout["yaxis"]["range"] == [0, 12.0]
    assert "range" not in layout["yaxis2"]
    assert [note["text"] for note in layout["annotations"]] == ["q01: requests up to 250 cores", "q02"]


def test_each_queue_has_space_for_its_name_above_its_curves() -> None:
    layout = queues_figure([allocated(number, 1) for number in range(12)], "cpu", SHOWN)["layout"]
    area = layout["height"] - 90
    rows = sorted(axis["domain"] for name, axis in layout.items() if name.startswith("yaxis"))
    assert len(rows) == 12
    assert all((upper[0] - lower[1]) * area >= 20 for lower, upper in pairwise(rows))
    assert all((high - low) * area >= 50 for low, high in rows)
