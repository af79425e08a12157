"""Would the API server take this object, as its CRD describes it?

kubectl refuses a field that the CRD does not have; without its validation the API server drops it silently.

Source: volcano ``config/crd/volcano/bases/scheduling.volcano.sh_{queues,podgroups}.yaml`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from scheduler_core.problem import Problem, spell_steps

WEIGHTS = range(1, 65536)
PRIORITIES = range(2**31)

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
    """Yield what the CRD of a Queue or PodGroup does not take of an object at this place of its list.

    Examples
    --------
    >>> queue = {"metadata": {"name": "q"}, "spec": {"wieght": 4}}
    >>> [(found.path, found.fix) for found in schema_problems("queues", 0, queue)]
    [('queues[0].spec.wieght', "write 'weight'")]

    """
    spec = thing.get("spec")
    if not isinstance(spec, Mapping):
        return
    about = _About(kind, index, thing)
    yield from about.unknown_fields(("spec",), spec, _SPECS[kind])
    if kind == "queues":
        guarantee = spec.get("guarantee")
        if isinstance(guarantee, Mapping):
            yield from about.unknown_fields(("spec", "guarantee"), guarantee, _GUARANTEE)
        yield from about.out_of_range("weight", spec.get("weight"), WEIGHTS)
        yield from about.out_of_range("priority", spec.get("priority"), PRIORITIES)


class _About:
    """The object that is looked at."""

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
            says = f"is not a field of a {self.word}: kubectl refuses it, and nothing reads it"
            yield self._problem("unknown_field", (*way, name), says, fix=fix)

    def out_of_range(self, field: str, value: Any, allowed: range) -> Iterator[Problem]:
        """Yield that a number is none that the CRD takes; what is no int32 at all is an error of form."""
        if isinstance(value, bool) or not isinstance(value, int | float) or value in allowed:
            return
        if not 0 <= value < 2**31 or value != value // 1:
            return
        least, most = allowed.start, allowed.stop - 1
        says = f"is {value:g}, and the CRD takes {least} to {most}"
        fix = f"write a whole number from {least} to {most}"
        yield self._problem(field, ("spec", field), says, fix=fix, actual=value, limit=least)

    def _problem(
        self,
        rule: str,
        way: tuple[str, ...],
        says: str,
        *,
        fix: str,
        actual: Any = None,
        limit: Any = None,
    ) -> Problem:
        field = spell_steps(*way)
        message = f"{self.subject}: {field} {says}"
        path = spell_steps(self.kind, self.index, *way)
        return Problem(f"{self.word}.{rule}", "error", path, message, self.queue, field, actual, limit, fix)
