"""Validation of the figures and goals of an experiment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from planning.experiments.figures import MEASURES, PARTS_OF_1, WAITS, Figure, goal_of
from planning.experiments.forecast_figures import FORECAST_MEASURES
from planning.experiments.levels import Json, amount_of
from planning.forecasts.clock import duration

Found = tuple[str, tuple[str | int, ...], str, str]
"""Rule, path, message and fix."""
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)
_MOST = 10**18
_AMOUNTS = (("deserved",), ("capability",), ("guarantee", "resource"))


def kind_problems(written: Json) -> Iterator[Found]:
    """Yield figures that a run or a forecast does not have, and parts that exclude each other."""
    is_forecast = "forecast" in written
    known = FORECAST_MEASURES if is_forecast else MEASURES
    of = "a forecast" if is_forecast else "a run"
    for part in ("figures", "goals"):
        for number, one in enumerate(written.get(part) or ()):
            kind = one["figure"]
            if kind not in known:
                yield (
                    "figure", (part, number, "figure"), f"{of} has no figure {kind}",
                    f"write one of {', '.join(known)}" + ("" if is_forecast else ", or forecast"),
                )  # fmt: skip
    forecast = written.get("forecast") or {}
    if is_forecast and "run" in written:
        yield "many", ("run",), "cells are runs or forecasts", "write run or forecast"
    if "goals" in written and "sample" in written:
        message = "a search takes the combinations by price, and draws no sample"
        yield "many", ("sample",), message, "remove sample, or write figures instead of goals"
    if "seed" in forecast and "seeds" in forecast:
        yield "many", ("forecast", "seed"), "forecast has seed and seeds", "write one of them"
    if is_forecast and "cost" in _kinds(written) and not forecast.get("prices"):
        message = "figure cost needs prices"
        yield "prices", ("forecast", "prices"), message, "write prices: {pools: {NAME: 2.5}}"


def _kinds(written: Json) -> set[str]:
    return {one["figure"] for part in ("figures", "goals") for one in written.get(part) or ()}


def goal_problems(written: Json) -> Iterator[Found]:
    """Yield limits that are no value of their figure, and limits that exclude each other."""
    for number, one in enumerate(written.get("goals") or ()):
        found = [
            (rule, ("goals", number, end), f"{one[end]!r} is not {what}", fix)
            for end in ("at_most", "at_least")
            if end in one
            for rule, what, fix in _limit_problems(one, one[end])
        ]
        yield from found
        if found or not {"at_most", "at_least"} <= one.keys():
            continue
        goal = goal_of(one)
        if goal.most is not None and goal.least is not None and goal.most < goal.least:
            message = "at_most is below at_least, so that no value reaches the goal"
            yield "range", ("goals", number, "at_most"), message, "write at_most of at_least or more"


def _limit_problems(goal: Json, limit: Any) -> Iterator[tuple[str, str, str]]:
    """Yield rule, what the limit is not, and the fix."""
    if goal["figure"] in WAITS:
        if duration(limit) is None:
            yield "time", "a length of time", "write 600, 10m or 1h30m"
    elif "resource" in goal and goal["figure"] not in PARTS_OF_1:
        if amount_of(limit) is None:
            yield "amount", "an amount", "write 8, 500m or 64Gi"
    elif not _is_number(limit):
        yield "number", "a number", "write a number such as 4 or 0.5"


def _is_number(limit: Any) -> bool:
    if isinstance(limit, str):
        return bool(_NUMBER.fullmatch(limit))
    return isinstance(limit, int | float) and -_MOST <= limit <= _MOST


def unknown_resources(document: Json, figures: Iterable[Figure]) -> list[str]:
    """Return the resources of figures that no node, queue or pod of the cluster names: they are always 0."""
    wanted = {figure.resource for figure in figures if figure.resource}
    for known in _resources(document):
        if not (wanted := wanted.difference(known)):
            break
    return sorted(wanted)


def _resources(document: Json) -> Iterator[Iterable[str]]:
    for node in document.get("nodes") or ():
        yield _held(node, "status", "allocatable")
    for queue in document.get("queues") or ():
        for field in _AMOUNTS:
            yield _held(queue, "spec", *field)
    for pod in document.get("pods") or ():
        for part in ("containers", "initContainers"):
            for container in (pod.get("spec") or {}).get(part) or ():
                yield _held(container, "resources", "requests")


def _held(given: Any, *steps: str) -> Iterable[str]:
    for step in steps:
        given = given.get(step) if isinstance(given, Mapping) else None
    return given if isinstance(given, Mapping) else ()
