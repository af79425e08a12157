"""The forms of a run: its cycles, a public link, and a pod to find a place for."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from planner.runs.services.links import LONGEST_DAYS
from planner.web.forms import TypedForm
from planning.contents import MOST_CYCLES
from planning.fitting import END, START, Probe
from planning.units import resource_label

_REQUESTS = "requests."


class RunForm(forms.Form):
    """The number of scheduling cycles to simulate; one by default."""

    cycles = forms.IntegerField(min_value=1, max_value=MOST_CYCLES, required=False)


class LinkForm(forms.Form):
    """Whom a public link is for, and for how long."""

    label = forms.CharField(max_length=100, required=False)
    days = forms.IntegerField(min_value=1, max_value=LONGEST_DAYS)


class ProbeForm(TypedForm):
    """A pod to find a place for: its queue, requests and node selector."""

    queue = forms.CharField(required=False, widget=forms.Select)
    resource_name = forms.CharField(label="Other resource", required=False)
    resource_amount = forms.CharField(label="Amount", required=False)
    selector = forms.CharField(label="Node selector", required=False)
    at = forms.CharField(label="When", required=False)
    at.widget = forms.Select(choices=[(END, "after the run"), (START, "before the run")])
    tolerates = forms.BooleanField(label="tolerates every taint", required=False)

    def __init__(
        self, data: QueryDict | None, queues: list[str], resources: Sequence[str], kept: Probe | None
    ) -> None:
        super().__init__(data, initial=_initial(kept))
        queue = self.fields["queue"].widget
        assert isinstance(queue, forms.Select)
        queue.choices = [(name, name) for name in queues] or [("", "default")]
        posted = [name.removeprefix(_REQUESTS) for name in data or () if name.startswith(_REQUESTS)]
        self.names = list(dict.fromkeys([*resources, *(kept.requests if kept else ()), *posted]))
        for name in self.names:
            field = forms.CharField(label=resource_label(name), required=False)
            field.widget.attrs |= {
                "class": "heat__amount",
                "placeholder": {"cpu": "4", "memory": "16Gi"}.get(name, "1"),
            }
            self.add_field(f"{_REQUESTS}{name}", field)
        self.fields["resource_name"].widget.attrs |= {
            "class": "form-control heat__amount",
            "placeholder": "name",
        }
        self.fields["resource_amount"].widget.attrs["class"] = "form-control heat__amount"
        self.fields["selector"].widget.attrs["placeholder"] = "key=value, …"
        self.order_fields(["queue", *(f"{_REQUESTS}{name}" for name in self.names)])

    def probe(self) -> Probe:
        """Return the pod that was entered; raise Invalid."""
        typed = self.typed()
        named = {name: typed[f"{_REQUESTS}{name}"] for name in self.names}
        if extra := typed["resource_name"]:
            named[extra] = typed["resource_amount"]
        pairs = (part.partition("=") for part in typed["selector"].replace(",", " ").split())
        return Probe(
            queue=typed["queue"],
            requests={name: text for name, text in named.items() if text},
            selector={key: value for key, _, value in pairs},
            tolerates=typed["tolerates"],
            at=typed["at"] or END,
        )


def _initial(kept: Probe | None) -> dict[str, Any]:
    if kept is None:
        return {}
    selector = ", ".join(f"{key}={value}" for key, value in kept.selector.items())
    requests = {f"{_REQUESTS}{name}": text for name, text in kept.requests.items()}
    return {"queue": kept.queue, "selector": selector, "tolerates": kept.tolerates, "at": kept.at, **requests}
