"""JSON patches of a scheduler configuration's text."""

from typing import Any

from manifests.patch import VERBS, NoPlace, Operation
from manifests.problem import ReadProblem, Unreadable
from manifests.yaml_cuts import NoEdit
from manifests.yaml_edit import edited

MOST_OPERATIONS = 100
_NEEDED = {
    "add": ("path", "value"),
    "replace": ("path", "value"),
    "remove": ("path",),
    "move": ("path", "from"),
}


def conf_patched(text: str, operations: Any) -> str:
    """Return a configuration's text after a JSON patch; untouched lines stay byte for byte.

    Raises
    ------
    Unreadable
        If `operations` is no such patch, or the text does not take it.

    """
    if problems := _problems(operations):
        raise Unreadable(problems)
    for number, given in enumerate(operations):
        operation = Operation(given["op"], given["path"], given.get("value"), given.get("from", ""))
        try:
            text = edited(text, [operation])
        except NoPlace as error:
            fix = "Use a path that exists in the configuration."
            raise Unreadable([_problem("conf.no_place", f"[{number}]", str(error), fix)]) from None
        except NoEdit as error:
            fix = "Edit the text itself."
            raise Unreadable([_problem("conf.no_edit", f"[{number}]", str(error), fix)]) from None
    return text


def _problems(operations: Any) -> list[ReadProblem]:
    """Return all reasons why a value is no JSON patch of a configuration."""
    if not isinstance(operations, list):
        return [_problem("conf.operation", "", "expected a list of operations", "Send a list.")]
    if len(operations) > MOST_OPERATIONS:
        text = f"{len(operations)} operations exceed the limit of {MOST_OPERATIONS}"
        return [_problem("conf.operation", "", text, "Send several edits, or the whole text.")]
    return [
        problem for number, one in enumerate(operations) for problem in _shape_problems(one, f"[{number}]")
    ]


def _shape_problems(operation: Any, path: str) -> list[ReadProblem]:
    if not isinstance(operation, dict) or operation.get("op") not in VERBS:
        text = f"an operation must be a mapping with op one of {', '.join(VERBS)}"
        return [_problem("conf.operation", path, text, "Use one of these.")]
    missing = [
        _problem("conf.operation", f"{path}.{key}", f"{operation['op']} needs {key}", f"Add {key}.")
        for key in _NEEDED[operation["op"]]
        if key not in operation
    ]
    return missing + [
        _problem(
            "conf.operation", f"{path}.{key}", f"{key} must be a JSON pointer (a string)", "Begin with /."
        )
        for key in ("path", "from")
        if not isinstance(operation.get(key, ""), str)
    ]


def _problem(rule: str, path: str, text: str, fix: str) -> ReadProblem:
    message = f"{text[:1].upper()}{text[1:]}."
    return ReadProblem(rule, "error", message, document="", line=None, path=path, fix=fix)
