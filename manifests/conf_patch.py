"""What does a scheduler configuration say after a JSON patch, and why can it not be patched?"""

from typing import Any

from manifests.patch import VERBS, NoPlace, Operation
from manifests.problem import ReadProblem, Unreadable
from manifests.yaml_edit import NoEdit, edited

MOST_OPERATIONS = 100
_NEEDED = {
    "add": ("path", "value"),
    "replace": ("path", "value"),
    "remove": ("path",),
    "move": ("path", "from"),
}


def conf_patched(text: str, operations: Any) -> str:
    """Return a configuration's text after a JSON patch; lines that it does not touch stay byte for byte.

    Raises
    ------
    Unreadable
        If `operations` is no such patch, or the text does not take it.

    """
    if problems := _problems(operations):
        raise Unreadable(problems)
    for number, told in enumerate(operations):
        operation = Operation(told["op"], told["path"], told.get("value"), told.get("from", ""))
        try:
            text = edited(text, [operation])
        except NoPlace as error:
            fix = "Use a path that exists in the configuration."
            raise Unreadable([_problem("conf.no_place", f"[{number}]", str(error), fix)]) from None
        except NoEdit as error:
            fix = "Edit the text itself."
            raise Unreadable([_problem("conf.no_edit", f"[{number}]", str(error), fix)]) from None
    return text


def _problems(asked: Any) -> list[ReadProblem]:
    """Return what keeps a value from being a JSON patch of a configuration, all of it."""
    if not isinstance(asked, list):
        return [_problem("conf.operation", "", "expected a list of operations", "Send a list.")]
    if len(asked) > MOST_OPERATIONS:
        says = f"{len(asked)} operations exceed the limit of {MOST_OPERATIONS}"
        return [_problem("conf.operation", "", says, "Send several edits, or the whole text.")]
    return [problem for number, one in enumerate(asked) for problem in _shape_problems(one, f"[{number}]")]


def _shape_problems(told: Any, path: str) -> list[ReadProblem]:
    if not isinstance(told, dict) or told.get("op") not in VERBS:
        says = f"an operation must be a mapping with op one of {', '.join(VERBS)}"
        return [_problem("conf.operation", path, says, "Use one of these.")]
    missing = [
        _problem("conf.operation", f"{path}.{key}", f"{told['op']} needs {key}", f"Add {key}.")
        for key in _NEEDED[told["op"]]
        if key not in told
    ]
    return missing + [
        _problem(
            "conf.operation", f"{path}.{key}", f"{key} must be a JSON pointer (a string)", "Begin with /."
        )
        for key in ("path", "from")
        if not isinstance(told.get(key, ""), str)
    ]


def _problem(rule: str, path: str, says: str, fix: str) -> ReadProblem:
    message = f"{says[:1].upper()}{says[1:]}."
    return ReadProblem(rule, "error", message, document="", line=None, path=path, fix=fix)
