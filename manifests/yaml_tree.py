"""The first and last character of each part of a YAML document."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from manifests.document import Step
from manifests.scalars import key_text, plain_value

_Event = Any
"""The parser's events; their type does not promise the marks, the parser does."""
Kind = Literal["mapping", "list", "scalar", "shared"]
"""Values with an anchor, a tag or an alias are shared: changing them may affect other places."""


@dataclass(slots=True)
class Node:
    """A value of a document with its place in the text.

    Attributes
    ----------
    start, end : int
        Index of its first character and the one behind its last, without the blanks and comments behind it.
    column : int
        Characters before it on its line; of a block list, those before its dashes.
    style : str
        The quote or block mark of a scalar, empty for a plain one; of a collection "flow" or "block".
    entries : list
        Keys, None in a list, and values.

    """

    kind: Kind
    start: int
    end: int
    column: int
    style: str
    value: str = ""
    entries: "list[tuple[Node | None, Node]]" = field(default_factory=list)

    @property
    def is_block(self) -> bool:
        """Return whether it is a block collection."""
        return self.style == "block"

    def position(self, step: Step) -> int | None:
        """Return the index of the entry with this key or index; of a duplicate key, the last one."""
        if self.kind == "list":
            return step if isinstance(step, int) and step < len(self.entries) else None
        named = [number for number, (key, _) in enumerate(self.entries) if key and _name_of(key) == step]
        return named[-1] if named else None


def compose(text: str) -> Node | None:
    """Return the value of the first readable document of a text; None if it is empty."""
    parser = CParser(text)
    events: Iterator[_Event] = iter(parser.get_event, None)
    for event in events:
        if isinstance(event, DocumentEndEvent):
            return None
        if isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent):
            root = _node(text, events, event)
            return None if root.kind == "scalar" and root.start == root.end else root
    return None


def _node(text: str, events: Iterator[_Event], event: _Event) -> Node:
    start, end, column = event.start_mark.index, event.end_mark.index, event.start_mark.column
    if isinstance(event, AliasEvent):
        return Node("shared", start, end, column, "")
    is_shared = event.anchor is not None or event.tag is not None
    if isinstance(event, ScalarEvent):
        end = start + len(text[start:end].rstrip())
        kind: Kind = "shared" if is_shared else "scalar"
        return Node(kind, start, end, column, event.style or "", event.value)
    is_mapping = isinstance(event, MappingStartEvent)
    style = "flow" if event.flow_style else "block"
    kind = "shared" if is_shared else "mapping" if is_mapping else "list"
    node = Node(kind, start, end, column, style)
    for inner in events:
        end = inner.end_mark.index
        if isinstance(inner, MappingEndEvent | SequenceEndEvent):
            node.end = node.end if node.is_block else end
            return node
        first = _node(text, events, inner)
        key, value = (first, _node(text, events, next(events))) if is_mapping else (None, first)
        node.entries.append((key, value))
        node.end = max(value.end, key.end if key else 0)
    raise AssertionError("the parser ends every collection that it begins")


def _name_of(key: Node) -> str | None:
    if key.kind != "scalar":
        return None
    return key.value if key.style else key_text(plain_value(key.value))
