"""Owners of plain pods, which replace evicted ones.

Used only if `evicted` is "owner"; `replay.jobs` handles the pods of Jobs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from scheduler_core.transitions import created_again

Object = Mapping[str, Any]

AT_ONCE = frozenset({"ReplicaSet", "ReplicationController", "Deployment", "Job"})
WHEN_GONE = frozenset({"StatefulSet"})
_AGAIN = re.compile(r"-re\d+$")


def kind_of_owner(pod: Object) -> str:
    """Return the kind of the object that controls a pod, empty if none does."""
    for owner in pod["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            kind: str = owner.get("kind") or ""
            return kind
    return ""


def is_replaced_at_once(pod: Object) -> bool:
    """Return whether the owner creates another pod while this one still terminates."""
    return kind_of_owner(pod) in AT_ONCE


def is_replaced_when_gone(pod: Object) -> bool:
    """Return whether the owner creates a pod of the same name once this one is gone."""
    return kind_of_owner(pod) in WHEN_GONE


def replacement(pod: Object, others: Collection[str], now: str, scheduler_names: frozenset[str]) -> Object:
    """Return the pod with which an owner replaces a terminating one, under an unused name.

    Parameters
    ----------
    pod : mapping
        The terminating pod.
    others : collection of str
        The namespace/name of every pod.
    now : str
        Its creation timestamp.
    scheduler_names : frozenset of str
        The schedulers that are simulated.

    """
    metadata = pod["metadata"]
    space, base = metadata.get("namespace") or "default", _AGAIN.sub("", metadata["name"])
    number = 1
    while f"{space}/{base}-re{number}" in others:
        number += 1
    again = created_again(pod, f"{_AGAIN.sub('', metadata['uid'])}-re{number}", now, scheduler_names)
    return {**again, "metadata": {**again["metadata"], "name": f"{base}-re{number}"}}
