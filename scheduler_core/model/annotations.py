"""Labels and annotations about waiting times, disruption budgets and revocable nodes.

Source: volcano ``pkg/scheduler/api/job_info.go``, ``api/pod_info.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.conf import parse_bool
from scheduler_core.model.pod_template import PREEMPTABLE
from scheduler_core.model.timestamps import parse_duration

REVOCABLE_ZONE = "volcano.sh/revocable-zone"
WAITING_TIME = "sla-waiting-time"
WAITING_TIMES = (f"volcano.sh/{WAITING_TIME}", WAITING_TIME)
MIN_AVAILABLE = "volcano.sh/jdb-min-available"
MAX_UNAVAILABLE = "volcano.sh/jdb-max-unavailable"


def revocable_zone_of(labels: Mapping[str, str]) -> str:
    """Return the revocable zone of a node, empty if it has none."""
    return labels.get(REVOCABLE_ZONE) or ""


def may_use_revocable_nodes(annotations: Mapping[str, str]) -> bool:
    """Return whether a pod may run on revocable nodes; labels do not count."""
    zone = annotations.get(REVOCABLE_ZONE)
    if zone is not None:
        return zone == "*"
    return bool(parse_bool(annotations.get(PREEMPTABLE)))


def waiting_time_of(annotations: Mapping[str, str]) -> float | None:
    """Return the seconds that a job may wait by its annotation, None without a valid one."""
    for name in WAITING_TIMES:
        seconds = positive_duration(annotations.get(name))
        if seconds is not None:
            return seconds
    return None


def positive_duration(text: object) -> float | None:
    """Return the seconds of a duration above 0, None for anything else."""
    seconds = parse_duration(text) if isinstance(text, str) else None
    return seconds if seconds is not None and seconds > 0 else None


def budget_of(annotations: Mapping[str, str]) -> tuple[str, str]:
    """Return a job's (minimum available, maximum unavailable) as written; the first overrides the second."""
    minimum = annotations.get(MIN_AVAILABLE)
    return ("", annotations.get(MAX_UNAVAILABLE) or "") if minimum is None else (minimum, "")
