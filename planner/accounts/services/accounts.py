"""Creation of the first account, and tokens from the command line."""

import secrets

from django.core.exceptions import ValidationError
from django.db import transaction

from planner.accounts.models import Role, User
from planner.accounts.selectors.workspaces import default_workspace
from planner.accounts.services.members import member_set
from planner.accounts.services.tokens import DEFAULT_DAYS, token_make
from planner.errors import Invalid
from planning.rows import Problem

ADMIN = "admin"


@transaction.atomic
def admin_create() -> str | None:
    """Create the account `admin`, admin of the default workspace, with a random password and return it.

    Returns None if there is an account already.
    """
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    User.objects.create_superuser(ADMIN, password=password)
    member_set(workspace=default_workspace(), username=ADMIN, role=Role.ADMIN)
    return password


def email_set(*, account: User, email: str) -> None:
    """Set the e-mail address by which single sign-on finds an account; raise Invalid for none."""
    try:
        account.email = User._meta.get_field("email").clean(email, account)
    except ValidationError as error:
        fix = "Write an address such as ann@example.org."
        raise Invalid(
            [Problem("account.email", "error", message, path="email", fix=fix) for message in error.messages]
        ) from None
    account.save(update_fields=["email"])


def token_create(*, username: str, scope: Role, days: int = DEFAULT_DAYS, name: str = "") -> str:
    """Return a new API token of an account, of which only a hash is stored. Raises User.DoesNotExist."""
    user = User.objects.get_by_natural_key(username).acting(Role.ADMIN)
    _, token = token_make(user=user, scope=scope, days=days, name=name or "manage.py token")
    return token
