"""Operations of JSON patches (RFC 6902)."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from manifests.document import Step, Steps

Verb = Literal["add", "remove", "replace", "move"]
VERBS: tuple[Verb, ...] = ("add", "remove", "replace", "move")


class NoPlace(ValueError):
    """An operation names a path that the value does not have."""


@dataclass(frozen=True)
class Operation:
    """One operation of a JSON patch; `path` and `source` are JSON pointers, `source` that of a move."""

    verb: Verb
    path: str
    value: Any = None
    source: str = ""


def pointer(*steps: Step) -> str:
    """Return a path as a JSON pointer (RFC 6901).

    >>> pointer("tiers", 0, "plugins", "a/b")
    '/tiers/0/plugins/a~1b'

    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def patched(value: Any, operation: Operation) -> Any:
    """Return the value after an operation; it shares nothing with the original.

    Raises
    ------
    NoPlace
        If the value has no such place.

    """
    value = copy.deepcopy(value)
    match operation.verb:
        case "remove":
            return _removed(value, operation.path)[0]
        case "move":
            value, moved = _removed(value, operation.source)
            return _added(value, operation.path, moved)
        case "replace":
            steps = steps_of(value, operation.path)
            _holder(value, steps)[steps[-1]] = copy.deepcopy(operation.value)
            return value
    return _added(value, operation.path, copy.deepcopy(operation.value))


def steps_of(value: Any, path: str, *, new: bool = False) -> Steps:
    """Return the path of a pointer in a value; with `new` its last part need not exist.

    Raises
    ------
    NoPlace
        If the value has no such place, or the pointer names the value itself.

    """
    names = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
    if not path.startswith("/"):
        raise NoPlace(f"{path!r} is not a JSON pointer; begin with / and name a part")
    steps: list[Step] = []
    for number, name in enumerate(names):
        is_new = new and number == len(names) - 1
        step = _step(value, name, path, is_new)
        steps.append(step)
        if not is_new:
            value = value[step]
    return tuple(steps)


def _step(value: Any, name: str, path: str, is_new: bool) -> Step:
    if isinstance(value, Mapping):
        if is_new or name in value:
            return name
    elif isinstance(value, list):
        if is_new and name == "-":
            return len(value)
        if name.isascii() and name.isdecimal() and len(name) < 7 and int(name) < len(value) + is_new:
            return int(name)
    raise NoPlace(f"{path} does not exist: no {name!r}")


def _holder(value: Any, steps: Steps) -> Any:
    for step in steps[:-1]:
        value = value[step]
    return value


def _removed(value: Any, path: str) -> tuple[Any, Any]:
    steps = steps_of(value, path)
    return value, _holder(value, steps).pop(steps[-1])


def _added(value: Any, path: str, new: Any) -> Any:
    steps = steps_of(value, path, new=True)
    holder, step = _holder(value, steps), steps[-1]
    if isinstance(step, int):
        holder.insert(step, new)
    else:
        holder[step] = new
    return value
