"""How does a form give a scenario or a run a name, a note and tags, or archive it?"""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from planner.errors import Invalid
from planning.labels import tags_of


def labelled(request: HttpRequest, keep: Callable[..., Any]) -> None:
    """Keep the labels that a form sends, by `keep`; every problem is said on the next page."""
    typed = request.POST
    given: dict[str, Any] = {name: typed[name].strip() for name in ("name", "note") if name in typed}
    if "tags" in typed:
        given["tags"] = tags_of(typed["tags"])
    if "archived" in typed:
        given["archived"] = typed["archived"] == "true"
    try:
        keep(**given)
    except Invalid as error:
        for problem in error.problems:
            messages.error(request, f"Not saved. {problem.message} {problem.fix}")
    else:
        messages.success(request, "Saved.")
