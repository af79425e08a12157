"""Cells of an experiment that are forecasts of a cluster at a combination of settings.

Cells whose settings first differ at some time share the replay until then. Sound, as until the first event in
which two documents differ both replays have handed out the same events and wait for further ones at the same
times, so that each session finds the same state; and a replay that continues from a frozen state gives the
same bytes as one that was never frozen.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, mean
from typing import Any

from planning.documents import encoded
from planning.experiments.cells import Cell, Grid
from planning.experiments.figures import Figure
from planning.experiments.forecast_figures import OF_JOBS, figure_of_forecast, highest
from planning.experiments.levels import Json, Setting, UnusableSetting
from planning.experiments.settings import moved_options, timed_moves
from planning.experiments.space import Combination
from planning.experiments.work import Work, seed_of
from planning.forecasts.clock import seconds_until
from planning.forecasts.opening import NoForecast, document_under, replay_of, result_of
from planning.forecasts.record import Record, record_of
from planning.forecasts.shared import Shared
from scheduler_core.replay import Replay
from traces import Trace, Unreadable, read_trace

KEPT_PREFIXES = 4
"""The most frozen states that are kept, a few megabytes each, of the latest families."""
KEPT_TRACES = 32


@dataclass(frozen=True)
class Alone:
    """The parameters of the forecast of a cell under one seed."""

    scenario: Json
    workload: str
    options: Json


class ForecastGrid(Grid):
    """A grid whose cells are forecasts, with seeds one per seed.

    Parameters
    ----------
    document : mapping
        The scenario, with its configuration as a structure.
    settings : sequence of Setting
        The settings that vary.
    work : Work
        The workload of the forecasts.

    """

    def __init__(self, document: Json, settings: Sequence[Setting], work: Work) -> None:
        super().__init__(document, settings)
        self.work = work
        self.continued = 0
        self._prefixes: OrderedDict[Hashable, bytes] = OrderedDict()
        self._shared = Shared()
        self._traces: OrderedDict[int | None, tuple[str, Trace]] = OrderedDict()

    def cell(self, combination: Combination, figures: Sequence[Figure]) -> Cell:
        """Forecast a combination; the figures are those that a forecast of the changed scenario has."""
        return self.over(combination, figures, self.seeds(combination))

    def over(self, combination: Combination, figures: Sequence[Figure], seeds: Sequence[int | None]) -> Cell:
        """Forecast a combination under the workload of each seed; its figures are the means."""
        found, price = list[tuple[float, ...]](), self.price(combination)
        most = list[tuple[float, ...]]()
        for seed in seeds:
            try:
                record = self.record(combination, seed, jobs_only=all(one.kind in OF_JOBS for one in figures))
            except (NoForecast, UnusableSetting) as error:
                under = "" if seed is None else f"Seed {seed}: "
                return Cell(combination, price, (), f"{under}{error}")
            found.append(tuple(figure_of_forecast(one, record, self.work.prices) for one in figures))
            pairs = zip(figures, found[-1], strict=True)
            most.append(tuple(highest(one, record, value) for one, value in pairs))
        return Cell(
            combination,
            price,
            tuple(mean(values) for values in zip(*found, strict=True)),
            over=tuple(found) if len(found) > 1 else (),
            highest=tuple(fmean(values) for values in zip(*most, strict=True)),
            highest_over=tuple(most) if len(most) > 1 else (),
        )

    def seeds(self, combination: Combination) -> Sequence[int | None]:
        """Return the seeds of a cell; None: the trace itself."""
        moved = seed_of(moved_options(self.settings, self.chosen(combination)))
        return (moved,) if moved is not None else self.work.seeds or (None,)

    def alone(self, combination: Combination, seed: int | None) -> Alone:
        """Return the forecast of a cell under a seed."""
        text = self.work.text if seed is None else self._drawn(seed)[0]
        return Alone(self.changed(combination), text, self._options(combination, seed))

    def record(self, combination: Combination, seed: int | None, *, jobs_only: bool = False) -> Record:
        """Return the record of the forecast of a cell under a seed, or of its jobs only.

        Raises NoForecast and UnusableSetting.
        """
        options = self._options(combination, seed)
        scenario, trace = self.changed(combination), self._drawn(seed)[1]
        document, _ = document_under(scenario, trace, options, shared=self._shared)
        result = self._replayed(document, *self._family(combination, seed))
        return record_of(document, result, jobs_only=jobs_only)

    def _options(self, combination: Combination, seed: int | None) -> dict[str, Any]:
        levels = self.chosen(combination)
        options = {**self.work.options, **moved_options(self.settings, levels)}
        options.pop("seed", None)
        changes = timed_moves(self.changed(combination), self.settings, levels)
        if seed is not None:
            # A queue of the trace may have none of the drawn jobs.
            there = self._drawn(seed)[1].queues()
            for part in ("queues", "rates"):
                options[part] = {name: value for name, value in options[part].items() if name in there}
        if seed is not None and not self.work.patterns:
            options["window_begin_seconds"] = 0.0
        return {**options, "changes": [*options["changes"], *changes]}

    def _drawn(self, seed: int | None) -> tuple[str, Trace]:
        """Return the workload that a seed draws, as text and parsed."""
        if seed not in self._traces:
            given = None if seed is None or self.work.patterns else self._drawn(None)[1]
            text = self.work.drawn(given, seed)
            try:
                self._traces[seed] = text, read_trace(text)
            except Unreadable as error:
                raise NoForecast(f"The trace cannot be read: {error.problems[0]}.") from None
            while len(self._traces) > KEPT_TRACES:
                self._traces.popitem(last=False)
        return self._traces[seed]

    # prefixes

    def kindred(self, combinations: Iterable[Combination]) -> list[Combination]:
        """Return combinations in an order in which consecutive ones share a replayed prefix."""

        def common(combination: Combination) -> list[tuple[int, int]]:
            timed = [
                (bool(place) if setting.at else place, place)
                for setting, place in zip(self.settings, combination, strict=True)
            ]
            return [(int(shared), 0) for shared, _ in timed] + [(0, place) for _, place in timed]

        return sorted(combinations, key=common)

    def _family(self, combination: Combination, seed: int | None) -> tuple[Hashable, float]:
        """Return the key of cells that differ only from a time on, and this time; 0 for none.

        Their documents have the same events until then, and events at the same times from then on.
        """
        begin = str(self.document.get("now") or "")
        moved = [
            seconds_until(setting.at, begin) or 0.0
            for setting, place in zip(self.settings, combination, strict=True)
            if setting.at and place
        ]
        common = tuple(
            bool(place) if setting.at else place
            for setting, place in zip(self.settings, combination, strict=True)
        )
        return (common, seed), min(moved, default=0.0)

    def _replayed(self, document: Json, family: Hashable, until: float) -> dict[str, Any]:
        kept = self._prefixes.get(family)
        if kept is not None:
            self._prefixes.move_to_end(family)
            self.continued += 1
            return replay_of(document, json.loads(kept), self._shared).run()
        if not until:
            return replay_of(document, shared=self._shared).run()

        def watch(replay: Replay) -> None:
            """Save the state before the first session that may find a difference."""
            if family not in self._prefixes and (replay.next_time is None or replay.next_time >= until):
                self._prefixes[family] = encoded(replay.freeze())

        result = result_of(replay_of(document, shared=self._shared), watch)
        while len(self._prefixes) > KEPT_PREFIXES:
            self._prefixes.popitem(last=False)
        return result
