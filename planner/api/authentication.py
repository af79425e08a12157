"""Who is calling? A token first, so that a stranger is told 401, then a browser's session."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from planner.services.tokens import token_used


class ApiToken(TokenAuthentication):
    """Accept ``Authorization: Token …``."""

    def authenticate_credentials(self, token: bytes):  # type: ignore[no-untyped-def]
        """Return who holds `token`; bytes that are no text are a wrong token, not a fault of ours."""
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        user, known = super().authenticate_credentials(token)
        user.token_scope = token_used(token=known)
        return user, known


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
