"""Scheduler configurations: actions, tiers of plugins, switches and arguments.

Source: volcano ``pkg/scheduler/util.go``, ``conf/scheduler_conf.go``, ``plugins/defaults.go``,
``framework/arguments.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from scheduler_core.errors import ConfError
from scheduler_core.release import DEFAULT_RELEASE, Release, Rule

ACTIONS = ("enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle")

MODELLED_PLUGINS = (
    "binpack",
    "capacity",
    "cdp",
    "conformance",
    "drf",
    "extender",
    "gang",
    "nodegroup",
    "nodeorder",
    "overcommit",
    "pdb",
    "predicates",
    "priority",
    "proportion",
    "resource-strategy-fit",
    "resourcequota",
    "sla",
    "tdm",
)

UNMODELLED_PLUGINS: Mapping[str, str] = {
    "deviceshare": "shared devices (vGPU, vNPU) are neither filtered nor scored",
    "network-topology-aware": "hypernodes are not scored",
    "numaaware": "NUMA placement is neither filtered nor scored",
    "rescheduling": "nothing is moved away from busy nodes by the shuffle action",
    "task-topology": "affinity between the tasks of a job is not scored and does not order them",
    "usage": "measured load is neither filtered nor scored; Volcano does the same while it has no metrics",
}

# The switches of a plugin entry in Volcano's spelling. A missing switch is on, except the last two.
SWITCHES = (
    "enableJobOrder",
    "enableJobReady",
    "enableJobPipelined",
    "enableTaskOrder",
    "enablePreemptable",
    "enableReclaimable",
    "enablePreemptive",
    "enableQueueOrder",
    "enablePredicate",
    "enableBestNode",
    "enableNodeOrder",
    "enableTargetJob",
    "enableReservedNodes",
    "enableJobEnqueued",
    "enabledVictim",
    "enableJobStarving",
    "enabledOverused",
    "enabledAllocatable",
    "enabledHyperNodeOrder",
    "enabledSubJobReady",
    "enabledSubJobPipelined",
    "enabledSubJobOrder",
    "enabledHyperNodeGradient",
    "enableHierarchy",
    "EnabledClusterOrder",
)
OFF_BY_DEFAULT = frozenset({"enableHierarchy", "EnabledClusterOrder"})
_ON_BY_DEFAULT = frozenset(SWITCHES) - OFF_BY_DEFAULT

DEFAULT_CONF: Mapping[str, object] = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [
        {"plugins": [{"name": "priority"}, {"name": "gang"}, {"name": "conformance"}]},
        {
            "plugins": [
                {"name": "overcommit"},
                {"name": "drf"},
                {"name": "predicates"},
                {"name": "proportion"},
                {"name": "nodeorder"},
            ]
        },
    ],
}

_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def actions_of(release: Release) -> tuple[str, ...]:
    """Return the actions that a release has."""
    return tuple(name for name in ACTIONS if not release.lacks_action(name))


def parse_bool(text: object) -> bool | None:
    """Return the boolean that Go's strconv parses from a text, None for an error."""
    return _BOOLEANS.get(text) if isinstance(text, str) else None


class Arguments:
    """The arguments of a plugin or an action; a value of the wrong type counts as absent."""

    def __init__(
        self, values: Mapping[str, object] | None = None, release: Release = DEFAULT_RELEASE
    ) -> None:
        self.values, self._release = dict(values or {}), release

    def get_int(self, name: str, default: int) -> int:
        """Return an integer; 10.0 and "10" are not integers."""
        value = self.values.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def get_float(self, name: str, default: float) -> float:
        """Return a number."""
        value = self.values.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default

    def get_bool(self, name: str, default: bool) -> bool:
        """Return a boolean, given as such or as a string that parses as one."""
        value = self.values.get(name)
        reads_text = self._release.follows(Rule.BOOLEANS_AS_TEXT)
        parsed = value if isinstance(value, bool) else parse_bool(value) if reads_text else None
        return default if parsed is None else parsed

    def get_str(self, name: str, default: str = "") -> str:
        """Return a string."""
        value = self.values.get(name)
        return value if isinstance(value, str) else default


class PluginOption(NamedTuple):
    """One plugin entry of a tier."""

    name: str
    switches: frozenset[str]
    arguments: Arguments

    def enabled(self, switch: str) -> bool:
        """Return whether the switch is on."""
        return switch in self.switches


