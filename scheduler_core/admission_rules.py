"""Would Volcano's webhook take this Queue?

The checks that the queues webhook makes when a Queue is created, updated or deleted, over plain objects. The
webhook stops at the first group of checks that fails; here everything is reported at once.

Source: volcano ``pkg/webhooks/admission/queues/validate/validate_queue.go``,
``cmd/webhook-manager/app/options/options.go`` at v1.15.1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.model.queue import HIERARCHY, HIERARCHY_WEIGHTS, ROOT, rooted
from scheduler_core.problem import Problem, spell_steps
from scheduler_core.quantity import QuantityError, milli_value, parse_quantity
from scheduler_core.resource import PODS, Resource, is_scalar_name, quantities

Object = Mapping[str, Any]
Problems = Iterator[Problem]

DEFAULT_QUEUE = "default"
WRITABLE_STATES = ("", "Open", "Closed")
_COUNTS = frozenset(
    {
        PODS,
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)


@dataclass(frozen=True)
class WebhookOptions:
    """How the webhook is set up.

    Attributes
    ----------
    max_depth : int
        How many levels there may be below `root`.
    protects_root : bool
        Whether the amounts of `root` are fixed.
    checks_pods_on_delete : bool
        Whether a queue with allocated pods may not be deleted.

    """

    max_depth: int = 5
    protects_root: bool = True
    checks_pods_on_delete: bool = False


class QueueAdmission:
    """The webhook's view of a cluster: the queues as they are before a change.

    Parameters
    ----------
    queues : iterable
        Queue objects; quantities that cannot be read count as absent, see `validate`.
    options : WebhookOptions
        How the webhook is set up.

    """

    def __init__(self, queues: Iterable[Object], options: WebhookOptions = WebhookOptions()) -> None:
        self.options = options
        self.queues = {_name(queue): queue for queue in queues}
        self.children: dict[str, list[Object]] = defaultdict(list)
        for queue in self.queues.values():
            self.children[_parent(queue)].append(queue)

    # what is asked

    def on_create(self, queue: Object) -> list[Problem]:
        """Return why a new queue would be refused."""
        return self._problems(as_created(queue), moved=True, resized=True)

    def on_update(self, before: Object, after: Object) -> list[Problem]:
        """Return why a changed queue would be refused; what did not change is partly not looked at again."""
        moved = _parent(before) != _parent(after)
        resized = any(_amounts(before, part) != _amounts(after, part) for part in _PARTS)
        found = self._problems(after, moved=moved, resized=resized)
        if _name(after) == ROOT and resized and self.options.protects_root:
            message = "the amounts of queue root are fixed"
            found.append(
                _problem(
                    after, "queue.root_protected", "spec", message, fix="limit its children instead instead"
                )
            )
        return found

    def on_delete(self, name: str) -> list[Problem]:
        """Return why a queue may not be deleted."""
        queue = self.queues.get(name)
        if name in (ROOT, DEFAULT_QUEUE):
            return [_refused(name, "queue.delete_protected", f"queue {name} cannot be deleted")]
        if queue is None:
            return [_refused(name, "queue.unknown", f"no such queue: {name}")]
        found = []
        pods = _allocated_pods(queue)
        if pods and self.options.checks_pods_on_delete:
            message = f"queue {name} has {pods:g} allocated pods"
            found.append(_refused(name, "queue.delete_has_pods", message))
        children = sorted(_name(child) for child in self.children[name])
        if children:
            message = f"queue {name} has {len(children)} child queues: {', '.join(children)}"
            found.append(_refused(name, "queue.delete_has_children", message))
        return found

    def of_all(self) -> list[Problem]:
        """Return why queues would be refused as they are; what concerns two of them is reported once."""
        found = []
        for name in sorted(self.queues):
            queue = self.queues[name]
            found += self._own_problems(queue, moved=True)
            if name != ROOT:
                found += [*self._ancestor_problems(queue), *_sum_problems(queue, queue, self.children[name])]
        return found

    # groups of checks

    def _problems(self, queue: Object, *, moved: bool, resized: bool) -> list[Problem]:
        found = self._own_problems(queue, moved=moved)
        if (moved or resized) and _name(queue) != ROOT:
            found += self._tree_problems(queue, moved=moved)
        return found

    def _own_problems(self, queue: Object, *, moved: bool) -> list[Problem]:
        found = [
            *quantity_problems(queue),
            *order_problems(queue),
            *state_problems(queue),
            *self._path_problems(queue),
        ]
        if moved and _parent(queue) not in ("", ROOT):
            found += self._parent_problems(queue)
        return found

    def _path_problems(self, queue: Object) -> Problems:
        """Check the hierarchy that drf reads from annotations."""
        path, weights = _annotation(queue, HIERARCHY), _annotation(queue, HIERARCHY_WEIGHTS)
        if not path and not weights:
            return
        field = spell_steps("metadata", "annotations", HIERARCHY_WEIGHTS)
        parts = weights.split("/")
        if len(path.split("/")) != len(parts):
            message = f"{len(parts)} weights for a path of {len(path.split('/'))} parts"
            yield _problem(
                queue, "queue.path_length", field, message, fix="write one weight per part of the path"
            )
            return
        for part in parts:
            weight = _go_float(part)
            if weight is None or weight <= 0:
                message = f"{part!r} is not a number above 0"
                yield _problem(queue, "queue.path_weight", field, message, actual=part, fix="write 1 or more")
                return
        for name, other in sorted(self.queues.items()):
            if name != _name(queue) and _annotation(other, HIERARCHY).startswith(f"{path}/"):
                message = f"the path continues into that of queue {name}, {_annotation(other, HIERARCHY)}"
                field = spell_steps("metadata", "annotations", HIERARCHY)
                yield _problem(
                    queue, "queue.path_inner", field, message, actual=path, fix="choose another path"
                )
                return

    def _parent_problems(self, queue: Object) -> Problems:
        name, parent = _name(queue), _parent(queue)
        field = "spec.parent"
        if parent == name:
            message = "a queue cannot be its own parent"
            yield _problem(
                queue, "queue.own_parent", field, message, actual=parent, fix="choose another parent"
            )
            return
        depth, limit = self._depth(queue), self.options.max_depth
        if depth > limit:
            message = f"it would be {depth} levels below root; at most {limit} are allowed"
            fix = "move it nearer to root"
            yield _problem(queue, "queue.depth", field, message, actual=depth, limit=limit, fix=fix)
        if parent not in self.queues:
            message = f"no such queue: {parent!r}"
            yield _problem(
                queue, "queue.parent_missing", field, message, actual=parent, fix="create it first"
            )
            return
        lost, gone = self._lost_ancestor(parent)
        if gone:
            message = f"queue {lost} above it is below {gone!r}, which does not exist"
            yield _problem(
                queue, "queue.parent_missing", field, message, actual=gone, fix="create that first"
            )
        pods = _allocated_pods(self.queues[parent])
        if pods and not self.children[parent]:
            message = f"queue {parent} has {pods:g} allocated pods and no child yet"
            fix = "let its pods finish, or move them to another queue"
            yield _problem(queue, "queue.parent_has_pods", field, message, actual=pods, limit=0, fix=fix)

    def _depth(self, queue: Object) -> int:
        """Return the level of a queue below root, at most one more than is allowed."""
        depth, parent = 1, _parent(queue)
        while parent not in ("", ROOT) and depth <= self.options.max_depth:
            depth += 1
            parent = _parent(self.queues[parent]) if parent in self.queues else ""
        return depth

    def _lost_ancestor(self, name: str) -> tuple[str, str]:
        """Return the queue, from this one upwards, whose parent does not exist, and that parent."""
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            parent = _parent(self.queues[name])
            if parent in ("", ROOT):
                break
            if parent not in self.queues:
                return name, parent
            name = parent
        return "", ""

    def _tree_problems(self, queue: Object, *, moved: bool) -> Problems:
        """Check amounts against the ancestors', the siblings' and the children's."""
        name, parent = _name(queue), self.queues.get(_parent(queue))
        if parent is None and _parent(queue) not in ("", ROOT) and not moved:
            message = f"no such queue: {_parent(queue)!r}"
            yield _problem(queue, "queue.parent_missing", "spec.parent", message, fix="create it first")
        if parent is not None and _name(parent) != ROOT:
            yield from self._ancestor_problems(queue)
            siblings = [child for child in self.children[_name(parent)] if _name(child) != name]
            yield from _sum_problems(queue, parent, [*siblings, queue])
        children = self.children[name]
        if children:
            yield from self._descendant_problems(queue)
            yield from _sum_problems(queue, queue, children)

    def _ancestor_problems(self, queue: Object) -> Problems:
        mine = _resource(queue, "capability")
        for resource in mine.names():
            ancestor, limit = self._nearest_capability(queue, resource)
            if ancestor and mine.get(resource) > limit:
                own, most = _text(resource, mine.get(resource)), _text(resource, limit)
                yield _problem(
                    queue,
                    "queue.capability_above_ancestor",
                    spell_steps("spec", "capability", resource),
                    f"{own} is above the {most} of {ancestor}",
                    actual=mine.get(resource),
                    limit=limit,
                    fix=f"write at most {most}",
                )

    def _nearest_capability(self, queue: Object, resource: str) -> tuple[str, float]:
        """Return the nearest ancestor below root that limits a resource, and its limit."""
        seen: set[str] = set()
        parent = _parent(queue)
        while parent not in ("", ROOT) and parent in self.queues and parent not in seen:
            seen.add(parent)
            limit = _resource(self.queues[parent], "capability").get(resource)
            if limit > 0:
                return parent, limit
            parent = _parent(self.queues[parent])
        return "", 0.0

    def _descendant_problems(self, queue: Object) -> Problems:
        mine = _resource(queue, "capability")
        for resource in mine.names():
            largest = max(
                self._largest_below(child, resource, frozenset({_name(queue)}))
                for child in self.children[_name(queue)]
            )
            if mine.get(resource) < largest:
                own, least = _text(resource, mine.get(resource)), _text(resource, largest)
                yield _problem(
                    queue,
                    "queue.capability_below_descendant",
                    spell_steps("spec", "capability", resource),
                    f"{own} is below the {least} of a descendant",
                    actual=mine.get(resource),
                    limit=largest,
                    fix=f"write at least {least}",
                )

    def _largest_below(self, queue: Object, resource: str, above: frozenset[str]) -> float:
        """Return a queue's own limit of a resource, else the largest one below it."""
        own = _resource(queue, "capability").get(resource)
        if own > 0 or _name(queue) in above:
            return max(own, 0.0)
        above |= {_name(queue)}
        return max(
            (self._largest_below(child, resource, above) for child in self.children[_name(queue)]),
            default=0.0,
        )


