"""Charts show the numbers of their rows, by queue name and in the unit of the axis."""

from dataclasses import replace
from typing import Any

import pytest

from planner.runs.charts import amounts_figure, bullets, compared_amounts_figure, share_figure
from planner.runs.selectors.figures import queue_lines, shown_queues
from planning.rows import QueueFigures
from planning.units import scale_of


def row(queue: str, **known: Any) -> QueueFigures:
    amounts = {
        name: known.pop(name, {})
        for name in (
            "deserved", "allocated", "allocated_at_open", "request", "capability",
            "real_capability", "guarantee", "elastic", "inqueue",
        )
    }  # fmt: skip
    rest = {
        "parent": "root", "depth": 1, "weight": 1, "share": None, "share_at_open": None,
        "overused": None, "in_session": True, **known,
    }  # fmt: skip
    return QueueFigures(queue=queue, **amounts, **rest)


def numbers(figure: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    return {trace["name"]: dict(zip(trace["y"], trace["x"], strict=True)) for trace in figure["data"]}


def test_the_amounts_figure_shows_each_measure_of_each_queue_in_cores() -> None:
    held = {"allocated": {"cpu": 6500.0}, "request": {"cpu": 9000.0}, "guarantee": {"cpu": 500.0}}
    rows = [
        row("a", deserved={"cpu": 8000.0}, **held),
        row("b", deserved={"cpu": 2000.0}, allocated={"cpu": 0.0}, capability={"cpu": 4000.0}),
    ]
    figure = amounts_figure(rows, "cpu")
    assert numbers(figure) == {
        "Request": {"a": 9.0, "b": None},
        "Allocated": {"a": 6.5, "b": 0.0},
        "Deserved": {"a": 8.0, "b": 2.0},
        "Guarantee": {"a": 0.5, "b": None},
        "Capability": {"a": None, "b": 4.0},
    }
    assert figure["layout"]["xaxis"]["title"]["text"] == "CPU in cores"


def test_the_axis_takes_the_unit_of_the_largest_amount() -> None:
    figure = amounts_figure([row("a", deserved={"memory": 2.0**40}, allocated={"memory": 2.0**39})], "memory")
    assert numbers(figure)["Allocated"] == {"a": 0.5}
    assert figure["layout"]["xaxis"]["title"]["text"] == "Memory in TiB"


def test_unlimited_amounts_are_not_drawn() -> None:
    figure = amounts_figure([row("a", capability={"cpu": None}, guarantee={"cpu": 0.0})], "cpu")
    assert numbers(figure)["Capability"] == {"a": None}
    assert numbers(figure)["Guarantee"] == {"a": None}


def test_each_trace_is_named_after_the_measure_that_sets_its_colour() -> None:
    figure = amounts_figure([row("a", deserved={"cpu": 1.0})], "cpu")
    assert {trace["name"].lower() for trace in figure["data"]} == {trace["meta"] for trace in figure["data"]}
    assert "color" not in str(figure)


def test_parents_do_not_dwarf_the_queues_of_a_comparison() -> None:
    leaves = [row("a", parent="top", request={"cpu": 100e3}), row("b", parent="top", request={"cpu": 40e3})]
    top, scale = row("top", request={"cpu": 50e6}, capability={"cpu": 90e6}), scale_of("cpu", 50e6)
    figure = compared_amounts_figure(
        {"A": [top, *leaves], "B": [top, *leaves]}, "cpu", scale, ["top", "a", "b"]
    )
    assert figure["layout"]["xaxis"]["range"] == pytest.approx([0, scale.number(105e3)])
    assert figure["layout"]["xaxis2"]["range"] == figure["layout"]["xaxis"]["range"]
    flat = compared_amounts_figure({"A": leaves, "B": leaves}, "cpu", scale, ["a", "b"])
    assert "range" not in flat["layout"]["xaxis"]


def test_the_share_figure_shows_start_and_end_in_percent() -> None:
    figure = share_figure([row("a", share=1.25, share_at_open=0.5), row("b")])
    assert numbers(figure) == {
        "Share at the end": {"a": 125.0, "b": None},
        "Share at the start": {"a": 50.0, "b": None},
    }


def test_one_absurd_share_leaves_room_for_the_others() -> None:
    axis = share_figure([row("a", share=1.2e14), row("b", share=0.5)])["layout"]["xaxis"]
    assert axis["range"] == [0, 1000]
    assert "ends at 1,000 %" in axis["title"]["text"]
    beside = share_figure([row("b", share=0.5)], [row("a", share=1.2e14)])["layout"]["xaxis"]
    assert beside["range"] == [0, 1000]
    assert "range" not in share_figure([row("b", share=0.5)])["layout"]["xaxis"]


def test_a_figure_grows_with_its_rows() -> None:
    one, many = share_figure([row("a")]), share_figure([row(str(number)) for number in range(30)])
    assert many["layout"]["height"] > one["layout"]["height"]


def test_parents_do_not_dwarf_their_child_queues_on_the_common_axis() -> None:
    rows = [
        row("root", request={"cpu": 90_000.0}),
        row("team", request={"cpu": 80_000.0}, parent="root"),
        *(row(name, request={"cpu": 4000.0}, parent="team") for name in ("a", "b")),
    ]
    drawn = bullets(rows, "cpu")
    assert [bullet.request for bullet in drawn] == [100.0] * 4
    assert [bullet.is_cut for bullet in drawn] == [True, True, False, False]


def test_bullets_share_one_axis_or_centre_each_queue_on_its_deserved_amount() -> None:
    rows = [
        row("a", deserved={"cpu": 8000.0}, allocated={"cpu": 4000.0}, request={"cpu": 16_000.0}),
        row("b", deserved={"cpu": 1000.0}, allocated={"cpu": 4000.0}, capability={"cpu": None}),
    ]
    common = bullets(rows, "cpu")
    assert [(one.allocated, one.deserved, one.request) for one in common] == [
        (25.0, 50.0, 100.0),
        (25.0, 6.25, None),
    ]
    own = bullets(rows, "cpu", "own")
    assert [(one.deserved, one.allocated, one.is_cut) for one in own] == [
        (50.0, 25.0, False),
        (50.0, 100.0, True),
    ]


def test_parents_sum_their_child_queues_and_a_queue_without_resources_has_no_share() -> None:
    rows = [
        row("root", parent="", depth=0, in_session=False),
        row("team", depth=1, in_session=False),
        row("a", parent="team", depth=2, deserved={"cpu": 8000.0}, allocated={"cpu": 4000.0}, share=0.5),
        row("b", parent="team", depth=2, deserved={"cpu": 0.0}, allocated={"cpu": 0.0}, share=1.0),
    ]
    lines = {line.figures.queue: line for line in queue_lines(rows, "cpu", {"a": 2})}
    assert lines["root"].figures.allocated == lines["team"].figures.allocated == {"cpu": 4000.0}
    assert (lines["team"].share, lines["team"].waiting) == (0.5, 2)
    assert lines["b"].share is None


def test_queues_are_ordered_by_waiting_jobs_then_deficit_then_share() -> None:
    amounts = {"deserved": {"cpu": 8000.0}, "request": {"cpu": 8000.0}}
    rows = [
        row("full", share=1.0, allocated={"cpu": 8000.0}, **amounts),
        row("idle", share=0.0, allocated={"cpu": 0.0}, **amounts),
        row("fuller", share=2.0, allocated={"cpu": 16000.0}, **amounts),
        row("short", share=0.75, allocated={"cpu": 6000.0}, **amounts),
        row("shorter", share=0.5, allocated={"cpu": 4000.0}, **amounts),
    ]
    lines = queue_lines(rows, "cpu", {"short": 1, "shorter": 3})
    found = [line.figures.queue for line in shown_queues(lines).lines]
    assert found == ["shorter", "short", "idle", "fuller", "full"]
    hierarchical = replace(rows[0], queue="root", parent="", depth=0)
    assert [line.figures.queue for line in shown_queues(queue_lines([hierarchical], "cpu", {})).lines] == []
