"""JSON documents, read by the C parser; a document with an error is read again by a detailed parser."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Any

from manifests.document import MAX_DEPTH, Document, Fault, Span, Steps
from manifests.json_places import find_in_json

_TOKEN = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^ \t\r\n{}\[\],:"]+)', re.DOTALL)
_SUSPECT_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
"""Characters that cannot be stored: NUL, or half of a surrogate pair."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_MAX_DIGITS = 1000
MOST_FAULTS = 999
"""The most located errors of a document; with the remark on the rest as many as are listed."""

_FIX = "check the quotes, commas and brackets around this line"
_FIXES = {
    "Expecting property name enclosed in double quotes": "quote the key; no comma after the last",
    "Expecting ',' delimiter": "put a comma between the entries, or close the bracket",
    "Unterminated string starting at": "close the quote",
    "Invalid control character at": r"write line breaks and tabs inside a text as \n and \t",
}


class _Suspect(ValueError):
    """The C parser found an error that it cannot locate."""


def read_json(text: str, start: int, line: int) -> tuple[Document, int]:
    """Return the document that begins at an index, and where it ends or cannot be read further."""
    faults: list[Fault] = []
    try:
        value, end = _decoded(text, start)
    except JSONDecodeError as error:
        value, end, faults = None, error.pos, [_syntax_fault(error)]
    document = Document(text, Span(start, 0, line, end), value, find_in_json, faults)
    if value is _ODD:
        document.value, end = _read_with_care(document)
        document.whole = document.whole._replace(end=end)
    return document, end


_ODD = object()


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """Return the value and its end; errors are left to the detailed parser."""
    try:
        value, end = _STRICT.raw_decode(text, start)
    except JSONDecodeError:
        raise
    except (ValueError, RecursionError):
        return _ODD, start
    return (_ODD if _is_deep(value) or _SUSPECT_ESCAPE.search(text, start, end) else value), end


def _read_with_care(document: Document) -> tuple[Any, int]:
    """Record the errors of a document; return the usable part, and where it ends."""
    document.faults, stopped = _faults(document.text, document.whole)
    rules = {fault.rule for fault in document.faults}
    if "json.depth" in rules:
        return None, stopped
    try:
        value, end = _LENIENT.raw_decode(document.text, document.whole.start)
    except JSONDecodeError as error:
        document.faults.append(_syntax_fault(error))
        return None, error.pos
    except RecursionError:  # beyond the located errors
        return None, len(document.text)
    if "form.many" in rules and (_is_deep(value) or _SUSPECT_ESCAPE.search(document.text, stopped, end)):
        return None, end
    return None if "json.character" in rules else value, end


def _syntax_fault(error: JSONDecodeError) -> Fault:
    message = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
    return Fault("json.syntax", message, error.lineno - 1, _FIXES.get(error.msg, _FIX))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Suspect("duplicate key")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Suspect("a number out of range")
    return value


def _no_constant(text: str) -> None:
    raise _Suspect(text)


def _usable(text: str) -> int | float | None:
    """Return a number that JSON and Python both know, else None."""
    if len(text) > _MAX_DIGITS:
        return None
    number = float(text)
    if not (float("-inf") < number < float("inf")):
        return None
    return number if set(text) & set(".eE") else int(text)


_STRICT = JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant)
_LENIENT = JSONDecoder(parse_int=_usable, parse_float=_usable, parse_constant=_usable)


def _is_deep(value: Any) -> bool:
    """Return whether containers nest deeper than the limit."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = [outer for outer in level if type(outer) in (dict, list)]
        if not containers:
            return False
        level = [
            inner for outer in containers for inner in (outer.values() if type(outer) is dict else outer)
        ]
    return True


# The detailed parser


@dataclass
class _Open:
    """A container that is still open."""

    is_mapping: bool
    keys: set[str] = field(default_factory=set)
    key: str = ""
    index: int = 0
    awaits_key: bool = True


def _faults(text: str, whole: Span) -> tuple[list[Fault], int]:
    """Return the errors that the C parser cannot locate, and where the document ends or is left."""
    faults: list[Fault] = []
    stack: list[_Open] = []
    position, line = whole.start, whole.line
    while token := _TOKEN.match(text, position):
        line += text.count("\n", position, token.start(1))
        for rule, message, fix in _word_faults(token[1], stack):
            faults.append(Fault(rule, message, line, fix, _steps(stack)))
        position = token.end()
        if len(stack) > MAX_DEPTH:
            faults.append(
                Fault("json.depth", f"nested more than {MAX_DEPTH} levels deep", line, "flatten it")
            )
            break
        if len(faults) >= MOST_FAULTS:
            message = f"the document has {MOST_FAULTS:,} errors up to here; further ones are not searched"
            faults.append(Fault("form.many", message, line, "fix these first"))
            break
        if not stack:
            break
    return faults, position


def _word_faults(word: str, stack: list[_Open]) -> Iterator[tuple[str, str, str]]:
    """Read one token; yield rule, message and fix of its errors."""
    inner = stack[-1] if stack else None
    if word in ("{", "["):
        stack.append(_Open(is_mapping=word == "{"))
    elif word in ("}", "]"):
        stack.pop()
    elif word == "," and inner:
        inner.index += 1
        inner.awaits_key = True
    elif word == ":":
        pass
    elif word[0] == '"':
        yield from _text_faults(word, inner)
    elif word not in ("true", "false", "null") and _is_unusable_number(word):
        yield (
            "json.value",
            f"{word[:40]} is not a number that the Kubernetes API accepts",
            "use a finite number",
        )


def _is_unusable_number(word: str) -> bool:
    try:
        return _usable(word) is None
    except ValueError:
        return False  # not a number: an error that the parser reports


def _text_faults(word: str, inner: _Open | None) -> Iterator[tuple[str, str, str]]:
    content = word[1:-1]
    if "\\" in content:
        try:
            content = json.loads(word, strict=False)
        except ValueError:
            return  # an error that the parser reports
    if _UNSTORABLE.search(content):
        content = content.encode("utf-8", "replace").decode()
        yield "json.character", "the text contains NUL or an unpaired surrogate", "remove the character"
    if inner and inner.is_mapping and inner.awaits_key:
        inner.awaits_key = False
        inner.key = content
        if content in inner.keys:
            yield "json.duplicate", f"{content} is defined a second time", "keep one"
        inner.keys.add(content)


def _steps(stack: list[_Open]) -> Steps:
    return tuple(inner.key if inner.is_mapping else inner.index for inner in stack)
