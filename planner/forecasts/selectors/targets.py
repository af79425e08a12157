"""The wait targets of a scenario."""

import hashlib
import json
from collections.abc import Mapping

from planner.scenarios.models import Scenario


def wait_targets(scenario: Scenario) -> dict[str, float]:
    """Return the wait targets in seconds, by queue (1 query)."""
    return {target.queue: target.seconds for target in scenario.wait_targets.all()}


def targets_tag(targets: Mapping[str, float]) -> str:
    """Return the tag of wait targets: equal targets have equal tags.

    >>> targets_tag({"a": 1.0, "b": 2.0}) == targets_tag({"b": 2.0, "a": 1.0}) != targets_tag({"a": 1.0})
    True
    """
    return hashlib.sha256(json.dumps(targets, sort_keys=True).encode()).hexdigest()[:16]