@dataclass(frozen=True)
class SchedulerConf:
    """A scheduler configuration that a release of Volcano accepts."""

    actions: tuple[str, ...]
    tiers: tuple[tuple[PluginOption, ...], ...]
    action_arguments: Mapping[str, Arguments] = field(default_factory=dict)
    release: Release = DEFAULT_RELEASE

    def options(self) -> list[PluginOption]:
        """Return every plugin entry in order."""
        return [option for tier in self.tiers for option in tier]

    def arguments_of(self, action: str) -> Arguments:
        """Return the arguments of an action: those of the first entry with its name."""
        return self.action_arguments.get(action) or Arguments()

    def first_option(self, plugin: str) -> PluginOption | None:
        """Return the first entry of a plugin."""
        return self._first_options.get(plugin)

    @cached_property
    def _first_options(self) -> Mapping[str, PluginOption]:
        return {option.name: option for option in reversed(self.options())}

    def hierarchy_enabled(self, plugin: str) -> bool:
        """Return whether the first entry of the plugin has `enableHierarchy`."""
        option = self.first_option(plugin)
        return option is not None and option.enabled("enableHierarchy")


def parse_conf(structure: Mapping[str, object] | None, release: Release = DEFAULT_RELEASE) -> SchedulerConf:
    """Return the configuration of a structure parsed from YAML.

    Parameters
    ----------
    structure : mapping, optional
        Keys `actions`, `tiers`, `configurations`; None gives Volcano's built-in default.
    release : Release
        The release that reads it.

    Raises
    ------
    ConfError
        If Volcano rejects the whole file: a value of the wrong type, an unknown action, or drf with hierarchy
        and proportion in one tier.

    """
    if structure is None:
        structure = DEFAULT_CONF
    if not isinstance(structure, Mapping):
        raise ConfError(f"scheduler_conf: expected a mapping, found {_kind(structure)}")
    _check_metrics(structure.get("metrics"))
    tiers = tuple(
        _tier(tier, index, release) for index, tier in enumerate(_list(structure, "tiers", "scheduler_conf"))
    )
    for tier in tiers:
        _refuse_conflict(tier)
    arguments: dict[str, Arguments] = {}
    for index, entry in enumerate(_list(structure, "configurations", "scheduler_conf")):
        where = f"scheduler_conf.configurations[{index}]"
        entry = _mapping(entry, where)
        name = _text(entry, "name", where)
        arguments.setdefault(name, _arguments(entry, where, release))
    return SchedulerConf(_actions(structure, release), tiers, arguments, release)


def _actions(structure: Mapping[str, object], release: Release) -> tuple[str, ...]:
    names = [name.strip() for name in _text(structure, "actions", "scheduler_conf").split(",")]
    known = actions_of(release)
    for name in names:
        if name not in known:
            raise ConfError(
                f"scheduler_conf.actions: failed to find action {name!r}; known: {', '.join(known)}"
            )
    return tuple(names)


def _tier(tier: object, index: int, release: Release) -> tuple[PluginOption, ...]:
    where = f"scheduler_conf.tiers[{index}]"
    entries = _list(_mapping(tier, where), "plugins", where)
    return tuple([_option(entry, f"{where}.plugins[{at}]", release) for at, entry in enumerate(entries)])


def _option(entry: object, where: str, release: Release) -> PluginOption:
    entry = _mapping(entry, where)
    on = _ON_BY_DEFAULT
    for switch in [name for name in SWITCHES if name in entry]:
        value = entry[switch]
        if value is None:
            continue
        if not isinstance(value, bool):
            raise ConfError(f"{where}.{switch}: expected true or false, found {_kind(value)}")
        on = on | {switch} if value else on - {switch}
    return PluginOption(_text(entry, "name", where), on, _arguments(entry, where, release))


def _refuse_conflict(tier: tuple[PluginOption, ...]) -> None:
    names = {option.name for option in tier}
    hierarchical = any(option.name == "drf" and option.enabled("enableHierarchy") for option in tier)
    if hierarchical and "proportion" in names:
        raise ConfError(
            "scheduler_conf.tiers: proportion and drf with hierarchy enabled conflicts in one tier"
        )


def _check_metrics(metrics: object) -> None:
    for key, value in _mapping(metrics, "scheduler_conf.metrics").items():
        if isinstance(value, (Mapping, list)):
            raise ConfError(f"scheduler_conf.metrics.{key}: expected a string, found {_kind(value)}")


def _arguments(entry: Mapping[str, object], where: str, release: Release) -> Arguments:
    return Arguments(_mapping(entry.get("arguments"), f"{where}.arguments"), release)


def _mapping(value: object, where: str) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfError(f"{where}: expected a mapping, found {_kind(value)}")
    return value


def _list(entry: Mapping[str, object], key: str, where: str) -> list[object]:
    value = entry.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ConfError(f"{where}.{key}: expected a list, found {_kind(value)}")
    return value


def _text(entry: Mapping[str, object], key: str, where: str) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if isinstance(value, (Mapping, list)):
        raise ConfError(f"{where}.{key}: expected a string, found {_kind(value)}")
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _kind(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    return {list: "a list", str: "a text", bool: "true or false"}.get(type(value), type(value).__name__)
