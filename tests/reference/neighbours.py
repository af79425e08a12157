"""Affinity and anti-affinity between pods: ``spec/predicates.md`` 6.6 and 6.7."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.reference.cluster import Cluster, Node
from tests.reference.pods import Task
from tests.reference.selectors import accepts_node, requirements_of, selects, tolerates_hard

Term = Mapping[str, Any]
Counts = Counter[tuple[str, str]]


def own_term_matches(cluster: Cluster, owner: Task, term: Term, other: Task) -> bool:
    """Return whether a term of a pod that is being placed matches another pod."""
    selector = term.get("namespaceSelector")
    names = {*_namespaces(owner, term)}
    if selector:
        names |= {name for name, labels in cluster.namespaces.items() if selects(selector, labels)}
    return _matches(names, selector, {}, term, other)


def term_matches(cluster: Cluster, owner: Task, term: Term, other: Task) -> bool:
    """Return whether a term of a pod that is on a node matches the pod that is being placed."""
    labels = cluster.namespaces.get(other.namespace, {})
    return _matches({*_namespaces(owner, term)}, term.get("namespaceSelector"), labels, term, other)


def _namespaces(owner: Task, term: Term) -> list[str]:
    listed = term.get("namespaces") or []
    return listed if listed or term.get("namespaceSelector") is not None else [owner.namespace]


def _matches(
    names: set[str], selector: Term | None, labels: Mapping[str, str], term: Term, other: Task
) -> bool:
    there = other.namespace in names or selects(selector, labels)
    return there and selects(term.get("labelSelector"), other.labels)


class Neighbours:
    """Counts by topology domain of the pods that match a pod's affinities, and of pods that avoid it."""

    def __init__(self, cluster: Cluster, task: Task) -> None:
        self.task = task
        self.needed, self.avoided = task.required(task.affinity), task.required(task.anti_affinity)
        self.repelling, self.near, self.far = Counts(), Counts(), Counts()
        for node in cluster.with_anti:
            for pod in node.seen:
                for term in pod.required(pod.anti_affinity):
                    if term_matches(cluster, pod, term, task):
                        _count(self.repelling, term, node)
        for node in cluster.nodes.values():
            for pod in node.seen:
                self.count(cluster, pod, node, 1)
        self.needs_itself = all(own_term_matches(cluster, task, term, task) for term in self.needed)
        self.says_nothing = not (self.repelling or self.needed or self.avoided)

    def count(self, cluster: Cluster, pod: Task, node: Node, amount: int) -> None:
        """Count a pod on a node for this pod's affinities."""
        if self.needed and all(own_term_matches(cluster, self.task, term, pod) for term in self.needed):
            for term in self.needed:
                _count(self.near, term, node, amount)
        for term in self.avoided:
            if own_term_matches(cluster, self.task, term, pod):
                _count(self.far, term, node, amount)

    def move(self, cluster: Cluster, pod: Task, node: Node, amount: int) -> None:
        """Count a simulated removal or restoration of a pod."""
        self.count(cluster, pod, node, amount)
        for term in pod.required(pod.anti_affinity):
            if term_matches(cluster, pod, term, self.task):
                _count(self.repelling, term, node, amount)

    def codes(self, node: Node) -> list[int]:
        if not self._has_what_it_needs(node):
            return [3]
        pairs = [(term["topologyKey"], node.labels.get(term["topologyKey"])) for term in self.avoided]
        forbidden = any(self.far[pair] > 0 for pair in pairs)
        return [2] if forbidden or any(self.repelling[pair] > 0 for pair in node.labels.items()) else []

    def _has_what_it_needs(self, node: Node) -> bool:
        keys = [term["topologyKey"] for term in self.needed]
        if any(key not in node.labels for key in keys):
            return False
        if all(self.near[key, node.labels[key]] > 0 for key in keys):
            return True
        return not +self.near and self.needs_itself


def _count(counts: Counts, term: Term, node: Node, amount: int = 1) -> None:
    if term["topologyKey"] in node.labels:
        counts[term["topologyKey"], node.labels[term["topologyKey"]]] += amount


# topology spread


def constraints_of(task: Task, action: str) -> list[Term]:
    """Return a pod's constraints of one kind, with matchLabelKeys added to their selectors."""
    return [
        {**entry, "labelSelector": _with_keys(task, entry)}
        for entry in task.spread
        if entry["whenUnsatisfiable"] == action
    ]


def _with_keys(task: Task, constraint: Term) -> Term | None:
    selector = constraint.get("labelSelector")
    if selector is None:
        return None
    keys = [key for key in constraint.get("matchLabelKeys") or () if key in task.labels]
    exact = [{"key": key, "operator": "In", "values": [task.labels[key]]} for key in keys]
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *exact]}


def matching_pods(task: Task, constraint: Term, node: Node) -> int:
    """Return the number of a node's pods that a constraint counts; an empty selector counts none."""
    selector = constraint["labelSelector"]
    if selector is None or not requirements_of(selector):
        return 0
    return sum(
        pod.namespace == task.namespace and not pod.leaves and selects(selector, pod.labels)
        for pod in node.seen
    )


def takes_part(task: Task, constraint: Term, node: Node) -> bool:
    """Return whether a constraint includes a node."""
    honors_affinity = (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor"
    honors_taints = (constraint.get("nodeTaintsPolicy") or "Ignore") == "Honor"
    return (not honors_affinity or accepts_node(task, node)) and (
        not honors_taints or tolerates_hard(task, node)
    )


class Spread:
    """Counts of matching pods in the domains of hard constraints."""

    def __init__(self, cluster: Cluster, task: Task) -> None:
        self.task, self.constraints = task, constraints_of(task, "DoNotSchedule")
        self.domains: list[Counter[str]] = [Counter() for _ in self.constraints]
        keys = {entry["topologyKey"] for entry in self.constraints}
        for node in cluster.nodes.values():
            for entry, domain in zip(self.constraints, self.domains, strict=True):
                if keys <= {*node.labels} and takes_part(task, entry, node):
                    domain[node.labels[entry["topologyKey"]]] += matching_pods(task, entry, node)

    def codes(self, node: Node) -> list[int]:
        for entry, domain in zip(self.constraints, self.domains, strict=True):
            if entry["topologyKey"] not in node.labels:
                return [3]
            least = min(domain.values(), default=0) if len(domain) >= (entry.get("minDomains") or 1) else 0
            itself = int(selects(entry["labelSelector"], self.task.labels))
            if domain[node.labels[entry["topologyKey"]]] + itself - least > entry["maxSkew"]:
                return [2]
        return []
