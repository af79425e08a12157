"""Single sign-on by OpenID Connect, if an issuer is configured."""

import logging
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET

from planner.accounts.services.sign_on import SignOnRefused, account_by_sign_on
from planner.accounts.views.logging_in import log_in

logger = logging.getLogger(__name__)

NEXT = "sign-on-next"


@login_not_required
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider."""
    oidc = _oidc_or_404()
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    request.session[NEXT] = request.GET.get("next", "")
    try:
        callback = request.build_absolute_uri(reverse("sign-on-back"))
        answer: HttpResponse = oidc.provider().authorize_redirect(request, callback)
    except oidc.FAULTS:
        return _refused(request, "The single sign-on provider does not respond. Try again in a minute.")
    return answer


@login_not_required
@require_GET
def back(request: HttpRequest) -> HttpResponse:
    """Log in the person whom the provider sends back, if its response is valid."""
    oidc = _oidc_or_404()
    try:
        claims = oidc.claims_of(request)
    except oidc.FAULTS:
        return _refused(request, "Single sign-on failed. Start again.")
    try:
        account = account_by_sign_on(claims=claims)
    except SignOnRefused as refusal:
        return _refused(request, str(refusal))
    wanted = request.session.pop(NEXT, "")
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return log_in(request, account, wanted if is_ours else resolve_url(settings.LOGIN_REDIRECT_URL))


def _refused(request: HttpRequest, why: str) -> HttpResponse:
    """Show the log-in page with a reason; the underlying error is logged."""
    logger.warning("single sign-on: %s", why, exc_info=True)
    messages.warning(request, why)
    return redirect("login")


def _oidc_or_404() -> Any:
    """Return the module of the provider; its libraries are imported only where single sign-on is used."""
    if not settings.OIDC_ISSUER:
        raise Http404
    from planner.accounts import oidc

    return oidc
