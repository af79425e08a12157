"""Who may log in, and with which token may a script call?"""

import secrets

from django.contrib.auth import get_user_model
from django.db import transaction
from knox.models import AuthToken

from planner.models import Role
from planner.selectors.workspaces import default_workspace
from planner.services.members import member_set

ADMIN = "admin"


@transaction.atomic
def admin_create() -> str | None:
    """Create the account `admin`, admin of the default workspace, with a random password and return it.

    None when somebody has an account already.
    """
    accounts = get_user_model()._default_manager
    if accounts.exists():
        return None
    password = secrets.token_urlsafe(12)
    get_user_model().objects.create_superuser(ADMIN, password=password)
    member_set(workspace=default_workspace(), username=ADMIN, role=Role.ADMIN)
    return password


def token_create(*, username: str) -> str:
    """Return a new API token of an account; it is kept as a hash only. Raises User.DoesNotExist."""
    user = get_user_model().objects.get_by_natural_key(username)
    _, token = AuthToken.objects.create(user=user)
    return str(token)
