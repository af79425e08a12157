"""Access to the parsed text of a configuration, whatever its types are."""

import json
from collections.abc import Mapping
from typing import Any

import manifests

Operation = Mapping[str, Any]


def parsed_conf(text: str) -> Mapping[str, Any] | None:
    """Return the parsed configuration, None if it cannot be parsed."""
    try:
        return manifests.parse_conf(text)
    except manifests.Unreadable:
        return None


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping unchanged, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def as_mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the mappings of a list in their places; other elements become empty mappings."""
    return [as_mapping(element) for element in value] if isinstance(value, list) else []


def value_at(value: Any, path: str) -> Any:
    """Return the value at a JSON pointer, None if there is none."""
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            value = value[int(name)] if name.isdecimal() and int(name) < len(value) else None
        else:
            value = as_mapping(value).get(name)
    return value


def as_words(value: object) -> str:
    """Return the text of a value in a field."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(element, str) for element in value):
        return ", ".join(value)
    if isinstance(value, Mapping):
        return manifests.dump(value).rstrip("\n")
    return "" if value is None else json.dumps(value, ensure_ascii=False)
