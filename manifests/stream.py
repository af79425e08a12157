"""The documents of a text: YAML, JSON or a mixture."""

import re
from collections.abc import Callable, Iterator

from manifests.document import Document, Fault
from manifests.json_stream import read_json
from manifests.yaml_stream import read_yaml

MAX_BROKEN = 100
"""The most unreadable documents of a text: each costs a restart of the parser."""

_BETWEEN = re.compile(r"(?:[ \t\r\n]+|^---[ \t]*$)*", re.MULTILINE)
_NEXT_DOCUMENT = re.compile(r"^(?:[{\[]|---)", re.MULTILINE)


def read_documents(text: str, progress: Callable[[float], None] = lambda share: None) -> Iterator[Document]:
    """Yield the documents of a text; an unreadable one affects only itself, unless there are too many.

    `progress` receives now and then which share of the text was read.
    """
    broken = 0
    for document in _documents(text, lambda index: progress(index / len(text))):
        yield document
        broken += document.value is None and bool(document.faults)
        if broken == MAX_BROKEN:
            message = f"{MAX_BROKEN} documents above cannot be read; the rest of the file is ignored"
            fault = Fault("form.many", message, document.whole.line, "fix the errors above")
            yield Document(text, document.whole, None, document.find, [fault])
            return


def _documents(text: str, progress: Callable[[int], None]) -> Iterator[Document]:
    end = line = 0
    while (position := _content(text, end)) < len(text):
        line += text.count("\n", end, position)
        document = None
        if text[position] in "{[":
            document, stopped = _read_json(text, position, line)
        if document is None:
            line_start = max(
                end, text.rfind("\n", 0, position) + 1
            )  # a YAML document's indentation is part of it
            yield from read_yaml(text, line_start, line, progress)
            return
        yield document
        progress(stopped)
        line += text.count("\n", position, stopped)
        end = stopped


def _read_json(text: str, position: int, line: int) -> tuple[Document | None, int]:
    """Return a JSON document and its end; None for YAML in braces."""
    document, stopped = read_json(text, position, line)
    if document.value is not None or not document.faults:
        return document, stopped
    is_json = any(fault.rule == "form.many" for fault in document.faults)
    if not is_json and next(read_yaml(text, position, line)).value is not None:
        return None, position
    following = _NEXT_DOCUMENT.search(text, max(stopped, position + 1))
    return document, following.start() if following else len(text)


def _content(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position
