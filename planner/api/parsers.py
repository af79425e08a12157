"""How is a request's body read?"""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""Escapes that may stand for what no database and no file can hold as text."""
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
            if _SUSPECT.search(body) and any(map(_UNTEXTUAL.search, _texts(value))):
                raise ParseError("JSON parse error - a text holds NUL or half a surrogate pair")
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
