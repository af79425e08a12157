"""Reports of an upgrade's impact, as plain data and as Markdown for a change ticket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.release import Rule
from scheduler_core.upgrade.impact import Difference, Impact

_TITLES = {
    "scenario": "Whole scenario",
    "pod": "Pods",
    "job": "Jobs",
    "queue": "Queue figures",
}
MOST_ROWS = 50
"""The maximum number of rows of a Markdown table; the data has all of them."""


def rule_id(rule: Rule) -> str:
    """Return the public id of a rule.

    Examples
    --------
    >>> rule_id(Rule.PREEMPT_ROLLBACK)
    'preempt-rollback'

    """
    return rule.name.lower().replace("_", "-")


def causes_text(difference: Difference) -> str:
    """Return the causes of a difference: "a or b" if each alone is one, "a with b" if both are needed."""
    return (" with " if difference.together else " or ").join(map(rule_id, difference.rules))


def impact_data(impact: Impact) -> dict[str, Any]:
    """Return an impact as plain data: `from`, `to`, `rules` that cause it, `differences` with their rules."""
    return {
        "from": impact.old.name,
        "to": impact.new.name,
        "rules": [_rule_data(rule) for rule in impact.causes],
        "differences": [
            {
                "kind": difference.item.kind,
                "name": difference.item.name,
                "what": difference.item.what,
                "before": difference.old,
                "after": difference.new,
                "rules": [rule_id(rule) for rule in difference.rules],
                "together": difference.together,
            }
            for difference in impact.differences
        ],
    }


def _rule_data(rule: Rule) -> dict[str, Any]:
    change = rule.value
    return {
        "id": rule_id(rule),
        "part": change.part,
        "since": "v{}.{}".format(*change.since),
        "pull_requests": list(change.pulls),
        "before": change.before,
        "after": change.after,
    }


def impact_markdown(impact: Impact, name: str) -> str:
    """Return a report for a change ticket.

    Parameters
    ----------
    impact : Impact
        The impact.
    name : str
        The name of the cluster or scenario.

    """
    return "\n".join(_lines(impact, name)) + "\n"


def _lines(impact: Impact, name: str) -> Iterator[str]:
    yield f"# {name}: Volcano {impact.old.name} to {impact.new.name}"
    yield ""
    if not impact.differences and not impact.causes:
        yield "Both releases decide the same."
        return
    yield verdict(impact)
    yield ""
    yield "## Causes"
    yield ""
    for rule in impact.causes:
        yield from _cause_lines(rule)
    for kind, title in _TITLES.items():
        differences = impact.of_kind(kind)
        if differences:
            yield f"## {title}"
            yield ""
            yield from _table(impact, differences)
    yield "Each cause was found by simulation: without the rule the newer release gives the older answer."


def verdict(impact: Impact) -> str:
    """Return the impact in one sentence.

    Examples
    --------
    >>> from scheduler_core.release import V1_14, V1_15
    >>> verdict(Impact(V1_14, V1_15))
    '0 pods, 0 jobs and 0 queues differ; causes: none.'

    """
    pods, jobs, queues = (
        len({d.item.name for d in impact.of_kind(kind)}) for kind in ("pod", "job", "queue")
    )
    causes = ", ".join(rule_id(rule) for rule in impact.causes) or "none"
    counted = f"{_count(pods, 'pod')}, {_count(jobs, 'job')} and {_count(queues, 'queue')}"
    return f"{counted} differ; causes: {causes}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cause_lines(rule: Rule) -> Iterator[str]:
    change = rule.value
    pulls = ", ".join(f"#{pull}" for pull in change.pulls)
    yield f"- **{rule_id(rule)}** ({change.part}; since v{change.since[0]}.{change.since[1]}, {pulls})"
    yield f"  - before: {change.before}"
    yield f"  - after: {change.after}"
    yield ""


def _table(impact: Impact, differences: list[Difference]) -> Iterator[str]:
    yield f"| name | what | {impact.old.name} | {impact.new.name} | cause |"
    yield "|---|---|---|---|---|"
    for difference in differences[:MOST_ROWS]:
        cells = (
            difference.item.name,
            difference.item.what,
            _cell(difference.old),
            _cell(difference.new),
            causes_text(difference),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    if len(differences) > MOST_ROWS:
        yield ""
        yield f"{len(differences) - MOST_ROWS:,} more rows are in the JSON report."
    yield ""


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
