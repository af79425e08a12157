"""Ballots on victims: which tier decided, and why no earlier tier did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from scheduler_core.explain.wording import listed
from scheduler_core.framework.observer import DECIDED, REFUSED

Ballot = Mapping[str, Any]


def counts(ballots: Sequence[Ballot], tier: int, plugin: str) -> bool:
    """Return whether a plugin's answer belongs to the ballot that decided."""
    if not ballots or ballots[-1]["outcome"] != DECIDED:
        return False
    return bool(ballots[-1]["tier"] == tier and plugin in ballots[-1]["plugins"])


def passed_over(ballots: Sequence[Ballot]) -> str:
    """Return which answers do not count and why, as a clause; empty if the first ballot was the last.

    Examples
    --------
    >>> gang = {"tier": 1, "plugins": ["priority", "gang"], "outcome": "refused"}
    >>> passed_over([gang, {"tier": 2, "plugins": ["drf"], "outcome": "decided"}])
    'tier 1 (gang) refused every pod, so tier 2 decided'
    >>> pair = {"tier": 1, "plugins": ["priority", "gang"], "outcome": "disjoint"}
    >>> passed_over([pair, {"tier": 1, "plugins": ["conformance"], "outcome": "decided"}])
    'in tier 1 priority and gang agreed on no pod, so Volcano started afresh with conformance'

    """
    return "; ".join(_clauses(ballots))


def _clauses(ballots: Sequence[Ballot]) -> Iterator[str]:
    for ballot, following in pairwise(ballots):
        yield f"{_fate(ballot)}, so {_what_then(ballot, following)}"


def _fate(ballot: Ballot) -> str:
    tier, plugins = ballot["tier"], ballot["plugins"]
    if ballot["outcome"] == REFUSED:
        return f"tier {tier} ({plugins[-1]}) refused every pod"
    return f"in tier {tier} {listed(plugins)} agreed on no pod"


def _what_then(ballot: Ballot, following: Ballot) -> str:
    if following["tier"] == ballot["tier"]:
        return f"Volcano started afresh with {following['plugins'][0]}"
    decided = "decided" if following["outcome"] == DECIDED else "voted"
    return f"tier {following['tier']} {decided}"
