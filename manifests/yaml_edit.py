"""Edits of a YAML text that keep all other lines byte for byte.

An edit touches the lines of what it adds, takes away or replaces, and no others; inside brackets only the
characters of the entry. A comment behind a value stays, those between the lines of an entry go with it, those
above it stay where they are. Whatever was edited is read again: a text that does not say exactly what was
asked for is not handed out.
"""

import json
from collections.abc import Iterable
from typing import Any

from manifests.conf import parse_conf
from manifests.document import Steps
from manifests.patch import Operation, patched, steps_of
from manifests.problem import Unreadable
from manifests.yaml_cuts import Cut, NoEdit, TextEdit


def edited(text: str, operations: Iterable[Operation]) -> str:
    """Return a configuration's text after operations of a JSON patch, in order.

    Raises
    ------
    NoPlace
        If an operation names a place that the configuration does not have.
    NoEdit
        If the text cannot be changed there without touching other lines.
    Unreadable
        If the text is neither YAML nor JSON, or no mapping.

    """
    for operation in operations:
        text = _edited(text, operation)
    return text


def _edited(text: str, operation: Operation) -> str:
    before = parse_conf(text)
    wanted = patched(before, operation)
    if operation.verb == "move":
        return _moved(text, before, operation, wanted)
    new = operation.verb == "add"
    steps = steps_of(before, operation.path, new=new)
    edit = TextEdit(text)
    if operation.verb == "remove":
        cuts = edit.without(steps)
    elif new and (isinstance(steps[-1], int) or not _has_key(before, steps)):
        cuts = edit.with_entry(steps, operation.value)
    else:
        cuts = edit.with_value(steps, operation.value)
    return _checked(_after(text, cuts), wanted, operation.path)


def _moved(text: str, before: Any, operation: Operation, wanted: Any) -> str:
    """Move the lines of an entry to another list unchanged; elsewhere write its value again."""
    source = steps_of(before, operation.source)
    value = _value_at(before, source)
    lines = TextEdit(text).lines_of(source)
    rest = _edited(text, Operation("remove", operation.source))
    message = parse_conf(rest)
    target = steps_of(message, operation.path, new=True)
    there = not isinstance(target[-1], int) and _has_key(message, target)
    if lines is not None and isinstance(target[-1], int) and not there:
        try:
            return _checked(
                _after(rest, TextEdit(rest).with_entry(target, value, lines)), wanted, operation.path
            )
        except NoEdit:
            pass  # it cannot be moved by lines, such as between brackets
    if lines is None or "#" in lines.text:
        _refuse_comments(text, source, operation)
    return _checked(_edited(rest, Operation("add", operation.path, value)), wanted, operation.path)


def _refuse_comments(text: str, source: Steps, operation: Operation) -> None:
    node = TextEdit(text).node(source)
    if "#" in text[node.start : node.end]:
        raise NoEdit(f"{operation.source} has comments that cannot be moved to {operation.path}")


def _checked(text: str, wanted: Any, path: str) -> str:
    """Return a text if its value is as wanted; like JSON, distinguish true, 1 and 1.0."""
    try:
        message = parse_conf(text)
    except Unreadable:
        message = None
    if _exactly(message) != _exactly(wanted):
        raise NoEdit(f"{path} cannot be edited on its own in this text")
    return text


def _exactly(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _after(text: str, cuts: list[Cut]) -> str:
    for cut in sorted(cuts, reverse=True):
        text = text[: cut.start] + cut.text + text[cut.end :]
    return text


def _value_at(value: Any, steps: Steps) -> Any:
    for step in steps:
        value = value[step]
    return value


def _has_key(value: Any, steps: Steps) -> bool:
    return steps[-1] in _value_at(value, steps[:-1])
