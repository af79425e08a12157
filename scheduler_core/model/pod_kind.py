"""Pod kinds: the facts that a scheduler derives from the pods of one template."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.model.pod import PodShape, ShapeTable
from scheduler_core.model.pod_columns import NOTHING, Object
from scheduler_core.model.pod_template import PodTemplate


def _stated_priority(text: str, default: int) -> int:
    """Return the priority in an annotation, `default` if it is not a number."""
    digits = text[1:] if text[:1] in "+-" else text
    if digits.isascii() and digits.isdigit() and -(2**31) <= int(text) < 2**31:
        return int(text)
    return default


class PodKind:
    """The facts that a scheduler derives from the pods of one template.

    Attributes
    ----------
    shape : PodShape
        The shape in the reader's table; a session has a copy on its own axis.
    is_ours : bool
        Whether the pods name one of the simulated schedulers.
    admit : callable
        ``admit(pod)``: the pod as the scheduler finds it.
    resolved : bool
        Whether admission sets the pods' priority.
    priority_class : str
        Their priority class, empty if they have none.
    never_evicts : bool
        Whether the pods' preemption policy is Never.

    """

    __slots__ = (
        "admit",
        "is_ours",
        "never_evicts",
        "preemptable",
        "priority",
        "priority_class",
        "resolved",
        "role",
        "shape",
    )

    def __init__(
        self, template: PodTemplate, shape: PodShape, admit: Callable[[Object], Object], names: frozenset[str]
    ) -> None:
        spec = admit(template.pod)["spec"]
        priority = spec.get("priority")
        self.shape = shape
        self.admit = admit
        self.role = template.role
        self.preemptable = template.preemptable
        self.is_ours = spec.get("schedulerName") in names
        self.priority_class: str = spec.get("priorityClassName") or ""
        self.never_evicts: bool = spec.get("preemptionPolicy") == "Never"
        self.resolved = priority is not None and (template.pod.get("spec") or NOTHING).get("priority") is None
        self.priority: int = 1 if priority is None else int(priority)
        if template.priority is not None:
            self.priority = _stated_priority(template.priority, self.priority)


class PodReader:
    """Derives pod kinds from templates.

    Parameters
    ----------
    admit : callable
        ``admit(pod)``: a pod as the scheduler finds it; an admitted pod is returned unchanged.
    default_requests : bool
        Whether missing requests of a container default to its limits.
    pod_level : bool
        Whether pod-level requests count.
    scheduler_names : frozenset of str
        The names of the simulated schedulers. Pods of others are known only if they have a node.
    before : PodReader, optional
        An equal reader from which results are copied; it is not changed.

    """

    def __init__(
        self,
        admit: Callable[[Object], Object],
        *,
        default_requests: bool,
        pod_level: bool,
        scheduler_names: frozenset[str],
        before: PodReader | None = None,
    ) -> None:
        self.admit = admit
        self.default_requests = default_requests
        self.scheduler_names = scheduler_names
        shapes = None if before is None else before._shapes
        self._shapes: ShapeTable = ShapeTable(
            default_requests=default_requests, pod_level=pod_level, before=shapes
        )
        self._kinds: dict[PodTemplate, PodKind] = {} if before is None else dict(before._kinds)

    def kind_of(self, template: PodTemplate) -> PodKind:
        """Return the kind of the pods of a template."""
        kind = self._kinds.get(template)
        if kind is None:
            shape = self._shapes.shape_of(template.pod.get("spec") or NOTHING)
            kind = self._kinds[template] = PodKind(template, shape, self.admit, self.scheduler_names)
        return kind
