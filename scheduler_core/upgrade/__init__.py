"""Upgrade impact: the decisions that differ under another release of Volcano, and why."""

from scheduler_core.upgrade.impact import Difference, Impact, Item, replay_impact, upgrade_impact
from scheduler_core.upgrade.report import impact_data, impact_markdown, impact_notes, verdict

__all__ = [
    "Difference",
    "Impact",
    "Item",
    "impact_data",
    "impact_markdown",
    "impact_notes",
    "replay_impact",
    "upgrade_impact",
    "verdict",
]
