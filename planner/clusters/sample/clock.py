"""The time of the sample: one fixed morning, so that its results never change."""

from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def at(moment: datetime) -> str:
    """Return a time as Kubernetes writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def before(*, days: int = 0, minutes: int = 0) -> str:
    """Return a time before that morning."""
    return at(NOW - timedelta(days=days, minutes=minutes))
