"""Paths of values, parsed and formatted."""

import re
from typing import Any

from manifests.document import Step, Steps

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INDEX = re.compile(r"\[(\d+)\]")
_QUOTED = re.compile(r'\["((?:[^"\\]|\\.)*)"\]')


def spell(steps: Steps) -> str:
    """Return a path like ``queues[3].spec.capability["nvidia.com/gpu"]``."""
    return "".join(map(_spelled, steps)).removeprefix(".")


def _spelled(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _NAME.fullmatch(step):
        return f".{step}"
    escaped = step.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{escaped}"]'


def steps_to(value: Any, path: str) -> Steps:
    """Return the path that a text names in a value; it ends where the value does.

    A key may hold dots without quotes, so the longest key that fits is taken.
    """
    steps: list[Step] = []
    while path:
        step, path = _first_step(value, path)
        if step is None:
            break
        steps.append(step)
        if not _has(value, step):
            break
        value = value[step]
    return tuple(steps)


def _first_step(value: Any, path: str) -> tuple[Step | None, str]:
    path = path.removeprefix(".")
    if index := _INDEX.match(path):
        return int(index[1]), path[index.end() :]
    if quoted := _QUOTED.match(path):
        return re.sub(r"\\(.)", r"\1", quoted[1]), path[quoted.end() :]
    if isinstance(value, dict):
        fitting = [
            key for key in value if path.startswith(key) and path[len(key) : len(key) + 1] in ("", ".", "[")
        ]
        if fitting:
            key = max(fitting, key=len)
            return key, path[len(key) :]
    if name := re.match(r"[^.\[]+", path):
        return name[0], path[name.end() :]
    return None, ""


def _has(value: Any, step: Step) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)
