"""The page of the glossary."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from planner.web.glossary import GATES, OURS, VOLCANO, anchor, gate_anchor


@require_GET
def glossary(request: HttpRequest) -> HttpResponse:
    """Show every term with its meaning, each with an anchor."""
    parts = [
        ("Volcano's terms", [(anchor(term), term, meaning) for term, meaning in VOLCANO.items()]),
        ("Gates: why a job waits", [(gate_anchor(gate), gate, meaning) for gate, meaning in GATES.items()]),
        ("Queuecast's terms", [(anchor(term), term, meaning) for term, meaning in OURS.items()]),
    ]
    return render(request, "web/glossary.html", {"parts": parts, "place": "glossary"})