_PARTS = ("capability", "deserved", "guarantee")


def as_created(queue: Object) -> Object:
    """Return a new queue with its hierarchy path as the webhook stores it."""
    annotations = rooted(queue["metadata"].get("annotations") or {})
    return (
        queue
        if annotations is None
        else {**queue, "metadata": {**queue["metadata"], "annotations": annotations}}
    )


def quantity_problems(queue: Object) -> Problems:
    """Check that every amount is at least 0, and whole where parts make no sense."""
    for part in _PARTS:
        for resource, amount in sorted(_amounts(queue, part).items()):
            field = spell_steps(*_field(part), resource)
            if amount < 0:
                message = "an amount cannot be below 0"
                yield _problem(
                    queue,
                    "queue.negative",
                    field,
                    message,
                    actual=float(amount),
                    limit=0,
                    fix="write 0 or more",
                )
            elif milli_value(_written(queue, part)[resource]) % 1000 and _comes_whole(resource):
                message = f"{resource} comes in whole units"
                yield _problem(
                    queue, "queue.fraction", field, message, actual=float(amount), fix="write a whole number"
                )


def order_problems(queue: Object) -> Problems:
    """Check that guarantee is at most deserved and deserved at most capability."""
    capability, deserved, guarantee = (_amounts(queue, part) for part in _PARTS)
    for resource, amount in sorted(guarantee.items()):
        field = spell_steps("spec", "deserved", resource)
        if resource not in deserved:
            message = f"a guarantee of {resource} needs a deserved amount of it"
            fix = f"write at least {_shown(queue, 'guarantee', resource)}"
            yield _problem(
                queue, "queue.guarantee_without_deserved", field, message, limit=float(amount), fix=fix
            )
        elif deserved[resource] < amount:
            least = _shown(queue, "guarantee", resource)
            message = f"{_shown(queue, 'deserved', resource)} is below the guarantee of {least}"
            yield _problem(
                queue,
                "queue.deserved_below_guarantee",
                field,
                message,
                actual=float(deserved[resource]),
                limit=float(amount),
                fix=f"write at least {least}",
            )
    for resource, amount in sorted(deserved.items()):
        if resource in capability and amount > capability[resource]:
            most = _shown(queue, "capability", resource)
            yield _problem(
                queue,
                "queue.deserved_above_capability",
                spell_steps("spec", "deserved", resource),
                f"{_shown(queue, 'deserved', resource)} is above the capability of {most}",
                actual=float(amount),
                limit=float(capability[resource]),
                fix=f"write at most {most}",
            )


