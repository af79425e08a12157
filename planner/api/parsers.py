"""How is a request's body read?"""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from math import isfinite
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""Escapes that may stand for what no database and no file can hold as text."""
_EXPONENT = re.compile(rb"[0-9][eE]\+?[0-9]|[0-9]{300}")
"""What a number may look like that is read as infinite: the standard's grammar has no largest one."""
_UNTEXTUAL = re.compile("[\x00\ud800-\udfff]")


class JsonBody(JSONParser):
    """JSON. Nesting beyond all reason, and characters that are no text, are refused like any other fault."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the parsed body."""
        body = stream.read()
        try:
            value = super().parse(BytesIO(body), media_type, parser_context)
            if _EXPONENT.search(body) and not all(map(isfinite, _numbers(value))):
                raise ParseError("JSON parse error - a number is too large to be held")
            if _SUSPECT.search(body) and any(map(_UNTEXTUAL.search, _texts(value))):
                raise ParseError("JSON parse error - a string contains NUL or an unpaired surrogate")
        except RecursionError as error:
            raise ParseError("JSON parse error - nested too deeply") from error
        return value


class MergePatch(JsonBody):
    """The same under the media type of RFC 7396."""

    media_type = "application/merge-patch+json"


class JsonPatch(JsonBody):
    """The same under the media type of RFC 6902."""

    media_type = "application/json-patch+json"


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, names of members among them."""
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
    """Yield every number in a JSON value that is no integer."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
