"""The status page, which refreshes itself."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from planner.accounts.services.members import status_require
from planner.web.selectors.status import status
from planner.web.views.pages import caller, page_or_part


@require_GET
def show(request: HttpRequest) -> HttpResponse:
    """Show queued and running work, and the workers."""
    status_require(user=caller(request))
    context = {"status": status(), "place": "status"}
    return page_or_part(request, "status/status.html", {"status": "status/_status.html"}, context)
