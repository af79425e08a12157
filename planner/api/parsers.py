"""Parsers of request bodies."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""Escapes of characters that neither databases nor files can store as text."""
_EXPONENT = re.compile(rb"[0-9][eE]\+?[0-9]|[0-9]{300}")
"""Text of numbers that may be read as infinite: JSON's grammar has no largest number."""
_DIGITS = 4000
"""Longer integers are no meaningful values; the interpreter itself reads 4,300 digits."""
_UNTEXTUAL = re.compile("[\x00\ud800-\udfff]")


class JsonBody(JSONParser):
    """JSON without duplicate members, excessive nesting or numbers, and invalid text."""

    is_ambiguity_refused = True

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the parsed body, or raise ParseError with the reason."""
        body: bytes = stream.read()
        try:
            return self._checked(body)
        except RecursionError as error:
            raise ParseError("JSON parse error - nested too deeply") from error
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from error

    def _checked(self, body: bytes) -> Any:
        members = _once if self.is_ambiguity_refused else None
        value = json.loads(
            body.decode(), parse_constant=_no_number, parse_int=_whole, object_pairs_hook=members
        )
        if _EXPONENT.search(body) and not all(map(isfinite, _numbers(value))):
            raise ValueError("a number is too large")
        if _SUSPECT.search(body) and any(map(_UNTEXTUAL.search, _texts(value))):
            raise ValueError("a string contains NUL or an unpaired surrogate")
        return value


class JsonCluster(JsonBody):
    """A cluster to import; the reader of a scenario reports duplicate members itself, with the line."""

    is_ambiguity_refused = False

    def _checked(self, body: bytes) -> Any:
        value = super()._checked(body)
        has_scenario = isinstance(value, Mapping) and "scenario" in value
        return value if has_scenario else JsonBody()._checked(body)


class MergePatch(JsonBody):
    """JSON with the media type of RFC 7396."""

    media_type = "application/merge-patch+json"


class JsonPatch(JsonBody):
    """JSON with the media type of RFC 6902."""

    media_type = "application/json-patch+json"


def _once(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object; a duplicate name is ambiguous."""
    held: dict[str, Any] = {}
    for name, value in members:
        if name in held:
            raise ValueError(f"{name[:100]!r} is twice in one object; keep one of them")
        held[name] = value
    return held


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError("a number is too large")
    return int(digits)


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is not a number of JSON")


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, including names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _numbers(value: Any) -> Iterator[float]:
    """Yield every number in a JSON value that is not an integer."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
