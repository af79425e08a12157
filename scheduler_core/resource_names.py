"""The names of resources that the scheduler counts."""

from __future__ import annotations

import re
from functools import lru_cache

_NAME_PART = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_COUNTED = frozenset({"cpu", "memory", "pods", "ephemeral-storage"})
_QUALIFIED = re.compile(rf"((?P<prefix>{_DNS_LABEL}(\.{_DNS_LABEL})*)/)?{_NAME_PART}", re.ASCII)


def is_qualified_name(name: str) -> bool:
    """Return whether `name` is a qualified name of Kubernetes (optional DNS prefix, name of at most 63)."""
    match = _QUALIFIED.fullmatch(name)
    return match is not None and len(match["prefix"] or "") <= 253


@lru_cache(maxsize=4096)
def is_scalar_name(name: str) -> bool:
    """Return whether the scheduler counts a resource of this name as a scalar; not `ephemeral-storage`."""
    if name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.") and is_qualified_name("requests." + name)


def is_counted(name: str) -> bool:
    """Return whether the scheduler counts a resource of this name."""
    return name in _COUNTED or is_scalar_name(name)
