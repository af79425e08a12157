"""Readers for the arguments of plugin resource-strategy-fit.

Field names are case-insensitive; a value of the wrong type crashes Volcano.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scheduler_core.errors import SchedulerPanic

NAME = "resource-strategy-fit"
MAX_NODE_SCORE = 100


def field_of(table: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field, None if it is absent."""
    return next((table[key] for key in sorted(table) if key.lower() == name.lower()), None)


def read_mapping(value: object, where: str) -> Mapping[str, Any]:
    """Return a mapping, empty if it is absent."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SchedulerPanic(f"{NAME}: {where} is not a mapping")
    return value


def read_integer(value: object, where: str) -> int:
    """Return a number truncated to an integer, 0 if it is absent."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SchedulerPanic(f"{NAME}: {where} is not a number")
    return int(value)


def read_boolean(value: object, where: str) -> bool:
    """Return a boolean, False if it is absent."""
    if value is None:
        return False
    if not isinstance(value, bool):
        raise SchedulerPanic(f"{NAME}: {where} is not true or false")
    return value


def read_text(value: object, where: str) -> str:
    """Return a string, empty if it is absent."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise SchedulerPanic(f"{NAME}: {where} is not a string")
    return value


def read_names(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]
