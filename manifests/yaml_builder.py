"""Values built from the YAML parser's events as Kubernetes tools understand them, with errors."""

from collections.abc import Callable
from typing import Any, Never

from yaml.error import Mark
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from manifests.document import MAX_DEPTH, Document, Fault, Span, Steps
from manifests.scalars import NotAValue, Scalar, key_text, plain_value
from manifests.yaml_places import find_in_yaml

MAX_ALIASED = 100_000
"""The most values that the aliases of a text may repeat."""
RENDER = "render the template first, for example with `helm template`"

_Event = Any
"""The parser's events; their type does not promise the marks, the parser does."""
_SPAN_DEPTH = 3
"""Lists up to this depth keep the places of their elements: objects of a List, lists of a scenario."""
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(f"{_TAG}{name}" for name in ("int", "float", "bool", "null"))
_CONTAINER_TAGS = frozenset([None, "!", f"{_TAG}map", f"{_TAG}seq"])


class _Key(str):
    """Marks a key without a place in the mapping; compared by identity."""

    __slots__ = ()


_MERGE = _Key("<<")
_NO_TEXT = _Key("?")
"""A key that is not a text is being read."""
_UNUSABLE = _Key("?")
"""The value of such a key is being read."""


class Broken(Exception):
    """The document cannot be read further than `index`."""

    def __init__(self, fault: Fault, index: int) -> None:
        self.fault = fault
        self.index = index


