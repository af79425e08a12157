"""Base classes of forms, which show each problem at its field."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from planner.errors import Invalid
from planner.rules import fix_of
from planning.labels import tags_of
from planning.rows import Problem

SHOWN = 60
"""How much of a text that cannot be read is repeated in its message."""
_CLASSES = ((forms.CheckboxInput, "form-check-input"), (forms.Select, "form-select"))


class LongSelect(forms.Select):
    """A choice of thousands of options, which a template each would take ten times as long to write."""

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        """Return the element."""
        option, chosen = '<option value="{}"{}>{}</option>', SafeString(" selected")
        options = format_html_join(
            "\n", option, ((one, chosen if one == value else "", label) for one, label in self.choices)
        )
        attributes = {"name": name, **self.build_attrs(self.attrs, attrs)}
        return format_html("<select{}>{}</select>", flatatt(attributes), options)


class TypedForm(forms.Form):
    """A form that shows each problem at its field, whether the form or a service found it."""

    use_required_attribute = False

    def __init__(self, *args: Any, **params: Any) -> None:
        super().__init__(*args, **params)
        for name, field in self.fields.items():
            self.add_field(name, field)

    def add_field(self, name: str, field: forms.Field) -> None:
        """Add a field with the CSS classes of the page."""
        own = next((own for kind, own in _CLASSES if isinstance(field.widget, kind)), "form-control")
        attributes = field.widget.attrs
        attributes["class"] = " ".join([own, *attributes.get("class", "").split()])
        attributes.setdefault("autocomplete", "off")
        self.fields[name] = field

    def typed(self) -> dict[str, Any]:
        """Return the validated values; raise Invalid, with each problem at its field."""
        if not self.is_valid():
            raise Invalid([])
        return self.cleaned_data

    @property
    def problems(self) -> list[Problem]:
        """Return the problems for a list beside the form, each with the label of its field."""
        labels = {name: str(field.label or name) for name, field in self.fields.items()}
        return [
            Problem("form.invalid", "error", str(message), path=labels.get(name, name), fix=fix_of(error))
            for name, errors in self.errors.as_data().items()
            for error in errors
            for message in error.messages
        ]

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Show the problems of a service, with their fixes, at the fields that their paths end with.

        Problems of no field are shown for the whole form.
        """
        for problem in problems:
            path = f".{problem.path or ''}"
            name = next((name for name in self.fields if path.endswith(f".{name}")), None)
            beside = replace(problem, message=problem.beside_field) if name else problem
            self.add_error(name, beside.in_full)


class LabelsForm(TypedForm):
    """The labels of a scenario or run; a field that is not sent keeps its value."""

    name = forms.CharField(required=False)
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": "3"}))
    tags = forms.CharField(required=False)
    tags.widget.attrs["placeholder"] = "review, q3"
    archived = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, str] | None = None, **params: Any) -> None:
        super().__init__(data, auto_id="label-%s", **params)

    def labels(self) -> dict[str, Any]:
        """Return the labels that were sent; raise Invalid."""
        typed = self.typed()
        return {
            name: tags_of(typed[name]) if name == "tags" else typed[name]
            for name in self.fields
            if name in self.data
        }


class ReadField(forms.CharField):
    """A field whose text is parsed; an empty text is the default.

    `says` is the message if `read` returns None or raises ValueError.
    """

    def __init__(self, read: Callable[[str], Any], says: str, default: str = "", **params: Any) -> None:
        super().__init__(required=False, initial=default, **params)
        self.read, self.says, self.default = read, says, default

    def to_python(self, value: Any) -> Any:
        """Return the value of a text, None without text and default."""
        text = super().to_python(value) or self.default
        if not text:
            return None
        try:
            read = self.read(text)
        except ValueError:
            read = None
        if read is None:
            raise ValidationError(self.says.format(text=text if len(text) <= SHOWN else f"{text[:SHOWN]}…"))
        return read
