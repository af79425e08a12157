"""When does the sample play? On one morning, so that it gives the same answers for ever."""

from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def at(moment: datetime) -> str:
    """Return a moment as Kubernetes writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def before(*, days: int = 0, minutes: int = 0) -> str:
    """Return the time so long before that morning."""
    return at(NOW - timedelta(days=days, minutes=minutes))