def state_problems(queue: Object) -> Problems:
    """Check that the state is one that may be written; a queue that is closing cannot be changed at all."""
    state = (queue.get("status") or {}).get("state") or ""
    if state not in WRITABLE_STATES:
        message = f"a queue in state {state} cannot be written"
        yield _problem(
            queue, "queue.state", "status.state", message, actual=state, fix="wait until it is Closed"
        )


def _sum_problems(queue: Object, parent: Object, children: Iterable[Object]) -> Problems:
    """Check that what the children are guaranteed and deserve, all together, is within the parent's."""
    children = list(children)
    if not children:
        return
    for part in ("guarantee", "deserved"):
        limit, total = _resource(parent, part), Resource()
        for child in children:
            total.add(_resource(child, part))
        for resource in _lacking(limit, total):
            given = (
                "nothing" if resource not in _amounts(parent, part) else _text(resource, limit.get(resource))
            )
            message = (
                f"the children of {_name(parent)} have {_text(resource, total.get(resource))} together, "
                f"the queue itself has {given}"
            )
            yield _problem(
                queue,
                f"queue.children_{part}",
                spell_steps(*_field(part), resource),
                message,
                actual=total.get(resource),
                limit=limit.get(resource),
                fix=f"give {_name(parent)} at least as much, or the children less",
            )


