"""Export of a scenario's differences from its snapshot as a plan."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import manifests
from manifests.kinds import LISTS
from queuecast.effects import changes
from queuecast.planned import Plan
from queuecast.plans import NAMED, key_of
from queuecast.problems import Json, Rejected
from queuecast.schema import read_checked

_JOBS = ("jobs", "podgroups")
_VERSIONS = {"scheduling.volcano.sh": "v1beta1", "batch.volcano.sh": "v1alpha1"}


def plan_of(name: str, snapshot: str, base: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """Return the plan with this name that turns one document into the other."""
    plan: Json = {"name": name, "snapshot": snapshot}
    sides = {kind: [_by_key(kind, document) for document in (base, after)] for kind in NAMED}
    queues = dict(_queue_patches(*sides["queues"]))
    if queues:
        plan["queues"] = queues
    if nodes := _nodes(*sides["nodes"]):
        plan["nodes"] = nodes
    gone = [key for kind in _JOBS for key in sides[kind][0] if key not in sides[kind][1]]
    if gone:
        plan["jobs"] = {"remove": ["/".join(key) for key in gone]}
    objects = [_written(kind, one) for kind, (was, now) in sides.items() for one in _new(kind, was, now)]
    conf, present = (document.get("scheduler_conf") or "" for document in (after, base))
    if conf != present:
        objects.append(manifests.conf_manifest(conf if isinstance(conf, str) else manifests.dump(conf)))
    if objects:
        plan["objects"] = objects
    return plan


def unsaid(plan: Json, base: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return what a plan cannot express: the differences that remain after it is applied."""
    text = manifests.dump(plan).encode()
    try:
        made = Plan("plan", Path(), read_checked("plan", text, "plan")).planned(base).document
    except Rejected as error:
        return [str(error)]
    found = dict.fromkeys(
        f"{one['kind']} {one['name']} {one['field']}".strip() for one in changes(made, after)
    )
    return [f"no plan can say: {one}" for one in found]


def patch_between(before: Any, after: Any) -> Any:
    """Return the JSON merge patch that turns one value into the other.

    >>> patch_between({"weight": 1, "capability": {"cpu": "8"}}, {"weight": 2, "capability": {}})
    {'weight': 2, 'capability': {'cpu': None}}
    """
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return after
    patch = {
        key: patch_between(before.get(key), value) for key, value in after.items() if before.get(key) != value
    }
    return patch | {key: None for key in before if key not in after}


def _by_key(kind: str, document: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {key_of(kind, one): one for one in document.get(kind) or ()}


def _queue_patches(was: Mapping[Any, Any], now: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, queue in now.items():
        if key in was and queue != was[key]:
            sides = [_fields(one) for one in (was[key], queue)]
            yield key[1], patch_between(*sides)
    yield from ((key[1], None) for key in was if key not in now)


def _fields(queue: Mapping[str, Any]) -> Json:
    """Return the fields of a queue as a patch names them."""
    metadata, status = queue["metadata"], queue.get("status") or {}
    fields = {**(queue.get("spec") or {}), **{part: metadata.get(part) for part in ("annotations", "labels")}}
    fields["state"] = status.get("state")
    return {key: value for key, value in fields.items() if value is not None}


def _nodes(was: Mapping[Any, Any], now: Mapping[Any, Any]) -> Json:
    changed = {
        key[1]: patch_between(was[key], now[key]) for key in now if key in was and was[key] != now[key]
    }
    gone = [key[1] for key in was if key not in now]
    return {key: value for key, value in (("change", changed), ("remove", gone)) if value}


def _new(kind: str, was: Mapping[Any, Any], now: Mapping[Any, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield new objects, and those that are written as a whole because no patch can name them."""
    for key, one in now.items():
        if key not in was or (kind not in ("queues", "nodes") and one != was[key]):
            yield one


def _written(kind: str, one: Mapping[str, Any]) -> Json:
    group, word = LISTS[kind].group, LISTS[kind].name
    version = _VERSIONS.get(group, "v1")
    return {"apiVersion": f"{group}/{version}".strip("/"), "kind": word, **one}
