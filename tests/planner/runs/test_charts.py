"""Do the figures hold the numbers of the rows, by name and in the unit of the axis?"""

from typing import Any

from planner.runs.charts import amounts_figure, share_figure
from planning.rows import QueueFigures


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


def test_what_is_unlimited_is_not_drawn() -> None:
    figure = amounts_figure([row("a", capability={"cpu": None}, guarantee={"cpu": 0.0})], "cpu")
    assert numbers(figure)["Capability"] == {"a": None}
    assert numbers(figure)["Guarantee"] == {"a": None}


def test_each_trace_names_the_measure_whose_colour_it_has() -> None:
    figure = amounts_figure([row("a", deserved={"cpu": 1.0})], "cpu")
    assert {trace["name"].lower() for trace in figure["data"]} == {trace["meta"] for trace in figure["data"]}
    assert "color" not in str(figure)


def test_the_share_figure_shows_start_and_end_in_per_cent() -> None:
    figure = share_figure([row("a", share=1.25, share_at_open=0.5), row("b")])
    assert numbers(figure) == {
        "Share at the end": {"a": 125.0, "b": None},
        "Share at the start": {"a": 50.0, "b": None},
    }


def test_a_figure_grows_with_its_rows() -> None:
    one, many = share_figure([row("a")]), share_figure([row(str(number)) for number in range(30)])
    assert many["layout"]["height"] > one["layout"]["height"]
