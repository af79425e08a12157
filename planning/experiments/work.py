"""The workload of an experiment's forecasts: a trace or patterns, options, prices, seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planning.experiments.levels import Json
from planning.experiments.workload_settings import WORK
from planning.forecasts.costs import Prices
from planning.forecasts.options import DEFAULTS
from planning.forecasts.trace_texts import csv_of, generated_text
from planning.forecasts.workload import Fitting, drawn_from
from traces import Trace

UNSEEN = 10
"""The default number of further seeds for the verification of a proposal."""
_WINDOW = ("window_begin_seconds", "horizon_seconds")
OPTIONS = tuple(name for name in DEFAULTS if name != "targets")


@dataclass(frozen=True)
class Work:
    """The workload of forecasts.

    Attributes
    ----------
    options : mapping
        All options of a forecast.
    text : str
        The text of the trace; empty where patterns draw the work.
    patterns : sequence of mapping
        As for `traces.Pattern`; empty for a trace.
    prices : Prices
        The prices for figure `cost`.
    seeds : tuple of int
        Each draws the work of one forecast of every cell; empty: the trace is used unchanged.
    unseen : tuple of int
        Seeds that no cell is measured on.

    """

    options: Json
    text: str
    patterns: Sequence[Json]
    prices: Prices
    seeds: tuple[int, ...]
    unseen: tuple[int, ...]

    @classmethod
    def of(cls, written: Json, text: str) -> Work:
        """Return the work of a valid experiment's `forecast`; `text` is that of its trace."""
        options = {**DEFAULTS, **{name: written[name] for name in OPTIONS if name in written}}
        patterns = written.get("patterns") or ()
        count = written.get("seeds", 0)
        seed, seeds = written.get("seed"), tuple(range(1, count + 1))
        if not count and (patterns or seed is not None):
            seeds = (1 if seed is None else seed,)
        beyond = max(seeds, default=0)
        unseen = tuple(range(beyond + 1, beyond + 1 + written.get("unseen_seeds", UNSEEN))) if count else ()
        return cls(options, text, patterns, prices_of(written.get("prices") or {}), seeds, unseen)

    def drawn(self, trace: Trace | None, seed: int | None) -> str:
        """Return the text of the workload of a seed; without a seed the trace itself.

        Work drawn like a trace begins with the forecast.
        """
        if seed is None:
            return self.text
        if self.patterns:
            return generated_text(self.patterns, seconds=self.drawn_seconds, seed=seed)[0]
        assert trace is not None, "without patterns there is a trace"
        begin, seconds = (float(self.options[name]) for name in _WINDOW)
        return csv_of(drawn_from(trace, Fitting(begin=begin), seconds, seed)[0])

    @property
    def drawn_seconds(self) -> float:
        """Return how long patterns draw work: up to the end of the window of the forecast."""
        return sum(float(self.options[name]) for name in _WINDOW)


def unseen_seeds(written: Json) -> tuple[int, ...]:
    """Return the seeds of the verification; none without seeds."""
    return Work.of(written["forecast"], "").unseen if "forecast" in written else ()


def prices_of(written: Json) -> Prices:
    """Return prices in the form of a workspace or a file."""
    parts = ("pools", "resources", "currency")
    return Prices(**{name: written[name] for name in parts if name in written})


def seed_of(moved: Mapping[str, Any]) -> int | None:
    """Return the seed of a setting; None without one."""
    return moved.get("seed", WORK["seed"])  # type: ignore[no-any-return]  # a value of a JSON document
