"""The steps after a correct password or single sign-on: the second factor, then the session."""

import math
import time
from http import HTTPStatus

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from planner.accounts.forms import CodeForm
from planner.accounts.models import User
from planner.accounts.services.logins import TooSoon
from planner.accounts.services.second_factor import WRONG_CODE, has_second_factor, second_factor_check
from planner.accounts.services.sessions import login_failure_note
from planner.accounts.views.login_audit import address_of
from planner.web.views.pages import INVALID

BACKEND = "django.contrib.auth.backends.ModelBackend"
PENDING = "second-factor"
PATIENCE_SECONDS = 600
"""For how long a correct password waits for its code."""


def log_in(request: HttpRequest, account: User, leads_to: str) -> HttpResponse:
    """Log in an authenticated account, or ask for the second factor first."""
    if not has_second_factor(account):
        login(request, account, backend=BACKEND)
        return redirect(leads_to)
    request.session.flush()
    request.session[PENDING] = {"user": account.pk, "at": time.time(), "leads_to": leads_to}
    return redirect("login-code")


@login_not_required
@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """Ask for a code of the second factor, and log in with a correct one."""
    pending = request.session.get(PENDING)
    if pending is None or time.time() - pending["at"] > PATIENCE_SECONDS:
        return redirect("login")
    form = CodeForm(data=request.POST if request.method == "POST" else None)
    form.fields["code"].widget.attrs["autofocus"] = True
    if request.method == "GET":
        return render(request, "accounts/code.html", {"form": form})
    account = User.objects.filter(pk=pending["user"], is_active=True).first()
    if not form.is_valid():
        return render(request, "accounts/code.html", {"form": form}, status=INVALID)
    typed = form.cleaned_data["code"]
    try:
        if account is None or not second_factor_check(user=account, code=typed, address=address_of(request)):
            _failed(request, account)
            form.refuse([WRONG_CODE])
            return render(request, "accounts/code.html", {"form": form}, status=INVALID)
    except TooSoon as error:
        form.add_error("code", f"Too many wrong codes. {error}")
        return paused(render(request, "accounts/code.html", {"form": form}), error)
    login(request, account, backend=BACKEND)
    request.session.pop(PENDING, None)
    return redirect(pending["leads_to"])


def paused(page: HttpResponse, error: TooSoon) -> HttpResponse:
    """Return a page that says when the next attempt is allowed."""
    page.status_code = HTTPStatus.TOO_MANY_REQUESTS
    page["Retry-After"] = str(math.ceil(error.wait.total_seconds()))
    return page


def _failed(request: HttpRequest, account: User | None) -> None:
    if account is not None:
        login_failure_note(username=account.get_username(), address=address_of(request))
