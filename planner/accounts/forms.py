"""What do people type about accounts and workspaces: names, roles, passwords and codes?"""

from collections.abc import Mapping

from django import forms

from planner.accounts.models import Role, User, Workspace
from planner.accounts.services.tokens import LONGEST_DAYS
from planner.web.forms import TypedForm

SCOPES = ((Role.VIEWER, "read"), (Role.EDITOR, "read and edit"), (Role.ADMIN, "same as your role"))
LONGEST_CODE = 40
_LONGEST_NAME = Workspace._meta.get_field("name").max_length
_LONGEST_USERNAME = User._meta.get_field("username").max_length


class TokenForm(forms.Form):
    """What a token is called, what it may do and for how long; unless said, to read, for the fewest days."""

    name = forms.CharField(max_length=100, required=False)
    scope = forms.ChoiceField(choices=SCOPES, required=False)
    days = forms.IntegerField(min_value=1, max_value=LONGEST_DAYS, required=False)


class WorkspaceForm(TypedForm):
    """What a workspace is called."""

    name = forms.CharField(max_length=_LONGEST_NAME)


class RoleForm(TypedForm):
    """What a member may do."""

    role = forms.TypedChoiceField(choices=Role.choices, coerce=Role)


class InvitationForm(TypedForm):
    """Who is invited as what; without a name, whoever opens a link."""

    username = forms.CharField(label="Invite", max_length=_LONGEST_USERNAME, required=False)
    username.widget.attrs |= {"placeholder": "user name", "autocapitalize": "none"}
    role = forms.TypedChoiceField(
        label="as", choices=[(role, says.lower()) for role, says in Role.choices], coerce=Role
    )


class JoinForm(TypedForm):
    """The account that an invited person makes."""

    username = forms.CharField(label="User name", max_length=_LONGEST_USERNAME)
    username.widget.attrs |= {"autocomplete": "username", "autocapitalize": "none"}
    password = forms.CharField(
        strip=False,
        widget=forms.PasswordInput,
        help_text="At least 12 characters, not a common password, not similar to the user name.",
    )
    password.widget.attrs["autocomplete"] = "new-password"


class CodeForm(TypedForm):
    """A code of the second factor."""

    code = forms.CharField(max_length=LONGEST_CODE)
    code.widget.attrs |= {"autocomplete": "one-time-code", "autocapitalize": "none"}


class ConfirmationForm(TypedForm):
    """What an account types to delete itself: its password, or its name where it has none."""

    confirmation = forms.CharField(label="Your user name, to confirm", strip=False)

    def __init__(self, user: User, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data)
        if user.has_usable_password():
            field = forms.CharField(label="Your password", strip=False, widget=forms.PasswordInput)
            field.widget.attrs["autocomplete"] = "current-password"
            self.add_field("confirmation", field)
