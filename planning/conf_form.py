"""Which fields and buttons edit a scheduler configuration? Each button holds the JSON patch that it makes."""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import manifests
from planning.rows import (
    ActionForm,
    ArgumentField,
    ConfForm,
    EntryForm,
    PluginForm,
    Problem,
    SwitchField,
    TierForm,
)
from scheduler_core.conf import ACTIONS, DEFAULT_CONF, OFF_BY_DEFAULT, SWITCHES, UNMODELLED_PLUGINS
from scheduler_core.lint.arguments import ACTION_ARGUMENTS, ARGUMENTS, Argument, Kind, Known, argument_of

Operation = Mapping[str, Any]


def conf_form(text: str, refused: Mapping[str, str] | None = None) -> ConfForm | None:
    """Return the form of a configuration's text, None when the text has to be mended first.

    Of an empty text it offers to write Volcano's default down, and nothing else. What was typed and refused,
    named as in `entry_operations` beside the `path` of its entry, stays in its fields.
    """
    if not text.strip():
        default = [_add(("actions",), DEFAULT_CONF["actions"]), _add(("tiers",), DEFAULT_CONF["tiers"])]
        return ConfForm(write_default=_patch(*default))
    structure = _structure(text)
    if structure is None:
        return None
    if refused:
        structure = _as_typed(structure, refused)
    names = _actions(structure)
    tiers = _mappings(structure.get("tiers"))
    return ConfForm(
        actions=[_action(names, place) for place in range(len(names))],
        more_actions=[(name, _reordered(structure, [*names, name])) for name in ACTIONS if name not in names],
        tiers=[_tier(tiers, number) for number in range(len(tiers))],
        add_tier=_new_tier(structure),
        configured=[*_configured(structure)],
        more_configured=[*_configurable(structure)],
    )


def entry_operations(text: str, path: str, typed: Mapping[str, str]) -> tuple[list[Operation], list[Problem]]:
    """Return the patch that the fields of a plugin or of an action's arguments make, and what is wrong.

    Parameters
    ----------
    text : str
        The configuration.
    path : str
        The JSON pointer of the entry.
    typed : mapping
        ``switch.<name>`` and ``argument.<name>`` to what stands in the field. Empty takes the value away; one
        whose field is missing stays. ``new_name`` and ``new_value`` are a further argument.

    """
    structure = _structure(text)
    entry = _at(structure, path)
    if not isinstance(entry, Mapping):
        says = "The configuration no longer has this entry."
        return [], [Problem("conf.no_place", "error", says, path=path, fix="Reload the page.")]
    operations = [*_switch_operations(entry, path, typed)]
    wanted, problems = _arguments_typed(entry, path, typed)
    arguments = _mapping(entry.get("arguments"))
    if not arguments and wanted:
        operations.append({"op": "add", "path": f"{path}/arguments", "value": wanted})
    elif arguments and not wanted:
        operations.append({"op": "remove", "path": f"{path}/arguments"})
    else:
        operations += _argument_operations(arguments, wanted, f"{path}/arguments")
    return operations, problems


# What stands there


def _structure(text: str) -> Mapping[str, Any] | None:
    try:
        return manifests.parse_conf(text)
    except manifests.Unreadable:
        return None


