"""Removal of parts that may hold secrets and decide nothing, before anything is stored.

Of a pod's specification and status only what the scheduler reads stays: an allow-list, so that a field that
Kubernetes adds tomorrow stays out by itself.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from manifests.kinds import LISTS

Object = Mapping[str, Any]
Kept = Collection[str]
"""Annotations that are kept besides Volcano's own: full names, or a prefix with ``*``."""

READ_ANNOTATIONS = (
    "scheduling.k8s.io/group-name",
    "sla-waiting-time",
    "queuecast/run-seconds",
    "queuecast/exit-code",
    "queuecast/checkpoint-seconds",
    "queuecast/restore-seconds",
    "queuecast/independent-pods",
    "queuecast/like",
)
"""Annotations outside Volcano's domains that the scheduler or a replay reads."""
VOLCANO = "volcano.sh"

SETTINGS = (
    "name",
    "now",
    "cycles",
    "cycle_seconds",
    "evicted",
    "termination_cycles",
    "scheduler_names",
    "default_queues",
    "admission_defaults",
    "controllers",
    "scheduler_conf",
    "release",
    "replay",
)
"""The other keys of a scenario document."""
UNREAD_LISTS = ("hypernodes", "sharding")
"""Lists that only occur in a result's notes, by their length."""
TIMED = ("cronjobs", "jobflows", "jobtemplates")
"""Lists that only events of a replay have."""

CONTAINER = ("name", "image", "resources", "restartPolicy", "ports")
POD_SPEC = (
    "nodeName",
    "schedulerName",
    "priority",
    "priorityClassName",
    "preemptionPolicy",
    "containers",
    "initContainers",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "schedulingGates",
    "overhead",
    "resources",
    "volumes",
    "resourceClaims",
    "hostNetwork",
    "restartPolicy",
    "terminationGracePeriodSeconds",
)
POD_STATUS = ("phase", "nominatedNodeName", "startTime", "conditions", "containerStatuses")
CONDITION = ("type", "status", "reason", "lastTransitionTime", "lastProbeTime")
CONTAINER_STATUS = ("name", "ready", "state")
TERMINATED = ("startedAt", "finishedAt", "exitCode")
"""The end of a container tells how long similar jobs run."""
JOB_SPEC = (
    "queue",
    "schedulerName",
    "minAvailable",
    "priorityClassName",
    "networkTopology",
    "maxRetry",
    "ttlSecondsAfterFinished",
    "minSuccess",
    "policies",
    "volumes",
    "tasks",
)
JOB_TASK = (
    "name",
    "replicas",
    "minAvailable",
    "topologyPolicy",
    "partitionPolicy",
    "dependsOn",
    "maxRetry",
    "policies",
    "template",
)
POLICY = ("event", "events", "exitCode", "action", "timeout")
JOB_STATUS = (
    "version",
    "retryCount",
    "minAvailable",
    "pending",
    "running",
    "succeeded",
    "failed",
    "terminating",
    "unknown",
)


def stripped(document: Object, keep: Kept = ()) -> Object:
    """Return a scenario document without possible secrets; parts without any are the same objects.

    >>> stripped({"pods": [{"metadata": {"name": "p"}, "spec": {"hostname": "x", "priority": 1}}]})
    {'pods': [{'metadata': {'name': 'p'}, 'spec': {'priority': 1}}]}
    """
    bare = {
        name: _stripped_part(name, held, keep)
        for name, held in document.items()
        if name in SETTINGS or name in LISTS or name in UNREAD_LISTS
    }
    is_bare = len(bare) == len(document) and all(bare[name] is document[name] for name in bare)
    return document if is_bare else bare


def _stripped_part(name: str, held: Any, keep: Kept) -> Any:
    """Return one key of a document stripped, including the objects in a replay's events."""
    if name == "replay":
        kinds = (*LISTS, *TIMED)
        lists: dict[str, Part] = {kind: partial(_stripped_list, kind, keep=keep) for kind in kinds}
        event = partial(
            _each_part, parts=dict.fromkeys(("create", "replace"), partial(_each_part, parts=lists))
        )
        return _each_part(held, {"events": _every(event)})
    return held if name in SETTINGS else _stripped_list(name, held, keep)


def stripped_object(list_name: str, thing: Any, keep: Kept = ()) -> Any:
    """Return an object of a list without possible secrets; the same object if there are none.

    >>> stripped_object("queues", {"metadata": {"name": "q", "annotations": {"a.example/token": "x"}}})
    {'metadata': {'name': 'q'}}
    """
    parts: dict[str, Part] = {"metadata": partial(_metadata, keep=keep), **_OF_KIND.get(list_name, {})}
    job_spec = partial(_job_spec, keep=keep)
    if list_name in ("jobs", "jobtemplates"):
        parts["spec"] = job_spec
    elif list_name == "cronjobs":
        template: dict[str, Part] = {"metadata": parts["metadata"], "spec": job_spec}
        parts["spec"] = partial(_each_part, parts={"jobTemplate": partial(_each_part, parts=template)})
    return _each_part(thing, parts)


