"""Jobs of traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traces import Role, TraceJob


def trace_job(
    name: str,
    queue: str,
    submitted: float,
    run_seconds: float | None,
    pods: int = 1,
    min_member: int = 1,
    requests: Mapping[str, str] | None = None,
    user: str = "",
    priority_class: str = "",
    constraints: Mapping[str, Any] | None = None,
    min_resources: Mapping[str, str] | None = None,
) -> TraceJob:
    """Return a job whose pods are equal."""
    role = Role(pods, requests or {}, constraints)
    return TraceJob(
        name, queue, submitted, run_seconds, (role,), min_member, user, priority_class, min_resources
    )
