"""Rebase of objects other than queues."""

from collections.abc import Mapping
from typing import Any

from planning.contents import Objects, following, renamed_queues
from planning.merge import Clash, merged
from planning.rebase.conflicts import (
    BOTH_CHANGED,
    REMOVED_HERE,
    REMOVED_THERE,
    Conflict,
    ConflictResolver,
    Side,
    changed_fields,
)
from planning.rebase.queues import QueueRebase
from planning.states import ObjectKey, State
from scheduler_core.model.pod_info import GROUP_NAME
from traces.kubernetes import owning_jobs

_CLUSTER_MADE = tuple(
    f"metadata.{name}"
    for name in ("uid", "resourceVersion", "generation", "managedFields", "selfLink", "creationTimestamp")
)


class ObjectRebase:
    """Merges objects other than queues; those of one workload are decided together."""

    def __init__(
        self, base: Side, present: State, newer: Side, queues: QueueRebase, resolver: ConflictResolver
    ) -> None:
        self._base, self._newer = base.content, newer.content
        self._present = present
        self._shown = Objects(base.content, present)
        self._renamed_here = renamed_queues(present.queues.values())
        self._new_names = queues.new_names()
        self._resolver = resolver

    def laid_over(self, state: State) -> dict[ObjectKey, Any]:
        """Return the changes of ours that lie over the newer snapshot, whose queues `state` has."""
        renamed = renamed_queues(state.queues.values())
        over: dict[ObjectKey, Any] = {}
        for (kind, key), manifest in sorted(self._present.objects.items(), key=lambda entry: entry[0]):
            base = self._renamed(kind, self._base.seen(kind, key, self._renamed_here))
            ours = self._renamed(kind, manifest)
            theirs = self._newer.seen(kind, key, renamed)
            over[kind, key] = self._merged(kind, key, base, ours, theirs)
        return over

    def _renamed(self, kind: str, manifest: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return None if manifest is None else following(kind, manifest, self._new_names)

    def _merged(self, kind: str, key: str, base: Any, ours: Any, theirs: Any) -> Any:
        if base == theirs or ours == theirs:
            return ours
        if ours is None:
            changed = dict(changed_fields(_substance(kind, base), _substance(kind, theirs)))
            if not changed or self._whole(REMOVED_HERE, kind, key, None, changed):
                return None
            return theirs
        if theirs is None:
            changed = dict(changed_fields(base, ours))
            return ours if self._whole(REMOVED_THERE, kind, key, changed, None) else None

        def choose(clash: Clash) -> Any:
            if _is_cluster_made(kind, clash.path):
                return clash.theirs
            sides = (clash.base, clash.ours, clash.theirs)
            conflict = Conflict(BOTH_CHANGED, kind, key, clash.path, *sides)
            group = (self._workload(kind, key), kind, clash.path, repr(sides))
            return clash.ours if self._resolver.ours(conflict, group, key) else clash.theirs

        return merged(base or {}, ours, theirs, choose)

    def _whole(self, what: str, kind: str, key: str, ours: Any, theirs: Any) -> bool:
        """Return whether ours is taken for objects that one side removed, by whole workloads."""
        of_kind, of_key = self._workload(kind, key)
        conflict = Conflict(what, of_kind, of_key, "", None, ours, theirs)
        return self._resolver.ours(conflict, (what, of_kind, of_key), f"{kind} {key}")

    def _workload(self, kind: str, key: str) -> ObjectKey:
        """Return the workload that an object is part of, otherwise the object itself."""
        namespace = key.partition("/")[0]
        if kind == "pods":
            pod = self._shown.get(kind, key) or self._base.seen(kind, key, {}) or {}
            group = (pod.get("metadata", {}).get("annotations") or {}).get(GROUP_NAME)
            if not group:
                return kind, key
            kind, key = "podgroups", f"{namespace}/{group}"
        if kind == "podgroups":
            podgroup = self._shown.get(kind, key) or self._base.seen(kind, key, {}) or {}
            for job in owning_jobs(podgroup):
                return "jobs", job
        return kind, key


def _substance(kind: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that the cluster updates all the time."""
    metadata = {
        name: value
        for name, value in manifest["metadata"].items()
        if not _is_cluster_made(kind, f"metadata.{name}")
    }
    parts = {**manifest, "metadata": metadata}
    if kind == "nodes":
        status = manifest.get("status") or {}
        return {**parts, "status": {name: status.get(name) for name in ("allocatable", "capacity")}}
    return {name: value for name, value in parts.items() if name != "status"}


def _is_cluster_made(kind: str, path: str) -> bool:
    """Return whether the cluster itself writes a field, so that its value is taken."""
    return path in _CLUSTER_MADE or (kind != "nodes" and path.partition(".")[0] == "status")
