"""Releases of Volcano, and the rules in which they differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(-[0-9A-Za-z.-]+)?")


class Change(NamedTuple):
    """How a rule changed between releases.

    Attributes
    ----------
    since : (int, int)
        Major and minor version of the first release that follows the rule.
    pulls : tuple of int
        The pull requests of Volcano that introduced it.
    part : str
        The plugin or action that it concerns.
    before, after : str
        The behaviour of releases without and with the rule.

    """

    since: tuple[int, int]
    pulls: tuple[int, ...]
    part: str
    before: str
    after: str


class Rule(Enum):
    """The differences between the known releases, one rule for each.

    A release either follows a rule or not; the plugin or action that a rule concerns reads it in one place.
    """

    INQUEUE_REMAINDER = Change(
        (1, 15),
        (5100, 5130),
        "proportion, capacity",
        "An Inqueue PodGroup reserves its whole minResources, even when some of its pods are allocated.",
        "An Inqueue PodGroup reserves the part of its minResources that is not allocated yet.",
    )
    RECLAIM_ROLLBACK = Change(
        (1, 15),
        (5067,),
        "reclaim",
        "reclaim evicts at least one victim on a node, even when the pod already fits, and keeps the "
        "evictions on nodes where the pod could not be pipelined.",
        "reclaim evicts only while the pod does not fit, and rolls back its evictions where the pod "
        "could not be pipelined.",
    )
    PREEMPT_ROLLBACK = Change(
        (1, 15),
        (5010,),
        "preempt",
        "preempt keeps the evictions on a node even when the preemptor still does not fit there.",
        "preempt rolls back the evictions on a node where the preemptor still does not fit.",
    )
    VICTIM_ORDER_BY_PLUGINS = Change(
        (1, 15),
        (5115,),
        "victim order",
        "Victims of different jobs that tie in job order: the younger job loses its pods first.",
        "Victims of different jobs that tie in job order are compared by task order.",
    )
    RECLAIM_WITHIN_REAL_CAPABILITY = Change(
        (1, 15),
        (5053,),
        "capacity",
        "A queue may reclaim even when it would exceed its real capability.",
        "A queue may reclaim only while it stays within its real capability.",
    )
    CAPACITY_VICTIM_ORDER = Change(
        (1, 15),
        (5115,),
        "capacity",
        "capacity considers the reclaimable pods of a node in no fixed order (by name here).",
        "capacity considers reclaimable pods in the order in which they would be evicted.",
    )
    FAILED_RESERVE_LEAVES_NO_POD = Change(
        (1, 15),
        (5116,),
        "predicates",
        "When the reserve step fails, the pod is still added to the Kubernetes view of its node.",
        "When the reserve step fails, the pod is not added to the Kubernetes view of its node.",
    )
    NODE_SCORES_IN_BATCH = Change(
        (1, 15),
        (5497, 5562),
        "nodeorder",
        "The node affinity score is the plain sum of the weights, and topology spread by hostname counts no "
        "pods.",
        "The node affinity score is normalized to 0..100, and topology spread by hostname counts the pods of "
        "the node.",
    )
    ANCESTOR_RECLAIM_LEVEL = Change(
        (1, 15),
        (5115,),
        "capacity",
        "The argument ancestorReclaimLevel is ignored.",
        "The argument ancestorReclaimLevel lets ancestors of a queue protect it and reclaim for it.",
    )
    GANG_EVICTION = Change(
        (1, 15),
        (5250,),
        "gangpreempt, gangreclaim",
        "The actions gangpreempt and gangreclaim do not exist; Volcano rejects a configuration with them.",
        "The actions gangpreempt and gangreclaim evict for whole gangs.",
    )
    PREFERRED_GROUP_ORDER = Change(
        (1, 15),
        (5110,),
        "nodegroup",
        "The argument enablePreferredOrder is ignored: all preferred node groups score alike.",
        "With the argument enablePreferredOrder, earlier preferred node groups score higher.",
    )
    POD_LEVEL_REQUESTS = Change(
        (1, 15),
        (5020,),
        "requests",
        "spec.resources of a pod is ignored, and its overhead is added to its containers, not to its init "
        "containers.",
        "A pod's spec.resources.requests replaces the requests of its containers, and its overhead is added "
        "to all.",
    )
    BOOLEANS_AS_TEXT = Change(
        (1, 15),
        (5058,),
        "arguments",
        'An argument that expects true or false ignores a string, such as "false".',
        'An argument that expects true or false also reads a string, such as "false".',
    )
    BALANCE_IMPROVEMENT = Change(
        (1, 16),
        (5287,),
        "nodeorder",
        "The balanced-allocation score rates how balanced the node is with the pod.",
        "The balanced-allocation score rates how much the pod improves the balance of the node.",
    )
    POD_LEVEL_SCORES = Change(
        (1, 16),
        (5287,),
        "nodeorder",
        "The scores of resources read the requests of a pod's containers.",
        "The scores of resources read the pod's spec.resources.requests in place of those of its containers.",
    )
    RESERVE_WHEN_ENQUEUED = Change(
        (1, 16),
        (5339,),
        "proportion, capacity, resourcequota",
        "A plugin reserves minResources once it permits a job, even when another plugin rejects the job.",
        "Every plugin reserves minResources when the job is enqueued, and only then.",
    )
    NODEGROUP_LIMITS = Change(
        (1, 16),
        (5461,),
        "nodegroup",
        "The queue annotation volcano.sh/nodegroup-resource-limits is ignored.",
        "The queue annotation volcano.sh/nodegroup-resource-limits caps a queue in each node group.",
    )

    __hash__ = object.__hash__  # faster than Enum's, as sessions look up rules often

    @property
    def since(self) -> tuple[int, int]:
        """Return major and minor version of the first release that follows the rule."""
        return self.value.since


class Release(NamedTuple):
    """A release of Volcano: the rules that it follows.

    Attributes
    ----------
    name : str
        Volcano's tag, for example "v1.15.1".
    version : (int, int)
        Major and minor version.
    rules : frozenset of Rule
        The rules that it follows.

    """

    name: str
    version: tuple[int, int]
    rules: frozenset[Rule]

    def follows(self, rule: Rule) -> bool:
        """Return whether the release follows a rule."""
        return rule in self.rules

    def switched(self, rules: Iterable[Rule]) -> Release:
        """Return the release with some rules toggled."""
        return self._replace(rules=self.rules ^ frozenset(rules))

    def lacks_action(self, action: str) -> bool:
        """Return whether the release does not have an action that a later one has."""
        return action in ("gangpreempt", "gangreclaim") and not self.follows(Rule.GANG_EVICTION)


def _release(name: str, version: tuple[int, int]) -> Release:
    return Release(name, version, frozenset(rule for rule in Rule if rule.since <= version))


V1_14 = _release("v1.14.4", (1, 14))
V1_15 = _release("v1.15.1", (1, 15))
V1_16 = _release("v1.16.0-alpha.1", (1, 16))

RELEASES = (V1_14, V1_15, V1_16)
"""The known releases, the oldest first."""

DEFAULT_RELEASE = V1_15

UNMODELLED = {
    V1_15.version: (
        "quotas for dynamic resource allocation and the scheduling gate for queue allocation, which changed "
        "in v1.15"
    ),
    V1_16.version: (
        "scores for dynamic resource allocation and volumes, usage, NUMA and device sharing, and the switch "
        "enabledClusterOrder, which changed in v1.16"
    ),
}
"""Differences for which there is no rule, by the first version that has them."""


def unmodelled_between(old: Release, new: Release) -> list[str]:
    """Return the differences between two releases for which there is no rule."""
    first, last = sorted((old.version, new.version))
    return [text for version, text in UNMODELLED.items() if first < version <= last]


def release_of(document: Mapping[str, object]) -> Release:
    """Return the release that a scenario names; the default without a valid name."""
    name = document.get("release")
    return (release_named(name) if isinstance(name, str) else None) or DEFAULT_RELEASE


def release_named(name: str) -> Release | None:
    """Return the known release nearest to a version; None if the text is not a version.

    Patch releases and pre-releases map to the known release of their minor version, versions beyond the known
    ones to the oldest or the newest.

    Parameters
    ----------
    name : str
        A tag such as "v1.15.1" or "1.14".

    Examples
    --------
    >>> release_named("v1.14.1").name
    'v1.14.4'
    >>> release_named("latest") is None
    True

    """
    matched = _VERSION.fullmatch(name)
    if matched is None:
        return None
    version = int(matched[1]), int(matched[2])
    return next((known for known in reversed(RELEASES) if known.version <= version), RELEASES[0])
