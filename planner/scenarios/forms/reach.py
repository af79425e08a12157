"""The forms that search for changes with which a figure reaches an amount, and apply one."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from planner.web.forms import TypedForm
from planning.reach.questions import DESERVED, PLACED, SHARE
from planning.units import scale_of

_SHARE = "In per cent of the deserved amount, such as 80%."
_QUANTITIES = {"cpu": "In cores, such as 20 or 500m.", "memory": "In bytes, such as 64Gi."}


class ReachForm(TypedForm):
    """The amount that a figure shall reach; placed pods have only a minimum."""

    at_least = forms.CharField(required=False)
    at_most = forms.CharField(required=False)

    def __init__(self, params: Mapping[str, str]) -> None:
        super().__init__(params)
        for name, field in self.fields.items():
            field.widget.attrs |= {
                "id": f"reach-{name.replace('_', '-')}",
                "class": "form-control tree__resource",
                "spellcheck": "false",
                "aria-describedby": "reach-unit",
            }
        self.unit = _unit(params["figure"], params.get("resource", ""))
        if params["figure"] == PLACED:
            del self.fields["at_most"]


def _unit(figure: str, resource: str) -> str:
    """Return in which unit the amounts of a figure are written."""
    if figure == SHARE:
        return _SHARE
    many = scale_of("pods" if figure == PLACED else resource, 0).many
    return _QUANTITIES.get(resource, f"In {many}.") if figure == DESERVED else f"In {many}."


class _Patch(forms.JSONField):
    """A patch in JSON; one that the interpreter cannot read is invalid, too."""

    def to_python(self, value: Any) -> Any:
        """Return the parsed patch; raise ValidationError."""
        try:
            return super().to_python(value)
        except (ValueError, RecursionError):  # numbers of thousands of digits; nested too deeply
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None


class FoundChangeForm(TypedForm):
    """A found change: copies of a node, or a patch of a queue."""

    like = forms.CharField(required=False)
    count = forms.IntegerField(required=False, min_value=1)
    queue = forms.CharField(required=False)
    patch = _Patch(required=False)

    def clean(self) -> dict[str, Any]:
        """Require a count for nodes, and an object for a patch."""
        typed = self.cleaned_data
        if not (typed.get("count") if typed["like"] else isinstance(typed.get("patch"), dict)):
            raise ValidationError("This is not a change. Search again, and use one of the changes found.")
        return typed
