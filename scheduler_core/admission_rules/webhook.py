"""The queue webhook: why it refuses to create, update or delete a Queue.

The checks run on plain objects. The real webhook stops at the first group of checks that fails; here all
problems are reported at once.

Source: volcano ``pkg/webhooks/admission/queues/validate/validate_queue.go``,
``cmd/webhook-manager/app/options/options.go`` at v1.15.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from scheduler_core.admission_rules.amounts import order_problems, quantity_problems, state_problems
from scheduler_core.admission_rules.tree import QueueTree
from scheduler_core.admission_rules.written import (
    PARTS,
    Object,
    Problems,
    allocated_pods,
    amounts_of,
    annotation_of,
    name_of,
    parent_of,
    problem,
)
from scheduler_core.model.queue import HIERARCHY, HIERARCHY_WEIGHTS, ROOT, rooted
from scheduler_core.problem import Problem, spell_steps

DEFAULT_QUEUE = "default"


class WebhookOptions(NamedTuple):
    """The configuration of the webhook.

    Attributes
    ----------
    max_depth : int
        The number of levels allowed below `root`.
    protects_root : bool
        Whether the amounts of `root` are immutable.
    checks_pods_on_delete : bool
        Whether a queue with allocated pods may not be deleted.

    """

    max_depth: int = 5
    protects_root: bool = True
    checks_pods_on_delete: bool = False


AS_INSTALLED = WebhookOptions()


class QueueAdmission:
    """The webhook's view of a cluster: the queues before a change.

    Parameters
    ----------
    queues : iterable
        Queue objects; quantities that cannot be read count as absent, see `validate`.
    options : WebhookOptions
        The configuration of the webhook.

    """

    def __init__(self, queues: Iterable[Object], options: WebhookOptions = AS_INSTALLED) -> None:
        self.options = options
        self.tree = QueueTree(queues)

    # operations

    def on_create(self, queue: Object) -> list[Problem]:
        """Return why a new queue would be refused."""
        return self._problems(as_created(queue), moved=True, resized=True)

    def on_update(self, before: Object, after: Object) -> list[Problem]:
        """Return why a changed queue would be refused; some checks are skipped for unchanged parts."""
        moved = parent_of(before) != parent_of(after)
        resized = any(amounts_of(before, part) != amounts_of(after, part) for part in PARTS)
        found = self._problems(after, moved=moved, resized=resized)
        if name_of(after) == ROOT and resized and self.options.protects_root:
            message = "the amounts of queue root are fixed"
            found.append(
                problem(after, "queue.root_protected", "spec", message, fix="limit its children instead")
            )
        return found

    def on_delete(self, name: str) -> list[Problem]:
        """Return why a queue may not be deleted."""
        queue = self.tree.queues.get(name)
        if name in (ROOT, DEFAULT_QUEUE):
            return [_refused(name, "queue.delete_protected", f"queue {name} cannot be deleted")]
        if queue is None:
            return [_refused(name, "queue.unknown", f"no such queue: {name}")]
        found = []
        pods = allocated_pods(queue)
        if pods and self.options.checks_pods_on_delete:
            message = f"queue {name} has {pods:g} allocated pods"
            found.append(_refused(name, "queue.delete_has_pods", message))
        children = sorted(name_of(child) for child in self.tree.children[name])
        if children:
            message = f"queue {name} has {len(children)} child queues: {', '.join(children)}"
            found.append(_refused(name, "queue.delete_has_children", message))
        return found

    def of_all(self) -> list[Problem]:
        """Return why the current queues would be refused; a problem of two queues is reported once."""
        found = []
        for name in sorted(self.tree.queues):
            queue = self.tree.queues[name]
            found += self._own_problems(queue, moved=True)
            if name != ROOT:
                found += [
                    *self.tree.ancestor_problems(queue),
                    *self.tree.child_problems(queue),
                ]
        return found

    # groups of checks

    def _problems(self, queue: Object, *, moved: bool, resized: bool) -> list[Problem]:
        found = self._own_problems(queue, moved=moved)
        if (moved or resized) and name_of(queue) != ROOT:
            found += self.tree.problems(queue, moved=moved)
        return found

    def _own_problems(self, queue: Object, *, moved: bool) -> list[Problem]:
        found = [
            *quantity_problems(queue),
            *order_problems(queue),
            *state_problems(queue),
            *self._path_problems(queue),
        ]
        if moved and parent_of(queue) not in ("", ROOT):
            found += self._parent_problems(queue)
        return found

    def _path_problems(self, queue: Object) -> Problems:
        """Check the hierarchy that drf reads from annotations."""
        path, weights = annotation_of(queue, HIERARCHY), annotation_of(queue, HIERARCHY_WEIGHTS)
        if not path and not weights:
            return
        field = spell_steps("metadata", "annotations", HIERARCHY_WEIGHTS)
        parts = weights.split("/")
        if len(path.split("/")) != len(parts):
            message = f"{len(parts)} weights for a path of {len(path.split('/'))} parts"
            yield problem(
                queue, "queue.path_length", field, message, fix="write one weight per part of the path"
            )
            return
        for part in parts:
            weight = _go_float(part)
            if weight is None or weight <= 0:
                message = f"{part!r} is not a number above 0"
                yield problem(queue, "queue.path_weight", field, message, actual=part, fix="write 1 or more")
                return
        for name, other in sorted(self.tree.queues.items()):
            if name != name_of(queue) and annotation_of(other, HIERARCHY).startswith(f"{path}/"):
                message = f"the path continues into that of queue {name}, {annotation_of(other, HIERARCHY)}"
                field = spell_steps("metadata", "annotations", HIERARCHY)
                yield problem(
                    queue, "queue.path_inner", field, message, actual=path, fix="choose another path"
                )
                return

    def _parent_problems(self, queue: Object) -> Problems:
        name, parent = name_of(queue), parent_of(queue)
        field = "spec.parent"
        if parent == name:
            message = "a queue cannot be its own parent"
            yield problem(
                queue, "queue.own_parent", field, message, actual=parent, fix="choose another parent"
            )
            return
        depth, limit = self.tree.depth(queue, self.options.max_depth), self.options.max_depth
        if depth > limit:
            message = f"it would be {depth} levels below root; at most {limit} are allowed"
            fix = "move it nearer to root"
            yield problem(queue, "queue.depth", field, message, actual=depth, limit=limit, fix=fix)
        if parent not in self.tree.queues:
            message = f"no such queue: {parent!r}"
            yield problem(queue, "queue.parent_missing", field, message, actual=parent, fix="create it first")
            return
        lost, gone = self.tree.lost_ancestor(parent)
        if gone:
            message = f"queue {lost} above it is below {gone!r}, which does not exist"
            yield problem(queue, "queue.parent_missing", field, message, actual=gone, fix="create that first")
        pods = allocated_pods(self.tree.queues[parent])
        if pods and not self.tree.children[parent]:
            message = f"queue {parent} has {pods:g} allocated pods and no child yet"
            fix = "let its pods finish, or move them to another queue"
            yield problem(queue, "queue.parent_has_pods", field, message, actual=pods, limit=0, fix=fix)


def as_created(queue: Object) -> Object:
    """Return a new queue with its hierarchy path as the webhook stores it."""
    annotations = rooted(queue["metadata"].get("annotations") or {})
    return (
        queue
        if annotations is None
        else {**queue, "metadata": {**queue["metadata"], "annotations": annotations}}
    )


def _go_float(text: str) -> float | None:
    """Return the number that Go parses from a text, None for an error; NaN is a number."""
    if not text.isascii() or text.strip() != text or "_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isinf(value) and "inf" not in text.lower() else value


def _refused(name: str, rule: str, message: str) -> Problem:
    return Problem(rule, "error", "", message, name)
