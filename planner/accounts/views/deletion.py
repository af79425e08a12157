"""The page that deletes the caller's account, after listing what is deleted with it."""

from typing import Any

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from planner.accounts.forms import ConfirmationForm
from planner.accounts.services.logins import TooSoon
from planner.accounts.views.logging_in import paused
from planner.accounts.views.login_audit import address_of
from planner.clusters.selectors.usage import account_dependent_counts, sole_admin_of
from planner.clusters.services.deletion import account_delete
from planner.errors import Invalid
from planner.web.views.pages import INVALID, caller


@never_cache
@sensitive_post_parameters("confirmation")
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show what is deleted with the caller's own account, or delete it."""
    user = caller(request)
    if request.method == "GET":
        return _account_page(request, ConfirmationForm(user))
    form = ConfirmationForm(user, request.POST)
    try:
        account_delete(user=user, **form.typed(), address=address_of(request))
    except Invalid as error:
        form.refuse(error.problems)
        return _account_page(request, form, status=INVALID)
    except TooSoon as error:
        form.add_error(None, f"Too many attempts. {error}")
        return paused(_account_page(request, form), error)
    logout(request)
    return redirect("login")


def _account_page(request: HttpRequest, form: ConfirmationForm, status: int = 200) -> HttpResponse:
    user = caller(request)
    context: dict[str, Any] = {
        "hanging": account_dependent_counts(user),
        "alone": sole_admin_of(user),
        "form": form,
    }
    return render(request, "accounts/account_delete.html", context, status=status)
