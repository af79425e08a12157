"""Fields of a Queue that nothing reads under a configuration, with the reasons.

Volcano's webhook still checks such a field; its scheduler decides as if it were absent.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.conf import SchedulerConf

FIELDS = (
    "weight",
    "priority",
    "reclaimable",
    "state",
    "parent",
    "guarantee",
    "deserved",
    "capability",
    "dequeueStrategy",
    "affinity",
    "hierarchy",
)
"""The fields that have a rule; `hierarchy` stands for the two annotations of drf."""


def unread_fields(conf: SchedulerConf) -> dict[str, str]:
    """Return the fields without effect, each with the reason as a sentence.

    Examples
    --------
    >>> from scheduler_core.conf import parse_conf
    >>> unread_fields(parse_conf(None))["deserved"]
    'Only the capacity plugin reads deserved, and it is not configured; proportion calculates it.'

    """
    return dict(_unread(conf))


def _unread(conf: SchedulerConf) -> Iterator[tuple[str, str]]:
    plugins = {option.name for option in conf.options()}
    quotas = plugins & {"proportion", "capacity"}
    if "proportion" not in plugins:
        instead = "; capacity uses deserved instead" if "capacity" in plugins else ""
        yield "weight", f"Only the proportion plugin reads weight, and it is not configured{instead}."
    if "capacity" not in plugins:
        instead = "; proportion calculates it" if quotas else ""
        yield "deserved", f"Only the capacity plugin reads deserved, and it is not configured{instead}."
    if not quotas:
        for field in ("guarantee", "capability", "state"):
            yield field, f"Only plugins proportion and capacity read {field}, and neither is configured."
    if not any(option.name in quotas and option.enabled("enableQueueOrder") for option in conf.options()):
        reason = "Only the queue order of plugins proportion and capacity reads priority"
        yield "priority", f"{reason}, and neither is used for it."
    if not {"reclaim", "gangreclaim"} & set(conf.actions):
        reason = "Only actions reclaim and gangreclaim read reclaimable"
        yield "reclaimable", f"{reason}, and neither is configured."
    if not any(conf.hierarchy_enabled(plugin) for plugin in ("capacity", "nodegroup")):
        reason = "Only plugins capacity and nodegroup read parent, and neither has enableHierarchy"
        yield "parent", f"{reason}: the hierarchy is ignored."
    if "nodegroup" not in plugins:
        yield "affinity", "Only plugin nodegroup reads affinity, and it is not configured."
    if not conf.hierarchy_enabled("drf"):
        reason = "Only plugin drf reads the hierarchy annotations, and only with enableHierarchy"
        yield "hierarchy", f"{reason}, which is off."
    yield "dequeueStrategy", "Nothing in Volcano v1.15.1 reads dequeueStrategy."
