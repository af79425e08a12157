"""The pages that share a run: public links and bundles."""

from http import HTTPStatus
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from planner.runs.forms import LinkForm
from planner.runs.models import Run
from planner.runs.selectors.runs import links_of, pending_jobs, run_counts
from planner.runs.services.links import DEFAULT_DAYS, LONGEST_DAYS, link_create, link_revoke, run_by_link
from planner.runs.views.run_page import RunPage
from planner.web.selectors.home import change_texts
from planner.web.views.found import run_or_404
from planner.web.views.listing import Listing
from planner.web.views.pages import caller


@require_GET
def share(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the public links of a run and its bundle."""
    return _share_page(request, run_or_404(request, run_id))


@require_POST
def link_add(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Create a public link and show its address, this one time."""
    run = run_or_404(request, run_id)
    form = LinkForm(request.POST)
    if not form.is_valid():
        return _share_page(request, run, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    _, secret = link_create(run=run, user=caller(request), **form.cleaned_data)
    address = request.build_absolute_uri(reverse("planner:shared", args=[secret]))
    return _share_page(request, run, address=address)


def _share_page(
    request: HttpRequest,
    run: Run,
    form: LinkForm | None = None,
    *,
    address: str = "",
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    context = {
        "run": run,
        "links": links_of(run),
        "address": address,
        "form": form or LinkForm(initial={"days": DEFAULT_DAYS}),
        "longest": LONGEST_DAYS,
    }
    return render(request, "runs/share.html", context, status=status)


@require_POST
def link_remove(request: HttpRequest, run_id: UUID, link_id: UUID) -> HttpResponse:
    """Revoke a public link."""
    run = run_or_404(request, run_id)
    link = get_object_or_404(links_of(run), pk=link_id)
    link_revoke(link=link, user=caller(request))
    return redirect("planner:share", run_id)


@login_not_required
@never_cache
@require_GET
def shared(request: HttpRequest, secret: str) -> HttpResponse:
    """Show a run to anybody with its link: its decisions, without links to other pages."""
    run = run_by_link(secret=secret, address=request.META.get("REMOTE_ADDR", ""))
    if run is None:
        raise Http404
    context = {
        "run": run,
        "counts": run_counts(run),
        "changed": change_texts(run),
        "page": RunPage(run, request.GET),
        "victims": Listing(run.victims, name="victims", params=request.GET),
        "pending": Listing(pending_jobs(run), name="pending", params=request.GET),
    }
    answer = render(request, "runs/shared.html", context)
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["X-Robots-Tag"] = "noindex"
    return answer
