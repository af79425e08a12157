"""Construction of lint findings."""

from __future__ import annotations

from typing import Any

from scheduler_core.problem import Problem, Severity, spell_steps

CONF = "scheduler_conf"


def conf_finding(
    rule: str,
    severity: Severity,
    way: tuple[str | int, ...],
    text: str,
    *,
    actual: Any = None,
    limit: Any = None,
    fix: str = "",
) -> Problem:
    """Return a finding about a part of the scheduler configuration."""
    path = spell_steps(CONF, *way)
    field = spell_steps(*way)
    message = f"{field}: {text}" if field else f"the configuration: {text}"
    return Problem(rule, severity, path, message, "", field, actual, limit, fix)
