"""Reports of an upgrade's impact, as plain data and as Markdown for a change ticket."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_core.assumptions import release_notes
from scheduler_core.release import Release, Rule, unmodelled_between
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


def impact_notes(old: Release, new: Release, *names: str) -> list[str]:
    """Return the limits of a comparison: releases that stand for others, and differences without a rule.

    Parameters
    ----------
    old, new : Release
        The compared releases.
    *names : str
        The requested versions.

    Examples
    --------
    >>> from scheduler_core.release import V1_14
    >>> impact_notes(V1_14, V1_14, "v1.14.1")
    ['Assumed: Volcano v1.14.1 decides as v1.14.4 does, the nearest known release.']

    """
    assumed = [note for name in names for note in release_notes({"release": name})]
    return assumed + [f"Not compared: {text}." for text in unmodelled_between(old, new)]


def impact_data(impact: Impact, notes: Iterable[str] = ()) -> dict[str, Any]:
    """Return an impact as plain data: `from`, `to`, `rules` that cause it, `differences` with their rules.

    `notes` are those of `impact_notes`.
    """
    return {
        "from": impact.old.name,
        "to": impact.new.name,
        "notes": [*notes],
        "rules": [_rule_data(rule, impact) for rule in impact.causes],
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


def _behaviours(rule: Rule, impact: Impact) -> tuple[str, str]:
    """Return the behaviour of the release before and of the one after, which may be the older one."""
    before, after = rule.value.before, rule.value.after
    return (before, after) if impact.new.follows(rule) else (after, before)


def _rule_data(rule: Rule, impact: Impact) -> dict[str, Any]:
    change = rule.value
    before, after = _behaviours(rule, impact)
    return {
        "id": rule_id(rule),
        "part": change.part,
        "since": "v{}.{}".format(*change.since),
        "pull_requests": list(change.pulls),
        "before": before,
        "after": after,
    }


def impact_markdown(impact: Impact, name: str, notes: Iterable[str] = ()) -> str:
    """Return a report for a change ticket.

    Parameters
    ----------
    impact : Impact
        The impact.
    name : str
        The name of the cluster or scenario.
    notes : iterable of str
        Those of `impact_notes`.

    """
    return "\n".join(_lines(impact, name, [*notes])) + "\n"


def _lines(impact: Impact, name: str, notes: list[str]) -> Iterator[str]:
    yield f"# {name}: Volcano {impact.old.name} to {impact.new.name}"
    yield ""
    yield verdict(impact)
    if notes:
        yield ""
        yield from (f"- {note}" for note in notes)
    if impact.is_empty:
        return
    yield ""
    yield "## Causes"
    yield ""
    for rule in impact.causes:
        yield from _cause_lines(rule, impact)
    for kind, title in _TITLES.items():
        differences = impact.of_kind(kind)
        if differences:
            yield f"## {title}"
            yield ""
            yield from _table(impact, differences)
    yield (
        "Each cause was found by simulation: with the rule of a row switched back (all of them for a row "
        f'with "with"), {impact.new.name} gives the value of {impact.old.name}.'
    )


def verdict(impact: Impact) -> str:
    """Return the impact in one sentence.

    Examples
    --------
    >>> from scheduler_core.release import V1_14, V1_15
    >>> verdict(Impact(V1_14, V1_15))
    'Both releases decide the same here.'

    """
    if impact.old.rules == impact.new.rules:
        return f"Both follow the rules of {impact.new.name}: no difference between them is known."
    if impact.is_empty:
        return "Both releases decide the same here."
    causes = ", ".join(map(rule_id, impact.causes))
    if not impact.differences:
        things = " or ".join(f"a {kind}" for kind in impact.kinds)
        rest = "only decisions or figures that have no row"
        return f"No compared fact of {things} differs, {rest}; causes: {causes}."
    *others, last = (
        _count(len({difference.item.name for difference in impact.of_kind(kind)}), kind)
        for kind in impact.kinds
    )
    counts = f"{', '.join(others)} and {last}" if others else last
    return f"{counts} differ; causes: {causes}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cause_lines(rule: Rule, impact: Impact) -> Iterator[str]:
    change = rule.value
    before, after = _behaviours(rule, impact)
    pulls = ", ".join(f"#{pull}" for pull in change.pulls)
    yield f"- **{rule_id(rule)}** ({change.part}; since v{change.since[0]}.{change.since[1]}, {pulls})"
    yield f"  - before: {before}"
    yield f"  - after: {after}"
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
