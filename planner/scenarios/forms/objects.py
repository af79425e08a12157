"""The forms that add and change nodes and workloads of a scenario.

The services validate amounts, names and numbers, so that page, API and import agree.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from planner.web.forms import TypedForm
from planner.web.templatetags.quantities import resource_order
from planning.constraint_choices import NODE_CONSTRAINTS
from planning.nodes import EFFECTS, PoolRow, taint_patch
from planning.units import request_resources, resource_label
from planning.workload_fields import FIELDS, PODS
from planning.workloads import WorkloadRow


class AmountsForm(TypedForm):
    """Amounts of some resources, each in its own field, and of one more resource with a name field."""

    above = ""
    """The prefix of the names of amount fields."""
    resource = forms.CharField(label="Another resource", required=False)
    resource.widget.attrs["placeholder"] = "example.com/device"
    amount = forms.CharField(required=False)

    def add_amounts(self, names: Sequence[str], of: str, like: Mapping[str, str]) -> None:
        """Add a field for each resource, with a label and an example."""
        posted = [key.removeprefix(f"{self.above}.") for key in self.data if key.startswith(f"{self.above}.")]
        for name in dict.fromkeys([*names, *posted]):
            field = forms.CharField(label=f"{resource_label(name)}{of}", required=False)
            field.widget.attrs["placeholder"] = like.get(name, "1")
            self.add_field(f"{self.above}.{name}", field)
        self.order_fields([name for name in self.fields if name not in ("resource", "amount")])

    def clean(self) -> dict[str, Any]:
        """Require a resource for the amount, and an amount for the resource."""
        named, amount = self.cleaned_data.get("resource"), self.cleaned_data.get("amount")
        if amount and not named:
            self.add_error("resource", "Name the resource of this amount.")
        if named and not amount:
            self.add_error("amount", "Type an amount of this resource.")
        return self.cleaned_data

    def amounts(self) -> dict[str, str]:
        """Return the entered amounts."""
        return {name: text for name, text in self.sent_amounts().items() if text}

    def sent_amounts(self) -> dict[str, str]:
        """Return the text of each amount field that was sent, including empty ones."""
        typed, prefix = self.cleaned_data, f"{self.above}."
        sent = [name for name in self.fields if name.startswith(prefix) and name in self.data]
        named = {typed["resource"]: typed["amount"]} if typed["resource"] else {}
        return {name.removeprefix(prefix): typed[name] for name in sent} | named


class NodesForm(AmountsForm):
    """Nodes of one shape: their number, their names, and a node to copy or a capacity."""

    above = "capacity"
    count = forms.IntegerField(initial=1, widget=forms.NumberInput(attrs={"min": "1", "max": "20000"}))
    prefix = forms.CharField(label="Name prefix", initial="added")  # type: ignore[assignment]  # fields are set apart
    like = forms.CharField(label="Copy of node", required=False, widget=forms.Select)

    def __init__(self, data: Mapping[str, str] | None, pools: Sequence[PoolRow]) -> None:
        super().__init__(data, auto_id="add-%s")
        _offer(
            self.fields["like"],
            [("", "none"), *((pool.first, f"{pool.first}: {pool.description}") for pool in pools)],
        )
        offered = request_resources({name for pool in pools for name in pool.amounts})
        self.add_amounts(offered, "", {"cpu": "8", "memory": "256Gi"})


class NamesField(forms.MultipleChoiceField):
    """The selected names; the service checks that they exist."""

    def valid_value(self, value: Any) -> bool:
        """Accept every name."""
        return True


NODE_ACTIONS = (
    ("cordon", "Cordon"), ("uncordon", "Uncordon"), ("resize", "Resize: set allocatable"),
    ("taint", "Add taint"), ("untaint", "Remove taint"), ("label", "Set label"),
    ("unlabel", "Remove label"), ("remove", "Remove"),
)  # fmt: skip
_OF_NO_KEY = ("cordon", "uncordon", "remove")


class NodeChangeForm(TypedForm):
    """A change of the selected nodes, or of all nodes that match the filter."""

    action = forms.ChoiceField(label="Change selected nodes", choices=NODE_ACTIONS)
    key = forms.CharField(label="Resource, taint or label", required=False)
    key.widget.attrs["placeholder"] = "cpu"
    value = forms.CharField(required=False)
    effect = forms.ChoiceField(
        label="Effect of the taint", choices=[(effect, effect) for effect in EFFECTS], required=False
    )
    node = NamesField(required=False)
    all = forms.BooleanField(required=False)

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, auto_id="node-%s")

    def clean(self) -> dict[str, Any]:
        """Require a resource, taint or label for all but three actions."""
        typed = self.cleaned_data
        if typed.get("action", "cordon") not in _OF_NO_KEY and not typed.get("key"):
            self.add_error("key", "Name the resource, the taint or the label.")
        return typed

    @property
    def of_one_action(self) -> list[forms.BoundField]:
        """Return the form's action without the selected nodes, which are in their table."""
        return [self[name] for name in ("action", "key", "value", "effect")]

    def patch(self) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
        """Return a function from a node's manifest to the merge patch of the action."""
        action, key, value, effect = (
            self.cleaned_data[name] for name in ("action", "key", "value", "effect")
        )
        if action in ("taint", "untaint"):
            taint = {"key": key, **({"value": value} if value else {}), "effect": effect or EFFECTS[0]}
            return lambda node: taint_patch(node, taint if action == "taint" else None, key)
        patches: dict[str, Mapping[str, Any]] = {
            "cordon": {"spec": {"unschedulable": True}},
            "uncordon": {"spec": {"unschedulable": None}},
            "resize": {"status": {part: {key: value or None} for part in ("allocatable", "capacity")}},
            "label": {"metadata": {"labels": {key: value}}},
            "unlabel": {"metadata": {"labels": {key: None}}},
        }
        return lambda _: patches[action]


