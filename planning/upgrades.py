"""The decisions of another release of Volcano in a scenario."""

from collections.abc import Mapping
from typing import Any

from planning.releases import release_of_name
from scheduler_core import Options, prepare
from scheduler_core.release import Release, Rule
from scheduler_core.upgrade import impact_data, impact_markdown, impact_notes, upgrade_impact, verdict

_USUAL_SIMULATIONS = 2 + len(Rule)


def upgrade_report(document: Mapping[str, Any], old: str, new: str, options: Options) -> dict[str, Any]:
    """Return the decisions that differ under another release, with the rules that cause them.

    Besides the data: a sentence (`verdict`) and a report for a change ticket (`markdown`).
    """
    simulations = 0

    def count(release: Release) -> None:
        nonlocal simulations
        if options.progress is not None:
            options.progress(min(simulations / _USUAL_SIMULATIONS, 0.99), f"simulation {simulations + 1}")
        simulations += 1

    impact = upgrade_impact(
        prepare(document),
        release_of_name(old),
        release_of_name(new),
        options=Options(explain=False, extender=options.extender),
        begun=count,
    )
    name = str(document.get("name") or "scenario")
    notes = impact_notes(impact.old, impact.new, old, new)
    return {
        **impact_data(impact, notes),
        "verdict": verdict(impact),
        "markdown": impact_markdown(impact, name, notes),
    }
