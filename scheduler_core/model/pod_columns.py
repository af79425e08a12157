"""Fields of many pods as columns, because reading one field of all pods at a time is fastest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]

NOTHING: Object = {}


class PodColumns:
    """Fields of pods, a list for each field in the order of the pods.

    Attributes
    ----------
    pods, metadata, specs, statuses, annotations, labels : list of mapping
        The pods and their parts; a part that a pod lacks is empty.
    names, namespaces, uids, created, nodes, phases : list
        Fields of these parts, None if a pod lacks one.
    metadata_fields, spec_fields, status_fields : set of str
        The fields that occur in these parts of any pod.

    Raises
    ------
    KeyError, TypeError, AttributeError
        If an element is not a pod with a name.

    """

    __slots__ = (
        "annotations",
        "created",
        "labels",
        "metadata",
        "metadata_fields",
        "names",
        "namespaces",
        "nodes",
        "phases",
        "pods",
        "spec_fields",
        "specs",
        "status_fields",
        "statuses",
        "uids",
    )

    def __init__(self, pods: Sequence[Object]) -> None:
        self.pods = pods
        self.metadata: list[Object] = [pod["metadata"] for pod in pods]
        self.specs = tables(pods, "spec")
        self.statuses = tables(pods, "status")
        self.metadata_fields: set[str] = set().union(*self.metadata)
        self.spec_fields: set[str] = set().union(*self.specs)
        self.status_fields: set[str] = set().union(*self.statuses)
        self.names = [metadata["name"] for metadata in self.metadata]
        self.namespaces = column(self.metadata, "namespace")
        self.uids = column(self.metadata, "uid")
        self.created = column(self.metadata, "creationTimestamp")
        self.annotations = tables(self.metadata, "annotations")
        self.labels = tables(self.metadata, "labels")
        self.nodes = column(self.specs, "nodeName")
        self.phases = column(self.statuses, "phase")


def column(things: Sequence[Object], name: str) -> list[Any]:
    """Return one field of each object, None if it has none."""
    return [thing.get(name) for thing in things]


def tables(things: Sequence[Object], name: str) -> list[Object]:
    """Return one part of each object, empty if it has none."""
    return [NOTHING if (table := thing.get(name)) is None else table for thing in things]
