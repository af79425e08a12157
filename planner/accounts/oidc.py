"""The OpenID Connect provider of single sign-on."""

from functools import lru_cache
from typing import Any

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from django.http import HttpRequest
from joserfc.errors import JoseError

TIMEOUT_SECONDS = 10
FAULTS = (OAuthError, JoseError, requests.RequestException, RuntimeError, KeyError, ValueError)
"""Errors of a provider: a refusal, a wrong signature, no response, missing fields of the standard."""


def provider() -> Any:
    """Return the client of the configured provider."""
    return _client(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)


def claims_of(request: HttpRequest) -> dict[str, Any]:
    """Return the claims of the signed id token, with the e-mail from the userinfo endpoint if it has none."""
    options = {"iss": {"values": [settings.OIDC_ISSUER]}, "aud": {"values": [settings.OIDC_CLIENT_ID]}}
    client = provider()
    token = client.authorize_access_token(request, claims_options=options)
    claims = dict(token["userinfo"])
    if "email" not in claims:
        more = client.userinfo(token=token)
        if more["sub"] != claims["sub"]:
            raise ValueError("the userinfo is of another subject")
        claims = {**more, **claims}
    return claims


@lru_cache(maxsize=1)
def _client(issuer: str, client_id: str, secret: str) -> Any:
    """Return a client; it reads the discovery document once, and new keys as they appear."""
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
