"""Lines of keys in a YAML text; rarely needed, so that part of the text is parsed again."""

from collections.abc import Iterator
from typing import Any

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import (
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from manifests.document import Document, Place, Step, Steps
from manifests.scalars import NotAValue, key_text, plain_value

_Event = Any
"""The parser's events; their type does not promise the marks, the parser does."""


def find_in_yaml(document: Document, steps: Steps) -> Place:
    """Return the place of a key; the deepest part that exists counts."""
    span, steps = document.nearest_span(steps)
    events = _content(" " * span.column + document.text[span.start : span.end])
    place = Place(0)
    try:
        value = next(events)
        place = Place(value.start_mark.line)
        for step in steps:
            found = _child(events, value, step)
            if found is None:
                break
            line, value = found
            place = Place(line, _text_line(value))
    except (StopIteration, YAMLError):
        pass  # the text ends in this part: use what was found so far
    return Place(place.line + span.line, place.text_line and place.text_line + span.line)


def _content(text: str) -> Iterator[_Event]:
    parser = CParser(text)
    while parser.check_event():
        event = parser.get_event()
        if isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent):
            yield event
            break
    while parser.check_event():
        yield parser.get_event()


def _child(events: Iterator[_Event], parent: _Event, step: Step) -> tuple[int, _Event] | None:
    """Advance to a child; return the line of its key or element, and the first event of its value."""
    if isinstance(parent, SequenceStartEvent) and isinstance(step, int):
        return _element(events, step)
    if isinstance(parent, MappingStartEvent) and isinstance(step, str):
        return _entry(events, step)
    return None


def _element(events: Iterator[_Event], index: int) -> tuple[int, _Event] | None:
    for event in events:
        if isinstance(event, SequenceEndEvent):
            return None
        if index == 0:
            return event.start_mark.line, event
        index -= 1
        _skip(events, event)
    return None


def _entry(events: Iterator[_Event], wanted: str) -> tuple[int, _Event] | None:
    for event in events:
        if isinstance(event, MappingEndEvent):
            return None
        if _key(event) == wanted:
            return event.start_mark.line, next(events)
        _skip(events, event)
        _skip(events, next(events))
    return None


def _key(event: _Event) -> str | None:
    if not isinstance(event, ScalarEvent):
        return None
    try:
        return event.value if event.style else key_text(plain_value(event.value))
    except NotAValue:
        return None


def _skip(events: Iterator[_Event], begun: _Event) -> None:
    """Skip the value that an event begins."""
    depth = int(isinstance(begun, MappingStartEvent | SequenceStartEvent))
    while depth:
        event = next(events)
        depth += isinstance(event, MappingStartEvent | SequenceStartEvent)
        depth -= isinstance(event, MappingEndEvent | SequenceEndEvent)


def _text_line(value: _Event) -> int | None:
    is_literal = isinstance(value, ScalarEvent) and value.style == "|"
    return value.start_mark.line + 1 if is_literal else None
