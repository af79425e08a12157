"""The state of a node or a pod at the end of a run, in one sentence."""

from collections.abc import Mapping, Sequence

from planning.rows import Decision, NodeMoment, PodPlace, Reason
from scheduler_core.explain.standing import PodOutcome, node_standing, pod_standing


def node_reason(stands: NodeMoment, steps: Mapping[str, int]) -> Reason:
    """Return the free resources of a node and the decisions on it; `steps` counts pods by kind of step."""
    counts = {op: steps.get(op, 0) for op in ("bind", "pipeline", "evict")}
    return Reason(**node_standing(stands.node, stands.idle, stands.releasing, counts))


def pod_reason(pod: str, place: PodPlace | None, steps: Sequence[Decision], waits_for: str) -> Reason:
    """Return where a pod is, or why it waits.

    `place` is None if no job has the pod at the end; `steps` are the steps about it or for it, `waits_for` is
    the obstacle of its job.
    """
    history = [
        {
            "cycle": step.cycle,
            "op": step.op,
            "pod": step.pod,
            "for": step.for_pod,
            "node": step.node,
            "action": step.action,
            "state": step.state,
        }
        for step in steps
    ]
    stands = None if place is None else PodOutcome(place.status, place.node, place.why or waits_for)
    return Reason(**pod_standing(pod, stands, history))
