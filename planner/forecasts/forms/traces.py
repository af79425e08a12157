"""The forms that import or generate a trace."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format

from planner.clusters.models import Snapshot
from planner.web.forms import ReadField, TypedForm
from planning.forecasts.clock import duration
from planning.rows import Problem
from traces.columns import GPU

LONGEST_NAME = 253


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
        """Return the text; require a file or a text."""
        text = str(self.cleaned_data["text"])
        if not text.strip() and not self.files.get("file") and "file" not in self.errors:
            self.add_error("file", "There is no file and no text.")
        return text


class SnapshotField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in the stubs only
    """A choice of snapshots, each with the time of its import."""

    def label_from_instance(self, obj: Snapshot) -> str:
        """Return the label of a snapshot in the list."""
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
    """Return a field for a value above zero."""

    def read(text: str) -> Any:
        value = convert(text)
        return value if value is not None and 0 < value < float("inf") else None

    return ReadField(read, f"{{text!r}} is not a value above 0. Write {default}.", default, label=label)


class PatternForm(TypedForm):
    """Jobs to draw from a pattern."""

    name = forms.CharField(max_length=LONGEST_NAME, required=False)
    name.widget.attrs["placeholder"] = "Generated"
    queue = forms.CharField(max_length=LONGEST_NAME, error_messages={"required": "The queue has no name."})
    jobs_per_hour = _above_zero(float, "10", "Jobs per hour")
    run_median = _above_zero(duration, "20m", "Median run time")
    pods = _above_zero(int, "1", "Pods of a job")
    cpu = forms.CharField(label="CPU of a pod", required=False, initial="4")
    memory = forms.CharField(label="Memory of a pod", required=False, initial="8Gi")
    devices = forms.CharField(label="Devices of a pod", required=False)
    devices.widget.attrs |= {"placeholder": "none", "inputmode": "numeric"}
    device = forms.CharField(label="Device", required=False, initial=GPU)
    device.widget.attrs["spellcheck"] = "false"
    seconds = _above_zero(duration, "1d", "For")
    seed = _above_zero(int, "1", "Seed")

    def pattern(self) -> dict[str, Any]:
        """Return the pattern; raise Invalid."""
        typed = self.typed()
        requests = {
            "cpu": typed["cpu"],
            "memory": typed["memory"],
            typed["device"] or GPU: typed["devices"],
        }
        return {
            "queue": typed["queue"],
            "jobs_per_hour": typed["jobs_per_hour"],
            "run_median": typed["run_median"],
            "pods": {str(typed["pods"]): 1.0},
            "requests": {name: amount for name, amount in requests.items() if amount},
        }

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Show problems of the device at the field of its amount."""
        device = f".requests.{self.cleaned_data.get('device') or GPU}"
        super().refuse(
            replace(one, path="devices") if (one.path or "").endswith(device) else one for one in problems
        )
