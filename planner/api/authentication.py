"""Who is calling? A token first, so that a stranger gets 401, then a browser's session."""

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
        """Return who holds the token, and it; a header that ends after its first word holds none."""
        if get_authorization_header(request).lower().split() == [b"token"]:
            raise AuthenticationFailed("The header Authorization has no token behind `Token`.")
        found: tuple[User, AuthToken] | None = super().authenticate(request)
        return found

    def authenticate_credentials(self, token: bytes):  # type: ignore[no-untyped-def]
        """Return who holds `token`; bytes that are no text are a wrong token, not a fault of ours."""
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        user, known = super().authenticate_credentials(token)
        scope = token_used(token=known)
        if scope is None:
            raise AuthenticationFailed("Invalid token.")
        return user.acting(scope), known


class BrowserSession(SessionAuthentication):
    """Accept the session of a browser, which may do all that its account may."""

    def authenticate(self, request):  # type: ignore[no-untyped-def]
        """Return who is logged in."""
        found = super().authenticate(request)
        return found and (found[0].acting(Role.ADMIN), found[1])


class BrowserSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """How the schema describes `BrowserSession`."""

    target_class = "planner.api.authentication.BrowserSession"
    priority = 0


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema describes `ApiToken`."""

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
