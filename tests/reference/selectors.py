"""Label selectors, and the nodes that pods select: ``spec/predicates.md`` 6.3, 6.4 and 6.6."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.reference.cluster import Node
from tests.reference.pods import Task

Labels = Mapping[str, str]

VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
PREFIX = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
INTEGER = re.compile(r"[+-]?\d+")
OFTEN = ("In", "NotIn", "Exists", "DoesNotExist")


class InvalidSelectorError(Exception):
    """A selector that Kubernetes does not accept."""


def check(key: str, operator: str, values: list[str], operators: tuple[str, ...]) -> None:
    """Raise when a requirement is not valid."""
    prefix, slash, name = key.rpartition("/")
    valid = (
        operator in operators
        and bool(name and VALUE.fullmatch(name))
        and bool(not slash or PREFIX.fullmatch(prefix))
        and all(VALUE.fullmatch(value) for value in values)
        and (operator not in ("In", "NotIn") or bool(values))
        and (operator not in ("Exists", "DoesNotExist") or not values)
        and (operator not in ("Gt", "Lt") or (len(values) == 1 and bool(INTEGER.fullmatch(values[0]))))
    )
    if not valid:
        raise InvalidSelectorError(f"{key} {operator} {values}")


def holds(key: str, operator: str, values: list[str], labels: Labels) -> bool:
    """Return whether a valid requirement holds."""
    value = labels.get(key)
    if operator in ("Exists", "DoesNotExist"):
        return (value is None) is (operator == "DoesNotExist")
    if operator in ("In", "NotIn"):
        return (value is None or value not in values) is (operator == "NotIn")
    if value is None or not INTEGER.fullmatch(value):
        return False
    return int(value) > int(values[0]) if operator == "Gt" else int(value) < int(values[0])


def requirements_of(selector: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """Return the requirements of a label selector."""
    found = [(key, "In", [value]) for key, value in (selector.get("matchLabels") or {}).items()]
    for entry in selector.get("matchExpressions") or ():
        found.append((entry["key"], entry["operator"], list(entry.get("values") or ())))
    for key, operator, values in found:
        check(key, operator, values, OFTEN)
    return found


def selects(selector: Mapping[str, Any] | None, labels: Labels) -> bool:
    """Return whether a label selector accepts labels: an absent one nothing, an empty one everything."""
    if selector is None:
        return False
    return all(holds(*requirement, labels) for requirement in requirements_of(selector))


# nodes


def term_accepts(term: Mapping[str, Any], node: Node) -> bool:
    """Return whether a valid term of a node affinity accepts a node."""
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    for entry in expressions:
        check(entry["key"], entry["operator"], list(entry.get("values") or ()), (*OFTEN, "Gt", "Lt"))
    for entry in fields:
        if entry["operator"] not in ("In", "NotIn") or len(entry.get("values") or ()) != 1:
            raise InvalidSelectorError(f"field {entry}")
    facts = {"metadata.name": node.name}
    return all(
        holds(entry["key"], entry["operator"], list(entry.get("values") or ()), node.labels)
        for entry in expressions
    ) and all(
        (facts.get(entry["key"], "") == entry["values"][0]) is (entry["operator"] == "In") for entry in fields
    )


def required_terms(task: Task) -> list[Mapping[str, Any]] | None:
    """Return the terms of which a node must match at least one, None without a required affinity."""
    required = task.node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return None if required is None else required.get("nodeSelectorTerms") or []


def accepts_node(task: Task, node: Node) -> bool:
    """Return whether a pod's node selector and required node affinity accept a node."""
    selector, terms = task.spec.get("nodeSelector") or {}, required_terms(task)
    if any(node.labels.get(key) != value for key, value in selector.items()):
        return False
    return terms is None or any(_accepts(term, node) for term in terms)


def _accepts(term: Mapping[str, Any], node: Node) -> bool:
    try:
        return term_accepts(term, node)
    except InvalidSelectorError:
        return False


def names_no_node(task: Task) -> bool:
    """Return whether every required term names nodes, and no node matches them."""
    terms, named = required_terms(task) or [], set[str]()
    for term in terms:
        lists = [
            {*(entry.get("values") or ())}
            for entry in term.get("matchFields") or ()
            if entry["key"] == "metadata.name" and entry["operator"] == "In"
        ]
        if not lists:
            return False
        named |= set.intersection(*lists)
    return bool(terms) and not named


# taints


def tolerates(task: Task, taint: Mapping[str, Any]) -> bool:
    """Return whether a pod tolerates a taint. ``spec/predicates.md`` 6.4."""
    return any(_tolerates(entry, taint) for entry in task.spec.get("tolerations") or ())


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if (toleration.get("effect") or taint["effect"]) != taint["effect"]:
        return False
    if (toleration.get("key") or taint.get("key")) != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return operator == "Exists" or (operator == "Equal" and same)


def tolerates_hard(task: Task, node: Node) -> bool:
    """Return whether a pod tolerates all NoSchedule and NoExecute taints of a node."""
    hard = [taint for taint in node.taints if taint.get("effect") in ("NoSchedule", "NoExecute")]
    return all(tolerates(task, taint) for taint in hard)
