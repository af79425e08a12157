"""Can this text be read as a scheduler configuration, and how does an edit change it?"""

from dataclasses import asdict
from typing import Any

import manifests
from planner.rows import Problem

MOST_OPERATIONS = 100
_NEEDED = {
    "add": ("path", "value"),
    "replace": ("path", "value"),
    "remove": ("path",),
    "move": ("path", "from"),
}


def conf_problems(text: str) -> list[Problem]:
    """Return what is wrong with the form of volcano-scheduler.conf; empty is fine: Volcano's default."""
    if not text.strip():
        return []
    return [Problem(**asdict(found)) for found in manifests.conf_problems(text)]


def operation_problems(asked: Any) -> list[Problem]:
    """Return what keeps a value from being a JSON patch of a configuration, all of it."""
    if not isinstance(asked, list):
        return [_problem("conf.operation", "", "a list of operations is needed", "Send a list.")]
    if len(asked) > MOST_OPERATIONS:
        says = f"{len(asked)} operations are more than {MOST_OPERATIONS}"
        return [_problem("conf.operation", "", says, "Send several edits, or the whole text.")]
    return [problem for number, one in enumerate(asked) for problem in _shape_problems(one, f"[{number}]")]


def conf_edited(text: str, operations: Any) -> tuple[str, list[Problem]]:
    """Return a configuration's text after a JSON patch, or why it cannot be edited; then it stays as it is.

    Lines that the patch does not touch stay byte for byte.
    """
    if problems := operation_problems(operations):
        return text, problems
    new = text
    for number, told in enumerate(operations):
        operation = manifests.Operation(told["op"], told["path"], told.get("value"), told.get("from", ""))
        try:
            new = manifests.edited(new, [operation])
        except manifests.Unreadable as unreadable:
            return text, [Problem(**asdict(problem)) for problem in unreadable.problems]
        except manifests.NoPlace as error:
            fix = "Name a place that the configuration has."
            return text, [_problem("conf.no_place", f"[{number}]", str(error), fix)]
        except manifests.NoEdit as error:
            return text, [_problem("conf.no_edit", f"[{number}]", str(error), "Edit the text itself.")]
    return new, []


def _shape_problems(told: Any, path: str) -> list[Problem]:
    if not isinstance(told, dict) or told.get("op") not in manifests.VERBS:
        says = f"an operation is a mapping whose op is one of {', '.join(manifests.VERBS)}"
        return [_problem("conf.operation", path, says, "Write one of these.")]
    missing = [
        _problem("conf.operation", f"{path}.{key}", f"{told['op']} needs {key}", f"Add {key}.")
        for key in _NEEDED[told["op"]]
        if key not in told
    ]
    return missing + [
        _problem("conf.operation", f"{path}.{key}", f"{key} is a JSON pointer, a text", "Begin with /.")
        for key in ("path", "from")
        if not isinstance(told.get(key, ""), str)
    ]


def _problem(rule: str, path: str, says: str, fix: str) -> Problem:
    return Problem(rule, "error", f"{says[:1].upper()}{says[1:]}.", path=path, fix=fix)
