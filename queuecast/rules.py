"""Evaluation of rules on an outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manifests.document import Document, Steps
from planning.suggestions import written_instead
from queuecast.problems import Json, refusal
from queuecast.rule_checks import FORECAST_RULES, RULES, Compared, Status, parents_of
from queuecast.schema import problem_at, read_checked
from scheduler_core.quantity import QuantityError, parse_quantity


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
        if wrong := found.bad_quantities():
            raise refusal(wrong)
        return found

    @property
    def need_a_forecast(self) -> bool:
        """Return whether any rule is about a forecast."""
        return any(name in FORECAST_RULES for rule in self.rules for name in rule)

    def bad_quantities(self) -> list[Json]:
        """Return the amounts that are no valid quantities."""
        return [
            problem_at(
                self.label, self.document, (*self.at, number, name, "resources", resource),
                "quantity.unreadable", f"{resource}: {_unreadable(amount)}", "write 500m, 2 or 1.5Gi",
            )
            for number, rule in enumerate(self.rules)
            for name, wanted in rule.items()
            if name == "deserved_at_least"
            for resource, amount in wanted["resources"].items()
            if _unreadable(amount)
        ]  # fmt: skip

    def evaluate(self, outcomes: Compared) -> list[Verdict]:
        """Return a verdict for each rule in order, or raise Refused for an unknown queue."""
        if wrong := self.unknown_queues(outcomes.document):
            raise refusal(wrong)
        return [
            Verdict(f"{name}: {_shown(wanted)}", *RULES[name](wanted, outcomes))
            for rule in self.rules
            for name, wanted in rule.items()
        ]

    def unknown_queues(self, document: Mapping[str, Any]) -> list[Json]:
        """Return the queues of rules that a plan's document does not have."""
        found, known = [], parents_of(document)
        for number, rule in enumerate(self.rules):
            for name, wanted in rule.items():
                steps: Steps = (*self.at, number, name)
                if isinstance(wanted, Mapping):
                    if "queue" not in wanted:
                        continue
                    queue, steps = wanted["queue"], (*steps, "queue")
                elif name == "no_victim_in":
                    queue = wanted
                else:
                    continue
                if queue not in known:
                    fix = written_instead(queue, known)
                    message = f"there is no queue {queue!r} in the plan"
                    found.append(problem_at(self.label, self.document, steps, "rules.queue", message, fix))
        return found


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
