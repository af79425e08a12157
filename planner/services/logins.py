"""May this account be tried again? Guessing passwords is slowed down."""

import hashlib
from datetime import timedelta

from django.core.cache import cache

TRIES = 5
"""So many wrong passwords for one account from one address, then a pause."""
TRIES_ANYWHERE = 50
"""So many for one account from all addresses together."""
PAUSE = timedelta(minutes=15)


def login_paused(*, username: str, address: str) -> bool:
    """Must whoever tries wait?"""
    tried = cache.get_many(_limits(username, address))
    return any(tried.get(key, 0) >= limit for key, limit in _limits(username, address).items())


def login_failed(*, username: str, address: str) -> None:
    """Count a wrong password."""
    for key in _limits(username, address):
        if not cache.add(key, 1, timeout=PAUSE.total_seconds()):
            cache.incr(key)


def login_succeeded(*, username: str, address: str) -> None:
    """Forget the wrong passwords of this account from this address."""
    cache.delete(next(iter(_limits(username, address))))


def _limits(username: str, address: str) -> dict[str, int]:
    account = hashlib.sha256(username.casefold().encode()).hexdigest()[:32]
    return {f"login-{account}-{address}": TRIES, f"login-{account}": TRIES_ANYWHERE}
