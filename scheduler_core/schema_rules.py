"""The API server's checks of queues and PodGroups against their CRDs.

kubectl refuses a field that the CRD lacks; without its validation the API server silently drops it.

Source: volcano ``config/crd/volcano/bases/scheduling.volcano.sh_{queues,podgroups}.yaml`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from scheduler_core.problem import Problem, spell_steps

WEIGHTS = range(1, 65536)
PRIORITIES = range(2**31)
ANNOTATION_BYTES = 256 * 1024
"""The total size of an object's annotations with their names: apimachinery's ValidateAnnotationsSize."""

QUEUE_SPEC = (
    "weight",
    "capability",
    "deserved",
    "guarantee",
    "reclaimable",
    "parent",
    "priority",
    "dequeueStrategy",
    "affinity",
    "type",
    "extendClusters",
)
PODGROUP_SPEC = (
    "minMember",
    "minTaskMember",
    "queue",
    "priorityClassName",
    "minResources",
    "networkTopology",
    "subGroupPolicy",
)
_GUARANTEE = ("resource",)
_WORDS = {"queues": "queue", "podgroups": "podgroup"}
_SPECS = {"queues": QUEUE_SPEC, "podgroups": PODGROUP_SPEC}


def schema_problems(kind: str, index: int, thing: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the API server's problems with a Queue or PodGroup at this index of its list.

    Examples
    --------
    >>> queue = {"metadata": {"name": "q"}, "spec": {"wieght": 4}}
    >>> [(found.path, found.fix) for found in schema_problems("queues", 0, queue)]
    [('queues[0].spec.wieght', "write 'weight'")]

    """
    about = _About(kind, index, thing)
    annotations = thing["metadata"].get("annotations")
    if isinstance(annotations, Mapping):
        yield from about.too_large(annotations)
    spec = thing.get("spec")
    if not isinstance(spec, Mapping):
        return
    yield from about.unknown_fields(("spec",), spec, _SPECS[kind])
    if kind == "queues":
        guarantee = spec.get("guarantee")
        if isinstance(guarantee, Mapping):
            yield from about.unknown_fields(("spec", "guarantee"), guarantee, _GUARANTEE)
        yield from about.out_of_range("weight", spec.get("weight"), WEIGHTS)
        yield from about.out_of_range("priority", spec.get("priority"), PRIORITIES)


class _About:
    """The object being checked."""

    def __init__(self, kind: str, index: int, thing: Mapping[str, Any]) -> None:
        self.kind, self.index = kind, index
        self.word = _WORDS[kind]
        metadata = thing["metadata"]
        namespace = f"{metadata.get('namespace') or 'default'}/" if kind == "podgroups" else ""
        self.subject = f"{self.word} {namespace}{metadata['name']}"
        self.queue = str(metadata["name"]) if kind == "queues" else ""

    def unknown_fields(
        self, way: tuple[str, ...], held: Mapping[str, Any], known: Collection[str]
    ) -> Iterator[Problem]:
        for field in held:
            if field in known:
                continue
            name = str(field)
            near = get_close_matches(name, known, n=1)
            fix = f"write {near[0]!r}" if near else f"remove it, or write one of {', '.join(known)}"
            message = f"is not a field of a {self.word}: kubectl refuses it, and nothing reads it"
            yield self._problem("unknown_field", (*way, name), message, fix=fix)

    def too_large(self, annotations: Mapping[Any, Any]) -> Iterator[Problem]:
        """Yield a problem if the annotations are too large; those that are not strings are malformed."""
        size = sum(len(str(part).encode()) for entry in annotations.items() for part in entry)
        if size > ANNOTATION_BYTES:
            message = f"has {size} bytes, and the API server takes {ANNOTATION_BYTES}"
            fix = f"keep at most {ANNOTATION_BYTES} bytes, names included"
            way = ("metadata", "annotations")
            yield self._problem("annotations", way, message, fix=fix, actual=size, limit=ANNOTATION_BYTES)

    def out_of_range(self, field: str, value: Any, allowed: range) -> Iterator[Problem]:
        """Yield a problem if a number is outside the CRD's range; other values than int32 are malformed."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        least, most = allowed.start, allowed.stop - 1
        if least <= value <= most or not 0 <= value < 2**31 or value != value // 1:
            return  # for a fraction, `value in allowed` would try every number of the range
        message = f"is {value:g}, and the CRD takes {least} to {most}"
        fix = f"write a whole number from {least} to {most}"
        yield self._problem(field, ("spec", field), message, fix=fix, actual=value, limit=least)

    def _problem(
        self,
        rule: str,
        way: tuple[str, ...],
        text: str,
        *,
        fix: str,
        actual: Any = None,
        limit: Any = None,
    ) -> Problem:
        field = spell_steps(*way)
        message = f"{self.subject}: {field} {text}"
        path = spell_steps(self.kind, self.index, *way)
        return Problem(f"{self.word}.{rule}", "error", path, message, self.queue, field, actual, limit, fix)
