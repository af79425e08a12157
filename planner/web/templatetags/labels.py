"""Which form names a scenario or a run on its page?"""

from typing import Any

from django import template

from planner.web.forms import LabelsForm

register = template.Library()


@register.simple_tag
def labels_form(thing: Any, refused: LabelsForm | str, placeholder: str) -> LabelsForm:
    """Return the form that was refused, else one with what the thing is called."""
    present = {"name": thing.name, "note": thing.note, "tags": ", ".join(thing.tags)}
    form = refused or LabelsForm(initial=present)
    assert isinstance(form, LabelsForm), "pages without a refused form have an empty text"
    form.fields["name"].widget.attrs["placeholder"] = placeholder
    return form
