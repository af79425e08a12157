"""Which manifests does one apply to make a cluster's queues and configuration those of a scenario?"""

from collections.abc import Iterable, Mapping
from typing import Any

import manifests

_METADATA = ("labels", "annotations")
_NOT_SPEC = ("name", "state", *_METADATA)


def exported(changes: Iterable[Mapping[str, Any]], queues: Iterable[Mapping[str, Any]], conf: str) -> str:
    """Return the changed queues, and the configuration if it changed, as YAML; empty when nothing did.

    `queues` are fields in the spelling of the CRD, as a server gives them.

    >>> changed = [{"kind": "queues", "name": "a"}]
    >>> print(exported(changed, [{"name": "a", "weight": 2, "parent": None}], ""), end="")
    apiVersion: scheduling.volcano.sh/v1beta1
    kind: Queue
    metadata:
      name: a
    spec:
      weight: 2
    """
    told = [(change["kind"], change["name"]) for change in changes]
    touched = {name for kind, name in told if kind == "queues"}
    objects = [_queue(queue) for queue in queues if queue["name"] in touched]
    if any(kind in ("conf", "scheduler_conf") for kind, _ in told):
        objects.append(_config_map(conf))
    return manifests.dump(objects) if objects else ""


def _queue(fields: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {field: fields[field] for field in _METADATA if fields.get(field)}
    spec = {field: value for field, value in fields.items() if field not in _NOT_SPEC and _is_set(value)}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": fields["name"], **metadata},
        "spec": spec,
    }


def _is_set(value: Any) -> bool:
    return value not in (None, "", {}, {"resource": {}})


def _config_map(text: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"},
        "data": {"volcano-scheduler.conf": text},
    }
