"""Answers of the extender: JSON decoded by the rules of Go's decoder.

Keys are case-insensitive, unknown ones are ignored, null and missing ones leave the zero value, and a value
of the wrong type invalidates the whole answer. Anything after the first JSON value is ignored.
"""

from __future__ import annotations

import json
from typing import Any

from scheduler_core.framework.extender_calls import LARGEST_ANSWER, CallFailed

_BLANKS = b" \t\r\n"


class Pairs(list[tuple[str, Any]]):
    """The keys of a JSON object with their values, in order."""


class Answer:
    """One answer of the extender."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    @classmethod
    def read(cls, raw: bytes) -> Answer:
        """Return the answer in the body of a response; raises CallFailed."""
        value = _first_value(raw)
        if value is None:
            return cls(Pairs())
        if not isinstance(value, Pairs):
            raise CallFailed(f"json: cannot unmarshal {_kind(value)} into an object")
        return cls(value)

    def text(self, key: str) -> str:
        """Return a string, empty if it is missing."""
        value = self._value(key)
        if value is not None and not isinstance(value, str):
            raise _type_error(key, value, "a text")
        return value or ""

    def integer(self, key: str) -> int:
        """Return an integer written without fraction and exponent, 0 if it is missing."""
        value = self._value(key)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
            raise _type_error(key, value, "a whole number")
        return value

    def flag(self, key: str) -> bool:
        """Return a boolean, False if it is missing."""
        value = self._value(key)
        if value is not None and not isinstance(value, bool):
            raise _type_error(key, value, "true or false")
        return bool(value)

    def numbers(self, key: str) -> dict[str, float] | None:
        """Return numbers by name, None if they are missing."""
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, Pairs):
            raise _type_error(key, value, "an object of numbers")
        numbers = {}
        for name, number in value:
            if isinstance(number, bool) or not isinstance(number, (int, float, type(None))):
                raise _type_error(f"{key}.{name}", number, "a number")
            numbers[name] = float(number or 0.0)
        return numbers

    def uids(self, key: str) -> list[str]:
        """Return the UIDs of a list of tasks."""
        value = self._value(key)
        if value is None:
            return []
        if not isinstance(value, list) or isinstance(value, Pairs):
            raise _type_error(key, value, "a list of tasks")
        uids = []
        for task in value:
            if not isinstance(task, Pairs):
                raise _type_error(key, task, "a task")
            uids.append(Answer(task).text("UID"))
        return uids

    def _value(self, key: str) -> Any:
        folded = key.casefold()
        values = [value for name, value in self._pairs if name.casefold() == folded and value is not None]
        return values[-1] if values else None


def _first_value(raw: bytes) -> Any:
    text = raw[:LARGEST_ANSWER].lstrip(_BLANKS).decode(errors="replace")
    if not text:
        raise CallFailed("EOF")
    decoder = json.JSONDecoder(object_pairs_hook=Pairs, parse_constant=_refuse)
    try:
        return decoder.raw_decode(text)[0]
    except (ValueError, RecursionError) as error:
        if len(raw) > LARGEST_ANSWER:
            raise CallFailed("http: request body too large") from error
        raise CallFailed(f"the answer is not JSON: {error}") from error


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _type_error(key: str, value: Any, wanted: str) -> CallFailed:
    return CallFailed(f"json: cannot unmarshal {_kind(value)} into field {key}, which is {wanted}")


def _kind(value: Any) -> str:
    if isinstance(value, Pairs):
        return "object"
    kinds = {str: "string", bool: "bool", list: "array", type(None): "null"}
    return kinds.get(type(value), "number")
