"""Under which configuration, and on which cluster, may a session be calm?"""

from __future__ import annotations

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session

PLUGINS = frozenset(
    {
        "binpack",
        "capacity",
        "conformance",
        "drf",
        "gang",
        "nodeorder",
        "overcommit",
        "predicates",
        "priority",
        "proportion",
    }
)
"""They read nothing in a calm session but queues, nodes, and the kind of a job."""
ACTIONS = frozenset({"enqueue", "allocate", "preempt", "reclaim", "backfill"})
EXACT = 2.0**52


def is_simple(session: Session) -> bool:
    """Return whether only plugins and actions take part that ask nothing else in a calm session.

    All amounts have to be whole numbers, which add up exactly in any order; pods have to count on their nodes
    by their number and amounts alone.
    """
    conf, nodes = session.conf, session.nodes
    names = {option.name for option in conf.options()}
    return (
        names <= PLUGINS
        and "predicates" in names
        and set(conf.actions) <= ACTIONS
        and conf.actions[:2] == ("enqueue", "allocate")
        and session.is_renewable
        and not session.reasons
        and session.has_sound_parents
        and session.registry.classes_are_shapes
        and session.registry.same_for_equal_jobs(Point.JOB_VALID, Point.ALLOCATABLE, Point.PREEMPTIVE)
        and session.k8s_nodes.counts_amounts
        and session.snapshot.sums.are_exact()
        and all(nodes.names_scalars)
        and bool((nodes.allocatable % 1 == 0).all() and (nodes.allocatable < EXACT).all())
    )