class Builder:
    """Builds one document at a time from the events of a text or of its rest."""

    def __init__(self, text: str, *, line: int, offset: int) -> None:
        self._text = text
        self._line = line
        self._offset = offset
        self._aliased = 0
        self._plain: dict[str, Scalar] = {}
        self._keys: dict[str, str] = {}
        self.handlers: dict[type, Callable[[Any], None]] = {
            ScalarEvent: self._scalar,
            MappingStartEvent: self._start_mapping,
            SequenceStartEvent: self._start_sequence,
            MappingEndEvent: self._end,
            SequenceEndEvent: self._end,
            AliasEvent: self._alias,
            DocumentStartEvent: self._start_document,
        }
        self._begin(Span(offset, 0, line, offset))

    def finished(self, end: int) -> Document:
        """Return the document."""
        whole = self._whole._replace(end=end)
        document = Document(self._text, whole, self._container[0], find_in_yaml, self._faults, self._spans)
        self._begin(Span(end, 0, whole.line, end))
        return document

    def broken(self, fault: Fault, end: int) -> Document:
        """Return the document that could not be read to its end."""
        whole = self._whole._replace(end=end)
        return Document(self._text, whole, None, find_in_yaml, [*self._faults, fault])

    def _start_document(self, event: _Event) -> None:
        self._begin(self._span(event.start_mark, event.end_mark))

    def _begin(self, whole: Span) -> None:
        """Reset the state for the next document."""
        self._faults: list[Fault] = []
        self._whole = whole
        self._spans: dict[Steps, Span] = {}
        self._container: Any = []
        self._key: str | None = None
        self._merges: list[Any] | None = None
        self._stack: list[tuple[Any, str | None, list[Any] | None, str | None, Mark | None]] = []
        self._anchors: dict[str, Any] = {}

    def _span(self, start: Mark, end: Mark) -> Span:
        return Span(
            start.index + self._offset, start.column, start.line + self._line, end.index + self._offset
        )

    def _here(self) -> Steps:
        """Return the path of the value that is being read; for a key, of its mapping."""
        if not self._stack:
            return ()
        if type(self._container) is list:
            return (*self._steps(), len(self._container))
        return self._steps() if self._key is None else (*self._steps(), self._key)

    def _steps(self) -> Steps:
        """Return the path of the open container."""
        return tuple(key if key is not None else len(container) for container, key, *_ in self._stack[1:])

    # One method per kind of event. A scalar is a key where a mapping expects one.

    def _scalar(self, event: _Event) -> None:
        text = event.value
        is_plain = not event.style and event.tag is None
        if self._key is None and type(self._container) is dict:
            self._take_key(self._keys.get(text) if is_plain else None, event)
            return
        if is_plain and text in self._plain:
            value = self._plain[text]
        else:
            value = self._value_of(event)
            if is_plain:
                self._plain[text] = value
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        self._add(value)

    def _start_mapping(self, event: _Event) -> None:
        self._start({}, event)

    def _start_sequence(self, event: _Event) -> None:
        self._start([], event)

    def _start(self, container: Any, event: _Event) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._break("yaml.depth", f"nested more than {MAX_DEPTH} levels deep", event, "flatten it")
        if event.tag not in _CONTAINER_TAGS:
            self._fault_tag(event)
        if self._key is None and type(self._container) is dict:
            self._fault_key(event)
        is_element = type(self._container) is list and 0 < len(self._stack) <= _SPAN_DEPTH
        begun = event.start_mark if is_element else None
        self._stack.append((self._container, self._key, self._merges, event.anchor, begun))
        self._container, self._key, self._merges = container, None, None

    def _end(self, event: _Event) -> None:
        done = self._container
        for merged in self._merges or ():
            self._merge(done, merged, event)
        self._container, self._key, self._merges, anchor, begun = self._stack.pop()
        if begun is not None:
            self._spans[self._here()] = self._span(begun, event.end_mark)
        if anchor is not None:
            self._anchors[anchor] = done
        self._add(done)

    def _alias(self, event: _Event) -> None:
        if self._key is None and type(self._container) is dict:
            self._fault_key(event)
        if any(anchor == event.anchor for *_, anchor, _ in self._stack):
            self._break(
                "yaml.alias",
                f"*{event.anchor} is used inside its own anchor",
                event,
                "write the value in full",
            )
        if event.anchor not in self._anchors:
            self._fault(
                "yaml.alias", f"*{event.anchor} refers to no anchor", event, "quote it, or anchor a value"
            )
        self._add(self._copied(self._anchors.get(event.anchor), event))

    # Keys and values

    def _add(self, value: Any) -> None:
        if type(self._container) is list:
            self._container.append(value)
            return
        key, self._key = self._key, None
        if key is _MERGE:
            self._merges = [*(self._merges or ()), value]
        elif key is _NO_TEXT:
            self._key = _UNUSABLE
        elif key is not _UNUSABLE:
            self._container[key] = value

    def _take_key(self, known: str | None, event: _Event) -> None:
        key = self._key_of(event) if known is None else known
        if key in self._container:
            line = event.start_mark.line + self._line
            steps = (*self._steps(), key)
            self._faults.append(
                Fault("yaml.duplicate", f"{key} is defined a second time", line, "keep one", steps)
            )
        self._key = key

    def _key_of(self, event: _Event) -> str:
        is_plain = not event.style and event.tag is None
        if is_plain and event.value == "<<":
            return _MERGE
        try:
            key = key_text(self._meaning(event))
        except NotAValue as error:
            self._fault("yaml.key", str(error), event, "use a quoted string as key")
            return _UNUSABLE
        if is_plain:
            self._keys[event.value] = key
        return key

    def _value_of(self, event: _Event) -> Scalar:
        try:
            return self._meaning(event)
        except NotAValue as error:
            self._fault("yaml.value", str(error), event, "use a number, or quote it to make it a string")
            return None

    def _meaning(self, event: _Event) -> Scalar:
        if "\0" in event.value:
            raise NotAValue("the text contains the character NUL")
        if event.tag is None:
            return str(event.value) if event.style else plain_value(event.value)
        if event.tag in _PLAIN_TAGS:
            return plain_value(event.value)
        if event.tag not in ("!", f"{_TAG}str"):
            self._fault_tag(event)
        return str(event.value)

    def _merge(self, into: dict[str, Any], merged: Any, event: _Event) -> None:
        for part in merged if isinstance(merged, list) else [merged]:
            if not isinstance(part, dict):
                self._fault(
                    "yaml.merge", "<< merges something that is not a mapping", event, "write the keys in full"
                )
                continue
            for key, value in part.items():
                into.setdefault(key, value)

    def _copied(self, value: Any, event: _Event) -> Any:
        """Return a copy for an alias, so that no parts are shared."""
        self._aliased += 1
        if self._aliased > MAX_ALIASED:
            message = f"aliases repeat more than {MAX_ALIASED} values"
            self._break("yaml.aliases", message, event, "write the values in full")
        if isinstance(value, dict):
            return {key: self._copied(inner, event) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._copied(inner, event) for inner in value]
        return value

    # Errors

    def _fault(self, rule: str, message: str, event: _Event, fix: str) -> None:
        self._faults.append(Fault(rule, message, event.start_mark.line + self._line, fix, self._here()))

    def _break(self, rule: str, message: str, event: _Event, fix: str) -> Never:
        fault = Fault(rule, message, event.start_mark.line + self._line, fix, self._here()[:_SPAN_DEPTH])
        raise Broken(fault, event.start_mark.index + self._offset)

    def _fault_key(self, event: _Event) -> None:
        """Report a key that is not a text, and continue without it."""
        if self._text.startswith("{{", event.start_mark.index + self._offset - 1):
            self._fault("yaml.template", "an unrendered template", event, RENDER)
        else:
            self._fault("yaml.key", "a mapping or list is used as a key", event, "quote it")
        self._key = _NO_TEXT

    def _fault_tag(self, event: _Event) -> None:
        tag = event.tag.replace(_TAG, "!!")
        self._fault("yaml.tag", f"the Kubernetes API does not support the tag {tag}", event, "remove the tag")
