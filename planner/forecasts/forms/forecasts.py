"""The forms of a forecast, its wait targets, its moments and its prices."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms

from planner.web.forms import ReadField, TypedForm
from planner.web.templatetags.durations import typed_time
from planner.web.templatetags.quantities import counted
from planning.constraint_choices import NODE_CONSTRAINTS
from planning.forecasts.clock import duration
from planning.forecasts.costs import Prices
from planning.forecasts.options import DEFAULTS, EVICTED, RUNNING_JOBS
from planning.forecasts.seeds import MOST_SEEDS
from planning.nodes import pool_label
from planning.rows import Problem
from planning.units import exact

Texts = Mapping[str, str]

TIMES = (
    ("horizon_seconds", "Horizon", "1d", "How much time the forecast covers."),
    ("period_seconds", "Schedule period", "1s", "From one session to the next."),
    ("start_delay_seconds", "Start delay", "0s", "From the bind until the pod runs."),
    ("window_begin_seconds", "Trace offset", "0s", "Where in the trace the forecast begins."),
    ("default_run_seconds", "Default run time", "1h", "Of jobs whose run time is not known."),
    ("checkpoint_seconds", "Checkpoint interval", "0s", "Run time between two; 0s: none are made."),
    ("restore_seconds", "Checkpoint restore", "0s", "To restore a checkpoint at a restart."),
)
"""Fields of a duration, with label, initial value and help."""
FACTORS = (("rate", "Scale jobs by"), ("size", "Scale pods per job by"), ("run_time", "Scale run times by"))
"""Fields that multiply values of the trace."""
MOST_PRICE = 1e9
_TIME = "{text!r} cannot be read. Write a time such as 90s, 10m, 8h or 2d."
_FACTOR = "{text!r} cannot be read. Write a number such as 0.5 or 2."
_DRAWN = f"0, or 2 to {MOST_SEEDS} like the trace, for intervals. Each takes as long as the forecast."
_REST = "Of jobs from queues that the scenario does not have."
_CONSTRAINTS = "Tolerations and node selectors of the trace's pods, where the trace does not say."
_RUNNING = "Jobs that were submitted before the window of the trace and still run when it begins."
_CHOSEN = ("evicted", "node_constraints", "running_jobs")
_SEEDS = f"{{text!r}} cannot be read. Write 0, or a number from 2 to {MOST_SEEDS}."


class ForecastForm(TypedForm):
    """The options of a forecast: times, factors, drawn workloads, and the mapping of queues."""

    def __init__(
        self, trace_queues: Mapping[str, int], leaves: Sequence[str], data: Texts | None = None
    ) -> None:
        super().__init__(data)
        self.trace_queues = trace_queues
        self.leaves = leaves
        for name, label, default, about in TIMES:
            self.add_field(name, ReadField(duration, _TIME, default, label=label, help_text=about))
        self.add_field("evicted", _select("Evicted pods", [*EVICTED.items()]))
        self.add_field("seeds", ReadField(_count, _SEEDS, "0", label="Drawn workloads", help_text=_DRAWN))
        for name, label in FACTORS:
            self.add_field(name, ReadField(float, _FACTOR, "1", label=label))
        self.add_field("node_constraints", _select("Node constraints", [*NODE_CONSTRAINTS.items()]))
        self.fields["node_constraints"].help_text = _CONSTRAINTS
        self.add_field("running_jobs", _select("Running jobs of the trace", [*RUNNING_JOBS.items()]))
        self.fields["running_jobs"].help_text = _RUNNING
        self._whole = list(self.fields)
        choices = [(leaf, leaf) for leaf in leaves]
        for name, jobs in trace_queues.items():
            own = f"queue {name}" if name in leaves else "queue for the rest"
            label = f"{name or 'no queue'}, {counted(jobs, 'job')}"
            self.add_field(f"queue.{name}", _suggested(label, own))
            factor = ReadField(float, _FACTOR, label=f"Scale jobs of {name or 'no queue'} by")
            factor.widget.attrs["placeholder"] = "1"
            self.add_field(f"rate.{name}", factor)
        self.add_field("rest", _select("Queue for the rest", [("", "none"), *choices]))
        self.fields["rest"].help_text = _REST
        self.fields["seeds"].widget.attrs["inputmode"] = "numeric"

    @property
    def of_all_jobs(self) -> list[forms.BoundField]:
        """The fields except those that map queues."""
        return [self[name] for name in self._whole]

    @property
    def of_queues(self) -> list[forms.BoundField]:
        """For each queue of the trace, the fields with the queue that its jobs go to and their factor."""
        return [self[f"{part}.{name}"] for name in self.trace_queues for part in ("queue", "rate")]

    def options(self) -> dict[str, Any]:
        """Return the options; raise Invalid."""
        self.typed()
        return self.readable()

    def readable(self) -> dict[str, Any]:
        """Return the options of a form with errors, without those that have them."""
        typed = {**self.cleaned_data}
        typed |= {name: typed.get(name) or DEFAULTS[name] for name in _CHOSEN}
        chosen, factors = (
            {name: typed.get(f"{part}.{name}") for name in self.trace_queues} for part in ("queue", "rate")
        )
        return {
            **{name: typed[name] for name in (*self._whole, "rest") if name in typed},
            "queues": {name: queue for name, queue in chosen.items() if queue},
            "rates": {name: factor for name, factor in factors.items() if factor is not None},
        }

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Show problems of the mapping and the rates of queues at the fields of these queues."""
        super().refuse(
            replace(one, path=re.sub(r"^(queue|rate)s\.", r"\1.", one.path or "")) for one in problems
        )


