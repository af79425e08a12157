"""Accounts of single sign-on."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from planner.accounts.models import Identity, User


class SignOnRefused(Exception):
    """The log-in is refused; the message says why and what to do."""


@transaction.atomic
def account_by_sign_on(*, claims: Mapping[str, Any]) -> User:
    """Return the account of the person with these verified claims (`iss`, `sub`, `email`…).

    A known identity keeps its account, whatever its e-mail is now. On the first log-in, a verified e-mail
    selects the account with it, or a new one, which has no password and no memberships. Raises SignOnRefused.
    """
    known = {"issuer": claims["iss"], "subject": claims["sub"]}
    identity = Identity.objects.select_related("user").filter(**known).first()
    account = identity.user if identity else _account_of(_verified_email(claims))
    if not account.is_active:
        raise SignOnRefused("This account is deactivated.")
    if identity is None:
        Identity.objects.create(user=account, **known)
    return account


def _verified_email(claims: Mapping[str, Any]) -> str:
    email = str(claims.get("email") or "").strip()
    if not email or claims.get("email_verified") not in (True, "true"):
        raise SignOnRefused("Your provider has not verified your e-mail address. Verify it there first.")
    return email


def _account_of(email: str) -> User:
    """Return the one account with this e-mail, or a new one named after it."""
    found = list(User.objects.filter(email__iexact=email)[:2])
    if len(found) > 1:
        raise SignOnRefused(
            f"Several accounts have the address {email}. Ask the operator to keep it on one only."
        )
    if found:
        return found[0]
    account = User(username=email.casefold(), email=email)
    account.set_unusable_password()
    try:
        account.full_clean(exclude=["password"])
    except ValidationError:
        message = f"Another account is named {email}, or it is not a valid user name."
        raise SignOnRefused(f"{message} Ask the operator to give your account this e-mail.") from None
    account.save()
    return account
