"""The documents of a YAML text; an unreadable document affects only itself."""

import itertools
import re
from collections.abc import Callable, Generator, Iterator
from typing import Any

from yaml import MarkedYAMLError
from yaml._yaml import CParser
from yaml.events import DocumentEndEvent

from manifests.document import Document, Fault, Span
from manifests.yaml_builder import RENDER, Broken, Builder
from manifests.yaml_places import find_in_yaml

_NEXT_DOCUMENT = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EVENTS_A_STEP = 20_000
"""The number of parser events between reports of progress: several times a second."""
_MAX_FAULTS = 20
"""The most reported unprintable characters."""

_NOTICED_BELOW = ("could not find expected ':'", "found unexpected end of stream")
"""Errors that the parser notices only after the wrong line."""
_FIXES = (
    ("mapping values are not allowed", "check the indentation, or quote a value that holds ': '"),
    (
        "cannot start any token",
        "indent with spaces, not tabs, and quote a value that begins with a special character",
    ),
    ("alphabetic or numeric character", "quote a value that begins with * or &"),
    ("could not find expected ':'", "write `key: value`, or indent the line as part of the text above it"),
    ("<document start>", "put --- between documents, and indent what belongs to the document above"),
    ("end of stream", "close the quote or bracket that is open"),
    ("expected ',' or", "close the bracket that is open"),
    ("incompatible YAML document", "remove the %YAML line"),
)


def read_yaml(
    text: str, offset: int = 0, line: int = 0, progress: Callable[[int], None] = lambda index: None
) -> Iterator[Document]:
    """Yield the documents of a text from an index on; an unreadable one affects only itself."""
    if _UNPRINTABLE.search(text, offset):
        faults = list(_unprintable(text, offset, line))
        yield Document(text, Span(offset, 0, line, offset), None, find_in_yaml, faults)
        text = _UNPRINTABLE.sub("\ufffd", text)
    while True:
        broken_at = yield from _read_from(text, offset, line, progress)
        following = None if broken_at is None else _NEXT_DOCUMENT.search(text, broken_at)
        if following is None:
            return
        line += text.count("\n", offset, following.start())
        offset = following.start()


def _read_from(
    text: str, offset: int, line: int, progress: Callable[[int], None]
) -> Generator[Document, None, int | None]:
    """Yield the documents from an index on; return where one cannot be read further, None at the end."""
    builder = Builder(text, line=line, offset=offset)
    try:
        parser = CParser(text[offset:])
        for count in itertools.count():
            if not parser.check_event():
                break
            event: Any = parser.get_event()
            if count % _EVENTS_A_STEP == 0:
                progress(event.end_mark.index + offset)
            kind = type(event)
            if handler := builder.handlers.get(kind):
                handler(event)
            elif kind is DocumentEndEvent:
                yield builder.finished(event.end_mark.index + offset)
    except Broken as broken:
        yield builder.broken(broken.fault, broken.index)
        return broken.index
    except MarkedYAMLError as error:
        fault, index = _syntax_fault(error, text, offset)
        yield builder.broken(fault._replace(line=fault.line + line), index)
        return index
    return None


def _syntax_fault(error: MarkedYAMLError, text: str, offset: int) -> tuple[Fault, int]:
    """Return the parser's error, and the index where it stopped."""
    problem = error.problem or "the text ends too early"
    stopped = error.problem_mark or error.context_mark
    assert stopped is not None  # the parser marks every error of form
    noticed_below = problem in _NOTICED_BELOW and error.context_mark is not None
    begun = error.context_mark if noticed_below and error.context_mark else stopped
    fix = next((fix for part, fix in _FIXES if part in problem), "check the indentation of this line")
    if any(mark in _line_of(text, begun.index + offset) for mark in ("{{", "{%")):
        fix = RENDER
    context = f" {error.context}" if error.context else ""
    return Fault("yaml.syntax", f"not YAML: {problem}{context}", begun.line, fix), stopped.index + offset


def _line_of(text: str, index: int) -> str:
    return text[text.rfind("\n", 0, index) + 1 :].split("\n", 1)[0]


def _unprintable(text: str, offset: int, line: int) -> Iterator[Fault]:
    for count, found in enumerate(_UNPRINTABLE.finditer(text, offset)):
        if count == _MAX_FAULTS:
            return
        message = f"the character U+{ord(found[0]):04X} is not allowed in YAML"
        yield Fault("yaml.character", message, line + text.count("\n", offset, found.start()), "remove it")
