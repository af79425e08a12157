"""The kinds of objects that the scheduler reads, and their lists in a scenario."""

from typing import Any, NamedTuple


class Kind(NamedTuple):
    """A kind of object in Kubernetes."""

    group: str
    name: str
    namespaced: bool


LISTS = {
    "nodes": Kind("", "Node", namespaced=False),
    "queues": Kind("scheduling.volcano.sh", "Queue", namespaced=False),
    "podgroups": Kind("scheduling.volcano.sh", "PodGroup", namespaced=True),
    "pods": Kind("", "Pod", namespaced=True),
    "jobs": Kind("batch.volcano.sh", "Job", namespaced=True),
    "priorityclasses": Kind("scheduling.k8s.io", "PriorityClass", namespaced=False),
    "resourcequotas": Kind("", "ResourceQuota", namespaced=True),
    "namespaces": Kind("", "Namespace", namespaced=False),
    "poddisruptionbudgets": Kind("policy", "PodDisruptionBudget", namespaced=True),
}
"""The lists of a scenario, in order."""

EXPORT = (
    "kubectl get nodes,queues,podgroups,pods,priorityclasses,jobs.batch.volcano.sh,"
    "resourcequotas,namespaces,pdb -A -o yaml"
)
"""The command that prints all of them, from any cluster."""

_LIST_OF = {(kind.group, kind.name): name for name, kind in LISTS.items()}


def group_of(api_version: str) -> str:
    """Return the API group; that of `v1` is empty."""
    return api_version.rpartition("/")[0]


def list_of(api_version: str, kind: str) -> str | None:
    """Return the scenario list of a kind, None if the scheduler does not read it."""
    return _LIST_OF.get((group_of(api_version), kind))


def is_namespaced(list_name: str) -> bool:
    """Return whether the objects of a list are namespaced."""
    return LISTS[list_name].namespaced


def full_name(list_name: str, item: Any) -> tuple[str, str]:
    """Return namespace and name of an object with valid metadata; the default namespace is `default`."""
    metadata = item["metadata"]
    namespace = metadata.get("namespace") or "default"
    return (namespace if LISTS[list_name].namespaced else "", metadata["name"])
