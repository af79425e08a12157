"""Authentication of API calls: by token first, which answers 401 to anonymous requests, then by session."""

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from knox.models import AuthToken
from rest_framework.authentication import SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed

from planner.accounts.models import Role, User
from planner.accounts.services.tokens import token_used


class ApiToken(TokenAuthentication):
    """Accept ``Authorization: Token …``."""

    def authenticate(self, request: Any) -> tuple[User, AuthToken] | None:
        """Return the token's user and the token; a header without a token is an error."""
        if get_authorization_header(request).lower().split() == [b"token"]:
            raise AuthenticationFailed("The header Authorization has no token behind `Token`.")
        found: tuple[User, AuthToken] | None = super().authenticate(request)
        return found

    def authenticate_credentials(self, token: bytes):  # type: ignore[no-untyped-def]
        """Return the user of `token`; bytes that are not text are a wrong token, not an internal error.

        knox would delete the expired tokens of the account first, with another query; `retention` does.
        """
        details = token_used(text=token.decode()) if token.isascii() else None
        if details is None:
            raise AuthenticationFailed("Invalid token.")
        return details.token.user.acting(Role(details.scope)), details.token


class BrowserSession(SessionAuthentication):
    """Accept the session of a browser, with all permissions of its account."""

    def authenticate(self, request):  # type: ignore[no-untyped-def]
        """Return the user of the session."""
        found = super().authenticate(request)
        return found and (found[0].acting(Role.ADMIN), found[1])


class BrowserSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """The schema of `BrowserSession`."""

    target_class = "planner.api.authentication.BrowserSession"
    priority = 0


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The schema of `ApiToken`."""

    target_class = ApiToken
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the OpenAPI security scheme."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token <token>`; `manage.py token <user>` prints one.",
        }