def _lacking(limit: Resource, total: Resource) -> list[str]:
    """Return the resources of which the sum is above the limit; scalars that the limit does not name, too."""
    names = [name for name in ("cpu", "memory") if limit.get(name) < total.get(name)]
    held = limit.scalars or {}
    for name, amount in sorted((total.scalars or {}).items()):
        if name not in held or held[name] < amount:
            names.append(name)
    return names


# reading queues


def _name(queue: Object) -> str:
    name: str = queue["metadata"]["name"]
    return name


def _parent(queue: Object) -> str:
    return (queue.get("spec") or {}).get("parent") or ""


def _annotation(queue: Object, key: str) -> str:
    return (queue["metadata"].get("annotations") or {}).get(key) or ""


def _field(part: str) -> tuple[str, ...]:
    return ("spec", "guarantee", "resource") if part == "guarantee" else ("spec", part)


def _written(queue: Object, part: str) -> Object:
    spec = queue.get("spec") or {}
    return (
        (spec.get("guarantee") or {}).get("resource") or {} if part == "guarantee" else spec.get(part) or {}
    )


def _amounts(queue: Object, part: str) -> dict[str, Any]:
    """Return the amounts of a part as exact numbers."""
    amounts = {}
    for name, quantity in _written(queue, part).items():
        try:
            amounts[name] = parse_quantity(quantity)
        except QuantityError:
            continue
    return amounts


def _resource(queue: Object, part: str) -> Resource:
    """Return the amounts of a part as the scheduler's vector."""
    readable = _amounts(queue, part).keys()
    return Resource.from_list({n: quantity for n, quantity in _written(queue, part).items() if n in readable})


def _shown(queue: Object, part: str, resource: str) -> str:
    return str(_written(queue, part)[resource])


def _text(resource: str, amount: float) -> str:
    """Return an amount in the scheduler's unit as a quantity."""
    whole = Resource()
    whole.set(resource, amount)
    return quantities(whole)[resource]


def _allocated_pods(queue: Object) -> float:
    try:
        return float(parse_quantity(((queue.get("status") or {}).get("allocated") or {}).get(PODS) or 0))
    except QuantityError:
        return 0.0


def _comes_whole(resource: str) -> bool:
    native = "kubernetes.io/" in resource or resource.startswith(("hugepages-", "attachable-volumes-"))
    return resource in _COUNTS or (is_scalar_name(resource) and not native)


def _go_float(text: str) -> float | None:
    """Return the number that Go reads from a text, None when it reads none; NaN is a number to it."""
    if not text.isascii() or text.strip() != text or "_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isinf(value) and "inf" not in text.lower() else value


def _problem(
    queue: Object,
    rule: str,
    field: str,
    message: str,
    *,
    actual: Any = None,
    limit: Any = None,
    fix: str = "",
) -> Problem:
    name = _name(queue)
    return Problem(rule, "error", field, f"queue {name}: {field}: {message}", name, field, actual, limit, fix)


def _refused(name: str, rule: str, message: str) -> Problem:
    return Problem(rule, "error", "", message, name)