def is_kept_annotation(name: str, keep: Kept = ()) -> bool:
    """Return whether an annotation is kept.

    >>> [is_kept_annotation(name, ["team.example/*"])
    ...  for name in ("volcano.sh/preemptable", "scheduling.volcano.sh/queue-name", "team.example/a", "x/y")]
    [True, True, True, False]
    """
    domain = name.partition("/")[0]
    return (
        domain == VOLCANO
        or domain.endswith(f".{VOLCANO}")
        or name in READ_ANNOTATIONS
        or any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in keep)
    )


Part = Callable[[Any], Any]
"""Returns a part of an object bare; the very same when there is nothing to leave out."""


def _stripped_list(name: str, held: Any, keep: Kept) -> Any:
    """Return a stripped list; a Kubernetes List stays one, and other values stay for the reader to reject."""
    if isinstance(held, Mapping):
        return _each_part(held, {"items": lambda items: _stripped_list(name, items, keep)})
    return _every(partial(stripped_object, name, keep=keep))(held)


def _each_part(whole: Any, parts: Mapping[str, Part]) -> Any:
    """Return a mapping with some of its parts stripped."""
    if not isinstance(whole, Mapping):
        return whole
    bare = {name: part(whole[name]) for name, part in parts.items() if name in whole}
    changed = {name: value for name, value in bare.items() if value is not whole[name]}
    if not changed:
        return whole
    return {
        name: changed.get(name, value)
        for name, value in whole.items()
        if name not in changed or changed[name] is not None
    }


def _only(names: Sequence[str]) -> Part:
    """Return a function that keeps only these keys of a mapping."""
    allowed = frozenset(names)

    def picked(whole: Any) -> Any:
        if not isinstance(whole, Mapping) or allowed.issuperset(whole):
            return whole
        return {name: value for name, value in whole.items() if name in allowed}

    return picked


def _every(part: Part) -> Part:
    """Return a function that strips each element of a list."""

    def each(listed: Any) -> Any:
        if not isinstance(listed, list):
            return listed
        bare = [part(element) for element in listed]
        return listed if all(map(_is, bare, listed)) else bare

    return each


def _is(one: Any, other: Any) -> bool:
    return one is other


def _then(first: Part, parts: Mapping[str, Part]) -> Part:
    """Return a function that keeps keys of a mapping and strips some of its parts."""
    return lambda whole: _each_part(first(whole), parts)


def _metadata(metadata: Any, keep: Kept) -> Any:
    """Return metadata without managed fields and with the kept annotations; None if there are none."""
    bare = _each_part(metadata, {"annotations": partial(_annotations, keep=keep)})
    if isinstance(bare, Mapping) and "managedFields" in bare:
        return {name: value for name, value in bare.items() if name != "managedFields"}
    return bare


def _annotations(annotations: Any, keep: Kept) -> Any:
    if not isinstance(annotations, Mapping):
        return annotations
    bare = {name: value for name, value in annotations.items() if is_kept_annotation(str(name), keep)}
    return annotations if len(bare) == len(annotations) else bare or None


_EPHEMERAL: Object = {"volumeClaimTemplate": {}}


def _ephemeral(claim: Any) -> Any:
    return claim if claim in (None, {}, _EPHEMERAL) else _EPHEMERAL


_volume = _then(
    _only(("name", "persistentVolumeClaim", "ephemeral")),
    {
        "persistentVolumeClaim": _only(("claimName", "readOnly")),
        "ephemeral": _ephemeral,
    },
)
"""A volume's name, and that it claims storage; without the fields of secrets, config maps and drivers."""
_CONTAINERS = _every(_only(CONTAINER))
_pod_spec = _then(
    _only(POD_SPEC),
    {"containers": _CONTAINERS, "initContainers": _CONTAINERS, "volumes": _every(_volume)},
)
_container_state = _then(_only(("terminated",)), {"terminated": _only(TERMINATED)})
_pod_status = _then(
    _only(POD_STATUS),
    {
        "conditions": _every(_only(CONDITION)),
        "containerStatuses": _every(_then(_only(CONTAINER_STATUS), {"state": _container_state})),
    },
)


_POLICIES = _every(_only(POLICY))


def _job_spec(spec: Any, keep: Kept) -> Any:
    template: dict[str, Part] = {"metadata": partial(_metadata, keep=keep), "spec": _pod_spec}
    task = _then(
        _only(JOB_TASK), {"template": _then(_only(("metadata", "spec")), template), "policies": _POLICIES}
    )
    volumes = _every(_only(("volumeClaimName",)))
    parts = {"tasks": _every(task), "policies": _POLICIES, "volumes": volumes}
    return _each_part(_only(JOB_SPEC)(spec), parts)


_OF_KIND: Mapping[str, Mapping[str, Part]] = {
    "pods": {"spec": _pod_spec, "status": _pod_status},
    "jobs": {"status": _then(_only((*JOB_STATUS, "state")), {"state": _only(("phase",))})},
}