class WholeField(forms.CharField):
    """A whole number; other text is passed to the service, which rejects it with a reason."""

    def __init__(self, **params: Any) -> None:
        super().__init__(widget=forms.TextInput(attrs={"inputmode": "numeric"}), required=False, **params)

    def to_python(self, value: Any) -> Any:
        """Return the number."""
        text = super().to_python(value) or ""
        return int(text) if text.isdecimal() and len(text) < 9 else text


class _WorkloadForm(AmountsForm):
    """The common fields of existing and new workloads, with the field names of the CRD."""

    above = "requests"
    queue = forms.CharField(required=False, widget=forms.Select)
    priorityClassName = forms.CharField(label="Priority class", required=False)  # noqa: N815
    replicas = WholeField(label="Pods (replicas)")
    minMember = WholeField(label="Gang (minMember)")  # noqa: N815


class WorkloadForm(_WorkloadForm):
    """An existing workload: its queue, priority class, number of pods, and their requests."""

    def __init__(self, data: Mapping[str, str] | None, row: WorkloadRow, queues: Sequence[str]) -> None:
        self.requests = row.requests
        present = {
            "queue": row.queue,
            "priorityClassName": row.priority_class,
            "minMember": row.min_member,
            "replicas": row.replicas,
            **{f"requests.{name}": text for name, text in row.requests.items()},
        }
        super().__init__(data, initial=present)
        if row.kind == PODS:
            del self.fields["minMember"], self.fields["replicas"]
        missing = [] if row.queue in queues else [(row.queue, f"{row.queue} (queue does not exist)")]
        _offer(self.fields["queue"], [*missing, *((name, name) for name in queues)])
        self.add_amounts(resource_order({*row.requests, "cpu", "memory"}), " per pod", {})

    def changes(self) -> dict[str, Any]:
        """Return the entered fields that differ from the current values; raise Invalid."""
        typed = self.typed()
        changed = [name for name in self.changed_data if name in self.data]
        fields = {name: typed[name] for name in changed if name in FIELDS}
        sent = self.sent_amounts()
        requests = {name: sent[name] or None for name in sent if sent[name] != self.requests.get(name, "")}
        return fields | ({"requests": requests} if requests else {})


class JobForm(_WorkloadForm):
    """A new job of one task; its requests are of cpu, memory and the devices of the nodes."""

    name = forms.CharField(required=False)
    namespace = forms.CharField(required=False, initial="default")
    node_constraints = forms.CharField(
        required=False,
        help_text="Tolerations and node selectors of its pods.",
        widget=forms.Select(choices=[*NODE_CONSTRAINTS.items()]),
    )

    def __init__(
        self, data: Mapping[str, str] | None, queues: Sequence[str], offered: Iterable[str] = ()
    ) -> None:
        super().__init__(data, auto_id="job-%s", initial={"replicas": 1, "minMember": 1})
        _offer(self.fields["queue"], [(name, name) for name in queues] or [("", "default")])
        self.add_amounts(request_resources(offered), " per pod", {"memory": "4Gi"})
        self.order_fields(["name", "namespace"])

    def typed_job(self) -> dict[str, Any]:
        """Return the fields with a value; raise Invalid."""
        typed = self.typed()
        names = ("name", "namespace", "node_constraints", *FIELDS)
        fields = {name: typed[name] for name in names if typed.get(name, "") != ""}
        requests = self.amounts()
        return fields | ({"requests": requests} if requests else {})


class ManifestsForm(TypedForm):
    """Workloads as a text."""

    documents = forms.CharField(
        label="vcjobs, PodGroups, pods", strip=False, required=False, widget=forms.Textarea
    )
    documents.widget.attrs |= {
        "class": "code",
        "rows": "9",
        "spellcheck": "false",
        "autocapitalize": "none",
        "wrap": "off",
        "data-yaml": "Manifests",
        "aria-describedby": "text-help",
    }


class CopyForm(TypedForm):
    """How many waiting copies of a workload."""

    count = forms.IntegerField(label="Waiting copies", initial=1)
    count.widget = forms.TextInput(attrs={"inputmode": "numeric"})


def _offer(field: forms.Field, choices: Sequence[tuple[str, str]]) -> None:
    """Show these choices in a select; the service validates the value."""
    assert isinstance(field.widget, forms.Select)
    field.widget.choices = choices
