"""The annotations of a job by which the scheduler treats it differently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Object = Mapping[str, Any]

PREEMPTABLE, COOLDOWN_TIME = "volcano.sh/preemptable", "volcano.sh/cooldown-time"

OF_PODS = (PREEMPTABLE, COOLDOWN_TIME, "volcano.sh/revocable-zone")
OF_PODGROUPS = (
    PREEMPTABLE,
    "volcano.sh/sla-waiting-time",
    "sla-waiting-time",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
)
_ALSO_LABELS = (PREEMPTABLE, COOLDOWN_TIME)
"""What the scheduler also reads from labels, where there is no annotation of the name."""


def annotations_of(thing: Object, names: Iterable[str]) -> dict[str, str]:
    """Return some annotations of an object, and what its labels say instead.

    >>> pod = {"metadata": {"labels": {PREEMPTABLE: "false"}, "annotations": {"team": "a"}}}
    >>> annotations_of(pod, OF_PODS)
    {'volcano.sh/preemptable': 'false'}
    """
    metadata = thing.get("metadata") or {}
    annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    of_labels = {name: labels.get(name) for name in _ALSO_LABELS}
    stated = of_labels | {name: text for name, text in annotations.items() if text is not None}
    return {name: str(text) for name in names if (text := stated.get(name)) is not None}
