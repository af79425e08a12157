"""Lines of keys in a JSON text, found with the C parser."""

import re
from collections.abc import Iterator
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]

from manifests.document import Document, Place, Span, Step, Steps

_SPAN_DEPTH = 2
"""Lists up to this depth keep the places of all elements once one is requested."""
_GAP = re.compile(r"[ \t\r\n]*")
_SKIP = JSONDecoder()


def find_in_json(document: Document, steps: Steps) -> Place:
    """Return the place of a key; the deepest part that exists counts."""
    for depth in range(1, _SPAN_DEPTH + 1):
        if len(steps) > depth and isinstance(steps[depth], int) and (*steps[:depth], 0) not in document.spans:
            _keep_elements(document, steps[:depth])
    span, rest = document.nearest_span(steps)
    at, _ = _walk(document.text, span.start, rest)
    return Place(span.line + document.text.count("\n", span.start, at))


def _keep_elements(document: Document, steps: Steps) -> None:
    """Store the places of a list's elements, to speed up the next lookup."""
    text = document.text
    span, rest = document.nearest_span(steps)
    _, position = _walk(text, span.start, rest)
    line = span.line + text.count("\n", span.start, position)
    for index, at, _ in _children(text, position):
        line += text.count("\n", position, at)
        position = at
        document.spans[*steps, index] = Span(at, 0, line, document.whole.end)


def _walk(text: str, start: int, steps: Steps) -> tuple[int, int]:
    """Return where the key or element at the end of the path begins, and where its value does."""
    at = value = start
    for step in steps:
        for found, begun, inner in _children(text, value):
            if found == step:
                at, value = begun, inner
                break
        else:
            break
    return at, value


def _children(text: str, start: int) -> Iterator[tuple[Step, int, int]]:
    """Yield name or index, and where key and value begin, of each child until the text is invalid."""
    is_mapping = text.startswith("{", start)
    if not is_mapping and not text.startswith("[", start):
        return
    position = start
    index = 0
    try:
        while text[position] in "{[,":
            at = value = _behind_gap(text, position + 1)
            name: Step = index
            if is_mapping:
                name, colon = scanstring(text, at + 1)
                value = _behind_gap(text, _behind_gap(text, colon) + 1)
            yield name, at, value
            position = _behind_gap(text, _SKIP.raw_decode(text, value)[1])
            index += 1
    except (ValueError, IndexError, RecursionError):
        return  # use what was found so far


def _behind_gap(text: str, position: int) -> int:
    match = _GAP.match(text, position)
    return match.end() if match else position
