"""Rate limits of password checks: they delay guesses more and more, but lock nobody out.

A guess is counted in the database before it is checked, so that parallel guesses are limited like sequential
ones. A correct password removes its guess.
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
"""The time without guesses after which the count restarts."""
CHECKED_AT_ONCE = 2
"""The most parallel checks in a process, as each takes half a second of processor time."""
PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class Limit:
    """A number of free guesses; then a pause before each, doubled every time up to `longest`."""

    free: int
    longest: timedelta


BY_ADDRESS_AND_ACCOUNT = Limit(5, timedelta(minutes=15))
BY_ADDRESS = Limit(20, timedelta(minutes=15))
BY_ACCOUNT = Limit(50, timedelta(seconds=30))
"""From all addresses together; the pause is short, because it also delays the owner."""

_checks = threading.BoundedSemaphore(CHECKED_AT_ONCE)


class TooSoon(Exception):
    """The guess was not checked; the next one is allowed after `wait`."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(f"Try again in {spelled(wait)}.")
        self.wait = wait


@dataclass(frozen=True)
class Guesser:
    """Who guesses, for the limits.

    `browser` names a browser in which this account has logged in before: it has limits of its own, so that
    strangers who guess at the account, or share the address, never delay its owner.
    """

    username: str
    address: str
    browser: str = ""

    @property
    def own_key(self) -> str:
        """Return the key that a correct password clears."""
        return _key("own", self.username.casefold(), self.browser or network(self.address))

    @property
    def limits(self) -> Mapping[str, Limit]:
        """Return the limits that apply, by key."""
        own = {self.own_key: BY_ADDRESS_AND_ACCOUNT}
        if self.browser:
            return own
        return own | {
            _key("address", network(self.address)): BY_ADDRESS,
            _key("account", self.username.casefold()): BY_ACCOUNT,
        }


@contextmanager
def password_check() -> Iterator[None]:
    """Reserve one of the few parallel password checks of a process, or raise TooSoon."""
    if not _checks.acquire(timeout=PATIENCE_SECONDS):
        raise TooSoon(timedelta(seconds=2))
    try:
        yield
    finally:
        _checks.release()


@transaction.atomic
def guess_count(guesser: Guesser) -> None:
    """Count a guess before it is checked, or raise TooSoon without counting it."""
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
    """Remove the guess, and the wrong ones from the same origin at this account."""
    LoginGuesses.objects.filter(key=guesser.own_key).delete()
    others = set(guesser.limits) - {guesser.own_key}
    LoginGuesses.objects.filter(key__in=others, count__gt=0).update(count=F("count") - 1)


def is_own_password(*, user: User, password: str, address: str) -> bool:
    """Return whether this is the password of the logged-in account. Raises TooSoon after many wrong ones.

    Call it outside transactions: the rollback after a wrong password would undo the count.
    """
    guesser = Guesser(f"password of {user.get_username()}", address)
    guess_count(guesser)
    with password_check():
        is_right = user.check_password(password)
    if is_right:
        guess_right(guesser)
    return is_right


def expired_guesses_remove() -> int:
    """Delete expired guesses; return how many rows."""
    return LoginGuesses.objects.filter(expires__lt=timezone.now()).delete()[0]


def network(address: str) -> str:
    """Return the network of one household or machine: an IPv4 address, or 64 bits of IPv6.

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
    """Return a waiting time in words, rounded up.

    >>> spelled(timedelta(seconds=61)), spelled(timedelta(seconds=0.2))
    ('2 minutes', '1 second')
    """
    seconds = max(1, -(-wait // timedelta(seconds=1)))
    number, unit = (seconds, "second") if seconds <= 60 else (-(-seconds // 60), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _next(count: int, limit: Limit, now: datetime) -> datetime | None:
    """Return when the guess after the `count`-th is allowed."""
    over = count - limit.free
    if over < 0:
        return None
    return now + min(limit.longest, FIRST_PAUSE * (1 << min(over, 20)))


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
