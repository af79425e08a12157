"""The form that names, tags or archives a scenario or a run."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from planner.errors import Invalid
from planner.web.forms import LabelsForm
from planner.web.views.pages import INVALID


def labelled(
    request: HttpRequest,
    keep: Callable[..., Any],
    page: Callable[[Mapping[str, Any], int], HttpResponse],
    leads_to: str,
) -> HttpResponse:
    """Store the labels of a form, or show its page again with each problem at its field."""
    form = LabelsForm(request.POST)
    try:
        keep(**form.labels())
    except Invalid as error:
        form.refuse(error.problems)
        return page({"labels": form}, INVALID)
    messages.success(request, "Saved.")
    return redirect(leads_to)
