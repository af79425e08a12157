"""The security page of an account: password, second factor, sessions, log-ins."""

from typing import Any

import segno
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from planner.accounts.forms import CodeForm, PasswordForm
from planner.accounts.services.logins import Guesser, TooSoon, guess_count, guess_right
from planner.accounts.services.second_factor import (
    codes_left,
    has_second_factor,
    pending_secret,
    provisioning_address,
    recovery_codes_renew,
    second_factor_begin,
    second_factor_confirm,
    second_factor_remove,
)
from planner.accounts.services.sessions import (
    login_events,
    other_sessions_end,
    password_note,
    session_end,
    sessions_of,
)
from planner.accounts.views.logging_in import paused
from planner.accounts.views.login_audit import address_of
from planner.errors import Invalid
from planner.web.views.listing import Listing
from planner.web.views.pages import INVALID, caller


@never_cache
@require_GET
def security(request: HttpRequest) -> HttpResponse:
    """Show password, second factor, sessions and log-ins of the caller."""
    return _page(request)


@never_cache
@sensitive_post_parameters()
@require_POST
def password(request: HttpRequest) -> HttpResponse:
    """Change the caller's password, which ends every other session."""
    user = caller(request)
    if not user.has_usable_password():
        raise Http404
    guesser = Guesser(f"password of {user.get_username()}", address_of(request))
    form = PasswordForm(user, request.POST)
    try:
        guess_count(guesser)
    except TooSoon as error:
        return _too_soon(request, error)
    if not form.is_valid():
        return _page(request, form=form, status=INVALID)
    guess_right(guesser)
    form.save()
    update_session_auth_hash(request, user)
    other_sessions_end(user=user, but=request.session.session_key)
    password_note(user=user, address=address_of(request))
    messages.success(request, "Password changed. All other sessions have ended.")
    return redirect("planner:security")


@require_POST
def sessions(request: HttpRequest) -> HttpResponse:
    """End one session, or all but this one."""
    user, name = caller(request), request.POST.get("session", "")
    if name:
        if not session_end(user=user, name=name):
            raise Http404
        messages.success(request, "The session has ended.")
    else:
        other_sessions_end(user=user, but=request.session.session_key)
        messages.success(request, "All other sessions have ended.")
    return redirect("planner:security")


@never_cache
@sensitive_post_parameters("code")
@require_POST
def second_factor(request: HttpRequest) -> HttpResponse:
    """Set up the second factor, confirm it, replace its recovery codes, or disable it."""
    user, do = caller(request), request.POST.get("do", "")
    form = CodeForm(data=request.POST, auto_id="factor-%s")
    try:
        if do == "begin":
            second_factor_begin(user=user)
            return redirect("planner:security")
        if do == "confirm":
            codes = second_factor_confirm(user=user, address=address_of(request), **form.typed())
            return _page(request, codes=codes)
        if do == "renew":
            codes = recovery_codes_renew(user=user, address=address_of(request), **form.typed())
            return _page(request, codes=codes)
        if do == "remove":
            second_factor_remove(user=user, address=address_of(request), **form.typed())
            messages.success(request, "The second factor is off.")
            return redirect("planner:security")
    except Invalid as error:
        form.refuse(error.problems)
        return _page(request, factor=form, status=INVALID)
    except TooSoon as error:
        return _too_soon(request, error)
    raise Http404


def _too_soon(request: HttpRequest, error: TooSoon) -> HttpResponse:
    return paused(_page(request, paused=f"Too many attempts. {error}"), error)


def _page(
    request: HttpRequest,
    *,
    form: PasswordForm | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    user = caller(request)
    present = request.session.session_key
    context = {
        "place": "account",
        "form": form or PasswordForm(user),
        "factor": CodeForm(auto_id="factor-%s"),
        "has_password": user.has_usable_password(),
        "has_second_factor": has_second_factor(user),
        "codes_left": codes_left(user),
        "sessions": [(session, session.session_key == present) for session in sessions_of(user)],
        "logins": Listing(login_events(user), name="page", params=request.GET),
        **more,
    }
    if secret := pending_secret(user):
        drawn = segno.make(provisioning_address(user, secret), error="m")
        context |= {"secret": secret, "picture": drawn.svg_data_uri(scale=4, border=4, light="#fff")}
    return render(request, "accounts/security.html", context, status=status)
