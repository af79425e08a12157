"""The second factor of an account: codes of an authenticator app (TOTP), and recovery codes."""

import base64
import hashlib
import secrets
import time

import pyotp
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from planner.accounts.models import RecoveryCode, SecondFactor, User
from planner.accounts.services.events import login_note
from planner.accounts.services.logins import Guesser, guess_count, guess_right
from planner.errors import Invalid
from planning.rows import Problem

ISSUER = "Queuecast"
SUBJECT = "second factor"
STEP_SECONDS = 30
DRIFT_STEPS = 1
"""The accepted clock difference, in time steps."""
CODES = 10
WRONG_CODE = Problem(
    "second_factor.wrong",
    "error",
    "This code is wrong or was already used.",
    path="code",
    fix="Enter the code that the app shows now, or an unused recovery code.",
)


def has_second_factor(user: User) -> bool:
    """Return whether the account logs in with a second factor (1 query)."""
    return SecondFactor.objects.filter(user=user).exclude(confirmed=None).exists()


def codes_left(user: User) -> int:
    """Return the number of unused recovery codes (1 query)."""
    return RecoveryCode.objects.filter(user=user, used=None).count()


@transaction.atomic
def second_factor_begin(*, user: User) -> str:
    """Return the otpauth: address for an authenticator app. Raises Invalid if there is a second factor."""
    if has_second_factor(user):
        message, fix = "The second factor is already on.", "Turn it off before you set up another one."
        raise Invalid([Problem("second_factor.present", "error", message, path="second_factor", fix=fix)])
    secret = pyotp.random_base32()
    SecondFactor.objects.update_or_create(user=user, defaults={"sealed": _sealed(secret), "last_step": 0})
    return provisioning_address(user, secret)


def provisioning_address(user: User, secret: str) -> str:
    """Return the otpauth: address for an authenticator app."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.get_username(), issuer_name=ISSUER)


def pending_secret(user: User) -> str | None:
    """Return the secret of an authenticator that is not confirmed yet (1 query)."""
    factor = SecondFactor.objects.filter(user=user, confirmed=None).first()
    return _secret(factor) if factor else None


def second_factor_confirm(*, user: User, code: str, address: str) -> list[str]:
    """Enable the second factor with its first code; return the recovery codes, stored as hashes only.

    Raises Invalid if the code is wrong, TooSoon after many wrong ones.
    """
    factor = SecondFactor.objects.filter(user=user, confirmed=None).first()
    if factor is None or not _right(user, factor, code, address):
        raise Invalid([WRONG_CODE])
    with transaction.atomic():
        factor.confirmed = timezone.now()
        factor.save(update_fields=["confirmed"])
        login_note(user=user, action="on", address=address, subject=SUBJECT)
        return _new_codes(user)


def recovery_codes_renew(*, user: User, code: str, address: str) -> list[str]:
    """Replace all recovery codes; requires a code of the second factor."""
    if not second_factor_check(user=user, code=code, address=address):
        raise Invalid([WRONG_CODE])
    with transaction.atomic():
        login_note(user=user, action="new codes", address=address, subject=SUBJECT)
        return _new_codes(user)


def second_factor_remove(*, user: User, code: str, address: str) -> None:
    """Disable the second factor; requires one of its codes."""
    if not second_factor_check(user=user, code=code, address=address):
        raise Invalid([WRONG_CODE])
    second_factor_reset(user=user, address=address)


@transaction.atomic
def second_factor_reset(*, user: User, address: str = "") -> None:
    """Disable the second factor without a code; for the installation itself."""
    SecondFactor.objects.filter(user=user).delete()
    RecoveryCode.objects.filter(user=user).delete()
    login_note(user=user, action="off", address=address, subject=SUBJECT)


def second_factor_check(*, user: User, code: str, address: str) -> bool:
    """Return whether this is a current code of the authenticator or an unused recovery code, and use it up.

    Raises TooSoon after many wrong ones.
    """
    factor = SecondFactor.objects.filter(user=user).exclude(confirmed=None).first()
    return factor is not None and _right(user, factor, code, address)


def _right(user: User, factor: SecondFactor, code: str, address: str) -> bool:
    """Count the guess, then check it. Call it outside transactions: a rollback would undo the count."""
    guesser = Guesser(f"second factor of {user.get_username()}", address)
    guess_count(guesser)
    typed = "".join(code.split()).replace("-", "").upper()
    if not (_is_code(factor, typed) or _is_recovery_code(user, typed)):
        return False
    guess_right(guesser)
    return True


def _is_code(factor: SecondFactor, typed: str) -> bool:
    """Return whether it is the code of a current time step after the last used one."""
    totp, now = pyotp.TOTP(_secret(factor)), int(time.time()) // STEP_SECONDS
    for step in range(now - DRIFT_STEPS, now + DRIFT_STEPS + 1):
        if constant_time_compare(totp.generate_otp(step), typed):
            later = SecondFactor.objects.filter(pk=factor.pk, last_step__lt=step)
            return later.update(last_step=step) == 1
    return False


def _is_recovery_code(user: User, typed: str) -> bool:
    unused = RecoveryCode.objects.filter(user=user, digest=_digest(typed), used=None)
    return unused.update(used=timezone.now()) == 1


def _new_codes(user: User) -> list[str]:
    RecoveryCode.objects.filter(user=user).delete()
    plain = [base64.b32encode(secrets.token_bytes(10)).decode() for _ in range(CODES)]
    RecoveryCode.objects.bulk_create(RecoveryCode(user=user, digest=_digest(code)) for code in plain)
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in plain]


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _cipher() -> Fernet:
    """Return the cipher of the stored secrets, so that a backup alone does not reveal them."""
    key = hashlib.sha256(b"planner.second_factor" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


def _sealed(secret: str) -> str:
    return _cipher().encrypt(secret.encode()).decode()


def _secret(factor: SecondFactor) -> str:
    """Return the secret; with another server key it is random, and only recovery codes work."""
    try:
        return _cipher().decrypt(factor.sealed.encode()).decode()
    except InvalidToken:
        return pyotp.random_base32()
