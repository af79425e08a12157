"""What do people type to bring a trace, and to begin a forecast?"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format

from planner.clusters.models import Snapshot
from planner.web.forms import ReadField, TypedForm
from planning.forecasts.clock import duration
from planning.forecasts.costs import Prices
from planning.forecasts.options import DEFAULTS
from planning.forecasts.seeds import MOST_SEEDS
from planning.forecasts.typed_changes import TypedChange, change_of
from planning.rows import Problem

Texts = Mapping[str, str]

TIMES = (
    ("horizon_seconds", "Horizon", "1d"),
    ("period_seconds", "Time between sessions", "1s"),
    ("start_delay_seconds", "From bind to running", "0s"),
    ("window_begin_seconds", "Begin in the trace at", "0s"),
    ("default_run_seconds", "Run time where none is known", "1h"),
    ("checkpoint_seconds", "Work between checkpoints", "0s"),
    ("restore_seconds", "Reading a checkpoint", "0s"),
)
"""Fields that hold a length of time, with label and what stands in them at first."""
FACTORS = (("rate", "Jobs"), ("size", "Pods of a job"), ("run_time", "Run times"))
"""Fields that multiply what the trace says."""
MOST_PRICE = 1e9
LONGEST_NAME = 253
MOST_CHANGES = 100
_FIX = "Write a time such as 90s, 10m, 8h or 2d."


def options_typed(typed: Texts, trace_queues: Sequence[str]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the options of a forecast as they were typed, and what cannot be read."""
    options: dict[str, Any] = {
        "evicted": typed.get("evicted") or DEFAULTS["evicted"],
        "rest": typed.get("rest", "").strip(),
    }
    problems = []
    for name, label, default in TIMES:
        seconds = duration(typed.get(name, "").strip() or default)
        if seconds is None:
            problems.append(_unreadable(name, label, typed[name], _FIX))
        else:
            options[name] = seconds
    for name, label in FACTORS:
        text = typed.get(name, "").strip() or "1"
        try:
            options[name] = float(text)
        except ValueError:
            problems.append(_unreadable(name, label, text, "Write a number such as 0.5 or 2."))
    text = typed.get("seeds", "").strip() or "0"
    if text.isdecimal():
        options["seeds"] = int(text)
    else:
        fix = f"Write 0, or a number from 2 to {MOST_SEEDS}."
        problems.append(_unreadable("seeds", "The number of drawn workloads", text, fix))
    chosen = {name: typed.get(f"queue.{name}", "") for name in trace_queues}
    options["queues"] = {name: queue for name, queue in chosen.items() if queue}
    return options, problems


def targets_typed(typed: Texts, queues: Sequence[str]) -> tuple[dict[str, float], list[Problem]]:
    """Return the wait targets as they were typed, an empty field for none, and what cannot be read."""
    targets, problems = {}, []
    for queue in queues:
        text = typed.get(f"target.{queue}", "").strip()
        seconds = duration(text) if text else None
        if text and not seconds:
            problems.append(_unreadable(f"target.{queue}", f"The wait target of {queue}", text, _FIX))
        elif seconds:
            targets[queue] = seconds
    return targets, problems


def changes_typed(typed: Texts) -> tuple[list[TypedChange], list[dict[str, Any]], list[Problem]]:
    """Return the rows of timed changes that hold anything, the changes they mean, and what cannot be read."""
    rows = []
    for number in range(MOST_CHANGES):
        if typed.get("remove") == str(number):
            continue
        texts = [typed.get(f"change-{number}-{part}", "").strip() for part in ("at", "subject", "value")]
        if any(texts):
            at, subject, value = texts
            rows.append(TypedChange(at, typed.get(f"change-{number}-happens", ""), subject, value))
    changes, problems = [], []
    for place, row in enumerate(rows):
        change, found = change_of(row, place)
        changes.append(change)
        problems += found
    return rows, changes, problems


def _unreadable(path: str, label: str, text: str, fix: str) -> Problem:
    return Problem("forecast.form", "error", f"{label}: {text!r} cannot be read.", path=path, fix=fix)


class TraceForm(TypedForm):
    """A workload trace as a file or a text."""

    name = forms.CharField(max_length=LONGEST_NAME, required=False)
    name.widget.attrs["placeholder"] = "the file's name"
    file = forms.FileField(label="File, plain or gzip", required=False, allow_empty_file=True)
    text = forms.CharField(label="Or its text", required=False, strip=False, widget=forms.Textarea)
    text.widget.attrs |= {
        "class": "code trace__text",
        "spellcheck": "false",
        "placeholder": "name,queue,submit_seconds,run_seconds,pods,cpu,memory,gpu",
    }

    def clean_text(self) -> str:
        """Return the text; one of file and text has to be there."""
        text = str(self.cleaned_data["text"])
        if not text.strip() and not self.files.get("file") and "file" not in self.errors:
            self.add_error("file", "There is no file and no text.")
        return text


