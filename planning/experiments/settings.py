"""The settings that an experiment can move: fields of queues, actions, arguments of plugins, nodes."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import manifests
from manifests.pools import node_like, numbered_names
from planning.experiments.levels import Json, Level, Parts, Setting, UnusableSetting
from planning.experiments.pools import PoolSetting
from planning.experiments.values import Refusal, conf_refusal, count_refusal, queue_refusal
from planning.experiments.workload_settings import WORK, WorkSetting

AMOUNTS = ("deserved", "capability", "guarantee")
"""Fields of a queue with an amount per resource."""
MOST_VALUES = 1000
"""The most values of a setting, as a list or as a range."""
_NUMBER = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)([A-Za-z]*)", re.ASCII)


@dataclass(frozen=True)
class QueueSetting(Setting):
    """A field of a queue; `resource` is empty for other fields than amounts."""

    queue: str
    field: str
    resource: str = ""

    @cached_property
    def _steps(self) -> tuple[str, ...]:
        if self.field == "guarantee":
            return ("guarantee", "resource", self.resource)
        return (self.field, self.resource) if self.resource else (self.field,)

    def present(self, document: Json) -> Any:
        """Return the value in the queue's spec, None if it is not set."""
        value: Any = _queue(document, self.queue).get("spec") or {}
        for step in self._steps:
            value = (value or {}).get(step)
        return value

    def moved(self, document: Json, value: Any) -> Parts:
        """Return the queues with one of them changed."""
        queues = list(document["queues"])
        place = queues.index(_queue(document, self.queue))
        queues[place] = copy.deepcopy(queues[place])
        spec = queues[place].setdefault("spec", {})
        for step in self._steps[:-1]:
            spec[step] = spec.get(step) or {}
            spec = spec[step]
        spec[self._steps[-1]] = value
        return {"queues": queues}

    @property
    def is_unlimited_unset(self) -> bool:
        """Return whether it is a capability: a queue without one has no limit."""
        return self.field == "capability"

    def refusal(self, document: Json, value: Any) -> Refusal | None:
        """Return why the queue cannot have the value."""
        alone = {"queues": [_queue(document, self.queue)]}
        return queue_refusal(self.moved(alone, value)["queues"][0], self._steps)

    def timed(self, document: Json, value: Any) -> Json:
        """Return the patch of the queue's spec."""
        patch = value
        for step in reversed(self._steps):
            patch = {step: patch}
        return {"queue": self.queue, "set": patch}


class ConfSetting(Setting):
    """A part of the scheduler's configuration."""

    def refusal(self, document: Json, value: Any) -> Refusal | None:
        """Return why Volcano does not take the configuration, or keeps a default instead of the value."""
        return conf_refusal(document, _conf(document), self.moved(document, value)["scheduler_conf"])


@dataclass(frozen=True)
class ActionsSetting(ConfSetting):
    """The actions of a session, as the configuration lists them."""

    def present(self, document: Json) -> Any:
        """Return the actions of the configuration."""
        return _conf(document).get("actions")

    def moved(self, document: Json, value: Any) -> Parts:
        """Return the configuration with other actions."""
        return {"scheduler_conf": {**_conf(document), "actions": value}}


@dataclass(frozen=True)
class ArgumentSetting(ConfSetting):
    """An argument of a plugin, wherever the tiers name the plugin first."""

    plugin: str
    argument: str

    def present(self, document: Json) -> Any:
        """Return the value in the first entry of the plugin."""
        tier, place = self._entry(_conf(document))
        entry = _conf(document)["tiers"][tier]["plugins"][place]
        return (entry.get("arguments") or {}).get(self.argument)

    def moved(self, document: Json, value: Any) -> Parts:
        """Return the configuration with another argument."""
        conf = copy.deepcopy(dict(_conf(document)))
        tier, place = self._entry(conf)
        entry = conf["tiers"][tier]["plugins"][place]
        entry["arguments"] = {**(entry.get("arguments") or {}), self.argument: value}
        return {"scheduler_conf": conf}

    def _entry(self, conf: Json) -> tuple[int, int]:
        for tier, listed in enumerate(conf.get("tiers") or ()):
            for place, entry in enumerate(listed.get("plugins") or ()):
                if entry.get("name") == self.plugin:
                    return tier, place
        raise UnusableSetting(
            "plugin", f"the configuration has no plugin {self.plugin!r}", "name a plugin of its tiers"
        )


@dataclass(frozen=True)
class NodesSetting(Setting):
    """The number of added copies of a node."""

    like: str

    def present(self, document: Json) -> Any:
        """Return 0: no node is added."""
        self._model(document)
        return 0

    def refusal(self, document: Json, value: Any) -> Refusal | None:
        """Return why this many copies cannot be added."""
        return count_refusal(value)

    def moved(self, document: Json, value: Any) -> Parts:
        """Return the nodes with this many copies."""
        nodes, model = list(document.get("nodes") or ()), self._model(document)
        names = numbered_names(self.like, int(value), {node["metadata"]["name"] for node in nodes})
        return {"nodes": [*nodes, *(node_like(model, name) for name in names)]}

    def _model(self, document: Json) -> Json:
        for node in document.get("nodes") or ():
            if node["metadata"]["name"] == self.like:
                return dict(node)
        raise UnusableSetting("like", f"there is no node {self.like!r}", "name a node of the cluster")


