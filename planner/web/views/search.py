"""The search page."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from planner.web.selectors.search import search
from planner.web.views.pages import caller, page_or_part


@require_GET
def find(request: HttpRequest) -> HttpResponse:
    """Show the search results; the search dialog of every page requests only the list."""
    words = request.GET.get("q", "").strip()
    found = search(caller(request), words, _run_id(request.GET.get("run", "")))
    context = {"words": words, "found": found, "place": "search"}
    return page_or_part(request, "web/search.html", {"find-list": "web/_search_found.html"}, context)


def _run_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
