"""Comparison of outcomes, in the shape of the API."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from manifests.differences import Difference
from queuecast.outcome import Outcome

Json = dict[str, Any]


def side_by_side(heads: Sequence[Json], settings: Sequence[Difference], outcomes: Sequence[Outcome]) -> Json:
    """Return the differences between runs: settings, queues, jobs, victims, placements."""
    evicted = [{victim.pod: asdict(victim) for victim in outcome.victims} for outcome in outcomes]
    return {
        "runs": [
            {**head, **_counts(outcome), **_against(evicted[0], mine)}
            for head, outcome, mine in zip(heads, outcomes, evicted, strict=True)
        ],
        "settings": [asdict(setting) for setting in settings],
        "queues": _lines([outcome.queues for outcome in outcomes]),
        "jobs": _lines([outcome.jobs for outcome in outcomes]),
        "victims": _lines(evicted),
        "placements": _lines([outcome.placements for outcome in outcomes]),
    }


def _counts(outcome: Outcome) -> dict[str, int]:
    ops = [placement["op"] for placement in outcome.placements.values()]
    return {
        "bound": ops.count("bind"),
        "pipelined": ops.count("pipeline"),
        "victims_committed": len({victim.pod for victim in outcome.victims}),
        "jobs": len(outcome.jobs),
        "jobs_pending": sum(job["waits"] for job in outcome.jobs.values()),
    }


def _against(first: Mapping[str, Any], mine: Mapping[str, Any]) -> dict[str, int]:
    return {
        "victims_new": len(mine.keys() - first.keys()),
        "victims_gone": len(first.keys() - mine.keys()),
        "victims_same": len(first.keys() & mine.keys()),
    }


def _lines(held: Sequence[Mapping[str, Any]]) -> list[Json]:
    names = dict.fromkeys(name for one in held for name in one)
    lines = [(name, [one.get(name) for one in held]) for name in names]
    rows = [
        {"name": name, "differs": any(value != values[0] for value in values), "runs": values}
        for name, values in lines
    ]
    return sorted(rows, key=lambda row: (not row["differs"], row["name"]))
