"""How does somebody delete their own account? What goes along is shown first."""

import math
from http import HTTPStatus
from typing import Any

from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from planner.accounts.services.logins import TooSoon
from planner.accounts.views.logging_in import address_of
from planner.clusters.selectors.usage import hanging_on_account, sole_admin_of
from planner.clusters.services.deletion import account_delete
from planner.errors import Invalid
from planner.web.views.pages import caller


@never_cache
@sensitive_post_parameters("confirmation")
@login_required
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show what goes with the caller's own account; delete it."""
    if request.method == "GET":
        return _account_page(request)
    typed = request.POST.get("confirmation", "")
    try:
        account_delete(user=caller(request), confirmation=typed, address=address_of(request))
    except Invalid as error:
        return _account_page(request, problems=error.problems, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except TooSoon as error:
        page = _account_page(request, paused=error, status=HTTPStatus.TOO_MANY_REQUESTS)
        page["Retry-After"] = str(math.ceil(error.wait.total_seconds()))
        return page
    logout(request)
    return redirect("login")


def _account_page(request: HttpRequest, *, status: int = HTTPStatus.OK, **more: Any) -> HttpResponse:
    user = caller(request)
    context = {
        "hanging": hanging_on_account(user),
        "alone": sole_admin_of(user),
        "has_password": user.has_usable_password(),
        **more,
    }
    return render(request, "accounts/account_delete.html", context, status=status)