class SnapshotField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in the stubs only
    """A choice of snapshots, each with the time of its import."""

    def label_from_instance(self, obj: Snapshot) -> str:
        """Return how a snapshot is called in the list."""
        return f"{obj.name}, imported {date_format(timezone.localtime(obj.created), 'j M Y, H:i')}"


class SnapshotJobsForm(TypedForm):
    """The jobs of a snapshot as a trace."""

    name = forms.CharField(max_length=LONGEST_NAME, required=False)
    name.widget.attrs["placeholder"] = "the snapshot's name"
    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    since = forms.CharField(label="Submitted since", required=False)
    since.widget.attrs |= {"placeholder": "all that have finished", "spellcheck": "false"}

    def __init__(self, snapshots: QuerySet[Snapshot], **params: Any) -> None:
        super().__init__(**params)
        choice = self.fields["snapshot"]
        assert isinstance(choice, SnapshotField)
        choice.queryset = snapshots


def _above_zero(convert: Callable[[str], Any], default: str, label: str) -> ReadField:
    """Return a field of a value above zero."""

    def read(text: str) -> Any:
        value = convert(text)
        return value if value is not None and 0 < value < float("inf") else None

    return ReadField(read, f"{{text!r}} is not a value above 0. Write {default}.", default, label=label)


class PatternForm(TypedForm):
    """Jobs that are drawn from a pattern."""

    name = forms.CharField(max_length=LONGEST_NAME, required=False)
    name.widget.attrs["placeholder"] = "Generated"
    queue = forms.CharField(error_messages={"required": "The queue has no name."})
    jobs_per_hour = _above_zero(float, "10", "Jobs per hour")
    run_median = _above_zero(duration, "20m", "Median run time")
    pods = _above_zero(int, "1", "Pods of a job")
    cpu = forms.CharField(label="CPU of a pod", required=False, initial="4")
    memory = forms.CharField(label="Memory of a pod", required=False, initial="8Gi")
    seconds = _above_zero(duration, "1d", "For")
    seed = _above_zero(int, "1", "Seed")

    def pattern(self) -> dict[str, Any]:
        """Return the pattern that was typed; raise Invalid."""
        typed = self.typed()
        return {
            "queue": typed["queue"],
            "jobs_per_hour": typed["jobs_per_hour"],
            "run_median": typed["run_median"],
            "pods": {str(typed["pods"]): 1.0},
            "requests": {name: typed[name] for name in ("cpu", "memory") if typed[name]},
        }


class MomentForm(TypedForm):
    """A time of a forecast, in seconds from its beginning, and whether to run what it opens."""

    at = forms.FloatField(min_value=0.0, required=False, widget=forms.HiddenInput)
    then = forms.ChoiceField(choices=[("", "branch"), ("run", "run")], required=False)


class PricesForm(TypedForm):
    """What a node of a pool and a unit of a resource cost for an hour; an empty field: no price."""

    currency = forms.CharField(max_length=10, required=False, initial="USD")

    def __init__(self, pools: Sequence[str], resources: Sequence[str], kept: Prices, **params: Any) -> None:
        self.parts = {"pools": pools, "resources": resources}
        super().__init__(initial={"currency": kept.currency}, **params)
        currency = self.fields.pop("currency")
        for part, names in self.parts.items():
            for name in names:
                price = getattr(kept, part).get(name)
                label = f"A node of pool {name}" if part == "pools" else priced(name)
                self.add_field(f"{part}.{name}", _price_field(name, label, price))
        self.fields["currency"] = currency

    def prices(self) -> dict[str, Any]:
        """Return the prices that were typed; raise Invalid."""
        typed = self.typed()
        return {
            "currency": typed["currency"] or "USD",
            **{
                part: {name: price for name in names if (price := typed[f"{part}.{name}"]) is not None}
                for part, names in self.parts.items()
            },
        }


def priced(resource: str) -> str:
    """Return what a price of a resource is for.

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
    field.initial = "" if price is None else f"{price:g}"
    field.widget.attrs |= {"placeholder": "none", "inputmode": "decimal"}
    return field
