"""The log-in page, with a growing delay after wrong passwords."""

import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse

from planner.accounts.services.logins import Guesser, TooSoon, guess_count, guess_right, password_check
from planner.accounts.views.logging_in import log_in, paused

COOKIE = "known_browser"
SALT = "planner.known-browser"
KNOWN_SECONDS = 365 * 86_400


class SlowForm(AuthenticationForm):
    """Name and password; `paused` says why they were not checked."""

    paused: TooSoon | None = None

    def clean(self) -> dict[str, Any]:
        """Count the guess, then check it."""
        assert self.request is not None, "the login page hands over its request"
        guesser = _guesser(self.request, self.cleaned_data.get("username", ""))
        try:
            with password_check():
                guess_count(guesser)
                cleaned: dict[str, Any] = super().clean()
        except TooSoon as error:
            self.paused = error
            raise ValidationError(f"Too many attempts to log in. {error}", code="paused") from None
        guess_right(guesser)
        return cleaned


class Login(LoginView):
    """The log-in page."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True
    authentication_form = SlowForm

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        """Return the context of the page, with the name of single sign-on if it is configured."""
        offered = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        return super().get_context_data(sign_on=offered, **more)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Log in, and set the cookie by which this account recognizes the browser next time."""
        response = log_in(self.request, form.get_user(), self.get_success_url())
        response.set_cookie(
            COOKIE,
            signing.dumps([form.get_user().get_username(), secrets.token_urlsafe(16)], salt=SALT),
            max_age=KNOWN_SECONDS,
            path=self.request.path,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show the form again, and how long to wait."""
        assert isinstance(form, SlowForm)
        page = self.render_to_response(self.get_context_data(form=form, paused=form.paused))
        return page if form.paused is None else paused(page, form.paused)


def _guesser(request: HttpRequest, username: str) -> Guesser:
    return Guesser(username, request.META.get("REMOTE_ADDR", ""), _known_browser(request, username))


def _known_browser(request: HttpRequest, username: str) -> str:
    """Return the name of a browser in which this account has logged in before, otherwise an empty text."""
    try:
        account, browser = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=KNOWN_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(browser) if account == username else ""