MOST_TARGETS = 20
"""The most queues that all have a field for their target; of more, those with a target."""


class TargetsForm(TypedForm):
    """The longest accepted wait of each queue's jobs; an empty field: no target.

    With many queues only those with a target have a field, and another one can be named. A sent form has
    the fields that were sent, each with the text that the page showed (`was.`): somebody else may have set
    a target since the page was loaded. A field that is unchanged is not saved; a target that both changed
    is refused.
    """

    def __init__(
        self, kept: Mapping[str, float | None], *, may_edit: bool = True, data: Texts | None = None
    ) -> None:
        super().__init__(data)
        is_short = len(kept) <= MOST_TARGETS
        self.kept, self.leaves = kept, list(kept)
        self.queues = [
            queue
            for queue, seconds in kept.items()
            if (is_short or seconds if data is None else f"target.{queue}" in data)
        ]
        for queue in self.queues:
            seconds = kept[queue]
            field = ReadField(_above_zero_seconds, _TIME, label=queue, disabled=not may_edit)
            field.initial = typed_time(seconds) if seconds else ""
            field.widget.attrs |= {"placeholder": "none", "spellcheck": "false"}
            self.add_field(f"target.{queue}", field)
        if not is_short and may_edit:
            attributes = {"list": "target-queues", "spellcheck": "false", "placeholder": "none"}
            name = forms.CharField(label="Queue", required=False, widget=forms.TextInput(attributes))
            self.add_field("queue", name)
            self.add_field("seconds", ReadField(_above_zero_seconds, _TIME, label="Target"))

    def clean(self) -> dict[str, Any]:
        """A queue that is named needs a target, and must be a leaf queue; two edits of a target collide."""
        self._refuse_collisions()
        queue, seconds = (self.cleaned_data.get(name) for name in ("queue", "seconds"))
        if queue and queue not in self.leaves:
            self.add_error("queue", f"There is no leaf queue {queue!r}. Choose one of the list.")
        if queue and not seconds and "seconds" not in self.errors:
            self.add_error("seconds", "The queue has no target. Write one, such as 10m.")
        if seconds and not queue:
            self.add_error("queue", "The target has no queue. Choose one of the list.")
        return self.cleaned_data

    @property
    def present(self) -> list[forms.BoundField]:
        """The fields of targets, whose initial value is the saved one."""
        return [self[f"target.{queue}"] for queue in self.queues]

    def targets(self) -> dict[str, float | None]:
        """Return the targets that were edited, None for no target; raise Invalid."""
        typed = self.typed()
        found = {queue: typed[f"target.{queue}"] for queue in self._edited()}
        return {**found, typed["queue"]: typed["seconds"]} if typed.get("queue") else found

    def _refuse_collisions(self) -> None:
        """Mark the edits of targets that somebody else has changed since the page was loaded."""
        for queue in self._edited():
            name, now = f"target.{queue}", self.kept[queue]
            text = typed_time(now) if now else ""
            if self.data.get(f"was.{name}", text) != text and self.cleaned_data.get(name) != now:
                change = f"set this target to {text}" if now else "removed this target"
                self.add_error(name, f"Somebody else has {change} by now. Save again to overwrite it.")
        named = self.cleaned_data.get("queue")
        if named not in self.queues and (now := self.kept.get(named or "")):
            text = f"{named} has a target of {typed_time(now)} by now. Reload the page to change it."
            self.add_error("queue", text)

    def _edited(self) -> list[str]:
        """Return the queues whose field has another text than the page showed."""
        return [
            queue
            for queue in self.queues
            if self.data[f"target.{queue}"] != self.data.get(f"was.target.{queue}")
        ]


