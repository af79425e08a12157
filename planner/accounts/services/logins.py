"""May this password be checked now? Guessing is slowed down, more and more, and nobody is locked out.

A guess is counted before it is checked, in a row of the database, so that of many at once no more are checked
than one after the other. The right password takes its guess back.
"""

import hashlib
import ipaddress
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from planner.accounts.models import LoginGuesses, User

FIRST_PAUSE = timedelta(seconds=5)
FORGOTTEN = timedelta(hours=1)
"""After so long without a guess the count begins anew."""
CHECKED_AT_ONCE = 2
"""Each check costs half a second of a processor."""
PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class Limit:
    """So many guesses at once; then a pause before each, doubled every time up to `longest`."""

    free: int
    longest: timedelta


BY_ADDRESS_AND_ACCOUNT = Limit(5, timedelta(minutes=15))
BY_ADDRESS = Limit(20, timedelta(minutes=15))
BY_ACCOUNT = Limit(50, timedelta(seconds=30))
"""From all addresses together. The pause is short, because its owner waits with the guessers."""

_checks = threading.BoundedSemaphore(CHECKED_AT_ONCE)


class TooSoon(Exception):
    """The guess is not checked; the next one is after `wait`."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(f"Try again in {spelled(wait)}.")
        self.wait = wait


@dataclass(frozen=True)
class Guesser:
    """Who guesses, as far as limits go.

    `browser` names one in which this very account has logged in before: it is limited by itself, so that
    strangers who guess at the account, or share the address, never delay its owner.
    """

    username: str
    address: str
    browser: str = ""

    @property
    def own_key(self) -> str:
        """Return the key that the right password clears."""
        return _key("own", self.username.casefold(), self.browser or network(self.address))

    @property
    def limits(self) -> Mapping[str, Limit]:
        """Return the limits that hold, by key."""
        own = {self.own_key: BY_ADDRESS_AND_ACCOUNT}
        if self.browser:
            return own
        return own | {
            _key("address", network(self.address)): BY_ADDRESS,
            _key("account", self.username.casefold()): BY_ACCOUNT,
        }


@contextmanager
def password_check() -> Iterator[None]:
    """Hold one of the few places in which a process checks passwords, or raise TooSoon."""
    if not _checks.acquire(timeout=PATIENCE_SECONDS):
        raise TooSoon(timedelta(seconds=2))
    try:
        yield
    finally:
        _checks.release()


@transaction.atomic
def guess_count(guesser: Guesser) -> None:
    """Count a guess that is about to be checked, or raise TooSoon and count nothing."""
    now = timezone.now()
    LoginGuesses.objects.bulk_create(
        [LoginGuesses(key=key, expires=now + FORGOTTEN) for key in sorted(guesser.limits)],
        ignore_conflicts=True,
    )
    rows = list(LoginGuesses.objects.select_for_update().filter(key__in=guesser.limits).order_by("key"))
    for row in rows:
        if row.expires < now:
            row.count, row.next_at = 0, None
    wait = max((row.next_at - now for row in rows if row.next_at), default=timedelta(0))
    if wait > timedelta(0):
        raise TooSoon(wait)
    for row in rows:
        row.count += 1
        row.next_at = _next(row.count, guesser.limits[row.key], now)
        row.expires = now + FORGOTTEN
        row.save()


@transaction.atomic
def guess_right(guesser: Guesser) -> None:
    """Take the guess back, and forget the wrong ones from there at this account."""
    LoginGuesses.objects.filter(key=guesser.own_key).delete()
    others = set(guesser.limits) - {guesser.own_key}
    LoginGuesses.objects.filter(key__in=others, count__gt=0).update(count=F("count") - 1)


def is_own_password(*, user: User, password: str, address: str) -> bool:
    """Is this the password of the account that is logged in already? Raises TooSoon after many wrong ones.

    Not in a transaction: what refuses the password would undo the count.
    """
    guesser = Guesser(f"password of {user.get_username()}", address)
    guess_count(guesser)
    with password_check():
        is_right = user.check_password(password)
    if is_right:
        guess_right(guesser)
    return is_right


def expired_guesses_remove() -> int:
    """Remove what counts as no guess any more; return how many rows went."""
    return LoginGuesses.objects.filter(expires__lt=timezone.now()).delete()[0]


def network(address: str) -> str:
    """Return what one household or machine has: an IPv4 address, or 64 bits of IPv6.

    >>> network("2001:db8::1:2:3:4")
    '2001:db8::/64'
    >>> network("192.0.2.7")
    '192.0.2.7'
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(ipaddress.ip_network((parsed, 64), strict=False))


def spelled(wait: timedelta) -> str:
    """Return a time to wait in words, rounded up.

    >>> spelled(timedelta(seconds=61)), spelled(timedelta(seconds=0.2))
    ('2 minutes', '1 second')
    """
    seconds = max(1, -(-wait // timedelta(seconds=1)))
    number, unit = (seconds, "second") if seconds <= 60 else (-(-seconds // 60), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _next(count: int, limit: Limit, now: datetime) -> datetime | None:
    """Return when the guess after the `count`-th is checked."""
    over = count - limit.free
    if over < 0:
        return None
    return now + min(limit.longest, FIRST_PAUSE * (1 << min(over, 20)))


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
