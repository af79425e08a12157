"""JSON requests, with the same bytes as Go sends."""

from __future__ import annotations

import json
from typing import Any

from scheduler_core.framework.extender_calls import CallFailed
from scheduler_core.plugins.extender.kubernetes import (
    Json,
)

_EXPONENT_FROM = 1e21


def encode(request: Json) -> bytes:
    """Return a request as Go encodes it; raises CallFailed if Go cannot."""
    try:
        text = json.dumps(_plain(request), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise CallFailed(f"json: unsupported value: {error}") from error
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode(errors="replace")


def _plain(value: Any) -> Any:
    """Return the same data with whole numbers as integers."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXPONENT_FROM:
        return int(value)
    return value