def _as_typed(structure: Mapping[str, Any], typed: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a configuration whose entry at `path` says what was typed, be it a value or not."""
    structure = copy.deepcopy(structure)
    entry = _at(structure, typed["path"])
    if isinstance(entry, dict):
        arguments = {**_mapping(entry.get("arguments"))}
        for field, text in typed.items():
            kind, _, name = field.partition(".")
            if kind == "argument" and text != _words(arguments.get(name)):
                arguments[name] = text
            if kind == "switch" and text in ("true", "false"):
                entry[name] = text == "true"
        entry["arguments"] = arguments
    return structure


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the elements of a list in their places; what is no mapping says nothing."""
    return [_mapping(element) for element in value] if isinstance(value, list) else []


def _at(value: Any, path: str) -> Any:
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            value = value[int(name)] if name.isdecimal() and int(name) < len(value) else None
        else:
            value = _mapping(value).get(name)
    return value


def _actions(structure: Mapping[str, Any]) -> list[str]:
    actions = structure.get("actions")
    return [name.strip() for name in actions.split(",") if name.strip()] if isinstance(actions, str) else []


def _words(value: object) -> str:
    """Return a value as a field shows it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(element, str) for element in value):
        return ", ".join(value)
    if isinstance(value, Mapping):
        return manifests.dump(value).rstrip("\n")
    return "" if value is None else json.dumps(value, ensure_ascii=False)


# Buttons


def _patch(*operations: Operation) -> str:
    return json.dumps(operations, ensure_ascii=False)


def _add(steps: tuple[str | int, ...], value: Any) -> Operation:
    return {"op": "add", "path": manifests.pointer(*steps), "value": value}


def _remove(steps: tuple[str | int, ...]) -> str:
    return _patch({"op": "remove", "path": manifests.pointer(*steps)})


def _move(source: tuple[str | int, ...], *target: str | int) -> str:
    return _patch({"op": "move", "from": manifests.pointer(*source), "path": manifests.pointer(*target)})


def _action(names: Sequence[str], place: int) -> ActionForm:
    before, name, after = list(names[:place]), names[place], list(names[place + 1 :])
    up = _reordered({"actions": ""}, [*before[:-1], name, *before[-1:], *after]) if before else ""
    down = _reordered({"actions": ""}, [*before, *after[:1], name, *after[1:]]) if after else ""
    return ActionForm(name, _key(names, place), up, down, _reordered({"actions": ""}, [*before, *after]))


def _reordered(structure: Mapping[str, Any], names: Sequence[str]) -> str:
    verb = "replace" if "actions" in structure else "add"
    return _patch({"op": verb, "path": "/actions", "value": ", ".join(names)})


def _key(names: Sequence[str], place: int) -> str:
    """Return what tells one from others of its name, and stays with it when it moves past other names."""
    return f"{names[place]}-{list(names[:place]).count(names[place])}"


def _new_tier(structure: Mapping[str, Any]) -> str:
    if isinstance(structure.get("tiers"), list):
        return _patch(_add(("tiers", "-"), {"plugins": []}))
    return _patch(_add(("tiers",), [{"plugins": []}]))


def _tier(tiers: Sequence[Mapping[str, Any]], number: int) -> TierForm:
    at: tuple[str | int, ...] = ("tiers", number)
    is_last = number == len(tiers) - 1
    there = tiers[number].get("plugins")
    entries = _mappings(there)
    used = {str(entry.get("name")) for tier in tiers for entry in _mappings(tier.get("plugins"))}
    return TierForm(
        number=str(number + 1),
        plugins=[_plugin(tiers, number, place) for place in range(len(entries))],
        up=_move(at, "tiers", number - 1) if number else "",
        down="" if is_last else _move(at, "tiers", number + 1),
        remove=_remove(at),
        more_plugins=[
            (name, _new_plugin(at, name, isinstance(there, list)))
            for name in sorted([*ARGUMENTS, *UNMODELLED_PLUGINS])
            if name not in used
        ],
    )


def _new_plugin(at: tuple[str | int, ...], name: str, has_list: bool) -> str:
    if has_list:
        return _patch(_add((*at, "plugins", "-"), {"name": name}))
    return _patch(_add((*at, "plugins"), [{"name": name}]))


def _plugin(tiers: Sequence[Mapping[str, Any]], tier: int, place: int) -> PluginForm:
    entries = _mappings(tiers[tier].get("plugins"))
    before = [_mappings(other.get("plugins")) for other in tiers[:tier]]
    names = [str(entry.get("name", "")) for others in [*before, entries[: place + 1]] for entry in others]
    entry, at = entries[place], ("tiers", tier, "plugins", place)
    return PluginForm(
        name=names[-1],
        key=_key(names, len(names) - 1),
        says=f"not modelled: {says}" if (says := UNMODELLED_PLUGINS.get(names[-1])) else "",
        up=_move(at, "tiers", tier, "plugins", place - 1) if place else "",
        down=_move(at, "tiers", tier, "plugins", place + 1) if place < len(entries) - 1 else "",
        earlier=_move(at, "tiers", tier - 1, "plugins", "-") if _takes(tiers, tier - 1) else "",
        later=_move(at, "tiers", tier + 1, "plugins", 0) if _takes(tiers, tier + 1) else "",
        remove=_remove(at),
        path=manifests.pointer(*at),
        switches=[*_switches(entry)],
        arguments=[*_argument_fields(entry, ARGUMENTS.get(names[-1], {}))],
        patterns=[name for name in ARGUMENTS.get(names[-1], {}) if name.endswith("*")],
        is_known=names[-1] in ARGUMENTS,
    )


def _takes(tiers: Sequence[Mapping[str, Any]], number: int) -> bool:
    """Is there a tier of this number, with a list that a plugin can be moved to?"""
    return 0 <= number < len(tiers) and isinstance(tiers[number].get("plugins"), list)


def _configured(structure: Mapping[str, Any]) -> Iterator[EntryForm]:
    for number, entry in enumerate(_mappings(structure.get("configurations"))):
        name, at = str(entry.get("name", "")), ("configurations", number)
        fields = [*_argument_fields(entry, ACTION_ARGUMENTS.get(name, {}))]
        yield EntryForm(name, manifests.pointer(*at), _remove(at), fields)


def _configurable(structure: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    there = structure.get("configurations")
    named = {str(entry.get("name")) for entry in _mappings(there)}
    for name, known in ACTION_ARGUMENTS.items():
        if known and name not in named:
            entry = {"name": name, "arguments": {}}
            steps = ("configurations", "-") if isinstance(there, list) else ("configurations",)
            yield name, _patch(_add(steps, entry if isinstance(there, list) else [entry]))


# Fields


def _switches(entry: Mapping[str, Any]) -> Iterator[SwitchField]:
    for name in SWITCHES:
        yield SwitchField(name, _words(entry.get(name)), "off" if name in OFF_BY_DEFAULT else "on")


def _argument_fields(entry: Mapping[str, Any], known: Known) -> Iterator[ArgumentField]:
    written = _mapping(entry.get("arguments"))
    named = [name for name in known if not name.endswith("*")]
    for name in [*named, *(name for name in written if name not in named)]:
        yield _field(name, written.get(name), argument_of(name, known))


def _field(name: str, value: object, argument: Argument | None) -> ArgumentField:
    if argument is None:
        return ArgumentField(name, _words(value), "as YAML", "", "", is_flag=False, is_long=_is_long(value))
    is_odd = value is not None and not isinstance(value, bool)
    return ArgumentField(
        name,
        _words(value),
        argument.kind.value,
        "" if argument.default is None else _words(argument.default),
        argument.meaning,
        is_flag=argument.kind is Kind.FLAG and not is_odd,
        is_long=argument.kind is Kind.TABLE or _is_long(value),
    )


def _is_long(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, str) and "\n" in value)


# What was typed


def _switch_operations(entry: Mapping[str, Any], path: str, typed: Mapping[str, str]) -> Iterator[Operation]:
    for name in SWITCHES:
        text = typed.get(f"switch.{name}", _words(entry.get(name)))
        if text == _words(entry.get(name)):
            continue
        if text in ("true", "false"):
            yield {"op": "add", "path": f"{path}/{name}", "value": text == "true"}
        elif not text:
            yield {"op": "remove", "path": f"{path}/{name}"}


def _arguments_typed(
    entry: Mapping[str, Any], path: str, typed: Mapping[str, str]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return all arguments as they shall be, and what cannot be one."""
    written = _mapping(entry.get("arguments"))
    known = (ARGUMENTS if path.startswith("/tiers/") else ACTION_ARGUMENTS).get(str(entry.get("name")), {})
    texts = {
        name.removeprefix("argument."): text for name, text in typed.items() if name.startswith("argument.")
    }
    if new := typed.get("new_name", "").strip():
        texts[new] = typed.get("new_value", "")
    wanted, problems = dict(written), []
    for name, text in texts.items():
        text = text.replace("\r\n", "\n").strip()
        if text == _words(written.get(name)).strip():
            continue
        wanted.pop(name, None)
        if not text:
            continue
        argument = argument_of(name, known)
        try:
            wanted[name] = _value(text, argument.kind if argument else None)
        except ValueError:
            kind = argument.kind.value if argument else "YAML on one line"
            says, at = f"{name} takes {kind}, not {text!r}.", f"{path}/arguments/{name}"
            problems.append(
                Problem(
                    "conf.argument_type",
                    "error",
                    says,
                    path=at,
                    field=name,
                    actual=text,
                    fix=f"Enter {kind}.",
                )
            )
    return wanted, problems


def _value(text: str, kind: Kind | None) -> Any:
    """Return what a text means as a value of a type. Raises ValueError when it means none."""
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
