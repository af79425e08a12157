"""Checks of the types of JSON values from which traces are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

QUANTITY = re.compile(
    r"\+?(\d{1,18}\.?\d{0,18}|\.\d{1,18})([eE][-+]?\d{1,2}|[numkMGTPE]|[KMGTPE]i)?", re.ASCII
)

Wrong = tuple[str, str]
"""The place of a value, such as ``spec.containers[0]``, and what is expected there."""
Check = Callable[[object, str], Iterator[Wrong]]
"""Yields what is wrong with a value at a place. A missing value and null are accepted, but as an amount."""


def text(value: object, place: str) -> Iterator[Wrong]:
    """Accept a text."""
    if value is not None and not isinstance(value, str):
        yield place, "a text"


def whole(value: object, place: str) -> Iterator[Wrong]:
    """Accept a whole number."""
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if value is not None and (isinstance(value, bool) or not is_whole):
        yield place, "a whole number"


def amount(value: object, place: str) -> Iterator[Wrong]:
    """Accept a Kubernetes quantity of at least 0."""
    is_number_or_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    if not (is_number_or_text and QUANTITY.fullmatch(str(value).strip())):
        yield place, "an amount such as 8 or 64Gi"


def required(check: Check) -> Check:
    """Return a check that does not accept null."""

    def found(value: object, place: str) -> Iterator[Wrong]:
        if value is None:
            yield place, "a value instead of null"
        yield from check(value, place)

    return found


def list_of(check: Check) -> Check:
    """Return a check of lists, none of whose elements is null."""

    def found(value: object, place: str) -> Iterator[Wrong]:
        if isinstance(value, list):
            for number, one in enumerate(value):
                yield from required(check)(one, f"{place}[{number}]")
        elif value is not None:
            yield place, "a list"

    return found


def map_of(check: Check) -> Check:
    """Return a check of mappings from any name."""

    def found(value: object, place: str) -> Iterator[Wrong]:
        if isinstance(value, Mapping):
            for name, one in value.items():
                yield from check(one, f"{place}.{name}")
        elif value is not None:
            yield place, "an object"

    return found


def record(**checks: Check) -> Check:
    """Return a check of objects with these parts; others are not read."""

    def found(value: object, place: str) -> Iterator[Wrong]:
        if isinstance(value, Mapping):
            for name, check in checks.items():
                if value.get(name) is not None:
                    yield from check(value[name], f"{place}.{name}" if place else name)
        elif value is not None:
            yield place, "an object"

    return found


_EXPRESSIONS = list_of(record(key=text, operator=text, values=list_of(text)))
_NODE_TERM = record(matchExpressions=_EXPRESSIONS, matchFields=_EXPRESSIONS)
_LABELS = record(matchLabels=map_of(text), matchExpressions=_EXPRESSIONS)
_POD_TERM = record(
    labelSelector=_LABELS,
    topologyKey=text,
    namespaces=list_of(text),
    namespaceSelector=_LABELS,
    matchLabelKeys=list_of(text),
    mismatchLabelKeys=list_of(text),
)
_POD_AFFINITY = record(
    requiredDuringSchedulingIgnoredDuringExecution=list_of(_POD_TERM),
    preferredDuringSchedulingIgnoredDuringExecution=list_of(record(weight=whole, podAffinityTerm=_POD_TERM)),
)
_NODE_AFFINITY = record(
    requiredDuringSchedulingIgnoredDuringExecution=record(nodeSelectorTerms=list_of(_NODE_TERM)),
    preferredDuringSchedulingIgnoredDuringExecution=list_of(record(weight=whole, preference=_NODE_TERM)),
)
_TOLERATION = record(key=text, operator=text, value=text, effect=text, tolerationSeconds=whole)
CONSTRAINTS: Mapping[str, Check] = {
    "nodeSelector": map_of(text),
    "tolerations": list_of(_TOLERATION),
    "affinity": record(nodeAffinity=_NODE_AFFINITY, podAffinity=_POD_AFFINITY, podAntiAffinity=_POD_AFFINITY),
}
"""The parts of a pod's specification that say which nodes it may run on."""

_RESOURCES = record(limits=map_of(amount), requests=map_of(amount))
_CONTAINERS = list_of(record(resources=_RESOURCES, restartPolicy=text))
_METADATA = record(
    name=text, namespace=text, annotations=map_of(text), labels=map_of(text), creationTimestamp=text
)
PODGROUP = record(
    metadata=_METADATA,
    spec=record(queue=text, minMember=whole, priorityClassName=text, minResources=map_of(amount)),
)
JOB = record(metadata=_METADATA, spec=record(queue=text, minAvailable=whole, priorityClassName=text))
POD = record(
    metadata=_METADATA,
    spec=record(
        **CONSTRAINTS,
        overhead=map_of(amount),
        resources=_RESOURCES,
        initContainers=_CONTAINERS,
        containers=_CONTAINERS,
    ),
    status=record(
        startTime=text,
        containerStatuses=list_of(record(state=record(terminated=record(finishedAt=text)))),
    ),
)
