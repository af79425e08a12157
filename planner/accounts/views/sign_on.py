"""Single sign-on by OpenID Connect, if an issuer is configured."""

import logging
from functools import lru_cache
from typing import Any

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET
from joserfc.errors import JoseError

from planner.accounts.services.sign_on import SignOnRefused, account_by_sign_on
from planner.accounts.views.logging_in import log_in

logger = logging.getLogger(__name__)

NEXT = "sign-on-next"
TIMEOUT_SECONDS = 10
FAULTS = (OAuthError, JoseError, requests.RequestException, RuntimeError, KeyError, ValueError)
"""Errors of a provider: a refusal, a wrong signature, no response, missing fields of the standard."""


@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider."""
    provider = _provider_or_404()
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    request.session[NEXT] = request.GET.get("next", "")
    try:
        answer: HttpResponse = provider.authorize_redirect(
            request, request.build_absolute_uri(reverse("sign-on-back"))
        )
    except FAULTS:
        return _refused(request, "The single sign-on provider does not respond. Try again in a minute.")
    return answer


@require_GET
def back(request: HttpRequest) -> HttpResponse:
    """Log in the person whom the provider sends back, if its response is valid."""
    provider = _provider_or_404()
    try:
        claims = _claims(provider, request)
    except FAULTS:
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


def _claims(provider: Any, request: HttpRequest) -> dict[str, Any]:
    """Return the claims of the signed id token, with the e-mail from the userinfo endpoint if it has none."""
    options = {"iss": {"values": [settings.OIDC_ISSUER]}, "aud": {"values": [settings.OIDC_CLIENT_ID]}}
    token = provider.authorize_access_token(request, claims_options=options)
    claims = dict(token["userinfo"])
    if "email" not in claims:
        more = provider.userinfo(token=token)
        if more["sub"] != claims["sub"]:
            raise ValueError("the userinfo is of another subject")
        claims = {**more, **claims}
    return claims


def _refused(request: HttpRequest, why: str) -> HttpResponse:
    """Show the log-in page with a reason; the underlying error is logged."""
    logger.warning("single sign-on: %s", why, exc_info=True)
    messages.warning(request, why)
    return redirect("login")


def _provider_or_404() -> Any:
    if not settings.OIDC_ISSUER:
        raise Http404
    return _provider(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)


@lru_cache(maxsize=1)
def _provider(issuer: str, client_id: str, secret: str) -> Any:
    """Return the client of a provider; it reads the discovery document once, and new keys as they appear."""
    return OAuth().register(
        "oidc",
        client_id=client_id,
        client_secret=secret,
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid email profile",
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT_SECONDS,
        },
    )
