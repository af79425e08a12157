"""Conversion of form fields to edits of a configuration's text."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import manifests
from planning.conf_structure import Operation, as_mapping, as_words, parsed_conf, value_at
from planning.rows import (
    Problem,
)
from scheduler_core.conf import SWITCHES
from scheduler_core.lint.arguments import ACTION_ARGUMENTS, ARGUMENTS, Kind, argument_of


def entry_operations(text: str, path: str, typed: Mapping[str, str]) -> tuple[list[Operation], list[Problem]]:
    """Return the patch of the fields of a plugin or of an action's arguments, and their problems.

    Parameters
    ----------
    text : str
        The configuration.
    path : str
        The JSON pointer of the entry.
    typed : mapping
        The texts of the fields ``switch.<name>`` and ``argument.<name>``. An empty text removes the value, a
        missing field leaves it unchanged; ``new_name`` and ``new_value`` add an argument.

    """
    structure = parsed_conf(text)
    entry = value_at(structure, path)
    if not isinstance(entry, Mapping):
        message = "The configuration no longer has this entry."
        return [], [Problem("conf.no_place", "error", message, path=path, fix="Reload the page.")]
    operations = [*_switch_operations(entry, path, typed)]
    wanted, problems = _arguments_typed(entry, path, typed)
    arguments = as_mapping(entry.get("arguments"))
    if not arguments and wanted:
        operations.append({"op": "add", "path": f"{path}/arguments", "value": wanted})
    elif arguments and not wanted:
        operations.append({"op": "remove", "path": f"{path}/arguments"})
    else:
        operations += _argument_operations(arguments, wanted, f"{path}/arguments")
    return operations, problems


def with_typed(structure: Mapping[str, Any], typed: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a configuration with the entered texts at `path`, valid or not."""
    structure = copy.deepcopy(structure)
    entry = value_at(structure, typed["path"])
    if isinstance(entry, dict):
        arguments = {**as_mapping(entry.get("arguments"))}
        for field, text in typed.items():
            kind, _, name = field.partition(".")
            if kind == "argument" and text != as_words(arguments.get(name)):
                arguments[name] = text
            if kind == "switch" and text in ("true", "false"):
                entry[name] = text == "true"
        entry["arguments"] = arguments
    return structure


def _switch_operations(entry: Mapping[str, Any], path: str, typed: Mapping[str, str]) -> Iterator[Operation]:
    for name in SWITCHES:
        text = typed.get(f"switch.{name}", as_words(entry.get(name)))
        if text == as_words(entry.get(name)):
            continue
        if text in ("true", "false"):
            yield {"op": "add", "path": f"{path}/{name}", "value": text == "true"}
        elif not text:
            yield {"op": "remove", "path": f"{path}/{name}"}


def _arguments_typed(
    entry: Mapping[str, Any], path: str, typed: Mapping[str, str]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return all arguments in their desired state, and the problems of invalid ones."""
    written = as_mapping(entry.get("arguments"))
    known = (ARGUMENTS if path.startswith("/tiers/") else ACTION_ARGUMENTS).get(str(entry.get("name")), {})
    texts = {
        name.removeprefix("argument."): text for name, text in typed.items() if name.startswith("argument.")
    }
    if new := typed.get("new_name", "").strip():
        texts[new] = typed.get("new_value", "")
    wanted, problems = dict(written), []
    for name, text in texts.items():
        text = text.replace("\r\n", "\n").strip()
        if text == as_words(written.get(name)).strip():
            continue
        wanted.pop(name, None)
        if not text:
            continue
        argument = argument_of(name, known)
        try:
            wanted[name] = _value(text, argument.kind if argument else None)
        except ValueError:
            kind = argument.kind.value if argument else "YAML on one line"
            message, at = f"{name} takes {kind}, not {text!r}.", f"{path}/arguments/{name}"
            problems.append(
                Problem(
                    "conf.argument_type",
                    "error",
                    message,
                    path=at,
                    field=name,
                    actual=text,
                    fix=f"Enter {kind}.",
                )
            )
    return wanted, problems


def _value(text: str, kind: Kind | None) -> Any:
    """Return the value of a text for a type. Raises ValueError if it has none."""
    if kind in (Kind.TEXT, Kind.DURATION):
        return text
    if kind is Kind.TEXTS:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        value = manifests.parse_conf(text if kind is Kind.TABLE else f"value: {text}")
    except manifests.Unreadable as error:
        raise ValueError(text) from error
    meant = value if kind is Kind.TABLE else value.get("value")
    if kind is not None and not kind.takes(meant):
        raise ValueError(text)
    return meant


def _argument_operations(
    written: Mapping[str, Any], wanted: Mapping[str, Any], path: str
) -> Iterator[Operation]:
    for name in [name for name in written if name not in wanted]:
        yield {"op": "remove", "path": path + manifests.pointer(name)}
    for name, value in wanted.items():
        if name not in written or written[name] is not value:
            yield {"op": "add", "path": path + manifests.pointer(name), "value": value}
