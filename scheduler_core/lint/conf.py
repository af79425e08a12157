"""Lint of a scheduler configuration: keys and values that Volcano ignores or reads differently."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.conf import (
    MODELLED_PLUGINS,
    SWITCHES,
    UNMODELLED_PLUGINS,
    SchedulerConf,
    actions_of,
    parse_conf,
)
from scheduler_core.errors import ConfError
from scheduler_core.lint.arguments import ACTION_ARGUMENTS, ARGUMENTS, RETIRED, Kind, Known, argument_of
from scheduler_core.lint.finding import conf_finding
from scheduler_core.lint.names import CONF_KEYS, ENTRY_KEYS, READS_HIERARCHY, TIER_KEYS
from scheduler_core.lint.tiers import tier_problems
from scheduler_core.problem import Problem
from scheduler_core.release import DEFAULT_RELEASE, Release

Object = Mapping[str, Any]
Problems = Iterator[Problem]

PLUGINS = (*MODELLED_PLUGINS, *UNMODELLED_PLUGINS)
_REJECTED = "Volcano rejects the whole configuration and keeps the previous one, or the built-in one at start"


def conf_problems(structure: object, release: Release = DEFAULT_RELEASE) -> list[Problem]:
    """Return all problems and remarks of a configuration, errors first.

    An error means that Volcano rejects it as a whole, a warning that it does not do what it says, and a
    remark points out what is easily overlooked.

    Parameters
    ----------
    structure : any
        The parsed text of the configuration, of any type; None for Volcano's default.
    release : Release
        The release that reads it.

    """
    found = [*_form_problems(structure, release)] if isinstance(structure, Mapping) else []
    try:
        conf = parse_conf(structure, release)  # type: ignore[arg-type]  # it refuses anything but a mapping
    except ConfError as error:
        if not any(problem.severity == "error" for problem in found):
            message = f"{error}: {_REJECTED}"
            found.append(conf_finding("conf.rejected", "error", (), message, fix="fix the value"))
    else:
        found += tier_problems(conf)
    rank = {"error": 0, "warning": 1, "remark": 2}
    return sorted(found, key=lambda problem: rank[problem.severity])


def _form_problems(structure: Object, release: Release) -> Problems:
    yield from _action_problems(structure.get("actions"), release)
    yield from _key_problems(structure, CONF_KEYS, ())
    for number, tier in _entries(structure.get("tiers")):
        way = ("tiers", number)
        yield from _key_problems(tier, TIER_KEYS, way)
        if not tier.get("plugins"):
            yield conf_finding("conf.empty_tier", "remark", way, "contains no plugin", fix="remove it")
        for place, entry in _entries(tier.get("plugins")):
            yield from _entry_problems(entry, release, (*way, "plugins", place))
    yield from _configuration_problems(structure, release)


def _entries(listed: object) -> Iterator[tuple[int, Object]]:
    """Yield the mappings in a list with their positions; for anything else Volcano rejects the file."""
    for number, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, Mapping):
            yield number, entry


def _action_problems(actions: object, release: Release) -> Problems:
    if not isinstance(actions, str):
        return
    known = actions_of(release)
    for name in (part.strip() for part in actions.split(",")):
        if name not in known:
            message = f"unknown action {name!r}, which Volcano {release.name} does not have: {_REJECTED}"
            fix = _nearest(name, known) or f"choose from {', '.join(known)}"
            yield conf_finding("conf.unknown_action", "error", ("actions",), message, actual=name, fix=fix)


def _key_problems(holder: Object, known: tuple[str, ...], way: tuple[str | int, ...]) -> Problems:
    for key in holder:
        if key not in known:
            message = f"{key!r} is not a key here: Volcano ignores it"
            fix = _nearest(str(key), known) or "remove it"
            yield conf_finding(
                "conf.unknown_key", "warning", (*way, str(key)), message, actual=str(key), fix=fix
            )


def _entry_problems(entry: Object, release: Release, way: tuple[str | int, ...]) -> Problems:
    name = entry.get("name")
    plugin = name if isinstance(name, str) else ""
    yield from _name_problems(plugin, release, way)
    arguments = entry.get("arguments")
    known = ARGUMENTS.get(plugin)
    for key, value in entry.items():
        if key in ENTRY_KEYS:
            continue
        if key not in SWITCHES:
            yield _other(str(key), value, plugin, known, way)
        elif (
            key == "enableHierarchy" and value is True and known is not None and plugin not in READS_HIERARCHY
        ):
            message = f"plugin {plugin} does not read it; {', '.join(READS_HIERARCHY)} do"
            yield conf_finding("conf.switch_idle", "remark", (*way, key), message, fix="remove it")
    if isinstance(arguments, Mapping) and known is not None:
        yield from _argument_problems(arguments, known, f"plugin {plugin}", release, (*way, "arguments"))


def _name_problems(plugin: str, release: Release, way: tuple[str | int, ...]) -> Problems:
    at = (*way, "name")
    if plugin in UNMODELLED_PLUGINS:
        message = f"plugin {plugin} is not modelled here: {UNMODELLED_PLUGINS[plugin]}"
        yield conf_finding("conf.not_modelled", "remark", at, message, actual=plugin)
    elif plugin not in MODELLED_PLUGINS:
        message = (
            f"plugin {plugin!r} is none of Volcano {release.name}; Volcano logs it and ignores the plugin"
        )
        fix = _nearest(plugin, PLUGINS) or "remove it, unless your scheduler is built with it"
        yield conf_finding("conf.unknown_plugin", "warning", at, message, actual=plugin, fix=fix)


def _other(key: str, value: object, plugin: str, known: Known | None, way: tuple[str | int, ...]) -> Problem:
    """Return the problem of a key other than name, arguments and the switches."""
    at = (*way, key)
    if known is not None and argument_of(key, known) is not None:
        message = f"{key} is an argument of {plugin} but is not below `arguments`: Volcano ignores it"
        fix = f"move it below `arguments` of {plugin}"
        return conf_finding("conf.argument_misplaced", "warning", at, message, actual=_single(value), fix=fix)
    switch = _switch_meant(key)
    if switch:
        message = f"{key} is not a Volcano switch (Volcano spells it {switch}): it is ignored"
        return conf_finding("conf.switch_spelling", "warning", at, message, actual=key, fix=f"write {switch}")
    message = f"{key!r} is not a plugin key: Volcano ignores it"
    fix = _nearest(key, SWITCHES) or "remove it, or move it below `arguments` if it is an argument"
    return conf_finding("conf.unknown_key", "warning", at, message, actual=key, fix=fix)


def _switch_meant(key: str) -> str:
    """Return the switch that a misspelled key means, such as enabledPreemptable."""
    meant = _bare(key)
    return next((switch for switch in SWITCHES if _bare(switch) == meant), "") if meant else ""


def _bare(switch: str) -> str:
    low = switch.lower()
    start = next(
        (start for start in ("enabled", "enable", "disabled", "disable") if low.startswith(start)), ""
    )
    return low[len(start) :] if start else ""


def _argument_problems(
    arguments: Object, known: Known, whose: str, release: Release, way: tuple[str | int, ...]
) -> Problems:
    for key, value in arguments.items():
        at, name = (*way, str(key)), str(key)
        argument = argument_of(name, known)
        retired = _retired(name)
        if retired and whose == "plugin predicates":
            message = f"{name} is no longer read: {retired}"
            yield conf_finding("conf.argument_retired", "warning", at, message, fix="remove it")
        elif argument is None:
            message = f"{whose} has no argument {name}: it is ignored"
            fix = _nearest(name, known) or "remove it"
            yield conf_finding("conf.unknown_argument", "warning", at, message, actual=name, fix=fix)
        elif not argument.is_read_by(release):
            first = ".".join(map(str, argument.since))
            message = f"Volcano {release.name} ignores argument {name} of {whose}, which v{first} introduced"
            fix = f"remove it, or upgrade Volcano to v{first} first"
            yield conf_finding("conf.argument_of_later_release", "warning", at, message, actual=name, fix=fix)
        elif value is not None and not argument.kind.takes(value):
            yield _of_wrong_type(name, value, argument.kind, at)
        elif name == "overcommit-factor" and isinstance(value, (int, float)) and value < 1:
            message = f"a factor of {value:g} is below 1: Volcano takes 1.2 instead"
            fix = "use at least 1"
            yield conf_finding("conf.argument_value", "warning", at, message, actual=value, limit=1, fix=fix)


def _of_wrong_type(name: str, value: object, kind: Kind, at: tuple[str | int, ...]) -> Problem:
    what = "crashes" if kind is Kind.TEXTS or name.startswith("tdm.revocable") else "keeps its default"
    message = f"{name} takes {kind.value}: with this value Volcano {what}"
    fix = (
        f"write {kind.value}, without quotes" if kind in (Kind.WHOLE, Kind.NUMBER) else f"write {kind.value}"
    )
    return conf_finding("conf.argument_type", "warning", at, message, actual=_single(value), fix=fix)


def _retired(name: str) -> str:
    for retired, why in RETIRED.items():
        if name == retired or (retired.endswith("*") and name.startswith(retired[:-1])):
            return why
    return ""


def _configuration_problems(structure: Object, release: Release) -> Problems:
    """Check the arguments of actions."""
    configured = structure.get("actions")
    actions = [name.strip() for name in configured.split(",")] if isinstance(configured, str) else []
    seen: set[str] = set()
    for number, entry in _entries(structure.get("configurations")):
        way, name = ("configurations", number), str(entry.get("name") or "")
        if name in seen:
            message = f"action {name} has two entries of arguments: only the first one counts"
            yield conf_finding("conf.action_twice", "warning", way, message, actual=name, fix="merge the two")
        seen.add(name)
        if name not in actions_of(release):
            message = f"{name!r} is not an action of Volcano {release.name}: its arguments are ignored"
            fix = _nearest(name, actions_of(release)) or "plugin arguments belong below the plugin"
            yield conf_finding("conf.unknown_action_arguments", "warning", way, message, actual=name, fix=fix)
            continue
        if name not in actions:
            message = f"action {name} is not configured: its arguments are ignored"
            fix = f"add {name} to actions, or remove this"
            yield conf_finding("conf.action_idle", "remark", way, message, actual=name, fix=fix)
        arguments = entry.get("arguments")
        if isinstance(arguments, Mapping):
            at = (*way, "arguments")
            yield from _argument_problems(arguments, ACTION_ARGUMENTS[name], f"action {name}", release, at)


def _nearest(name: str, known: Known | tuple[str, ...]) -> str:
    """Return a hint at the most similar name, empty if there is none."""
    by_low = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), by_low, n=1, cutoff=0.75)
    return f"write {by_low[near[0]]}" if near else ""


def _single(value: object) -> Any:
    return value if isinstance(value, (str, int, float, bool)) else None


def conf_of(structure: object, release: Release = DEFAULT_RELEASE) -> SchedulerConf | None:
    """Return the configuration of a structure, None if the release rejects it."""
    try:
        return parse_conf(structure, release)  # type: ignore[arg-type]  # it refuses anything but a mapping
    except ConfError:
        return None
