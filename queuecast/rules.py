"""Evaluation of rules on an outcome."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from manifests.document import Document, Steps
from planning.suggestions import written_instead
from queuecast.compared import Compared, Status, parents_of
from queuecast.forecast_rules import COMPARING_RULES, FORECAST_RULES
from queuecast.problems import Json, refusal
from queuecast.rule_checks import RULES, resources_of
from queuecast.schema import problem_at, read_checked
from scheduler_core.quantity import QuantityError, parse_quantity
from scheduler_core.resource_names import is_counted


@dataclass(frozen=True)
class Verdict:
    """One rule, whether it holds, and the facts if it does not hold or does not apply."""

    rule: str
    status: Status = "kept"
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether there are no facts against it."""
        return self.status != "broken"


@dataclass(frozen=True)
class Rules:
    """The rules of a file, with the position of each."""

    label: str
    document: Document
    rules: Sequence[Mapping[str, Any]]
    at: Steps = ()

    @classmethod
    def read(cls, label: str, content: bytes) -> "Rules":
        """Return the rules in a text, or raise Refused with every problem and its line."""
        document = read_checked(label, content, "rules")
        found = cls(label, document, document.value)
        if wrong := found.bad_values():
            raise refusal(wrong)
        return found

    @property
    def need_a_forecast(self) -> bool:
        """Return whether any rule is about a forecast."""
        return any(name in FORECAST_RULES for rule in self.rules for name in rule)

    @property
    def compare_forecasts(self) -> bool:
        """Return whether any rule compares the forecast with that of the snapshot."""
        return any(name in COMPARING_RULES for rule in self.rules for name in rule)

    def bad_values(self) -> list[Json]:
        """Return the amounts, resources and limits that no plan can have."""
        return [
            problem_at(self.label, self.document, (*self.at, number, name, *steps), kind, message, fix)
            for number, rule in enumerate(self.rules)
            for name, wanted in rule.items()
            if isinstance(wanted, Mapping)
            for steps, kind, message, fix in _bad_values(wanted)
        ]

    def evaluate(self, outcomes: Compared) -> list[Verdict]:
        """Return a verdict for each rule in order, or raise Refused for an unknown queue."""
        if wrong := self.unknown_names(outcomes.document):
            raise refusal(wrong)
        return [
            Verdict(f"{name}: {_shown(wanted)}", *RULES[name](wanted, outcomes))
            for rule in self.rules
            for name, wanted in rule.items()
        ]

    def unknown_names(self, document: Mapping[str, Any]) -> list[Json]:
        """Return the queues and resources of rules that a plan's document does not have."""
        found, queues, resources = [], parents_of(document), resources_of(document)
        for number, rule in enumerate(self.rules):
            for name, wanted in rule.items():
                for steps, kind, value in _names(name, wanted):
                    known: Collection[str] = queues if kind == "queue" else resources
                    if value not in known:
                        place: Steps = (*self.at, number, name, *steps)
                        fix = written_instead(value, known)
                        message = f"there is no {kind} {value!r} in the plan"
                        found.append(
                            problem_at(self.label, self.document, place, f"rules.{kind}", message, fix)
                        )
        return found


def _names(rule: str, wanted: Any) -> Iterator[tuple[Steps, str, str]]:
    """Yield the names of a rule that a plan must have: their place in the rule, their kind and themselves."""
    if rule == "no_victim_in":
        yield (), "queue", wanted
    elif isinstance(wanted, Mapping):
        yield from (((kind,), kind, wanted[kind]) for kind in ("queue", "resource") if kind in wanted)


def _bad_values(wanted: Mapping[str, Any]) -> Iterator[tuple[Steps, str, str, str]]:
    """Yield the place, rule, message and fix of each impossible value of a rule."""
    for resource, amount in wanted.get("resources", {}).items():
        if why := _unreadable(amount):
            yield (
                ("resources", resource),
                "quantity.unreadable",
                f"{resource}: {why}",
                "write 500m, 2 or 1.5Gi",
            )
        if not is_counted(resource):
            message = f"the scheduler counts no resource {resource!r}"
            yield ("resources", resource), "rules.resource", message, "write its full name, nvidia.com/gpu"
    if wanted.get("min", 0) > wanted.get("max", inf):
        message = f"min {wanted['min']} is above max {wanted['max']}: no share lies between them"
        yield ("min",), "rules.range", message, "write at most max"


def _unreadable(quantity: Any) -> str:
    try:
        parse_quantity(str(quantity))
    except QuantityError as error:
        return str(error)
    return ""


def _shown(wanted: Any) -> str:
    if isinstance(wanted, Mapping):
        return ", ".join(f"{key} {_shown(inner)}" for key, inner in wanted.items())
    return str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
