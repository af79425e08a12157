"""The form with the labels of a scenario or a run."""

from typing import Any

from django import template

from planner.web.forms import LabelsForm

register = template.Library()


@register.simple_tag
def labels_form(thing: Any, refused: LabelsForm | str, placeholder: str) -> LabelsForm:
    """Return the rejected form, otherwise a form with the current labels."""
    present = {"name": thing.name, "note": thing.note, "tags": ", ".join(thing.tags)}
    form = refused or LabelsForm(initial=present)
    assert isinstance(form, LabelsForm), "pages without a rejected form have an empty text"
    form.fields["name"].widget.attrs["placeholder"] = placeholder
    return form
