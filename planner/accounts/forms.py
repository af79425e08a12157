"""The forms of accounts and workspaces."""

from collections.abc import Mapping

from django import forms
from django.contrib.auth.forms import PasswordChangeForm

from planner.accounts.models import Role, User, Workspace
from planner.web.forms import TypedForm

SCOPES = (
    (Role.VIEWER, "viewer: read"),
    (Role.EDITOR, "editor: read and edit"),
    (Role.ADMIN, "admin: same as your role"),
)
DAYS = (7, 30, 90, 365)
LONGEST_CODE = 40
_LONGEST_NAME = Workspace._meta.get_field("name").max_length
_LONGEST_USERNAME = User._meta.get_field("username").max_length


class TokenForm(TypedForm):
    """The name, scope and lifetime of a token; by default read-only, for the shortest time."""

    name = forms.CharField(max_length=100, required=False)
    name.widget.attrs["placeholder"] = "nightly report"
    scope = forms.TypedChoiceField(choices=SCOPES, coerce=Role, empty_value=Role.VIEWER, required=False)
    days = forms.TypedChoiceField(
        label="Expires after",
        choices=[(days, f"{days} days") for days in DAYS],
        coerce=int,
        initial=90,
        required=False,
        error_messages={"invalid_choice": "Choose 7, 30, 90 or 365 days."},
    )


class WorkspaceForm(TypedForm):
    """The name of a workspace."""

    name = forms.CharField(max_length=_LONGEST_NAME)


class RoleForm(TypedForm):
    """The role of a member."""

    role = forms.TypedChoiceField(choices=Role.choices, coerce=Role)


class InvitationForm(TypedForm):
    """The account to invite and its role; without a name, whoever opens the link."""

    username = forms.CharField(label="Invite", max_length=_LONGEST_USERNAME, required=False)
    username.widget.attrs |= {"placeholder": "user name", "autocapitalize": "none"}
    role = forms.TypedChoiceField(
        label="as", choices=[(role, says.lower()) for role, says in Role.choices], coerce=Role
    )


STRONG_ENOUGH = "At least 12 characters, not a common password, not similar to the user name."


class JoinForm(TypedForm):
    """The new account of an invited person."""

    username = forms.CharField(label="User name", max_length=_LONGEST_USERNAME)
    username.widget.attrs |= {"autocomplete": "username", "autocapitalize": "none"}
    password = forms.CharField(
        strip=False,
        widget=forms.PasswordInput,
        help_text=STRONG_ENOUGH,
    )
    password.widget.attrs["autocomplete"] = "new-password"


_HELP = {"new_password1": f"{STRONG_ENOUGH} Every other session ends; API tokens stay valid."}


class PasswordForm(TypedForm, PasswordChangeForm):
    """A new password, with the current one."""

    def __init__(self, user: User, data: Mapping[str, str] | None = None) -> None:
        super().__init__(user, data, auto_id="password-%s")
        for name, label in (
            ("old_password", "Current password"),
            ("new_password1", "New password"),
            ("new_password2", "New password again"),
        ):
            field = self.fields[name]
            field.label, field.help_text = label, _HELP.get(name, "")
            field.widget.attrs.pop("autofocus", None)


class CodeForm(TypedForm):
    """A code of the second factor."""

    code = forms.CharField(max_length=LONGEST_CODE)
    code.widget.attrs |= {"autocomplete": "one-time-code", "autocapitalize": "none"}


class ConfirmationForm(TypedForm):
    """The confirmation of an account's deletion: its password, or its name if it has none."""

    confirmation = forms.CharField(label="Your user name, to confirm", strip=False)

    def __init__(self, user: User, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data)
        if user.has_usable_password():
            field = forms.CharField(label="Your password", strip=False, widget=forms.PasswordInput)
            field.widget.attrs["autocomplete"] = "current-password"
            self.add_field("confirmation", field)