def setting_of(written: Json, forecast: Json | None = None) -> Setting:
    """Return the setting that a mapping of an experiment's file describes; `forecast` is that of the file.

    Raises
    ------
    UnusableSetting
        If its range is invalid.

    Examples
    --------
    >>> setting_of({"queue": "a", "field": "weight", "range": {"from": 1, "to": 5, "step": 2}}).values
    (1, 3, 5)
    >>> setting_of({"queue": "a", "field": "deserved", "resource": "cpu", "values": ["2", "4"]}).name
    'a.deserved.cpu'

    """
    values = tuple(written["values"]) if "values" in written else ranged(written["range"])
    common: dict[str, Any] = {"values": values, "price": float(written.get("price", 1))}
    if written.get("at", "") != "":
        common["at"] = written["at"]
        if forecast is None:
            raise UnusableSetting("at", "a run has no time at which a setting could change", "write forecast")
        if not {"queue", "pool"} & written.keys():
            message = "only queues and pools can change at a given time"
            raise UnusableSetting("at", message, "remove at, or write it into changes of the forecast")
    if "queue" in written:
        queue, field, resource = written["queue"], written["field"], written.get("resource", "")
        if (field in AMOUNTS) != bool(resource):
            wrong = "needs a" if field in AMOUNTS else "has no"
            raise UnusableSetting(
                "field",
                f"{field} {wrong} resource",
                f"name a resource with {', '.join(AMOUNTS)}, and only there",
            )
        name = _named(written, ".".join(filter(None, (queue, field, resource))))
        return QueueSetting(name=name, queue=queue, field=field, resource=resource, **common)
    if "pool" in written:
        pool = written["pool"]
        return PoolSetting(name=_named(written, f"nodes of {pool}"), pool=pool, **common)
    if "forecast" in written:
        if forecast is None:
            raise UnusableSetting("forecast", "a run has no workload", "write forecast")
        option = written["forecast"]
        now = forecast.get(option, WORK[option])
        return WorkSetting(name=_named(written, option), option=option, now=now, **common)
    if "plugin" in written:
        plugin, argument = written["plugin"], written["argument"]
        name = _named(written, f"{plugin}.{argument}")
        return ArgumentSetting(name=name, plugin=plugin, argument=argument, **common)
    if "like" in written:
        return NodesSetting(
            name=_named(written, f"nodes like {written['like']}"), like=written["like"], **common
        )
    return ActionsSetting(name=_named(written, "actions"), **common)


def _named(written: Json, otherwise: str) -> str:
    at = f" at {written['at']}" if written.get("at", "") != "" else ""
    return str(written.get("name", otherwise + at))


def ranged(written: Json) -> tuple[Any, ...]:
    """Return the values of a range; quantities keep the suffix that all of its limits share.

    >>> ranged({"from": "64Gi", "to": "192Gi", "step": "64Gi"})
    ('64Gi', '128Gi', '192Gi')
    """
    ends = [written["from"], written["to"], written["step"]]
    matches = [_NUMBER.fullmatch(str(end)) for end in ends]
    suffixes = {match.group(2) for match in matches if match}
    if None in matches:
        message = f"{str(ends[matches.index(None)])[:40]!r} is not an amount of at most 18 digits"
        raise UnusableSetting("range", message, "write from, to and step as 1, 4, 1 or 64Gi, 256Gi, 64Gi")
    if len(suffixes) != 1:
        raise UnusableSetting(
            "range", "from, to and step have different suffixes", "write them as 64Gi, 256Gi, 64Gi"
        )
    first, last, step = (Fraction(match.group(1)) for match in matches if match)
    if step <= 0 or last < first:
        raise UnusableSetting("range", "the range has no values", "write a step above 0 and from below to")
    (suffix,) = suffixes
    is_text = any(isinstance(end, str) for end in ends)
    count = int((last - first) / step) + 1
    if count > MOST_VALUES:
        message = f"the range has {count:,} values, and a setting at most {MOST_VALUES:,}"
        raise UnusableSetting("range", message, "write a larger step")
    return tuple(_written(first + step * number, suffix, is_text=is_text) for number in range(count))


def changes(document: Json, settings: Sequence[Setting], levels: Iterable[Level]) -> Parts:
    """Return the parts of the document that differ when each setting is at its level.

    Settings that move at a time change nothing of the document; see `timed_moves`.
    """
    parts: Parts = {}
    for setting, level in zip(settings, levels, strict=True):
        if not level.is_present and not setting.at:
            parts |= setting.moved({**document, **parts}, level.value)
    return parts


def timed_moves(document: Json, settings: Sequence[Setting], levels: Iterable[Level]) -> list[Json]:
    """Return the settings that move at a time as changes of a forecast of the changed document."""
    return [
        {"at": setting.at, **setting.timed(document, level.value)}
        for setting, level in zip(settings, levels, strict=True)
        if setting.at and not level.is_present
    ]


def moved_options(settings: Sequence[Setting], levels: Iterable[Level]) -> Parts:
    """Return the options of a forecast that differ when each setting is at its level."""
    found: Parts = {}
    for setting, level in zip(settings, levels, strict=True):
        if not level.is_present:
            found |= setting.options(level.value)
    return found


def _written(value: Fraction, suffix: str, *, is_text: bool) -> Any:
    number: int | float = int(value) if value.denominator == 1 else float(value)
    return f"{number}{suffix}" if is_text else number


def _queue(document: Json, name: str) -> dict[str, Any]:
    for queue in document.get("queues") or ():
        if queue["metadata"]["name"] == name:
            found: dict[str, Any] = queue
            return found
    raise UnusableSetting("queue", f"there is no queue {name!r}", "name a queue of the cluster")


def _conf(document: Json) -> Json:
    conf = document.get("scheduler_conf") or {}
    return conf if isinstance(conf, Mapping) else manifests.parse_conf(conf)
