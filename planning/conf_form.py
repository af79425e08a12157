"""The form of a scheduler configuration: fields, and buttons that hold their JSON patch."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import manifests
from planning.conf_fields import with_typed
from planning.conf_structure import Operation, as_mapping, as_mappings, as_words, parsed_conf
from planning.rows import (
    ActionForm,
    ArgumentField,
    ConfForm,
    EntryForm,
    PluginForm,
    SwitchField,
    TierForm,
)
from scheduler_core.conf import ACTIONS, DEFAULT_CONF, OFF_BY_DEFAULT, SWITCHES, UNMODELLED_PLUGINS
from scheduler_core.lint.arguments import ACTION_ARGUMENTS, ARGUMENTS, Argument, Kind, Known, argument_of


def conf_form(text: str, refused: Mapping[str, str] | None = None) -> ConfForm | None:
    """Return the form of a configuration's text, None if the text has errors.

    For an empty text the form only offers to insert Volcano's default. Rejected input, named as in
    `entry_operations` and with the `path` of its entry, is shown in its fields again.
    """
    if not text.strip():
        default = [_add(("actions",), DEFAULT_CONF["actions"]), _add(("tiers",), DEFAULT_CONF["tiers"])]
        return ConfForm(write_default=_patch(*default))
    structure = parsed_conf(text)
    if structure is None:
        return None
    if refused:
        structure = with_typed(structure, refused)
    names = _actions(structure)
    tiers = as_mappings(structure.get("tiers"))
    return ConfForm(
        actions=[_action(names, place) for place in range(len(names))],
        more_actions=[(name, _reordered(structure, [*names, name])) for name in ACTIONS if name not in names],
        tiers=[_tier(tiers, number) for number in range(len(tiers))],
        add_tier=_new_tier(structure),
        configured=[*_configured(structure)],
        more_configured=[*_configurable(structure)],
    )


def _actions(structure: Mapping[str, Any]) -> list[str]:
    actions = structure.get("actions")
    return [name.strip() for name in actions.split(",") if name.strip()] if isinstance(actions, str) else []


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
    """Return a key that is unique among entries of its name, and does not change when they are reordered."""
    return f"{names[place]}-{list(names[:place]).count(names[place])}"


def _new_tier(structure: Mapping[str, Any]) -> str:
    if isinstance(structure.get("tiers"), list):
        return _patch(_add(("tiers", "-"), {"plugins": []}))
    return _patch(_add(("tiers",), [{"plugins": []}]))


def _tier(tiers: Sequence[Mapping[str, Any]], number: int) -> TierForm:
    at: tuple[str | int, ...] = ("tiers", number)
    is_last = number == len(tiers) - 1
    there = tiers[number].get("plugins")
    entries = as_mappings(there)
    used = {str(entry.get("name")) for tier in tiers for entry in as_mappings(tier.get("plugins"))}
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
    entries = as_mappings(tiers[tier].get("plugins"))
    before = [as_mappings(other.get("plugins")) for other in tiers[:tier]]
    names = [str(entry.get("name", "")) for others in [*before, entries[: place + 1]] for entry in others]
    entry, at = entries[place], ("tiers", tier, "plugins", place)
    return PluginForm(
        name=names[-1],
        key=_key(names, len(names) - 1),
        says=f"not modelled: {message}" if (message := UNMODELLED_PLUGINS.get(names[-1])) else "",
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
    """Return whether there is a tier of this number with a list that a plugin can be moved to."""
    return 0 <= number < len(tiers) and isinstance(tiers[number].get("plugins"), list)


def _configured(structure: Mapping[str, Any]) -> Iterator[EntryForm]:
    for number, entry in enumerate(as_mappings(structure.get("configurations"))):
        name, at = str(entry.get("name", "")), ("configurations", number)
        fields = [*_argument_fields(entry, ACTION_ARGUMENTS.get(name, {}))]
        yield EntryForm(name, manifests.pointer(*at), _remove(at), fields)


def _configurable(structure: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    there = structure.get("configurations")
    named = {str(entry.get("name")) for entry in as_mappings(there)}
    for name, known in ACTION_ARGUMENTS.items():
        if known and name not in named:
            entry = {"name": name, "arguments": {}}
            steps = ("configurations", "-") if isinstance(there, list) else ("configurations",)
            yield name, _patch(_add(steps, entry if isinstance(there, list) else [entry]))


# Fields


def _switches(entry: Mapping[str, Any]) -> Iterator[SwitchField]:
    for name in SWITCHES:
        yield SwitchField(name, as_words(entry.get(name)), "off" if name in OFF_BY_DEFAULT else "on")


def _argument_fields(entry: Mapping[str, Any], known: Known) -> Iterator[ArgumentField]:
    written = as_mapping(entry.get("arguments"))
    named = [name for name in known if not name.endswith("*")]
    for name in [*named, *(name for name in written if name not in named)]:
        yield _field(name, written.get(name), argument_of(name, known))


def _field(name: str, value: object, argument: Argument | None) -> ArgumentField:
    if argument is None:
        return ArgumentField(name, as_words(value), "as YAML", "", "", is_flag=False, is_long=_is_long(value))
    is_odd = value is not None and not isinstance(value, bool)
    return ArgumentField(
        name,
        as_words(value),
        argument.kind.value,
        "" if argument.default is None else as_words(argument.default),
        argument.meaning,
        is_flag=argument.kind is Kind.FLAG and not is_odd,
        is_long=argument.kind is Kind.TABLE or _is_long(value),
    )


def _is_long(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, str) and "\n" in value)
