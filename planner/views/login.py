"""How does somebody log in? Slowly, after some wrong passwords."""

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import HttpResponse

from planner.services.logins import PAUSE, login_failed, login_paused, login_succeeded


class SlowForm(AuthenticationForm):
    """Name and password; a right password is refused, too, while the account must wait."""

    def clean(self) -> dict[str, Any]:
        """Check name and password, and count what was wrong."""
        assert self.request is not None, "the login page hands over its request"
        tried = {
            "username": self.cleaned_data.get("username", ""),
            "address": self.request.META.get("REMOTE_ADDR", ""),
        }
        if login_paused(**tried):
            minutes = PAUSE.seconds // 60
            raise ValidationError(f"Too many wrong passwords. Try again in {minutes} minutes.", code="paused")
        try:
            cleaned: dict[str, Any] = super().clean()
        except ValidationError:
            login_failed(**tried)
            raise
        login_succeeded(**tried)
        return cleaned


class Login(LoginView):
    """The page on which one logs in."""

    redirect_authenticated_user = True
    authentication_form = SlowForm

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        """Return what the page shows, the name of single sign-on among it where there is one."""
        offered = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        return super().get_context_data(sign_on=offered, **more)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show the form again, and whether one has to wait."""
        paused = form.has_error(NON_FIELD_ERRORS, code="paused")
        return self.render_to_response(self.get_context_data(form=form, paused=paused))