def _select(label: str, choices: Sequence[tuple[str, str]]) -> forms.CharField:
    """Return a choice field that accepts any value; the service validates it."""
    return forms.CharField(label=label, required=False, widget=forms.Select(choices=choices))


def _suggested(label: str, default: str) -> forms.CharField:
    """Return a field that suggests the leaf queues; a list for each would repeat hundreds of them."""
    attributes = {"list": "leaves", "placeholder": default, "autocomplete": "off", "spellcheck": "false"}
    return forms.CharField(label=label, required=False, widget=forms.TextInput(attrs=attributes))


def _above_zero_seconds(text: str) -> float | None:
    return duration(text) or None


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 9 else None


class MomentForm(TypedForm):
    """A time of a forecast, in seconds from its beginning, and whether to run the new scenario."""

    at = forms.FloatField(min_value=0.0, required=False, widget=forms.HiddenInput)
    then = forms.ChoiceField(choices=[("", "branch"), ("run", "run")], required=False)


class PricesForm(TypedForm):
    """The price per hour of a node of a pool and of a unit of a resource; an empty field: no price."""

    currency = forms.CharField(max_length=10, required=False, initial="USD")

    def __init__(self, pools: Sequence[str], resources: Sequence[str], kept: Prices, **params: Any) -> None:
        self.parts = {"pools": pools, "resources": resources}
        super().__init__(initial={"currency": kept.currency}, **params)
        currency = self.fields.pop("currency")
        for part, names in self.parts.items():
            for name in names:
                price = getattr(kept, part).get(name)
                label = f"A node of pool {pool_label(name)}" if part == "pools" else priced(name)
                self.add_field(f"{part}.{name}", _price_field(name, label, price))
        self.fields["currency"] = currency

    def prices(self) -> dict[str, Any]:
        """Return the prices; raise Invalid."""
        typed = self.typed()
        return {
            "currency": typed["currency"] or "USD",
            **{
                part: {name: price for name in names if (price := typed[f"{part}.{name}"]) is not None}
                for part, names in self.parts.items()
            },
        }


def priced(resource: str) -> str:
    """Return the unit that a price of a resource is for.

    >>> priced("cpu"), priced("memory"), priced("nvidia.com/gpu")
    ('A core', 'A GiB of memory', 'One nvidia.com/gpu')
    """
    known = {
        "cpu": "A core",
        "memory": "A GiB of memory",
        "ephemeral-storage": "1,000 GiB of local storage",
    }
    return known.get(resource, f"One {resource}")


def _price_field(name: str, label: str, price: float | None) -> ReadField:
    """Return the field of a price."""

    def read(text: str) -> float | None:
        typed = float(text)
        return typed if 0 <= typed <= MOST_PRICE else None

    says = f"The price of {name.replace('{', '{{').replace('}', '}}')}: {{text!r}} cannot be read. "
    field = ReadField(read, f"{says}Write a price per hour such as 0.03.", label=label)
    field.initial = "" if price is None else exact(price)
    field.widget.attrs |= {"placeholder": "none", "inputmode": "decimal"}
    return field
