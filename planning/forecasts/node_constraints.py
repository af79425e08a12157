"""Which nodes the pods of a trace may run on: those of pods in their queue, where the trace does not say."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planning.node_constraints import FROM_DEVICES, FROM_OTHERS, FROM_QUEUE, KnownConstraints
from traces import Trace
from traces.text import counted

_NOTES = {
    FROM_QUEUE: "of {jobs} of the trace select nodes and tolerate taints like most jobs of their queue",
    FROM_OTHERS: "of {jobs} of the trace tolerate taints like pods in other queues with the same devices",
    FROM_DEVICES: "of {jobs} of the trace tolerate taints that have the names of the devices they request",
}


def with_constraints(trace: Trace, known: KnownConstraints) -> tuple[Trace, list[str]]:
    """Return a trace whose jobs all state their node constraints, and what was assumed for how many.

    The queues of the trace are those of the scenario.
    """
    read: dict[str, Mapping[str, Any]] = {}
    counts: Counter[str] = Counter()
    jobs = []
    for job in trace.jobs:
        roles, sources = [], set()
        for role in job.roles:
            if role.constraints is None:
                text, source = known.of_pod(job.queue, role.requests)
                if text not in read:
                    read[text] = json.loads(text)
                if read[text]:
                    sources.add(source)
                roles.append(replace(role, constraints=read[text]))
            else:
                roles.append(role)
        counts.update(sources)
        jobs.append(replace(job, roles=tuple(roles)))
    notes = [
        f"Assumed: pods {message.format(jobs=counted(counts[source], 'job'))}."
        for source, message in _NOTES.items()
        if counts[source]
    ]
    return replace(trace, jobs=tuple(jobs)), notes


def without_constraints(trace: Trace) -> Trace:
    """Return a trace whose jobs have no node constraints."""
    jobs = [
        replace(job, roles=tuple(replace(role, constraints={}) for role in job.roles)) for job in trace.jobs
    ]
    return replace(trace, jobs=tuple(jobs))
